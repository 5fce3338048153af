"""What only a file can show: other programs, other processes, damage."""

import json
import logging
import multiprocessing
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from limbic.errors import StoreError
from limbic.stores import SqliteStore
from limbic.types import Memory

NOON = datetime(2026, 8, 26, 12, tzinfo=UTC)

LEGACY = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, category TEXT NOT NULL, importance REAL NOT NULL,
    keywords TEXT NOT NULL, source_message_id TEXT, created_at TEXT NOT NULL,
    last_accessed TEXT NOT NULL, access_count INTEGER NOT NULL, subject TEXT NOT NULL,
    feeling TEXT, emotion_label TEXT, emotion_intensity REAL, embedding BLOB, embedding_model TEXT
)"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memories.db"


def execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*statement if isinstance(statement, tuple) else (statement,))


def write_legacy(path, **fields):
    row = {
        "id": "old",
        "content": "User likes jazz",
        "category": "preference",
        "importance": 0.8,
        "keywords": '["music"]',
        "source_message_id": None,
        "created_at": "2026-08-26T12:00:00.000Z",
        "last_accessed": "2026-08-26T14:00:00.500+02:00",
        "access_count": 2,
        "subject": "user",
        "feeling": None,
        "emotion_label": "joyful",
        "emotion_intensity": 0.5,
        "embedding": np.array([1, 2], dtype="<f4").tobytes(),
        "embedding_model": "m",
        **fields,
    }
    if not path.exists():
        execute(path, LEGACY.replace(" NOT NULL", ""))
    marks = ", ".join("?" * len(row))
    execute(path, (f"INSERT INTO memories VALUES ({marks})", tuple(row.values())))


def test_a_file_of_the_typescript_package_opens_and_reads(path):
    write_legacy(path)
    with SqliteStore.open(path) as store:
        row = store.get("old")
        assert row.created_at == NOON
        assert row.last_accessed == NOON.replace(microsecond=500_000)
        assert (row.keywords, row.emotion.label, row.access_count) == (["music"], "joyful", 2)
        assert row.embedding.tolist() == [1, 2]
        assert (row.user_id, row.metadata, row.superseded_at) == (None, {}, None)
        assert store.changes(None).saved == [row]
        store.save(Memory("new", "x", created_at=NOON, user_id="u"))
    with SqliteStore.open(path) as store:
        assert store.get("new").user_id == "u"


def test_order_compares_times_not_their_notation(path):
    write_legacy(path, id="a", last_accessed="2026-08-26T13:00:00+02:00")  # 11:00 UTC
    write_legacy(path, id="b", last_accessed="2026-08-26T12:00:00.000Z")
    write_legacy(path, id="c", last_accessed="2026-08-26 11:30:00")
    with SqliteStore.open(path) as store:
        assert [row.id for row in store.all()] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("a, b,,c", ["a", "b", "c"]),
        ('["a", ', ['["a"']),
        ('{"a": 1}', ['{"a": 1}']),
        ('["a", 1, null]', ["a"]),
        ("", []),
        (None, []),
    ],
)
def test_keywords_of_any_kind_never_stop_a_scan(path, stored, read):
    write_legacy(path, keywords=stored)
    write_legacy(path, id="other")
    with SqliteStore.open(path) as store:
        assert store.get("old").keywords == read
        assert len(store.all()) == 2
        assert len(store.search("jazz")) == 2


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"created_at": "long ago"}, {"created_at": NOON.replace(microsecond=500_000)}),
        ({"last_accessed": "soon"}, {"last_accessed": NOON}),
        ({"importance": None}, {"importance": 0.5}),
        ({"importance": "high"}, {"importance": 0.5}),
    ],
)
def test_an_unreadable_value_is_logged_and_replaced(path, caplog, fields, expected):
    write_legacy(path, **fields)
    with SqliteStore.open(path) as store, caplog.at_level(logging.WARNING, "limbic"):
        row = store.get("old")
        for name, value in expected.items():
            assert getattr(row, name) == value
        assert f"memory 'old' has the unreadable {next(iter(fields))}" in caplog.text
        # The decay pass keeps such a row: no time means no days.
        assert len(list(store.decay_candidates())) == 1


def test_decay_candidates_show_an_unreadable_time_as_none(path):
    write_legacy(path, last_accessed="soon")
    with SqliteStore.open(path) as store:
        (row,) = store.decay_candidates()
        assert row.last_accessed is None
        assert row.created_at == NOON


def test_decay_candidates_never_read_an_embedding(path):
    write_legacy(path, embedding=b"12345")
    with SqliteStore.open(path) as store:
        assert [row.id for row in store.decay_candidates()] == ["old"]


def test_an_embedding_of_broken_length_names_its_row(path):
    write_legacy(path, embedding=b"12345")
    with SqliteStore.open(path) as store:
        for read in (store.all, lambda: store.get("old"), lambda: store.changes(None)):
            with pytest.raises(StoreError, match="embedding of memory 'old' is 5 bytes"):
                read()


def test_a_failed_read_leaves_the_store_usable(path):
    write_legacy(path, embedding=b"12345")
    with SqliteStore.open(path) as store:
        with pytest.raises(StoreError):
            store.changes(None)
        store.delete("old")
        assert store.changes(None).saved == []


