"""Strength and the pass that deletes what has faded."""

from datetime import UTC, datetime, timedelta

import pytest

from limbic import FADE_THRESHOLD, DecayReport, Memory, MemStore, calculate_decay, decay_pass
from limbic.decay import CATEGORY_HALF_LIFE_DAYS
from limbic.types import DecayCandidate

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)


def strength(days, category="work", importance=0.5, accesses=0):
    return calculate_decay(
        original_strength=1.0,
        days_since_creation=9999,
        days_since_access=days,
        importance=importance,
        category=category,
        access_count=accesses,
    )


@pytest.mark.parametrize(("category", "half_life"), [*CATEGORY_HALF_LIFE_DAYS.items(), ("odd", 60)])
def test_at_its_own_half_life(category, half_life):
    assert strength(half_life, category) == 0.467


@pytest.mark.parametrize(
    ("days", "importance", "accesses", "expected"),
    [
        (30, 0.5, 1, 0.52),
        (30, 0.5, 2, 0.564),
        (30, 0.5, 5, 0.66),
        (30, 0.5, 10, 0.751),
        (30, 0.5, 50, 0.922),
        (30, 0.0, 0, 0.5),
        (30, 0.1, 0, 0.5),
        (30, 0.2, 0, 0.406),
        (30, 0.3, 0, 0.406),
        (30, 0.6, 0, 0.536),
        (30, 0.7, 0, 0.536),
        (30, 0.8, 0, 0.616),
        (30, 0.9, 0, 0.616),
        (30, 1.0, 0, 0.707),
        (120, 0.1, 0, 0.062),  # 0.0625: half to even
        (150, 0.1, 0, 0.031),
        (3650, 1.0, 0, 0.3),
        (3650, 0.8, 0, 0.3),
        (3650, 0.7, 0, 0.1),
        (3650, 0.6, 0, 0.1),
        (3650, 0.59, 0, 0.0),
    ],
)
def test_work_figures(days, importance, accesses, expected):
    assert strength(days, "work", importance, accesses) == expected


def test_days_may_be_fractions():
    assert strength(3.5, "emotion") == 0.915


def aged(id, days, **fields):
    return Memory(
        id, "text", created_at=NOW - timedelta(days=days), **{"category": "work"} | fields
    )


class Foreign:
    """A store that cannot stream columns."""

    def __init__(self, inner):
        self.all, self.delete, self.get = inner.all, inner.delete, inner.get


@pytest.mark.parametrize("wrap", [lambda store: store, Foreign], ids=["columns", "rows"])
def test_pass_deletes_what_is_below_the_threshold(wrap):
    store = MemStore()
    store.save(aged("kept", 130, importance=0.1))  # 0.0496, rounded to 0.05
    store.save(aged("part of a day", 130.9, importance=0.1))  # whole days, rounded down
    store.save(aged("faded", 131, importance=0.1))  # 0.0485
    store.save(aged("ahead", -5, importance=0.1))
    store.save(aged("floor", 9999, importance=0.6))
    assert strength(131, importance=0.1) < FADE_THRESHOLD <= strength(130, importance=0.1)
    assert decay_pass(wrap(store), NOW) == DecayReport(decayed=4, faded=1)
    assert store.get("faded") is None
    assert decay_pass(store, NOW) == DecayReport(decayed=4, faded=0)


def test_an_unreadable_timestamp_counts_as_now():
    class Broken(MemStore):
        def decay_candidates(self):
            yield DecayCandidate("m", "work", 0.1, None, None, 0)

    store = Broken()
    store.save(aged("m", 9999, importance=0.1))
    assert decay_pass(store, NOW) == DecayReport(decayed=1, faded=0)
    assert store.count() == 1
