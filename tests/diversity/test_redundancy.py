"""The redundancy table of the benchmark is the one of the original package."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "compare" / "redundancy.py"


@pytest.fixture(scope="module")
def redundancy():
    if not SCRIPT.exists():
        pytest.skip("the benchmarks are not beside these tests")
    spec = importlib.util.spec_from_file_location("redundancy", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures(redundancy):
    rows = {row.way: row for row in redundancy.table()}
    assert len(rows) == 1 + len(redundancy.LAMS)
    for way in ("top 8", "lam 0", "lam 0.1", "lam 0.25", "lam 0.5"):
        row = rows[way]
        assert (round(row.redundancy, 4), row.topics, row.characters) == (0.9794, 2, 648)
        assert round(row.facts_per_1000_characters, 3) == 3.086
    for way in ("lam 1", "lam 2", "lam 4", "lam 8"):
        row = rows[way]
        assert (round(row.redundancy, 4), row.topics, row.characters) == (0.1387, 8, 648)
        assert round(row.facts_per_1000_characters, 3) == 12.346


def test_corpus(redundancy):
    memories = redundancy.corpus()
    assert len(memories) == 60
    scores = [memory.score for memory in memories]
    assert scores == sorted(scores, reverse=True)
    assert len({memory.content for memory in memories}) == 60


def test_stream_of_a_known_seed(redundancy):
    """The first numbers of mulberry32 seeded with 0, as a JavaScript engine gives them."""
    stream = redundancy.mulberry32(0)
    assert [int(next(stream) * 2**32) for _ in range(3)] == [1144304738, 1416247, 958946056]


def test_components(redundancy):
    import numpy as np

    joined = np.zeros((5, 5), dtype=bool)
    for a, b in ((0, 1), (1, 2), (3, 4)):
        joined[a, b] = joined[b, a] = True
    assert redundancy.count_components(joined) == 2
