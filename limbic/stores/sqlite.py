"""A store in one SQLite file, which several threads and processes may use at once.

The file is in WAL mode: readers do not wait for a writer. Every write is one short transaction
that waits up to the busy timeout for its turn. A log table, kept by triggers, tells which rows
changed, so that an index over the store follows the writes of other processes, too.
"""

import json
import logging
import math
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

import numpy as np

from limbic.errors import StoreError
from limbic.stores.base import check_limit, contains
from limbic.timestamps import as_utc, to_microseconds, to_text, utc_now
from limbic.types import (
    DEFAULT_ALL_LIMIT,
    DecayCandidate,
    Memory,
    MemoryEmotion,
    StoreChanges,
    Vector,
)

__all__ = ["SqliteStore"]

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
"""Kept in ``PRAGMA user_version``; 0 is a file of the TypeScript package, or a new one."""

# The first fifteen are those of the TypeScript package, whose files are opened and upgraded.
_COLUMNS = {
    "id": "TEXT PRIMARY KEY NOT NULL",
    "content": "TEXT NOT NULL",
    "category": "TEXT NOT NULL DEFAULT 'general'",
    "importance": "REAL NOT NULL DEFAULT 0.5",
    "keywords": "TEXT NOT NULL DEFAULT '[]'",
    "source_message_id": "TEXT",
    "created_at": "TEXT NOT NULL",
    "last_accessed": "TEXT NOT NULL",
    "access_count": "INTEGER NOT NULL DEFAULT 0",
    "subject": "TEXT NOT NULL DEFAULT 'user'",
    "feeling": "TEXT",
    "emotion_label": "TEXT",
    "emotion_intensity": "REAL",
    "embedding": "BLOB",
    "embedding_model": "TEXT",
    "user_id": "TEXT",
    "agent_id": "TEXT",
    "session_id": "TEXT",
    "position": "INTEGER",
    "metadata": "TEXT",
    "supersedes": "TEXT",
    "superseded_by": "TEXT",
    "superseded_at": "TEXT",
}
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
_REQUIRED = ("id", "content")
_NAMES = ", ".join(_COLUMNS)
_ORDER = "ORDER BY importance DESC, limbic_microseconds(last_accessed) DESC, id ASC LIMIT ?"
_UPSERT = (
    f"INSERT INTO memories ({_NAMES}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)}) "
    "ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name != "id")
)
# AUTOINCREMENT: a revision is never given twice, even when the newest log row is replaced.
_LOG = """
CREATE TABLE IF NOT EXISTS memory_changes (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE
)"""
_NOTE = "DELETE FROM memory_changes WHERE id = {0}; INSERT INTO memory_changes (id) VALUES ({0});"
_TRIGGERS = {
    "memories_inserted": f"AFTER INSERT ON memories BEGIN {_NOTE.format('NEW.id')} END",
    "memories_updated": f"AFTER UPDATE ON memories BEGIN {_NOTE.format('NEW.id')} END",
    "memories_renamed": "AFTER UPDATE ON memories WHEN NEW.id <> OLD.id "
    f"BEGIN {_NOTE.format('OLD.id')} END",
    "memories_deleted": f"AFTER DELETE ON memories BEGIN {_NOTE.format('OLD.id')} END",
}
_PAGE = 500
"""Rows that a stream reads at a time; nothing is locked between pages."""


