"""The kernels give the plain-Python reference's answer to the last bit, whatever the problem."""

import numpy as np
import pytest
import reference_gist
from gist_instances import KINDS, bits, problem
from hypothesis import given, settings
from hypothesis import strategies as st

from limbic.diversity import gist_select_full

UTILITIES = ("linear", "coverage", "facility_location")


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("kind", KINDS)
def test_random_problems(kind, utility):
    for seed in range(100):
        rng = np.random.default_rng([seed, *kind.encode(), *utility.encode(), 2])
        rows, utilities, options = problem(rng, 12, kind, utility)
        want = bits(reference_gist.gist(rows, utilities, **options))
        assert bits(gist_select_full(rows, utilities, **options)) == want, (seed, options)


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("kind", KINDS)
def test_problems_wider_than_one_tile(kind, utility):
    """Sizes on both sides of the kernels' blocks: 16 columns a panel, 64 rows a block."""
    for n in (15, 16, 17, 33, 64, 65, 130):
        rng = np.random.default_rng([n, *kind.encode(), *utility.encode(), 3])
        rows, _, options = problem(rng, 1, kind, utility)
        rows = KINDS[kind](rng, n, rows.shape[1]).astype(np.float32)
        if options["metric"] == "cosine":
            rows[~rows.any(axis=1)] = 1.0
        options |= {"k": min(n, 5), "eps": 0.3, "exhaustive_thresholds": False}
        utilities = None
        if utility == "coverage":
            utilities = [rng.integers(0, 30, size=4).tolist() for _ in range(n)]
        want = bits(reference_gist.gist(rows, utilities, **options))
        assert bits(gist_select_full(rows, utilities, **options)) == want, (n, options)


quarters = st.integers(-3, 3).map(lambda q: q / 4)


@st.composite
def tied_problems(draw):
    """Points of a coarse grid with few distinct weights: almost everything is a tie."""
    dim = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(quarters, min_size=dim, max_size=dim), min_size=1, max_size=7))
    metric = draw(st.sampled_from(["cosine", "euclidean"]))
    if metric == "cosine":
        rows = [row if any(row) else [1.0] * dim for row in rows]
    utility = draw(st.sampled_from(UTILITIES))
    utilities = None
    if utility == "linear":
        utilities = draw(
            st.none()
            | st.lists(
                st.sampled_from([-0.0, 0.0, 1.0, 2.0]), min_size=len(rows), max_size=len(rows)
            )
        )
    elif utility == "coverage":
        items = st.lists(st.integers(0, 4), max_size=4)
        utilities = draw(st.lists(items, min_size=len(rows), max_size=len(rows)))
    return (
        rows,
        utilities,
        {
            "k": draw(st.integers(1, 8)),
            "lam": draw(st.sampled_from([0.0, 0.25, 1.0, 3.0])),
            "eps": draw(st.sampled_from([0.1, 0.25, 1.0])),
            "metric": metric,
            "utility": utility,
            "exhaustive_thresholds": draw(st.booleans()),
            "diameter": draw(st.sampled_from(["exact", "approx"])),
            "diameter_sweeps": draw(st.integers(0, 3)),
        },
    )


@settings(max_examples=400, deadline=None, derandomize=True)
@given(tied_problems())
def test_tied_problems(drawn):
    rows, utilities, options = drawn
    want = bits(reference_gist.gist(rows, utilities, **options))
    assert bits(gist_select_full(rows, utilities, **options)) == want


def test_overflowing_distances():
    answer = gist_select_full(
        [[-3e38], [3e38]], k=2, lam=0.0, eps=0.1, metric="euclidean", utility="linear"
    )
    assert answer.f == answer.g == 2.0
    assert answer.div == answer.threshold == answer.d_max == float("inf")
    assert answer.stage == "sweep"
    assert list(answer.selected) == [0, 1]


@pytest.mark.parametrize(("eps", "exact", "count"), [(0.1, True, 32), (0.1, False, 39)])
def test_reference_has_the_published_number_of_thresholds(eps, exact, count):
    eps = float(np.float32(eps))
    assert len(reference_gist.geometric_thresholds(np.float32(1), eps, exact=exact)) == count


def test_reference_distances_have_every_rounding():
    """The tables of the reference, checked with float32 made by struct."""
    rng = np.random.default_rng(5)
    for dim in (1, 15, 16, 17, 48, 65):
        rows = rng.standard_normal((4, dim)).astype(np.float32)
        table = reference_gist.distances(rows, "euclidean")
        for u in range(4):
            for v in range(4):
                x, y = rows[u].tolist(), rows[v].tolist()
                assert float(table[u, v]) == reference_gist.scalar_distance(x, y)
