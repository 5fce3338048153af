"""The records that limbic keeps, and the interfaces that others may implement."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from limbic.timestamps import Timestamp, as_utc, utc_now

__all__ = [
    "DEFAULT_ALL_LIMIT",
    "MEMORY_CATEGORIES",
    "DecayCandidate",
    "Embedder",
    "Memory",
    "MemoryCategory",
    "MemoryEmotion",
    "MemoryStore",
    "StoreChanges",
    "Subject",
    "SupportsChanges",
    "SupportsDecayCandidates",
    "SupportsFilters",
    "Vector",
]

Vector: TypeAlias = npt.NDArray[np.float32]

Subject: TypeAlias = Literal["user", "persona"]
"""Whom a memory is about: the person talking, or the agent itself."""

MemoryCategory: TypeAlias = str
"""One of `MEMORY_CATEGORIES`; an unknown one is kept as given and decays like ``general``."""

MEMORY_CATEGORIES: tuple[MemoryCategory, ...] = (
    "personal_fact",
    "preference",
    "relationship",
    "experience",
    "emotion",
    "interest",
    "work",
    "health",
    "general",
)
"""The categories that limbic knows, each with its own half-life."""

DEFAULT_ALL_LIMIT = 200
"""How many memories `MemoryStore.all` returns unless told otherwise."""


_OPTIONAL_TEXTS = (
    "source_message_id",
    "feeling",
    "embedding_model",
    "user_id",
    "agent_id",
    "session_id",
    "supersedes",
    "superseded_by",
)


@dataclass(frozen=True, slots=True)
class MemoryEmotion:
    """The emotion that a memory carries, as the emotion channel scores it.

    Parameters
    ----------
    label : str
        Name of the emotion, such as ``"joyful"``; compared without regard to case.
    intensity : float, default=0.0
        Strength in [0, 1].
    """

    label: str
    intensity: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.label, str):
            raise TypeError(f"label must be a string, got {type(self.label).__name__}")
        _set(self, "intensity", _finite(self.intensity, "intensity"))


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """One thing remembered. Immutable; `dataclasses.replace` makes a changed copy.

    Parameters
    ----------
    id : str
        Not empty, unique within a store.
    content : str
        The remembered text.
    category : str, default="general"
        One of `MEMORY_CATEGORIES`, or any other string.
    importance : float, default=0.5
        Weight in [0, 1] as the caller or the extraction judged it.
    keywords : list of str
        Words that find this memory beside those of its content.
    source_message_id : str, optional
        The message that the memory was taken from.
    created_at, last_accessed : datetime or str
        Kept as aware datetimes in UTC, to the microsecond. Text is ISO 8601, naive means UTC.
        `created_at` is the time of the call unless given, `last_accessed` is `created_at`.
    access_count : int, default=0
        How often the memory was reinforced.
    subject : {"user", "persona"}, default="user"
        Whom the memory is about.
    feeling : str, optional
        Tone in free words; kept, not scored.
    emotion : MemoryEmotion, optional
        The emotion that is scored.
    embedding : array-like of shape (dim,), optional
        Vector of the content; kept as a read-only float32 copy.
    embedding_model : str, optional
        Model that made the vector.
    user_id, agent_id, session_id : str, optional
        Scopes: whose memory it is, which agent made it, which conversation it comes from.
    position : int, optional
        Place within the session, ascending; neighbours lend each other evidence.
    metadata : dict, optional
        Anything else, as JSON: string keys; strings, finite numbers, booleans, None, lists, dicts.
        Kept as a deep copy. It cannot overwrite a field.
    supersedes : str, optional
        Id of the older memory that this one replaces.
    superseded_by : str, optional
        Id of the newer memory that replaced this one; set by the store.
    superseded_at : datetime or str, optional
        When that happened; set by the store.

    Raises
    ------
    TypeError
        If a field has the wrong type.
    ValueError
        If `id` is empty, `importance` is not finite, `access_count` or `position` is negative,
        `subject` is unknown, a timestamp cannot be read, or `embedding` is not one-dimensional.

    Examples
    --------
    >>> memory = Memory("m1", "User's name is Ada", category="personal_fact", importance=0.9)
    >>> memory.importance, memory.subject
    (0.9, 'user')
    """

    id: str
    content: str
    category: MemoryCategory = "general"
    importance: float = 0.5
    keywords: list[str] = field(default_factory=list)
    source_message_id: str | None = None
    created_at: datetime = field(default_factory=utc_now)
    last_accessed: datetime = None  # type: ignore[assignment]  # created_at unless given
    access_count: int = 0
    subject: Subject = "user"
    feeling: str | None = None
    emotion: MemoryEmotion | None = None
    embedding: Vector | None = None
    embedding_model: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    position: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    supersedes: str | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None

    def __post_init__(self) -> None:
        check_id(self.id)
        for name in ("content", "category"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a string, got {getattr(self, name)!r}")
        for name in _OPTIONAL_TEXTS:
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"{name} must be a string or None, got {getattr(self, name)!r}")
        _set(self, "importance", _finite(self.importance, "importance"))
        _set(self, "keywords", _checked_keywords(self.keywords))
        _set(self, "created_at", as_utc(self.created_at, "created_at"))
        accessed: Timestamp | None = self.last_accessed
        _set(
            self,
            "last_accessed",
            self.created_at if accessed is None else as_utc(accessed, "last_accessed"),
        )
        _check_count(self.access_count, "access_count")
        if self.position is not None:
            _check_count(self.position, "position")
        if self.superseded_at is not None:
            _set(self, "superseded_at", as_utc(self.superseded_at, "superseded_at"))
        _set(self, "metadata", _checked_metadata(self.metadata))
        if self.subject not in ("user", "persona"):
            raise ValueError(f"subject must be 'user' or 'persona', got {self.subject!r}")
        if not isinstance(self.emotion, MemoryEmotion | None):
            raise TypeError(f"emotion must be a MemoryEmotion or None, got {self.emotion!r}")
        if self.embedding is not None:
            _set(self, "embedding", as_vector(self.embedding))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        return self._comparable() == other._comparable()

    def __hash__(self) -> int:
        return hash((self.id, self.content, self.created_at))

    def __repr__(self) -> str:
        vector = "" if self.embedding is None else f", embedding=<{self.embedding.size} floats>"
        return (
            f"Memory({self.id!r}, {self.content!r}, category={self.category!r}, "
            f"importance={self.importance:g}{vector})"
        )

    def _comparable(self) -> tuple[object, ...]:
        # Vectors compare by their bits: a NaN equals itself, and -0.0 differs from 0.0.
        vector = None if self.embedding is None else self.embedding.tobytes()
        values = [getattr(self, name) for name in self.__slots__ if name != "embedding"]
        return (*values, vector)


@dataclass(frozen=True, slots=True)
class DecayCandidate:
    """The scalar columns of one row that the decay pass reads.

    A timestamp that the store cannot read is None: the row then counts as accessed just now.
    """

    id: str
    category: MemoryCategory
    importance: float
    created_at: datetime | None
    last_accessed: datetime | None
    access_count: int


@dataclass(frozen=True, slots=True)
class StoreChanges:
    """What changed in a store since a revision.

    Parameters
    ----------
    revision : int
        Hand it to the next call of `SupportsChanges.changes`.
    complete : bool
        Whether `saved` holds every row of the store, so that whatever was known before is void.
    saved : list of Memory
        Rows written since; the newest state of each, in no particular order.
    deleted : list of str
        Ids of rows deleted since. Empty when `complete`.
    """

    revision: int
    complete: bool
    saved: list[Memory]
    deleted: list[str]


class Embedder(Protocol):
    """Anything that turns texts into vectors."""

    @property
    def model(self) -> str:
        """Name of the model; vectors of different models are never compared."""
        ...

    def embed(self, texts: list[str]) -> npt.ArrayLike | Sequence[npt.ArrayLike]:
        """Return one float32 vector a text, in the order of the texts."""
        ...


class MemoryStore(Protocol):
    """What every store does. The order of `all` and `search` is part of it.

    That order is importance descending, last_accessed descending, id ascending. What is returned
    is the caller's: changing it changes nothing in the store.
    """

    def save(self, memory: Memory) -> None:
        """Insert the memory, or replace the one with its id."""
        ...

    def get(self, id: str) -> Memory | None:
        """Return the memory with this id, or None."""
        ...

    def all(self, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return the first `limit` memories in store order."""
        ...

    def search(self, text: str, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return memories whose content or a keyword contains `text`, in store order."""
        ...

    def update_access(self, id: str) -> None:
        """Count one access now; do nothing for an unknown id."""
        ...

    def delete(self, id: str) -> None:
        """Delete the memory; do nothing for an unknown id."""
        ...

    def count(self) -> int:
        """Return how many memories the store holds."""
        ...


@runtime_checkable
class SupportsDecayCandidates(Protocol):
    """A store that streams what the decay pass needs, without embeddings."""

    def decay_candidates(self) -> Iterator[DecayCandidate]:
        """Yield every row once, in id order; rows may be deleted meanwhile."""
        ...


@runtime_checkable
class SupportsChanges(Protocol):
    """A store that tells what changed, so that an index over it need not read everything again."""

    def changes(self, since: int | None) -> StoreChanges:
        """Return what changed after revision `since`; None asks for everything."""
        ...


@runtime_checkable
class SupportsFilters(Protocol):
    """A store that finds memories by their fields, and knows what it held in the past."""

    def ids(
        self,
        filter: Mapping[str, Any] | None = None,
        *,
        as_of: Timestamp | None = None,
        include_superseded: bool = False,
    ) -> list[str]:
        """Return the ids of the memories that match a filter (see `limbic.filters`)."""
        ...

    def versions_at(
        self, as_of: Timestamp, filter: Mapping[str, Any] | None = None
    ) -> list[Memory]:
        """Return the memories that match a filter, as they were at a point in time."""
        ...


def check_id(id: object) -> str:
    """Return a valid memory id, or raise an error that says what is wrong with it."""
    if not isinstance(id, str):
        raise TypeError(f"id must be a string, got {type(id).__name__}: {id!r}")
    if not id:
        raise ValueError("id must not be empty")
    return id


def as_vector(values: Any, name: str = "embedding") -> Vector:
    """Return a read-only float32 copy of a one-dimensional vector.

    Raises
    ------
    ValueError
        If `values` is not one-dimensional and numeric.
    """
    try:
        vector = np.array(values, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a vector of numbers, got {values!r:.80}") from error
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {vector.shape}")
    vector.flags.writeable = False
    return vector


def _checked_keywords(keywords: object) -> list[str]:
    if not isinstance(keywords, list):
        raise TypeError(f"keywords must be a list of strings, got {keywords!r}")
    for keyword in keywords:
        if not isinstance(keyword, str):
            raise TypeError(f"keywords must be a list of strings, got {keyword!r} in it")
    return list(keywords)


def _finite(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")
    if value >= 2**63:  # the integers of every database end there
        raise ValueError(f"{name} must be below 2**63, got {value}")


def _checked_metadata(metadata: object) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dict, got {metadata!r}")
    copied = _checked_json(metadata, "metadata")
    assert isinstance(copied, dict)
    return copied


def _checked_json(value: object, where: str) -> object:
    """Return a deep copy of a JSON value, or say where something else sits."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be finite, got {value}")
        return value
    if isinstance(value, list | tuple):
        return [_checked_json(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"keys of {where} must be strings, got {key!r}")
        return {key: _checked_json(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(f"{where} must be a JSON value, got {type(value).__name__}: {value!r:.80}")


def _set(record: object, name: str, value: object) -> None:
    """Write a field of a frozen record from its __post_init__."""
    object.__setattr__(record, name, value)