def test_wal_timeout_and_version_are_set(path):
    with SqliteStore.open(path, timeout=1.5), closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def test_embedding_is_a_little_endian_blob_and_keywords_are_json(path):
    with SqliteStore.open(path) as store:
        store.save(Memory("m", "x", keywords=["é", "b"], embedding=[1.0, -2.0]))
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT keywords, embedding FROM memories").fetchone()
    assert json.loads(row[0]) == ["é", "b"]
    assert row[1] == bytes.fromhex("0000803f000000c0")


FILES = Path("/proc/self/fd")


def open_files():
    return sorted(str(file.readlink()) for file in FILES.iterdir() if file.exists())


def break_file(path, kind):
    if kind == "not a database":
        path.write_bytes(b"hello, I am no database. " * 100)
    elif kind == "folder":
        path.mkdir()
    elif kind == "missing folder":
        return path / "deeper" / "memories.db"
    elif kind == "another program's":
        execute(path, "CREATE TABLE accounts (id TEXT)")
    elif kind == "another memories table":
        execute(path, "CREATE TABLE memories (number INTEGER)")
    elif kind == "newer":
        SqliteStore.open(path).close()
        execute(path, "PRAGMA user_version = 99")
    return path


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("not a database", "the file is not an SQLite database"),
        ("folder", "is a folder, not a database file"),
        ("missing folder", "does not exist; make it first"),
        ("another program's", r"another program \(tables accounts\)"),
        ("another memories table", r"not limbic's \(no column id, content\)"),
        ("newer", "newer limbic .schema 99, this one knows 1.; upgrade"),
    ],
)
def test_a_file_that_is_not_ours_is_one_clear_error_and_stays_as_it_is(path, kind, message):
    broken = break_file(path, kind)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=message) as caught:
        SqliteStore.open(broken)
    assert str(broken) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.skipif(not FILES.is_dir(), reason="needs /proc to count files")
def test_a_failed_open_leaks_no_handle(path):
    break_file(path, "another program's")
    before = open_files()
    for _ in range(3):
        with pytest.raises(StoreError):
            SqliteStore.open(path)
    assert open_files() == before


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything"
)
def test_a_read_only_file_is_a_clear_error(path):
    SqliteStore.open(path).close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with pytest.raises(StoreError, match="read-only"):
            SqliteStore.open(path)
    finally:
        path.parent.chmod(0o755)


def test_a_write_to_a_read_only_database_is_a_clear_error(path):
    with SqliteStore.open(path) as store:
        store._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="the file or its folder is read-only"):
            store.save(Memory("m", "x"))


def test_a_database_in_use_is_a_clear_error_and_nothing_is_written(path):
    with SqliteStore.open(path, timeout=0.05) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another process holds the database"):
                store.save(Memory("m", "x"))
            assert store.all() == []  # readers do not wait
            other.execute("ROLLBACK")
        store.save(Memory("m", "x"))
        assert store.count() == 1


@pytest.mark.parametrize("path", [5, b"x"])
def test_a_path_that_is_no_text_is_refused(path):
    with pytest.raises(TypeError):
        SqliteStore.open(path)


def test_other_bad_arguments_of_open():
    with pytest.raises(ValueError, match="path must not be empty"):
        SqliteStore.open("")
    with pytest.raises(ValueError, match="timeout must be a number"):
        SqliteStore.open(":memory:", timeout=-1)


def test_use_after_close_is_a_clear_error_and_close_repeats(path):
    store = SqliteStore.open(path)
    store.close()
    store.close()
    assert repr(store).endswith("closed)")
    for call in (store.count, store.all, lambda: store.save(Memory("m", "x"))):
        with pytest.raises(StoreError, match="the store is closed"):
            call()


def test_a_lone_surrogate_is_refused_with_its_field(path):
    with SqliteStore.open(path) as store:
        with pytest.raises(ValueError, match="content of memory 'b' holds a lone surrogate"):
            store.save_many([Memory("a", "fine"), Memory("b", "\ud800")])
        assert store.count() == 0


def test_a_row_that_fails_takes_the_whole_batch_back(path):
    with SqliteStore.open(path) as store:
        store._connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON memories WHEN NEW.id = 'bad' "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
        with pytest.raises(StoreError, match="cannot save: refused"):
            store.save_many([Memory("good", "x"), Memory("bad", "x")])
        assert store.count() == 0
        store.save(Memory("good", "x"))


def test_changes_of_another_connection_are_seen(path):
    with SqliteStore.open(path) as one, SqliteStore.open(path) as two:
        revision = one.changes(None).revision
        two.save(Memory("m", "x"))
        assert [row.id for row in one.changes(revision).saved] == ["m"]
        execute(path, "UPDATE memories SET id = 'renamed'")
        changes = one.changes(revision)
        assert ([row.id for row in changes.saved], changes.deleted) == (["renamed"], ["m"])


def test_a_revision_from_the_future_gives_everything(path):
    with SqliteStore.open(path) as store:
        store.save(Memory("m", "x"))
        assert store.changes(10**6).complete


def _save_some(path, name):
    with SqliteStore.open(path, timeout=30) as store:
        for i in range(50):
            store.save(Memory(f"{name}{i}", "x"))
            store.update_access("shared")


def test_processes_may_share_a_file(path):
    with SqliteStore.open(path) as store:
        store.save(Memory("shared", "x"))
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_save_some, args=(path, name)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with SqliteStore.open(path) as store:
        assert store.count() == 151
        assert store.get("shared").access_count == 150
