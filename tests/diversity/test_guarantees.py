"""What the paper proves, checked against every subset of small problems."""

from itertools import combinations

import numpy as np
import pytest
import reference_gist

from limbic.diversity import gist_select_full

# The theorems speak of real numbers; distances here are float32.
SLACK = 1e-5


def value_of(chosen, table, state, lam):
    """f of a set, from its definition alone."""
    g = 0.0
    for v in chosen:
        g += state.gain(v)
        state.take(v)
    pairs = [float(table[a, b]) for a, b in combinations(chosen, 2)]
    return g + lam * min(pairs, default=float(table.max()))


def optimum(table, fresh_state, k, lam):
    n = len(table)
    return max(
        value_of(chosen, table, fresh_state(), lam)
        for size in range(1, min(k, n) + 1)
        for chosen in combinations(range(n), size)
    )


def small_problem(seed, utility):
    rng = np.random.default_rng([seed, *utility.encode(), 7])
    n = int(rng.integers(2, 10))
    kind = seed % 3
    rows = rng.standard_normal((n, 2)) if kind else rng.integers(0, 4, size=(n, 2)).astype(float)
    if kind == 2:
        rows[: n // 2] *= 0.05  # a crowd and a few far points: where greedy alone goes wrong
    rows = rows.astype(np.float32)
    utilities = None
    if utility == "linear":
        utilities = rng.random(n)
        if kind == 2:
            utilities[: n // 2] += 1.0
    elif utility == "coverage":
        utilities = [rng.integers(0, 8, size=3).tolist() for _ in range(n)]
    options = {
        "k": int(rng.integers(1, 6)),
        "lam": float(rng.choice([0.1, 1.0, 4.0])),
        "eps": float(rng.choice([0.05, 0.1, 0.3])),
    }
    return rows, utilities, options


def fresh_state_for(utility, utilities, table):
    if utility == "linear":
        return lambda: reference_gist.LinearState(utilities, len(table))
    if utility == "coverage":
        return lambda: reference_gist.CoverageState(utilities)
    return lambda: reference_gist.FacilityLocationState(table, "euclidean")


@pytest.mark.parametrize(
    ("utility", "share"), [("linear", 2 / 3), ("coverage", 1 / 2), ("facility_location", 1 / 2)]
)
def test_share_of_the_optimum(utility, share):
    for seed in range(45):
        rows, utilities, options = small_problem(seed, utility)
        table = reference_gist.distances(rows, "euclidean")
        best = optimum(
            table, fresh_state_for(utility, utilities, table), options["k"], options["lam"]
        )
        found = gist_select_full(rows, utilities, metric="euclidean", utility=utility, **options)
        assert found.f >= (share - options["eps"]) * best - SLACK, (seed, options)
        assert found.f <= best + SLACK


def test_every_threshold_gives_two_thirds_of_a_linear_optimum():
    for seed in range(60):
        rows, utilities, options = small_problem(seed, "linear")
        table = reference_gist.distances(rows, "euclidean")
        best = optimum(
            table, fresh_state_for("linear", utilities, table), options["k"], options["lam"]
        )
        found = gist_select_full(
            rows, utilities, metric="euclidean", exhaustive_thresholds=True, **options
        )
        assert found.f >= 2 / 3 * best - SLACK, (seed, options)


@pytest.mark.parametrize("utility", ["linear", "coverage", "facility_location"])
def test_f_is_the_value_of_what_was_selected(utility):
    """The answer's numbers agree with the definition, evaluated afresh."""
    for seed in range(30):
        rows, utilities, options = small_problem(seed, utility)
        table = reference_gist.distances(rows, "euclidean")
        found = gist_select_full(rows, utilities, metric="euclidean", utility=utility, **options)
        state = fresh_state_for(utility, utilities, table)()
        chosen = [int(i) for i in found.selected]
        assert len(set(chosen)) == len(chosen) <= options["k"]
        assert found.f == value_of(chosen, table, state, options["lam"])
        assert found.f == found.g + options["lam"] * found.div
        assert 0 <= found.div <= found.d_max


def test_the_objective_is_not_submodular():
    """The paper's Appendix A: a smaller set may gain less from the same point."""
    points = np.array([[0.0], [1.0], [2.0], [2.0]], dtype=np.float32)
    table = reference_gist.distances(points, "euclidean")

    def f(*chosen):
        return value_of(chosen, table, reference_gist.LinearState([0.0] * 4, 4), 1.0)

    assert f(0, 2, 1) - f(0, 2) == -1.0
    assert f(0, 2, 3, 1) - f(0, 2, 3) == 0.0
    found = gist_select_full(points, np.zeros(4), k=4, lam=1.0, metric="euclidean")
    assert list(found.selected) == [0, 2]
    assert found.f == 2.0


@pytest.mark.parametrize("k", [5, 8, 20])
def test_greedy_on_the_objective_is_fooled_and_gist_is_not(k):
    """The paper's Appendix B: one far pair, everything else at half of its distance.

    No such points exist in the plane; an antipodal pair beside orthogonal axes has these
    distances under the cosine. Greedy on f takes the pair and then every addition lowers f.
    """
    excess = 0.25
    rows = np.eye(k, dtype=np.float32)
    rows = np.vstack([rows, -rows[:1]])
    lam = 1.0 + excess
    table = reference_gist.distances(rows, "cosine")
    assert table[0, k] == 2.0
    assert sorted(set(table[np.triu_indices(k + 1, 1)])) == [1.0, 2.0]

    def f(chosen):
        return value_of(chosen, table, reference_gist.LinearState(None, k + 1), lam)

    chosen = [0]
    while len(chosen) < k:
        more = max(set(range(k + 1)) - set(chosen), key=lambda v: f([*chosen, v]))
        if len(chosen) > 1 and f([*chosen, more]) <= f(chosen):
            break
        chosen.append(more)
    assert f(chosen) == 4 + 2 * excess
    found = gist_select_full(rows, k=k, lam=lam, metric="cosine")
    assert found.f == max(k + lam, 4 + 2 * excess)