class SqliteStore:
    """Memories in one SQLite file; made by `open`.

    Every method may be called from several threads; any number of processes may have the file
    open. Errors of the database are `StoreError`, whose message names the file.

    Examples
    --------
    >>> from limbic import Memory
    >>> with SqliteStore.open(":memory:") as store:
    ...     store.save(Memory("m1", "User likes jazz"))
    ...     store.count()
    1
    """

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._lock = RLock()
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, timeout: float = 5.0) -> Self:
        """Open the file, or make it; upgrade it if an older limbic, or the TypeScript one, made it.

        Parameters
        ----------
        path : path-like
            The file, or ``":memory:"`` for a store that is gone when it is closed.
        timeout : float, default=5.0
            Seconds that a call waits for another process's transaction.

        Returns
        -------
        SqliteStore

        Raises
        ------
        StoreError
            If the folder is missing, the file is not a database, belongs to another program or
            to a newer limbic, or cannot be written.
        TypeError, ValueError
            If `path` or `timeout` is invalid.
        """
        name = os.fspath(path)
        if not isinstance(name, str):
            raise TypeError(f"path must be text, got {name!r}")
        if not name:
            raise ValueError("path must not be empty; ':memory:' is a store in memory")
        if not (isinstance(timeout, int | float) and math.isfinite(timeout) and timeout >= 0):
            raise ValueError(f"timeout must be a number of seconds of at least 0, got {timeout!r}")
        if name != ":memory:":
            _check_place(Path(name))
        with _translated(name, "open"):
            connection = sqlite3.connect(
                name, timeout=timeout, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection, name)
            except BaseException:
                connection.close()
                raise
        return cls(connection, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._connection is not None else ", closed"
        return f"SqliteStore({self.path!r}{state})"

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def save(self, memory: Memory) -> None:
        """Insert the memory, or replace the one with its id."""
        self.save_many([memory])

    def save_many(self, memories: Sequence[Memory]) -> None:
        """Save all of them, or none if one cannot be saved: one transaction."""
        rows = [_to_row(memory) for memory in memories]
        with self._transaction("save") as connection:
            connection.executemany(_UPSERT, rows)

    def get(self, id: str) -> Memory | None:
        """Return the memory with this id, or None."""
        rows = self._query("get", f"SELECT {_NAMES} FROM memories WHERE id = ?", (id,))
        return _to_memory(rows[0]) if rows else None

    def all(self, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return the first `limit` memories: importance, then last access, descending; then id."""
        limit = check_limit(limit)
        rows = self._query("all", f"SELECT {_NAMES} FROM memories {_ORDER}", (limit,))
        return [_to_memory(row) for row in rows]

    def search(self, text: str, limit: int = DEFAULT_ALL_LIMIT) -> list[Memory]:
        """Return memories whose content or a keyword contains `text`, ignoring the case of A-Z."""
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, got {type(text).__name__}: {text!r}")
        limit = check_limit(limit)
        where = "WHERE limbic_contains(?, content, keywords)"
        rows = self._query(
            "search", f"SELECT {_NAMES} FROM memories {where} {_ORDER}", (text, limit)
        )
        return [_to_memory(row) for row in rows]

    def update_access(self, id: str) -> None:
        """Count one access now; do nothing for an unknown id."""
        with self._transaction("update_access") as connection:
            connection.execute(
                "UPDATE memories SET access_count = COALESCE(access_count, 0) + 1, "
                "last_accessed = ? WHERE id = ?",
                (to_text(utc_now()), id),
            )

    def delete(self, id: str) -> None:
        """Delete the memory; do nothing for an unknown id."""
        with self._transaction("delete") as connection:
            connection.execute("DELETE FROM memories WHERE id = ?", (id,))

    def count(self) -> int:
        """Return how many memories the store holds."""
        return int(self._query("count", "SELECT COUNT(*) FROM memories")[0][0])

    def decay_candidates(self) -> Iterator[DecayCandidate]:
        """Yield what decay needs of every row, in id order; rows may be deleted meanwhile."""
        page = (
            "SELECT id, category, importance, created_at, last_accessed, access_count "
            "FROM memories WHERE id > ? ORDER BY id LIMIT ?"
        )
        last = ""
        while rows := self._query("decay_candidates", page, (last, _PAGE)):
            for id, category, importance, created_at, last_accessed, access_count in rows:
                yield DecayCandidate(
                    id=id,
                    category=_text(category, "general"),
                    importance=_importance(id, importance),
                    created_at=_moment(id, "created_at", created_at),
                    last_accessed=_moment(id, "last_accessed", last_accessed),
                    access_count=_count(access_count) or 0,
                )
            last = rows[-1][0]

    def changes(self, since: int | None) -> StoreChanges:
        """Return what changed after revision `since`; None asks for everything.

        A revision that this file never reached, as after a backup was put back, gives everything.
        """
        newest = "SELECT COALESCE(MAX(revision), 0) FROM memory_changes"
        with self._read("changes") as connection:
            revision = int(connection.execute(newest).fetchone()[0])
            if since is None or since > revision:
                rows = connection.execute(f"SELECT {_NAMES} FROM memories").fetchall()
                return StoreChanges(revision, True, [_to_memory(row) for row in rows], [])
            names = ", ".join(f"memories.{name}" for name in _COLUMNS)
            rows = connection.execute(
                f"SELECT memory_changes.id, {names} FROM memory_changes "
                "LEFT JOIN memories ON memories.id = memory_changes.id "
                "WHERE memory_changes.revision > ?",
                (since,),
            ).fetchall()
        saved = [_to_memory(row[1:]) for row in rows if row[1] is not None]
        deleted = [row[0] for row in rows if row[1] is None]
        return StoreChanges(revision, False, saved, deleted)

    def _query(self, what: str, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, _translated(self.path, what):
            return self._open_connection().execute(sql, values).fetchall()

    @contextmanager
    def _read(self, what: str) -> Iterator[sqlite3.Connection]:
        """Several reads of one state of the file."""
        with self._lock, _translated(self.path, what):
            connection = self._open_connection()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def _transaction(self, what: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _translated(self.path, what):
            connection = self._open_connection()
            # IMMEDIATE: the turn to write is waited for here, and not lost half-way.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(
                f"{self.path}: the store is closed; open it again with SqliteStore.open"
            )
        return self._connection


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a database file")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first")


@contextmanager
def _translated(path: str, what: str) -> Iterator[None]:
    """Turn an error of the database into one that says where, what and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot {what}: {_explain(error)}") from error


def _explain(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process holds the database; try again, or open it with a longer timeout"
    if code.startswith("SQLITE_NOTADB"):
        return "the file is not an SQLite database"
    if code.startswith("SQLITE_READONLY"):
        return "the file or its folder is read-only; limbic needs to write to both"
    if code.startswith("SQLITE_CORRUPT"):
        return f"the database is damaged ({error}); restore a backup"
    if code.startswith("SQLITE_FULL"):
        return "the disk is full"
    return str(error)


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    """Check whose file it is and bring its schema up to date."""
    connection.create_function("limbic_contains", 3, _row_contains, deterministic=True)
    connection.create_function("limbic_microseconds", 1, _microseconds, deterministic=True)
    _check_owner(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Checked again now that nobody else can change it.
        _check_owner(connection, path)
        _upgrade(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _check_owner(connection: sqlite3.Connection, path: str) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = {
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    if tables and "memories" not in tables:
        raise StoreError(
            f"{path} is a database of another program (tables {', '.join(sorted(tables))}); "
            "give limbic a file of its own"
        )
    if tables:
        missing = [name for name in _REQUIRED if name not in _columns_of(connection)]
        if missing:
            raise StoreError(
                f"{path} has a table 'memories' that is not limbic's (no column "
                f"{', '.join(missing)}); give limbic a file of its own"
            )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer limbic (schema {version}, this one knows "
            f"{SCHEMA_VERSION}); upgrade limbic-memory"
        )


def _columns_of(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("PRAGMA table_info(memories)")}


def _upgrade(connection: sqlite3.Connection) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    connection.execute(f"CREATE TABLE IF NOT EXISTS memories ({columns})")
    present = _columns_of(connection)
    for name, kind in _COLUMNS.items():
        if name not in present:
            # A column that is added has to allow NULL; reading supplies the default.
            connection.execute(f"ALTER TABLE memories ADD COLUMN {name} {kind.split()[0]}")
    connection.execute(_LOG)
    for name, body in _TRIGGERS.items():
        connection.execute(f"CREATE TRIGGER IF NOT EXISTS {name} {body}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _to_row(memory: Memory) -> dict[str, object]:
    if not isinstance(memory, Memory):
        raise TypeError(f"memory must be a Memory, got {type(memory).__name__}")
    row: dict[str, object] = {name: getattr(memory, name, None) for name in _COLUMNS}
    row["keywords"] = json.dumps(memory.keywords, ensure_ascii=False)
    row["metadata"] = json.dumps(memory.metadata, ensure_ascii=False) if memory.metadata else None
    for name in ("created_at", "last_accessed", "superseded_at"):
        moment = getattr(memory, name)
        row[name] = None if moment is None else to_text(moment)
    if memory.emotion is not None:
        row["emotion_label"] = memory.emotion.label
        row["emotion_intensity"] = memory.emotion.intensity
    if memory.embedding is not None:
        row["embedding"] = memory.embedding.astype("<f4").tobytes()
    for name, value in row.items():
        if isinstance(value, str):
            _check_encodable(memory.id, name, value)
    return row


def _check_encodable(id: str, name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} of memory {id!r} holds a lone surrogate at character {error.start}, "
            "which no database stores; repair the text first"
        ) from error


def _to_memory(row: Sequence[Any]) -> Memory:
    """Return the row as a record; what another program left unreadable gets its default."""
    value = dict(zip(_COLUMNS, row, strict=True))
    id = value["id"]
    created_at = _moment(id, "created_at", value["created_at"])
    last_accessed = _moment(id, "last_accessed", value["last_accessed"])
    label = value["emotion_label"]
    return Memory(
        id=id,
        content=_text(value["content"], ""),
        category=_text(value["category"], "general"),
        importance=_importance(id, value["importance"]),
        keywords=_keywords(value["keywords"]),
        created_at=created_at or last_accessed or utc_now(),
        last_accessed=last_accessed or created_at or utc_now(),
        access_count=_count(value["access_count"]) or 0,
        subject="persona" if value["subject"] == "persona" else "user",
        emotion=None
        if label is None
        else MemoryEmotion(_text(label, ""), _number(value["emotion_intensity"]) or 0.0),
        embedding=_embedding(id, value["embedding"]),
        position=_count(value["position"]),
        metadata=_metadata(id, value["metadata"]),
        superseded_at=None
        if value["superseded_at"] is None
        else _moment(id, "superseded_at", value["superseded_at"]),
        **{name: _optional_text(value[name]) for name in _OPTIONAL_TEXTS},
    )


def _text(value: object, default: str) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return default if value is None else str(value)


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value, "")


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else max(0, int(number))


def _importance(id: str, value: object) -> float:
    number = _number(value)
    if number is None:
        logger.warning("memory %r has the unreadable importance %r; 0.5 is used", id, value)
        return 0.5
    return number


def _moment(id: str, name: str, value: object) -> datetime | None:
    try:
        return as_utc(value, name)  # type: ignore[arg-type]  # whatever the file holds
    except (TypeError, ValueError):
        logger.warning("memory %r has the unreadable %s %r", id, name, value)
        return None


def _microseconds(value: object) -> int | None:
    """Give SQL the order of times, whatever their notation; unreadable ones come last."""
    try:
        return to_microseconds(as_utc(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _keywords(value: object) -> list[str]:
    """Read the JSON array, or the comma-joined text of older files."""
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if isinstance(parsed, list):
        return [item for item in parsed if isinstance(item, str)]
    return [part.strip() for part in value.split(",") if part.strip()]


def _metadata(id: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        parsed = json.loads(value, parse_constant=_refuse)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        parsed = None
    if not isinstance(parsed, dict):
        logger.warning("memory %r has unreadable metadata %.80r; none is used", id, value)
        return {}
    return parsed


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _embedding(id: str, value: object) -> Vector | None:
    if value is None or value == b"":
        return None
    if not isinstance(value, bytes) or len(value) % 4:
        size = f"{len(value)} bytes" if isinstance(value, bytes) else f"a {type(value).__name__}"
        raise StoreError(
            f"the embedding of memory {id!r} is {size}, not whole float32 numbers; "
            "save the memory anew or delete it"
        )
    return np.frombuffer(value, dtype="<f4").astype(np.float32)


def _row_contains(needle: str, content: object, keywords: object) -> bool:
    """Give SQL the rule of `search`, the same for every store."""
    return contains(needle, _text(content, ""), _keywords(keywords))
