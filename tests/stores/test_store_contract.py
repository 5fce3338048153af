"""One suite for every store: what a caller sees does not depend on where memories are kept."""

import string
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbic.stores import MemStore, SqliteStore
from limbic.types import Memory, MemoryEmotion, SupportsChanges, SupportsDecayCandidates

NOON = datetime(2026, 8, 26, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "sqlite file", "sqlite in memory"])
def store(request, tmp_path):
    if request.param == "memory":
        made = MemStore()
    else:
        made = SqliteStore.open(
            tmp_path / "memories.db" if request.param == "sqlite file" else ":memory:"
        )
    with made:
        yield made


def memory(id="m", content="text", **fields):
    return Memory(id, content, **{"created_at": NOON, **fields})


FULL = memory(
    "full",
    "Ünïcode, 漢字 and a \x00 zero",
    category="my own",
    importance=0.123456789012345,
    keywords=["a,b", 'quo"te', "é"],
    source_message_id="s",
    created_at=NOON + timedelta(microseconds=1),
    last_accessed=NOON + timedelta(days=1, microseconds=999_999),
    access_count=7,
    subject="persona",
    feeling="calm",
    emotion=MemoryEmotion("joyful", 0.75),
    embedding=np.array([1e-42, -0.0, np.pi, np.inf], dtype=np.float32),
    embedding_model="model",
    user_id="u",
    agent_id="a",
    session_id="c",
    position=3,
    metadata={"x": [1, 2.5, None, True, {"y": "z"}]},
    supersedes="old",
    superseded_by="new",
    superseded_at=NOON,
)


@pytest.mark.parametrize("record", [FULL, memory()], ids=["every field", "no optional field"])
def test_what_is_saved_comes_back_to_the_bit(store, record):
    store.save(record)
    assert store.get(record.id) == record
    assert store.all() == [record]


def test_save_replaces_on_id(store):
    store.save(FULL)
    store.save(memory("full", "other"))
    assert store.count() == 1
    assert store.get("full") == memory("full", "other")


def test_what_is_returned_is_a_copy(store):
    store.save(memory(keywords=["a"], metadata={"a": [1]}))
    store.get("m").keywords.append("b")
    store.all()[0].metadata["a"].append(2)
    assert store.get("m") == memory(keywords=["a"], metadata={"a": [1]})


def test_order_is_importance_then_last_access_then_id(store):
    rows = [
        memory("d", importance=0.5),
        memory("c", importance=0.5, last_accessed=NOON + timedelta(microseconds=1)),
        memory("b", importance=0.9, last_accessed=NOON - timedelta(days=300)),
        memory("a", importance=0.5),
        memory("B", importance=0.5),
    ]
    for row in rows:
        store.save(row)
    assert [row.id for row in store.all()] == ["b", "c", "B", "a", "d"]
    assert [row.id for row in store.search("text", 3)] == ["b", "c", "B"]


def test_all_gives_two_hundred_unless_told_otherwise(store):
    store.save_many([memory(f"m{i:03}") for i in range(201)])
    assert len(store.all()) == 200
    assert len(store.all(10**30)) == 201
    assert store.all(0) == []
    assert store.search("text", 0) == []


@pytest.mark.parametrize("limit", [-1, 1.0, True, "5", None])
def test_a_limit_that_is_no_count_is_refused(store, limit):
    for call in (store.all, lambda limit: store.search("", limit)):
        with pytest.raises((TypeError, ValueError), match="limit must be"):
            call(limit)


@pytest.mark.parametrize(
    ("needle", "found"),
    [
        ("", ["a", "b", "c"]),
        ("JAZZ", ["a"]),
        ("50%", ["b"]),
        ("5_%", []),
        ("0% o", ["b"]),
        ("snake_case", ["c"]),
        ("ake-", []),
        ("É", ["b"]),  # only A-Z are folded
        ("é", []),
        ("one two", ["c"]),
        ("two three", []),  # a needle does not cross from one keyword to the next
        ("'; DROP", []),
        ("\x00", []),
    ],
)
def test_search_is_literal_and_folds_ascii_only(store, needle, found):
    store.save(memory("a", "User likes jAzZ"))
    store.save(memory("b", "50% off", keywords=["École"]))
    store.save(memory("c", "x", keywords=["snake_case", "One Two", "three"]))
    assert [row.id for row in store.search(needle)] == found


