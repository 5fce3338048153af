"""Retrieval: score every memory, keep the best, choose the ones that do not repeat each other.

Three properties carry the rest and each has a test of its own: diversity changes membership and
never order; a memory without a vector may take a slot that GIST left open; and what fills a slot
afterwards stays as far from the chosen ones as they are from each other, so that a result may be
shorter than `k`. A short result says that `lam` is high for this corpus; it is no fault.
"""

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from limbic.diversity import DiversityError, gist_select_full
from limbic.diversity._validation import as_points
from limbic.index import ChannelScores, MemoryIndex, Readable
from limbic.ranking import DEFAULT_HYBRID_WEIGHTS, HybridBreakdown, HybridScores, HybridWeights
from limbic.scoring import DEFAULT_WEIGHTS, ScoreBreakdown, ScoreQuery, ScoreWeights, cosine
from limbic.timestamps import Timestamp, as_utc, to_microseconds, utc_now
from limbic.types import Memory, SupportsFilters, Vector

__all__ = [
    "DEFAULT_LAMBDA",
    "DEFAULT_POOL",
    "Explanation",
    "LeftOut",
    "Ranking",
    "RetrieveOptions",
    "ScoredMemory",
    "diversify",
    "retrieve",
    "score_pool",
]

DEFAULT_LAMBDA = 0.5
"""Weight of the smallest pairwise distance against the sum of scores."""

DEFAULT_POOL = 50
"""How many of the best memories diversity chooses from."""

_EPS = 0.1

Mask = npt.NDArray[np.bool_]


Ranking = Literal["classic", "hybrid"]
"""The original package's formula, or the one that finds things: see `limbic.ranking`."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A better-scored memory that diversity left out, and how close it is to the one returned.

    Parameters
    ----------
    id : str
        The memory that was left out.
    score : float
        Its score.
    distance : float
        Its cosine distance from the returned memory that stands for it.
    """

    id: str
    score: float
    distance: float

    def __str__(self) -> str:
        return f"left out {self.id}, score {self.score:.3f}: {self.distance:.2f} from this one"


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a score came about, and whom the memory stands for.

    Parameters
    ----------
    channels : ScoreBreakdown or HybridBreakdown
        Every channel of the score.
    weights : ScoreWeights or HybridWeights
        What the channels were weighted with.
    left_out : tuple of LeftOut
        Memories that scored higher than the last one returned, and that diversity left out as too
        close to this one.
    """

    channels: ScoreBreakdown | HybridBreakdown
    weights: ScoreWeights | HybridWeights
    left_out: tuple[LeftOut, ...] = ()

    def recompute(self) -> float:
        """Return the score that the channels and weights make, to the last bit."""
        if isinstance(self.channels, HybridBreakdown):
            assert isinstance(self.weights, HybridWeights)
            return self.channels.recompute(self.weights)
        assert isinstance(self.weights, ScoreWeights)
        return self.channels.recompute(self.weights)


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory and how well it answers the query.

    Parameters
    ----------
    memory : Memory
        As the store holds it.
    score : float
        In [0, 1].
    explanation : Explanation, optional
        Only when asked for.
    """

    memory: Memory
    score: float
    explanation: Explanation | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveOptions:
    """What `retrieve` may be told beside the query and `k`.

    Parameters
    ----------
    ranking : {"classic", "hybrid"}, default="classic"
        The original package's formula, or evidence from words, vectors and neighbours.
    lam : float, default=DEFAULT_LAMBDA
        Weight of diversity, at least 0.
    pool : int, default=DEFAULT_POOL
        How many of the best memories diversity chooses from; never fewer than `k`.
    weights : ScoreWeights, optional
        Weights of the classic score.
    hybrid_weights : HybridWeights, optional
        Weights of the hybrid score.
    scan_limit : int, optional
        Score only the first so many memories in store order, as the original package does with
        200. None scores every memory.
    embedding_model : str, optional
        Model of the query's vector. Memories of another known model are scored without a cosine.
    user_id, agent_id, session_id : str, optional
        Only memories of this scope are seen at all.
    filter : mapping, optional
        Only memories that match are seen at all; see `limbic.filters`.
    as_of : datetime or str, optional
        Answer with what the store held then.
    include_superseded : bool, default=False
        Whether memories that a newer one has replaced are seen.
    explain : bool, default=False
        Whether each result carries an `Explanation`.

    Raises
    ------
    TypeError
        If `pool` or `scan_limit` is not an int.
    ValueError
        If `ranking` is unknown, `lam` is negative or not finite, `pool` is below 1, or
        `scan_limit` is negative.
    """

    ranking: Ranking = "classic"
    lam: float = DEFAULT_LAMBDA
    pool: int = DEFAULT_POOL
    weights: ScoreWeights = DEFAULT_WEIGHTS
    hybrid_weights: HybridWeights = DEFAULT_HYBRID_WEIGHTS
    scan_limit: int | None = None
    embedding_model: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    filter: Mapping[str, Any] | None = None
    as_of: Timestamp | None = None
    include_superseded: bool = False
    explain: bool = False

    def __post_init__(self) -> None:
        if self.ranking not in ("classic", "hybrid"):
            raise ValueError(f"ranking must be 'classic' or 'hybrid', got {self.ranking!r}")
        check_lam(self.lam)
        check_count(self.pool, "pool", 1)
        if self.scan_limit is not None:
            check_count(self.scan_limit, "scan_limit", 0)


