"""Forgetting: how strong a memory still is, and the pass that deletes what has faded.

Strength halves over a half-life that depends on the category, grows with every reinforcement, and
is shortened or stretched by importance. Nothing schedules a pass, and nothing but an explicit
`update_access` of the store reinforces a memory.
"""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from limbic.timestamps import Timestamp, as_utc, utc_now
from limbic.types import DecayCandidate, Memory, MemoryStore, SupportsDecayCandidates

__all__ = [
    "ACCESS_REINFORCEMENT_DAYS",
    "CATEGORY_HALF_LIFE_DAYS",
    "DEFAULT_HALF_LIFE_DAYS",
    "FADE_THRESHOLD",
    "IMPORTANCE_DECAY_FACTOR",
    "STRENGTH_FLOOR_HIGH",
    "STRENGTH_FLOOR_MEDIUM",
    "DecayReport",
    "calculate_decay",
    "decay_pass",
]

CATEGORY_HALF_LIFE_DAYS: dict[str, int] = {
    "personal_fact": 180,
    "preference": 90,
    "relationship": 365,
    "experience": 60,
    "emotion": 30,
    "interest": 45,
    "work": 30,
    "health": 60,
}
"""Days after which a memory of a category has halved, at factor 1 and without reinforcement."""

DEFAULT_HALF_LIFE_DAYS = 60
"""The half-life of every other category."""

ACCESS_REINFORCEMENT_DAYS = 5
"""What one access adds to the half-life."""

IMPORTANCE_DECAY_FACTOR: tuple[tuple[float, float], ...] = (
    (1.0, 0.5),
    (0.8, 0.7),
    (0.6, 0.9),
    (0.4, 1.1),
    (0.2, 1.3),
)
"""Pairs (importance from which it holds, factor that divides the half-life); below all: 1."""

STRENGTH_FLOOR_HIGH = 0.3
"""What the strength never falls below from importance 0.8 on."""

STRENGTH_FLOOR_MEDIUM = 0.1
"""What the strength never falls below from importance 0.6 on."""

FADE_THRESHOLD = 0.05
"""A memory weaker than this is deleted by `decay_pass`."""

_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class DecayReport:
    """What a decay pass did.

    Parameters
    ----------
    decayed : int
        Memories that were looked at and kept.
    faded : int
        Memories that were deleted.
    """

    decayed: int
    faded: int


def calculate_decay(
    *,
    original_strength: float,
    days_since_creation: float,
    days_since_access: float,
    importance: float,
    category: str,
    access_count: int,
) -> float:
    """Return the strength that is left.

    Parameters
    ----------
    original_strength : float
        Strength at the last access, usually 1.
    days_since_creation : float
        Not used: a memory decays from its last access. Kept so that callers of the original
        package find the arguments they know.
    days_since_access : float
        Days since the last access.
    importance : float
        Importance of the memory.
    category : str
        Its category; an unknown one decays by `DEFAULT_HALF_LIFE_DAYS`.
    access_count : int
        How often it was reinforced.

    Returns
    -------
    float
        Rounded to three decimals, half to even.

    Examples
    --------
    >>> calculate_decay(original_strength=1.0, days_since_creation=30, days_since_access=30,
    ...                 importance=0.5, category="work", access_count=2)
    0.564
    """
    half_life = CATEGORY_HALF_LIFE_DAYS.get(category, DEFAULT_HALF_LIFE_DAYS)
    half_life += ACCESS_REINFORCEMENT_DAYS * access_count
    halvings = days_since_access / (half_life / _factor(importance))
    strength = original_strength * math.pow(0.5, halvings)
    if importance >= 0.8:
        strength = max(strength, STRENGTH_FLOOR_HIGH)
    elif importance >= 0.6:
        strength = max(strength, STRENGTH_FLOOR_MEDIUM)
    return round(strength, _DECIMALS)


def decay_pass(store: MemoryStore, now: Timestamp | None = None) -> DecayReport:
    """Delete the memories that have faded below `FADE_THRESHOLD`.

    Parameters
    ----------
    store : MemoryStore
        With `SupportsDecayCandidates` only the columns that decay needs are read.
    now : datetime or str, optional
        The time of the pass; the time of the call unless given.

    Returns
    -------
    DecayReport

    Notes
    -----
    Days are whole, rounded down, and never negative. A timestamp that cannot be read counts as
    now, so that the row is kept.

    Examples
    --------
    >>> from limbic import MemStore
    >>> store = MemStore()
    >>> store.save(Memory("m1", "Standup at nine", category="work", importance=0.1,
    ...                   created_at="2026-01-01"))
    >>> decay_pass(store, "2026-06-01")
    DecayReport(decayed=0, faded=1)
    """
    moment = utc_now() if now is None else as_utc(now, "now")
    kept = faded = 0
    for row in _candidates(store):
        if _strength(row, moment) < FADE_THRESHOLD:
            store.delete(row.id)
            faded += 1
        else:
            kept += 1
    return DecayReport(decayed=kept, faded=faded)


def _candidates(store: MemoryStore) -> Iterable[DecayCandidate | Memory]:
    if isinstance(store, SupportsDecayCandidates):
        return store.decay_candidates()
    return store.all(limit=sys.maxsize)


def _strength(row: DecayCandidate | Memory, now: datetime) -> float:
    return calculate_decay(
        original_strength=1.0,
        days_since_creation=_whole_days(row.created_at, now),
        days_since_access=_whole_days(row.last_accessed, now),
        importance=row.importance,
        category=row.category,
        access_count=row.access_count,
    )


def _whole_days(since: datetime | None, now: datetime) -> int:
    return 0 if since is None else max(0, (now - since) // timedelta(days=1))


def _factor(importance: float) -> float:
    for least, factor in IMPORTANCE_DECAY_FACTOR:
        if importance >= least:
            return factor
    return 1.0