@given(
    rows=st.lists(
        st.tuples(st.text(alphabet="aAéÉ%_\\,\"'[]\x00\n", max_size=5), st.lists(st.text("aA,%")))
    ),
    needle=st.text(alphabet="aAéÉ%_,\"'[]\x00", max_size=2),
)
@settings(max_examples=60, deadline=None)
def test_search_equals_brute_force_on_every_store(rows, needle):
    def lower(text):
        return "".join(c.lower() if c in string.ascii_letters else c for c in text)

    expected = [
        f"{i:03}"
        for i, (content, keywords) in enumerate(rows)
        if any(lower(needle) in lower(part) for part in [content, *keywords])
    ]
    for made in (MemStore(), SqliteStore.open(":memory:")):
        with made as store:
            for i, (content, keywords) in enumerate(rows):
                store.save(memory(f"{i:03}", content, keywords=keywords))
            assert [row.id for row in store.search(needle)] == expected


def test_update_access_counts_one_access_now(store):
    store.save(FULL)
    before = datetime.now(UTC)
    store.update_access("full")
    row = store.get("full")
    assert row.access_count == 8
    assert before <= row.last_accessed <= datetime.now(UTC)
    assert replace(row, access_count=7, last_accessed=FULL.last_accessed) == FULL


def test_unknown_ids_are_no_error(store):
    store.save(memory())
    store.update_access("nobody")
    store.delete("nobody")
    assert store.get("nobody") is None
    assert store.get("") is None
    assert store.all() == [memory()]


def test_delete_deletes_one(store):
    store.save_many([memory("a"), memory("b")])
    store.delete("a")
    assert [row.id for row in store.all()] == ["b"]
    assert store.count() == 1


def test_save_many_saves_all_or_nothing(store):
    with pytest.raises(TypeError, match="memory must be a Memory, got str"):
        store.save_many([memory("a"), "no memory"])
    assert store.count() == 0
    store.save_many([])
    assert store.count() == 0


def test_search_refuses_what_is_no_text(store):
    with pytest.raises(TypeError, match="text must be a string, got int: 5"):
        store.search(5)


def test_decay_candidates_are_scalars_in_id_order(store):
    store.save_many([replace(FULL, id=id) for id in ("c", "a", "b")])
    assert isinstance(store, SupportsDecayCandidates)
    rows = list(store.decay_candidates())
    assert [row.id for row in rows] == ["a", "b", "c"]
    assert rows[0].importance == FULL.importance
    assert rows[0].last_accessed == FULL.last_accessed
    assert rows[0].access_count == 7


def test_rows_may_be_deleted_while_decay_candidates_stream(store):
    ids = [f"m{i:04}" for i in range(1100)]
    store.save_many([memory(id) for id in ids])
    seen = []
    for row in store.decay_candidates():
        seen.append(row.id)
        store.delete(row.id)
    assert seen == ids
    assert store.count() == 0


def test_changes_tell_what_was_saved_and_deleted_since(store):
    assert isinstance(store, SupportsChanges)
    store.save_many([memory("a"), memory("b")])
    first = store.changes(None)
    assert first.complete
    assert sorted(row.id for row in first.saved) == ["a", "b"]
    assert store.changes(first.revision).saved == []

    store.save(memory("c"))
    store.save(memory("a", "new"))
    store.update_access("a")
    store.delete("b")
    second = store.changes(first.revision)
    assert not second.complete
    assert sorted((row.id, row.content) for row in second.saved) == [("a", "new"), ("c", "text")]
    assert second.deleted == ["b"]
    assert second.revision > first.revision

    store.save(memory("b"))  # comes back
    third = store.changes(second.revision)
    assert ([row.id for row in third.saved], third.deleted) == (["b"], [])


@given(st.lists(st.tuples(st.sampled_from("sdu"), st.sampled_from("abc")), max_size=30))
@settings(max_examples=40, deadline=None)
def test_following_the_changes_gives_the_store(steps):
    for made in (MemStore(), SqliteStore.open(":memory:")):
        with made as store:
            known: dict[str, Memory] = {}
            revision = store.changes(None).revision
            for number, (step, id) in enumerate(steps):
                if step == "s":
                    store.save(memory(id, str(number)))
                elif step == "d":
                    store.delete(id)
                else:
                    store.update_access(id)
                if number % 3 == 0:
                    changes = store.changes(revision)
                    revision = changes.revision
                    known.update({row.id: row for row in changes.saved})
                    for gone in changes.deleted:
                        known.pop(gone, None)
                    assert known == {row.id: row for row in store.all()}


def test_threads_may_share_a_store(store):
    def work(name):
        for i in range(40):
            store.save(memory(f"{name}{i}"))
            store.update_access("shared")
            store.search("text", 3)

    store.save(memory("shared"))
    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 161
    assert store.get("shared").access_count == 160