def retrieve(
    source: Readable | MemoryIndex,
    query: str | ScoreQuery,
    k: int = 5,
    *,
    now: Timestamp | None = None,
    options: RetrieveOptions | None = None,
) -> list[ScoredMemory]:
    """Return up to `k` memories that answer a query and do not repeat each other.

    Parameters
    ----------
    source : MemoryStore or MemoryIndex
        Where the memories are. Hand over an index to keep its columns between calls.
    query : str or ScoreQuery
        What is asked; a `ScoreQuery` may carry a vector and a target emotion.
    k : int, default=5
        How many memories at most.
    now : datetime or str, optional
        The time of the question; `options.as_of`, or the time of the call, unless given. The same
        store, query and `now` give the same result.
    options : RetrieveOptions, optional
        Everything else.

    Returns
    -------
    list of ScoredMemory
        Best first. May be shorter than `k`, see `diversify`.

    Raises
    ------
    TypeError
        If `k` is not an int, or the store keeps no history or filters and one is asked for.
    ValueError
        If `k` is below 1.

    Examples
    --------
    >>> from limbic import Memory, MemStore
    >>> store = MemStore()
    >>> store.save(Memory("m1", "User's name is Ada"))
    >>> store.save(Memory("m2", "User is allergic to shellfish", importance=0.9))
    >>> [found.memory.id for found in retrieve(store, "which shellfish dishes?", k=1)]
    ['m2']
    """
    check_count(k, "k", 1)
    options = RetrieveOptions() if options is None else options
    pool = score_pool(source, query, now=now, options=options, at_least=k)
    return diversify(pool, k, lam=options.lam)


def score_pool(
    source: Readable | MemoryIndex,
    query: str | ScoreQuery,
    *,
    now: Timestamp | None = None,
    options: RetrieveOptions | None = None,
    at_least: int = 1,
) -> list[ScoredMemory]:
    """Return the best-scored memories, those that diversity chooses from.

    Parameters
    ----------
    source, query, now, options
        As for `retrieve`.
    at_least : int, default=1
        Size of the pool when `options.pool` is smaller.

    Returns
    -------
    list of ScoredMemory
        Score descending; equal scores in the order of the stores.

    Notes
    -----
    O(n * dim) array work and one read of the store a memory in the pool.
    """
    options = RetrieveOptions() if options is None else options
    query = ScoreQuery(query) if isinstance(query, str) else query
    index = source if isinstance(source, MemoryIndex) else MemoryIndex(source)
    asked_at = options.as_of if now is None else now
    moment = to_microseconds(utc_now() if asked_at is None else as_utc(asked_at, "now"))
    if options.as_of is not None:
        index = MemoryIndex(_Past(index.store, options.as_of, options.filter))
    with index.lock:
        if options.ranking == "hybrid":
            index.keep_lexical()
        index.refresh()
        mask = _visible(index, options)
        scores = _scores(index, query, moment, mask, options)
        rows = index.best(scores.final, max(options.pool, at_least), mask)
        ranked = [
            (
                index.ids[row],
                float(scores.final[row]),
                _explanation(scores.breakdown(row), options) if options.explain else None,
            )
            for row in rows
        ]
    pool = []
    for id, score, explanation in ranked:
        memory = index.store.get(id)
        if memory is not None:  # another process may have deleted it since
            pool.append(ScoredMemory(memory, score, explanation))
    return pool


def diversify(
    pool: Sequence[ScoredMemory], k: int, *, lam: float = DEFAULT_LAMBDA
) -> list[ScoredMemory]:
    """Choose up to `k` of a pool by score and mutual distance, and keep the order of the pool.

    Parameters
    ----------
    pool : sequence of ScoredMemory
        Best first, as `score_pool` gives it.
    k : int
        How many at most.
    lam : float, default=DEFAULT_LAMBDA
        Weight of the smallest pairwise distance; 0 chooses by score alone.

    Returns
    -------
    list of ScoredMemory
        A subsequence of `pool`. Shorter than `k` when the rest of the pool is closer to the
        chosen ones than they are to each other.

    Raises
    ------
    TypeError
        If `k` is not an int or `lam` not a number.
    ValueError
        If `k` is below 1, or `lam` is negative or not finite.

    Notes
    -----
    Memories with a vector go to `limbic.diversity.gist_select_full` (cosine distance, linear
    utility ``max(0, score)``, eps 0.1). If fewer than two have one, or their dimensions differ,
    or a vector has no direction, the result is the first `k` of the pool.
    """
    check_count(k, "k", 1)
    check_lam(lam)
    vectors = [found.memory.embedding for found in pool]
    kept = _diverse_places(vectors, [found.score for found in pool], k, lam)
    return [_with_left_out(pool, place, kept) for place in kept]


