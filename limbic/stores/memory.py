"""A store in memory, for tests, notebooks and short-lived agents."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import RLock
from types import TracebackType
from typing import Self

from limbic.stores.base import check_limit, contains
from limbic.timestamps import to_microseconds, utc_now
from limbic.types import DEFAULT_ALL_LIMIT, DecayCandidate, Memory, StoreChanges

__all__ = ["MemStore"]


class MemStore:
    """Memories in a dictionary; gone when the process ends.

    Every method may be called from several threads.

    Examples
    --------
    >>> from limbic import Memory
    >>> store = MemStore()
    >>> store.save(Memory("m1", "User likes jazz"))
    >>> [memory.content for memory in store.search("JAZZ")]
    ['User likes jazz']
    """

    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {}
        self._revision = 0
        # Revision of the last change of each id, oldest first; deleted ids stay in it.
        self._changed: dict[str, int] = {}
        self._lock = RLock()

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
        """Do nothing: there is nothing to close."""

    def save(self, memory: Memory) -> None:
        """Insert the memory, or replace the one with its id."""
        self.save_many([memory])

    def save_many(self, memories: Sequence[Memory]) -> None:
        """Save all of them, or none if one cannot be saved."""
        for memory in memories:
            if not isinstance(memory, Memory):
                raise TypeError(f"memory must be a Memory, got {type(memory).__name__}")
        with self._lock:
            for memory in memories:
                self._memories[memory.id] = replace(memory)
                self._note(memory.id)

    def get(self, id: str) -> Memory | None:
        """Return the memory with this id, or None."""
        memory = self._memories.get(id)
        return None if memory is None else replace(memory)

    def all(self, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return the first `limit` memories: importance, then last access, descending; then id."""
        return self._first(list(self._memories.values()), limit)

    def search(self, text: str, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return memories whose content or a keyword contains `text`; A-Z equal a-z."""
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, got {type(text).__name__}: {text!r}")
        found = [
            memory
            for memory in list(self._memories.values())
            if contains(text, memory.content, memory.keywords)
        ]
        return self._first(found, limit)

    def update_access(self, id: str) -> None:
        """Count one access now; do nothing for an unknown id."""
        with self._lock:
            memory = self._memories.get(id)
            if memory is not None:
                self._memories[id] = replace(
                    memory, last_accessed=utc_now(), access_count=memory.access_count + 1
                )
                self._note(id)

    def delete(self, id: str) -> None:
        """Delete the memory; do nothing for an unknown id."""
        with self._lock:
            if self._memories.pop(id, None) is not None:
                self._note(id)

    def count(self) -> int:
        """Return how many memories the store holds."""
        return len(self._memories)

    def decay_candidates(self) -> Iterator[DecayCandidate]:
        """Yield what decay needs of every row, in id order; rows may be deleted meanwhile."""
        for id in sorted(self._memories):
            memory = self._memories.get(id)
            if memory is not None:
                yield DecayCandidate(
                    id,
                    memory.category,
                    memory.importance,
                    memory.created_at,
                    memory.last_accessed,
                    memory.access_count,
                )

    def changes(self, since: int | None) -> StoreChanges:
        """Return what changed after revision `since`; None asks for everything."""
        with self._lock:
            if since is None:
                return StoreChanges(self._revision, True, list(self._memories.values()), [])
            saved, deleted = [], []
            for id in reversed(self._changed):
                if self._changed[id] <= since:
                    break
                memory = self._memories.get(id)
                if memory is None:
                    deleted.append(id)
                else:
                    saved.append(memory)
            return StoreChanges(self._revision, False, saved, deleted)

    def _note(self, id: str) -> None:
        self._revision += 1
        self._changed.pop(id, None)  # an id that changes again moves to the end
        self._changed[id] = self._revision

    def _first(self, memories: list[Memory], limit: int) -> list[Memory]:
        limit = check_limit(limit)
        memories.sort(
            key=lambda memory: (
                -memory.importance,
                -to_microseconds(memory.last_accessed),
                memory.id,
            )
        )
        return [replace(memory) for memory in memories[:limit]]
