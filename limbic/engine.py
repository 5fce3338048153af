"""The engine: one object that remembers, retrieves and forgets over a store."""

import itertools
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from limbic.decay import DecayReport, decay_pass
from limbic.errors import EmbedderUnavailableError
from limbic.index import MemoryIndex
from limbic.ranking import DEFAULT_HYBRID_WEIGHTS, HybridWeights
from limbic.retrieval import (
    DEFAULT_LAMBDA,
    DEFAULT_POOL,
    Ranking,
    RetrieveOptions,
    ScoredMemory,
    check_count,
    retrieve,
)
from limbic.scoring import DEFAULT_WEIGHTS, ScoreQuery, ScoreWeights
from limbic.stores import MemStore
from limbic.timestamps import Timestamp, as_utc, utc_now
from limbic.types import Embedder, Memory, MemoryEmotion, MemoryStore, Subject, Vector, as_vector

__all__ = ["Limbic", "MemoryFields", "create_limbic"]

_log = logging.getLogger(__name__)


class MemoryFields(TypedDict, total=False):
    """The fields of `Memory` that `Limbic.remember` takes beside the content."""

    category: str
    importance: float
    keywords: list[str]
    source_message_id: str | None
    created_at: Timestamp
    last_accessed: Timestamp
    access_count: int
    subject: Subject
    feeling: str | None
    emotion: MemoryEmotion | None
    embedding: Any
    embedding_model: str | None
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    position: int | None
    metadata: dict[str, Any]
    supersedes: str | None


class RetrieveFields(TypedDict, total=False):
    """What `Limbic.retrieve` takes beside the query and `k`: see `RetrieveOptions`."""

    ranking: Ranking
    lam: float
    pool: int
    weights: ScoreWeights
    hybrid_weights: HybridWeights
    scan_limit: int | None
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    filter: Mapping[str, Any] | None
    as_of: Timestamp | None
    include_superseded: bool
    explain: bool