def _visible(index: MemoryIndex, options: RetrieveOptions) -> Mask:
    """Return the rows that pass every filter: what is not among them is not seen at all."""
    ids = None
    if options.filter is not None and options.as_of is None:
        if not isinstance(index.store, SupportsFilters):
            raise TypeError(f"{type(index.store).__name__} takes no filter: it has no ids()")
        ids = index.store.ids(options.filter, include_superseded=True)
    mask = index.visible(
        user_id=options.user_id,
        agent_id=options.agent_id,
        session_id=options.session_id,
        include_superseded=options.include_superseded,
        ids=ids,
    )
    return index.first(options.scan_limit, mask)


def _scores(
    index: MemoryIndex, query: ScoreQuery, now: int, mask: Mask, options: RetrieveOptions
) -> ChannelScores | HybridScores:
    if options.ranking == "hybrid":
        return HybridScores(
            index,
            query,
            now,
            mask,
            weights=options.hybrid_weights,
            embedding_model=options.embedding_model,
        )
    return index.channels(
        query, now, weights=options.weights, embedding_model=options.embedding_model
    )


def _explanation(
    channels: ScoreBreakdown | HybridBreakdown, options: RetrieveOptions
) -> Explanation:
    hybrid = isinstance(channels, HybridBreakdown)
    return Explanation(channels, options.hybrid_weights if hybrid else options.weights)


class _Past:
    """What a store held at a point in time, as an index reads it."""

    def __init__(self, store: object, as_of: Timestamp, filter: Mapping[str, Any] | None) -> None:
        if not isinstance(store, SupportsFilters):
            raise TypeError(f"{type(store).__name__} keeps no history: as_of needs versions_at()")
        held = store.versions_at(as_utc(as_of, "as_of"), filter)
        self._held = {memory.id: memory for memory in held}

    def get(self, id: str) -> Memory | None:
        return self._held.get(id)

    def all(self, limit: int = sys.maxsize) -> list[Memory]:
        return list(self._held.values())[:limit]


def _diverse_places(
    vectors: Sequence[Vector | None], scores: Sequence[float], k: int, lam: float
) -> list[int]:
    """Return the places in a pool, ascending, that diversity keeps; see `diversify`."""
    top = list(range(min(k, len(vectors))))
    embedded = [(place, one) for place, one in enumerate(vectors) if one is not None and one.size]
    if len(embedded) < 2 or len({one.size for _, one in embedded}) > 1:
        return top
    places = [place for place, _ in embedded]
    rows = np.array([one for _, one in embedded], dtype=np.float32)
    utilities = [max(0.0, scores[place]) for place in places]
    try:
        picked = gist_select_full(rows, utilities, k=k, lam=lam, eps=_EPS, metric="cosine")
    except DiversityError:
        return top
    points = as_points(rows, "cosine")
    column_of = {place: column for column, place in enumerate(places)}
    chosen = {places[column] for column in picked.selected}
    nearest = np.min([points.row(int(column)) for column in picked.selected], axis=0)
    for place in range(len(vectors)):
        if len(chosen) == k:
            break
        if place in chosen:
            continue
        column = column_of.get(place)
        if column is None:
            chosen.add(place)
        elif nearest[column] >= picked.div:
            chosen.add(place)
            nearest = np.minimum(nearest, points.row(column))
    return sorted(chosen)


def _with_left_out(pool: Sequence[ScoredMemory], place: int, kept: Sequence[int]) -> ScoredMemory:
    """Return a kept memory; if it is explained, with those left out that are nearest to it."""
    scored = pool[place]
    if scored.explanation is None:
        return scored
    left_out = []
    for other in sorted(set(range(kept[-1])) - set(kept)):
        distances = {one: _distance(pool[other].memory, pool[one].memory) for one in kept}
        known = {one: distance for one, distance in distances.items() if distance is not None}
        if known and min(known, key=lambda one: (known[one], one)) == place:
            left_out.append(LeftOut(pool[other].memory.id, pool[other].score, known[place]))
    return replace(scored, explanation=replace(scored.explanation, left_out=tuple(left_out)))


def _distance(a: Memory, b: Memory) -> float | None:
    similarity = cosine(a.embedding, b.embedding)
    return None if similarity is None else 1 - similarity


def check_count(value: object, name: str, minimum: int) -> None:
    """Raise unless a value is an int of at least `minimum`."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an int, got {value!r}")
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # NumPy integers are welcome
    except TypeError:
        raise TypeError(f"{name} must be an int, got {value!r}") from None
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {number}")


def check_lam(lam: object) -> None:
    """Raise unless a weight of diversity is a finite number, at least 0."""
    if isinstance(lam, bool) or not isinstance(lam, int | float | np.floating | np.integer):
        raise TypeError(f"lam must be a number, got {lam!r}")
    if not (math.isfinite(lam) and lam >= 0):
        raise ValueError(f"lam must be finite and at least 0, got {lam}")
