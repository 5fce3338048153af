"""A whole grid from one sweep: each cell is the answer of its own call."""

import numpy as np
import pytest
import reference_gist
from gist_instances import KINDS, LAMS, bits, problem

from limbic.diversity import gist_path, gist_select_full


@pytest.mark.parametrize("utility", ["linear", "coverage", "facility_location"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_cell_is_a_call_of_its_own(kind, utility):
    for seed in range(8):
        rng = np.random.default_rng([seed, *kind.encode(), *utility.encode(), 4])
        rows, utilities, options = problem(rng, 25, kind, utility)
        del options["k"], options["lam"]
        ks = [1, 5, 2, len(rows) + 3, 2]
        path = gist_path(rows, utilities, k=ks, lam=LAMS, **options)
        assert path.f.shape == (len(ks), len(LAMS))
        for i, k in enumerate(ks):
            for j, lam in enumerate(LAMS):
                want = gist_select_full(rows, utilities, k=k, lam=lam, **options)
                assert bits(path.result(i, j)) == bits(want), (seed, k, lam, options)
                assert path.selections[i][j].tolist() == want.selected.tolist()


def test_a_cell_is_the_reference():
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        rows, utilities, options = problem(rng, 9, "lattice", "linear")
        options |= {"k": 3, "lam": 0.5}
        path = gist_path(rows, utilities, **options)
        want = reference_gist.gist(rows, utilities, **options)
        assert bits(path.result(0, 0)) == bits(want)


@pytest.mark.parametrize("seed", range(15))
def test_pareto_is_what_nothing_dominates(seed):
    rng = np.random.default_rng([seed, 6])
    rows, utilities, options = problem(rng, 20, ("normal", "lattice")[seed % 2], "linear")
    del options["k"], options["lam"]
    path = gist_path(rows, utilities, k=[1, 2, 3, 6], lam=LAMS, **options)
    outcomes = set(zip(path.g.ravel().tolist(), path.div.ravel().tolist(), strict=True))
    undominated = {
        (g, div)
        for g, div in outcomes
        if not any(a >= g and b >= div and (a, b) != (g, div) for a, b in outcomes)
    }
    front = path.pareto()
    assert {(point.g, point.div) for point in front} == undominated
    assert len(front) == len(undominated)
    for point in front:
        cell = gist_select_full(rows, utilities, k=point.k, lam=point.lam, **options)
        assert (cell.g, cell.div) == (point.g, point.div)
        assert cell.selected.tolist() == point.selected.tolist()


def test_scalars_make_a_grid_of_one():
    path = gist_path([[0.0], [1.0], [3.0]], k=2, lam=1.0, metric="euclidean")
    assert path.f.shape == path.g.shape == path.stage.shape == (1, 1)
    assert path.k.tolist() == [2]
    assert path.lam.tolist() == [1.0]


@pytest.mark.parametrize("name", ["k", "lam"])
def test_an_empty_axis_is_refused(name):
    with pytest.raises(ValueError, match=name):
        gist_path([[0.0], [1.0]], **{"k": 1, "lam": 1.0, name: []})
