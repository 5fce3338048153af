"""The published cases hold the reference to every rule: breaking one of four is noticed."""

import json

import pytest
import reference_gist
from golden_cases import GOLDEN, differences, problem

each_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])


@each_case
def test_reference(case):
    vectors, utilities, options = problem(case)
    assert differences(reference_gist.gist(vectors, utilities, **options), case) == []


def within_budget(answer, case):
    """Whether an answer is inside the tolerances that the published rules allow."""

    def tolerance(name):
        return 1e-6 * max(1.0, abs(expected[name]))

    expected = {name: float.fromhex(value) for name, value in case["numbers"].items()}
    budgets = {name: tolerance(name) for name in ("g", "div", "d_max", "threshold")}
    lam = float.fromhex(case["options"]["lam"])
    budgets["f"] = budgets["g"] + lam * budgets["div"]
    return (
        list(answer.selected) == case["selected"]
        and answer.stage == case["stage"]
        and all(abs(getattr(answer, n) - expected[n]) <= b for n, b in budgets.items())
    )


MUTATIONS = {
    "replace on > only": (reference_gist.Rules(sweep_replaces_on_equal=False), 15),
    "ties to the highest index": (reference_gist.Rules(lowest_index_wins=False), 9),
    "lam doubled": (reference_gist.Rules(lam_factor=2.0), 20),
    "div of a single point is 0": (reference_gist.Rules(single_div_is_d_max=False), 1),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_broken_rules_are_noticed(name):
    rules, expected = MUTATIONS[name]
    failing = []
    for number, case in enumerate(GOLDEN["cases"], start=1):
        vectors, utilities, options = problem(case)
        answer = reference_gist.gist(vectors, utilities, **options, rules=rules)
        if not within_budget(answer, case):
            failing.append(number)
    assert len(failing) == expected
    if name == "div of a single point is 0":
        assert failing == [7]


def test_budget_of_f_grows_with_lam():
    """At lam = 64, f may be off by what a tolerable div brings, and not by 1/64."""
    case = json.loads(json.dumps(GOLDEN["cases"][0]))
    case["options"]["lam"] = float(64).hex()
    wanted = {name: float.fromhex(value) for name, value in case["numbers"].items()}
    answer = reference_gist.Answer(case["selected"], stage=case["stage"], **wanted)
    for shift, accepted in ((64e-6, True), (1 / 64, False)):
        off = reference_gist.Answer(**{**vars(answer), "f": answer.f + shift})
        assert within_budget(off, case) is accepted