def create_limbic(
    *,
    store: MemoryStore | None = None,
    embedder: Embedder | None = None,
    complete: Callable[..., Any] | None = None,
    weights: ScoreWeights = DEFAULT_WEIGHTS,
    lam: float = DEFAULT_LAMBDA,
    pool: int = DEFAULT_POOL,
    ranking: Ranking = "classic",
    hybrid_weights: HybridWeights = DEFAULT_HYBRID_WEIGHTS,
    scan_limit: int | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> "Limbic":
    """Return an engine over a store.

    Parameters
    ----------
    store : MemoryStore, optional
        Where the memories are; a new `MemStore` unless given. The engine closes it.
    embedder : Embedder, optional
        What turns texts into vectors. Without one memories are scored by the other channels, and
        diversity sees only vectors that the caller gives. The engine closes it.
    complete : callable, optional
        ``(prompt, *, max_tokens, temperature) -> str``, the language model that `Limbic.extract`
        asks.
    weights : ScoreWeights, optional
        Weights of the classic score.
    lam, pool, ranking, hybrid_weights, scan_limit : optional
        Defaults of `Limbic.retrieve`; see `RetrieveOptions`.
    user_id, agent_id, session_id : str, optional
        Scopes of everything that the engine writes and sees, unless a call names its own.
    now : callable, optional
        The clock. Everything that reads the time reads it here.

    Returns
    -------
    Limbic

    Examples
    --------
    >>> from limbic import create_limbic
    >>> with create_limbic() as engine:
    ...     name = engine.remember(
    ...         "User's name is Ada", category="personal_fact", importance=0.9
    ...     )
    ...     allergy = engine.remember(
    ...         "User is allergic to shellfish", category="health", importance=0.95
    ...     )
    ...     found = engine.retrieve("what should I avoid cooking?")
    >>> [(item.memory.content, round(item.score, 4)) for item in found]
    [('User is allergic to shellfish', 0.5825), ("User's name is Ada", 0.565)]
    """
    options = RetrieveOptions(
        ranking=ranking,
        lam=lam,
        pool=pool,
        weights=weights,
        hybrid_weights=hybrid_weights,
        scan_limit=scan_limit,
        user_id=user_id,
        agent_id=agent_id,
        session_id=session_id,
    )
    store = MemStore() if store is None else store
    return Limbic(store, embedder=embedder, complete=complete, options=options, now=now)


class Limbic:
    """A memory over a store: `create_limbic` makes one.

    Parameters
    ----------
    store : MemoryStore
        Where the memories are.
    embedder : Embedder, optional
        What turns texts into vectors.
    complete : callable, optional
        The language model that `extract` asks.
    options : RetrieveOptions, optional
        What `retrieve` does unless told otherwise.
    now : callable, optional
        The clock.

    Attributes
    ----------
    store : MemoryStore
        As given.
    embedder_failure : Exception or None
        Why the last call of the embedder gave no vector; None when it gave one.
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        embedder: Embedder | None = None,
        complete: Callable[..., Any] | None = None,
        options: RetrieveOptions | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.store = store
        self.embedder_failure: Exception | None = None
        self._embedder = embedder
        self._complete = complete
        self._options = RetrieveOptions() if options is None else options
        self._now = now
        self._index = MemoryIndex(store)
        self._name = secrets.token_hex(4)
        self._sequence = itertools.count(1)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and the embedder; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            _close(self.store)
        finally:
            _close(self._embedder)

    def remember(self, content: str, **fields: Unpack[MemoryFields]) -> Memory:
        """Write one memory and return it.

        Parameters
        ----------
        content : str
            The text, not blank.
        **fields
            Fields of `Memory`: category, importance, keywords, emotion, session_id, ...
            `embedding` is used as given; otherwise the engine's embedder makes it.

        Returns
        -------
        Memory
            As stored. Its `embedding` is None when there is no embedder or the embedder gave no
            vector; the reason is logged and kept in `embedder_failure`.

        Raises
        ------
        TypeError, ValueError
            If the content is blank, the importance lies outside [0, 1], a vector is zero or not
            finite, or a field is not what `Memory` takes. Nothing is written then.

        Examples
        --------
        >>> from limbic import create_limbic
        >>> create_limbic().remember("User likes jazz", category="preference").category
        'preference'
        """
        memory = self._checked(content, fields)
        if memory.embedding is None and self._embedder is not None:
            vector = self._embedded(memory.content)
            if vector is not None:
                memory = replace(memory, embedding=vector, embedding_model=self._embedder.model)
        self.store.save(memory)
        return memory

    def retrieve(
        self,
        query: str,
        k: int = 5,
        *,
        now: Timestamp | None = None,
        target_emotion: str | None = None,
        **options: Unpack[RetrieveFields],
    ) -> list[ScoredMemory]:
        """Return up to `k` memories that answer a query and do not repeat each other.

        Parameters
        ----------
        query : str
            What is asked.
        k : int, default=5
            How many memories at most.
        now : datetime or str, optional
            The time of the question; the engine's clock unless given.
        target_emotion : str, optional
            Memories of this emotion, or of its family, score higher.
        **options
            Fields of `RetrieveOptions` that differ from what `create_limbic` was given.

        Returns
        -------
        list of ScoredMemory
            Best first; see `limbic.retrieve`. Reading changes nothing in the store.

        Raises
        ------
        TypeError
            If `k` is not an int.
        ValueError
            If `k` is below 1, or an option is out of its range.
        """
        check_count(k, "k", 1)
        chosen = replace(self._options, **options)
        moment = now if now is not None else chosen.as_of or self._now()
        vector = None if self._embedder is None else self._embedded(query)
        if vector is not None and self._embedder is not None:
            chosen = replace(chosen, embedding_model=self._embedder.model)
        asked = ScoreQuery(query, embedding=vector, target_emotion=target_emotion)
        return retrieve(self._index, asked, k, now=moment, options=chosen)

    def decay_pass(self, now: Timestamp | None = None) -> DecayReport:
        """Forget what has faded: see `limbic.decay_pass`.

        Parameters
        ----------
        now : datetime or str, optional
            The time of the pass; the engine's clock unless given.

        Returns
        -------
        DecayReport
            How many memories were kept and how many deleted.
        """
        return decay_pass(self.store, self._now() if now is None else as_utc(now, "now"))

    def _checked(self, content: str, fields: MemoryFields) -> Memory:
        if not isinstance(content, str):
            raise TypeError(f"content must be a string, got {type(content).__name__}: {content!r}")
        if not content.strip():
            raise ValueError(f"content must not be blank, got {content!r}")
        unknown = fields.keys() - MemoryFields.__annotations__.keys()
        if unknown:
            raise TypeError(
                f"remember() takes no {sorted(unknown)[0]!r}; fields are "
                + ", ".join(MemoryFields.__annotations__)
            )
        # The engine's scopes and clock, unless the caller names others.
        given: MemoryFields = {
            "created_at": self._now(),
            "user_id": self._options.user_id,
            "agent_id": self._options.agent_id,
            "session_id": self._options.session_id,
            **fields,
        }
        memory = Memory(self._new_id(), content, **given)  # type: ignore[arg-type]
        if not 0 <= memory.importance <= 1:
            raise ValueError(f"importance must lie in [0, 1], got {memory.importance}")
        if memory.embedding is not None:
            _check_direction(memory.embedding)
        return memory

    def _new_id(self) -> str:
        while True:
            id = f"mem_{self._name}_{next(self._sequence):06d}"
            # Another engine may have drawn the same name; saving over its memory would lose it.
            if self.store.get(id) is None:
                return id

    def _embedded(self, text: str) -> Vector | None:
        """Return the vector of a text, or None with the reason logged and kept."""
        assert self._embedder is not None
        try:
            vectors = self._embedder.embed([text])
            vector = _only(vectors)
            _check_direction(vector)
        except Exception as error:  # noqa: BLE001 - whatever fails costs the vector alone
            self.embedder_failure = error
            _log.warning("no vector from %s: %s", self._embedder.model, error)
            return None
        self.embedder_failure = None
        return vector


def _only(vectors: Any) -> Vector:
    """Return the one vector that an embedder gave for one text."""
    if len(vectors) != 1:
        raise EmbedderUnavailableError(f"one text was asked for, {len(vectors)} vectors came back")
    return as_vector(vectors[0])


def _check_direction(vector: Vector) -> None:
    """Raise unless a vector can be compared with others."""
    if not vector.size:
        raise ValueError("embedding must not be empty")
    if not np.isfinite(vector).all():
        raise ValueError("embedding must be finite, got a NaN or an infinity in it")
    if not vector.any():
        raise ValueError("embedding must not be all zeros: it has no direction")


def _close(resource: object) -> None:
    close = getattr(resource, "close", None)
    if callable(close):
        close()
