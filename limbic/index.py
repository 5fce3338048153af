"""Columns over a store, so that scoring every memory is array work and no loop over records.

`MemoryIndex` holds what the scores need, one array a channel: importance, last access, emotion,
keyword postings, one float32 matrix a model and dimension. A store that `SupportsChanges` is read
once and then asked what changed; any other store is read again on every `refresh`. Rows never
move: a changed memory is appended and its old row is marked dead, until the dead outnumber the
living and the columns are packed again.
"""

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from threading import RLock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from limbic.lexical import LexicalIndex, question_share
from limbic.neighbours import Neighbours
from limbic.scoring import (
    DEFAULT_WEIGHTS,
    EMBED_BLEND,
    RECENCY_HALF_LIFE_DAYS,
    ScoreBreakdown,
    ScoreQuery,
    ScoreWeights,
    emotion_score,
    vector_norm,
)
from limbic.text import memory_keywords
from limbic.timestamps import to_microseconds
from limbic.types import Memory, MemoryEmotion, StoreChanges, SupportsChanges, Vector

__all__ = ["ChannelScores", "MemoryIndex", "cosine_rows"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_MICROSECONDS_A_DAY = 86_400_000_000
_CHUNK_ROWS = 1024  # a float64 chunk of 1,024 x 384 stays within the second-level cache


@dataclass(frozen=True, slots=True)
class ChannelScores:
    """Every channel of the classic score for every row of an index, dead rows included.

    The same quantities as `limbic.scoring.ScoreBreakdown`, as columns; a missing cosine is NaN.
    """

    recency: Floats
    importance: Floats
    relevance: Floats
    emotion: Floats
    base: Floats
    cosine: Floats
    final: Floats

    def breakdown(self, row: int) -> ScoreBreakdown:
        """Return the channels of one row."""
        cosine = float(self.cosine[row])
        return ScoreBreakdown(
            float(self.recency[row]),
            float(self.importance[row]),
            float(self.relevance[row]),
            float(self.emotion[row]),
            float(self.base[row]),
            None if np.isnan(cosine) else cosine,
            float(self.final[row]),
        )


class Readable(Protocol):
    """The part of a store that an index reads."""

    def get(self, id: str) -> Memory | None:
        """Return the memory with this id, or None."""
        ...

    def all(self, limit: int = ...) -> list[Memory]:
        """Return the first `limit` memories."""
        ...


class MemoryIndex:
    """Numeric columns over the memories of a store, kept current by what the store reports.

    Parameters
    ----------
    store : Readable
        Where the memories are. With `SupportsChanges` only what changed is read on `refresh`.

    Notes
    -----
    Memory: about 100 bytes a row, its keywords' postings, and one float32 copy of each vector.
    A refresh costs time proportional to what changed; without `SupportsChanges`, to the store.
    Calls from several threads are serialised by `lock`, which a caller holds across a refresh and
    the reads that belong to it.

    Examples
    --------
    >>> from limbic import Memory, MemStore
    >>> store = MemStore()
    >>> store.save(Memory("m1", "User's name is Ada"))
    >>> index = MemoryIndex(store)
    >>> index.refresh()
    >>> index.count
    1
    """

    def __init__(self, store: Readable) -> None:
        self.store = store
        self.lock = RLock()
        self._revision: int | None = None
        self._keeps_lexical = False
        self._neighbours: Neighbours | None = None
        self._clear()

    @property
    def count(self) -> int:
        """How many memories the index holds."""
        return len(self._row_of)

    @property
    def size(self) -> int:
        """Length of every column: living and dead rows."""
        return len(self.ids)

    @property
    def alive(self) -> Mask:
        """Which rows are memories; the others are remains of changed or deleted ones."""
        return self._alive.view()

    def refresh(self) -> None:
        """Bring the columns up to what the store holds now."""
        with self.lock:
            if isinstance(self.store, SupportsChanges):
                changes = self.store.changes(self._revision)
            else:
                # Such a store cannot say what changed, so nothing known before can be trusted.
                changes = StoreChanges(0, True, self.store.all(limit=sys.maxsize), [])
            self._apply(changes)

    def keep_lexical(self) -> None:
        """Keep the lexical columns too, from now on; they are read from the store once."""
        with self.lock:
            if not self._keeps_lexical:
                self._keeps_lexical = True
                self._revision = None
                self._clear()

    @property
    def importance(self) -> Floats:
        """Importance of every row."""
        return self._importance.view()

    @property
    def question_share(self) -> Floats:
        """Share of each row's content that is questions; kept with the lexical columns."""
        return self._question_share.view()

    def neighbours(self) -> Neighbours:
        """Return who lends to whom, found again when the store has changed."""
        if self._neighbours is None:
            self._neighbours = Neighbours.of(
                np.flatnonzero(self.alive),
                self._conversation.view(),
                self._position.view(),
                self._created.view(),
                self.ids,
            )
        return self._neighbours

    def visible(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        include_superseded: bool = False,
        ids: Iterable[str] | None = None,
    ) -> Mask:
        """Return which rows may be returned.

        Parameters
        ----------
        user_id, agent_id, session_id : str, optional
            Scopes; None does not restrict.
        include_superseded : bool, default=False
            Whether memories that a newer one has replaced are among them.
        ids : iterable of str, optional
            Only these memories.
        """
        mask = self.alive.copy()
        if not include_superseded:
            mask &= ~self._superseded.view()
        for scope, value in zip(self._scopes, (user_id, agent_id, session_id), strict=True):
            if value is not None:
                mask &= scope.equal(value)
        if ids is not None:
            listed = np.zeros(self.size, dtype=np.bool_)
            listed[self.rows(ids)] = True
            mask &= listed
        return mask

    def row(self, id: str) -> int | None:
        """Return the row of a memory, or None if the index does not hold it."""
        return self._row_of.get(id)

    def rows(self, ids: Iterable[str]) -> Rows:
        """Return the rows of those of the ids that the index holds."""
        known = (self._row_of.get(id) for id in ids)
        return np.array([row for row in known if row is not None], dtype=np.int64)

    def vector(self, row: int) -> tuple[str | None, Vector] | None:
        """Return the model and the vector of a row, or None if it has no vector."""
        place = self._vector_place.get(row)
        if place is None:
            return None
        block, position = place
        return block.model, block.matrix[position]

    def channels(
        self,
        query: ScoreQuery,
        now: int,
        *,
        weights: ScoreWeights = DEFAULT_WEIGHTS,
        embedding_model: str | None = None,
    ) -> ChannelScores:
        """Score every row by the classic formula.

        Parameters
        ----------
        query : ScoreQuery
            What is asked.
        now : int
            The time of the question, in microseconds since 1970-01-01 UTC.
        weights : ScoreWeights, optional
            Weights of the four channels.
        embedding_model : str, optional
            Model of the query's vector. A row whose model is known and another has no cosine.

        Returns
        -------
        ChannelScores
            The numbers that `limbic.score_memory_detailed` gives for each memory, as columns.

        Notes
        -----
        O(n * dim) for the cosine, O(n) for the rest plus the postings of the query's keywords.
        """
        recency = self.recency(now)
        importance = self._importance.view()
        relevance = self.relevance(query.keywords)
        emotion = self.emotion(query.target_emotion)
        base = np.clip(
            weights.recency * recency
            + weights.importance * importance
            + weights.relevance * relevance
            + weights.emotion * emotion,
            0.0,
            1.0,
        )
        cosine = self.cosine(query.embedding, embedding_model)
        blended = (1 - EMBED_BLEND) * base + EMBED_BLEND * np.maximum(0.0, cosine)
        final = np.where(np.isnan(cosine), base, np.clip(blended, 0.0, 1.0))
        return ChannelScores(recency, importance, relevance, emotion, base, cosine, final)

    def recency(self, now: int) -> Floats:
        """Return 0.5 ** (days since the last access / half-life) for every row."""
        days = np.maximum(0, now - self._accessed.view()) / _MICROSECONDS_A_DAY
        return np.asarray(np.power(0.5, days / RECENCY_HALF_LIFE_DAYS), dtype=np.float64)

    def relevance(self, keywords: frozenset[str]) -> Floats:
        """Return the Jaccard similarity of the keywords and each row's own."""
        if not keywords:
            return np.zeros(self.size)
        shared = np.zeros(self.size, dtype=np.int64)
        for keyword in keywords:
            posting = self._postings.get(keyword)
            if posting is not None:
                shared[np.frombuffer(posting, dtype=np.intc)] += 1
        # A row without keywords shares none, so the union is never 0.
        union = len(keywords) + self._keyword_count.view() - shared
        return np.asarray(shared / union, dtype=np.float64)

    def emotion(self, target: str | None) -> Floats:
        """Return the emotion channel of every row."""
        own = self._emotion.view()
        if target is None:
            return own
        # What a label adds is what it scores alone, at no intensity and in no category.
        gains = np.array(
            [emotion_score(MemoryEmotion(label), "general", target) for label in self._labels]
            + [0.0]  # code -1: no label
        )
        return np.asarray(np.minimum(1.0, own + gains[self._label_code.view()]), dtype=np.float64)

    def cosine(self, embedding: npt.ArrayLike | None, model: str | None) -> Floats:
        """Return the cosine of a vector and each row's, NaN where the two cannot be compared."""
        result = np.full(self.size, np.nan)
        if embedding is None:
            return result
        vector = np.asarray(embedding, dtype=np.float64)
        for block in self._blocks.values():
            if block.matches(model, vector.size):
                result[block.rows] = cosine_rows(block.matrix, block.norms, vector)
        return result

    def best(self, scores: Floats, limit: int, mask: Mask) -> list[int]:
        """Return the best rows under a mask: score descending, then the order of the stores."""
        rows = np.flatnonzero(mask)
        if 0 < limit < rows.size:
            # Everything that can be among the first: ties with the last place stay in.
            rows = rows[scores[rows] >= -np.partition(-scores[rows], limit - 1)[limit - 1]]
        importance, accessed = self._importance.view(), self._accessed.view()

        def place(row: int) -> tuple[float, float, int, str]:
            return -scores[row], -importance[row], -accessed[row], self.ids[row]

        return sorted(rows.tolist(), key=place)[:limit]

    def first(self, limit: int | None, mask: Mask) -> Mask:
        """Return a mask of the first `limit` rows of another in store order; None is all."""
        if limit is None or limit >= np.count_nonzero(mask):
            return mask
        scanned = np.zeros(self.size, dtype=np.bool_)
        scanned[self.best(self._importance.view(), limit, mask)] = True
        return scanned

    def _clear(self) -> None:
        self.ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._alive = _Column(np.bool_)
        self._importance = _Column(np.float64)
        self._accessed = _Column(np.int64)
        self._emotion = _Column(np.float64)
        self._label_code = _Column(np.int64)
        self._keyword_count = _Column(np.int64)
        self._labels: dict[str, int] = {}
        self._postings: dict[str, array[int]] = {}
        self._blocks: dict[tuple[str | None, int], _VectorBlock] = {}
        self._vector_place: dict[int, tuple[_VectorBlock, int]] = {}
        self._superseded = _Column(np.bool_)
        self._scopes = (_Codes(), _Codes(), _Codes())
        self._conversations: dict[tuple[str | None, ...], int] = {}
        self._conversation = _Column(np.int64)
        self._position = _Column(np.int64)
        self._created = _Column(np.int64)
        self._neighbours = None
        self.lexical = LexicalIndex()
        self._question_share = _Column(np.float64)

    def _apply(self, changes: StoreChanges) -> None:
        if changes.complete:
            self._clear()
        if changes.saved or changes.deleted:
            self._neighbours = None
        for id in changes.deleted:
            self._drop(id)
        for memory in changes.saved:
            self._drop(memory.id)
            self._append(memory)
        self._revision = changes.revision
        if self.size > 1024 and self.count * 2 < self.size:
            self._revision = None  # more dead rows than living ones: read everything once
            self.refresh()

    def _drop(self, id: str) -> None:
        row = self._row_of.pop(id, None)
        if row is not None:
            self._alive.data[row] = False

    def _append(self, memory: Memory) -> None:
        row = len(self.ids)
        self.ids.append(memory.id)
        self._row_of[memory.id] = row
        self._alive.append(True)
        self._importance.append(memory.importance)
        self._accessed.append(to_microseconds(memory.last_accessed))
        self._emotion.append(emotion_score(memory.emotion, memory.category, None))
        label = None if memory.emotion is None else memory.emotion.label
        code = -1 if label is None else self._labels.setdefault(label, len(self._labels))
        self._label_code.append(code)
        keywords = memory_keywords(memory)
        self._keyword_count.append(len(keywords))
        for keyword in keywords:
            self._postings.setdefault(keyword, array("i")).append(row)
        self._append_scopes(memory)
        if self._keeps_lexical:
            self.lexical.append(row, memory)
            self._question_share.append(question_share(memory.content))
        if memory.embedding is not None and memory.embedding.size:
            self._append_vector(row, memory.embedding_model, memory.embedding)

    def _append_scopes(self, memory: Memory) -> None:
        scopes = (memory.user_id, memory.agent_id, memory.session_id)
        for codes, value in zip(self._scopes, scopes, strict=True):
            codes.append(value)
        code = -1
        if memory.session_id is not None:
            code = self._conversations.setdefault(scopes, len(self._conversations))
        self._conversation.append(code)
        self._position.append(-1 if memory.position is None else memory.position)
        self._created.append(to_microseconds(memory.created_at))
        self._superseded.append(memory.superseded_by is not None)

    def _append_vector(self, row: int, model: str | None, vector: Vector) -> None:
        key = (model, vector.size)
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = _VectorBlock(model, vector.size)
        self._vector_place[row] = (block, block.append(row, vector))


def cosine_rows(
    matrix: npt.NDArray[np.float32], norms: Floats, vector: npt.NDArray[np.float64]
) -> Floats:
    """Return the float64 cosine of a vector and every row, NaN where either has no direction.

    Parameters
    ----------
    matrix : ndarray of shape (n, dim)
        The rows.
    norms : ndarray of shape (n,)
        Euclidean norms of the rows in float64, NaN for a row that is zero or not finite.
    vector : ndarray of shape (dim,)
        What they are compared with.

    Notes
    -----
    Each row is reduced by itself and always in the same order, so equal rows give equal bits
    wherever they sit; a matrix product does not promise that.
    """
    result = np.full(len(matrix), np.nan)
    norm = vector_norm(vector)
    if np.isnan(norm):
        return result
    products = np.empty((min(_CHUNK_ROWS, len(matrix)), vector.size))
    for start in range(0, len(matrix), _CHUNK_ROWS):
        chunk = matrix[start : start + _CHUNK_ROWS]
        terms = np.multiply(chunk, vector, out=products[: len(chunk)])
        np.sum(terms, axis=1, out=result[start : start + len(chunk)])
    result /= norms * norm
    return np.clip(result, -1.0, 1.0, out=result)


class _Column:
    """An array that grows at its end; `view` shows the part in use."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.data: npt.NDArray[Any] = np.empty(16, dtype=dtype)
        self._used = 0

    def append(self, value: float) -> None:
        if self._used == len(self.data):
            self.data = np.resize(self.data, 2 * len(self.data))
        self.data[self._used] = value
        self._used += 1

    def view(self) -> npt.NDArray[Any]:
        return self.data[: self._used]


class _Codes:
    """A column of texts, each as a small number."""

    def __init__(self) -> None:
        self._code_of: dict[str | None, int] = {}
        self._codes = _Column(np.int64)

    def append(self, value: str | None) -> None:
        self._codes.append(self._code_of.setdefault(value, len(self._code_of)))

    def equal(self, value: str) -> Mask:
        return np.asarray(self._codes.view() == self._code_of.get(value, -1))


class _VectorBlock:
    """The vectors of one model and dimension, as one matrix that grows at its end."""

    def __init__(self, model: str | None, dim: int) -> None:
        self.model = model
        self._data = np.empty((16, dim), dtype=np.float32)
        self._rows = _Column(np.int64)
        self._norms = _Column(np.float64)

    @property
    def rows(self) -> Rows:
        return self._rows.view()

    @property
    def norms(self) -> Floats:
        return self._norms.view()

    @property
    def matrix(self) -> npt.NDArray[np.float32]:
        return self._data[: len(self.rows)]

    def matches(self, model: str | None, dim: int) -> bool:
        """Tell whether a vector can be compared; a model that is not known is taken to be it."""
        known = model is not None and self.model is not None
        return self._data.shape[1] == dim and not (known and model != self.model)

    def append(self, row: int, vector: Vector) -> int:
        position = len(self.rows)
        if position == len(self._data):
            grown = np.empty((2 * position, self._data.shape[1]), dtype=np.float32)
            grown[:position] = self._data
            self._data = grown
        self._data[position] = vector
        self._rows.append(row)
        self._norms.append(vector_norm(np.asarray(vector, dtype=np.float64)))
        return position
