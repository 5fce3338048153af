"""Independent implementations agree: plain Python, divsel in Rust, and the package."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference_gist
from gist_instances import KINDS, bits, problem

from limbic.diversity import gist_select_full

divsel = pytest.importorskip("divsel", reason="needs the extra test (divsel)")

UTILITIES = ("linear", "coverage", "facility_location")


def divsel_answer(rows, utilities, options):
    found = divsel.gist_select_full(rows, utilities, **options)
    return SimpleNamespace(f=found.pop("f_value"), g=found.pop("g_value"), **found)


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_is_divsel(kind, utility):
    for seed in range(12):
        rng = np.random.default_rng([seed, *kind.encode(), *utility.encode()])
        rows, utilities, options = problem(rng, 10, kind, utility)
        want = bits(divsel_answer(rows, utilities, options))
        assert bits(reference_gist.gist(rows, utilities, **options)) == want, (seed, options)


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_package_is_divsel(kind, utility):
    for seed in range(60):
        rng = np.random.default_rng([seed, *kind.encode(), *utility.encode(), 1])
        rows, utilities, options = problem(rng, 60, kind, utility)
        options["exhaustive_thresholds"] &= len(rows) <= 25  # divsel runs every threshold
        want = bits(divsel_answer(rows, utilities, options))
        assert bits(gist_select_full(rows, utilities, **options)) == want, (seed, options)
