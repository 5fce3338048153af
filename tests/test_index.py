"""The columns hold the numbers that the definition gives, and stay current."""

import string
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbic import Memory, MemoryEmotion, MemStore, ScoreQuery, score_memory_detailed
from limbic.index import MemoryIndex, cosine_rows
from limbic.scoring import vector_norm
from limbic.timestamps import to_microseconds

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)
ULP = 1.2e-16  # of a score in [0.5, 1]

WORDS = ["coffee", "morning", "the", "piano", "Москва", "東京都", "café"]
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
vectors = st.none() | st.lists(st.floats(-2, 2, width=32), min_size=2, max_size=3)
emotions = st.none() | st.builds(
    MemoryEmotion, st.sampled_from(["joyful", "Happy", "grief", "odd"]), st.floats(0, 1)
)


@st.composite
def memories(draw, id):
    return Memory(
        id,
        draw(texts),
        category=draw(st.sampled_from(["emotion", "work"])),
        importance=draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        keywords=draw(st.lists(st.sampled_from(WORDS), max_size=2)),
        created_at=NOW - timedelta(seconds=draw(st.integers(-9999, 9_999_999))),
        emotion=draw(emotions),
        embedding=draw(vectors),
        embedding_model=draw(st.sampled_from([None, "one"])),
        user_id=draw(st.sampled_from([None, "ada", "bob"])),
    )


class Foreign:
    """A store that cannot tell what changed."""

    def __init__(self, inner):
        self.all, self.get = inner.all, inner.get


def living(index):
    return {index.ids[row]: row for row in np.flatnonzero(index.alive)}


@given(st.data(), texts, vectors, st.none() | st.sampled_from(["happy", "grief", "new"]))
def test_columns_equal_the_scalar_form(data, text, vector, target):
    store = MemStore()
    for number in range(data.draw(st.integers(0, 8))):
        store.save(data.draw(memories(f"m{number}")))
    index = MemoryIndex(store)
    index.refresh()
    query = ScoreQuery(text, embedding=vector, target_emotion=target)
    columns = index.channels(query, to_microseconds(NOW))
    for memory in store.all():
        expected = score_memory_detailed(memory, query, NOW)
        got = columns.breakdown(living(index)[memory.id])
        for channel in ("recency", "importance", "relevance", "emotion", "base", "final"):
            assert getattr(got, channel) == pytest.approx(
                getattr(expected, channel), rel=0, abs=ULP
            ), channel
        assert got.cosine == expected.cosine
        assert got.recompute() == got.final


@settings(max_examples=50)
@given(st.data())
def test_following_changes_equals_reading_everything(data):
    store = MemStore()
    index = MemoryIndex(store)
    index.keep_lexical()
    for _ in range(data.draw(st.integers(1, 12))):
        id = data.draw(st.sampled_from("abcde"))
        match data.draw(st.sampled_from(["save", "delete", "access", "refresh"])):
            case "save":
                store.save(data.draw(memories(id)))
            case "delete":
                store.delete(id)
            case "access":
                store.update_access(id)
            case "refresh":
                index.refresh()
    index.refresh()
    fresh = MemoryIndex(Foreign(store))
    fresh.keep_lexical()
    fresh.refresh()
    assert living(index).keys() == living(fresh).keys() == {m.id for m in store.all()}
    query = ScoreQuery("coffee 東京都 Москва", embedding=(1.0, 0.5))
    ours, theirs = (one.channels(query, to_microseconds(NOW)).final for one in (index, fresh))
    for id, row in living(index).items():
        assert ours[row] == theirs[living(fresh)[id]]
    worths = [one.lexical.worth("coffee cafe 東京都", one.visible()) for one in (index, fresh)]
    assert worths[0] == worths[1]


def test_packing_leaves_no_dead_rows():
    store = MemStore()
    index = MemoryIndex(store)
    for number in range(1100):
        store.save(Memory("m", str(number)))
        index.refresh()
    assert index.count == 1
    assert index.size <= 1025


def test_equal_vectors_give_equal_bits_wherever_they_sit():
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((2500, 37)).astype(np.float32)
    places = [0, 1, 1023, 1024, 1025, 2047, 2499]
    matrix[places] = matrix[0]
    norms = np.array([vector_norm(row.astype(np.float64)) for row in matrix])
    cosines = cosine_rows(matrix, norms, rng.standard_normal(37))
    assert len({cosines[place].tobytes() for place in places}) == 1


def test_models_are_compared_only_when_they_may_be_the_same():
    store = MemStore()
    for model in ("one", "two", None):
        store.save(Memory(str(model), "x", embedding=(1.0, 0.0), embedding_model=model))
    index = MemoryIndex(store)
    index.refresh()
    cosines = index.cosine((1.0, 0.0), "one")
    assert {id: bool(np.isnan(cosines[row])) for id, row in living(index).items()} == {
        "one": False,
        "two": True,
        "None": False,
    }
    assert not np.isnan(index.cosine((1.0, 0.0), None)).any()


def test_best_is_in_store_order_among_equal_scores():
    store = MemStore()
    rng = np.random.default_rng(3)
    for number in range(60):
        store.save(
            Memory(
                f"{rng.permutation(list(string.ascii_letters))[0]}{number}",
                "x",
                importance=float(rng.integers(3)) / 2,
                created_at=NOW + timedelta(microseconds=int(rng.integers(3))),
            )
        )
    index = MemoryIndex(store)
    index.refresh()
    everything = [memory.id for memory in store.all()]
    for limit in (0, 1, 7, 59, 60, 99):
        best = index.best(np.zeros(index.size), limit, index.alive)
        assert [index.ids[row] for row in best] == everything[:limit]
        first = index.first(limit, index.alive)
        assert {index.ids[row] for row in np.flatnonzero(first)} == set(everything[:limit])


def test_scopes_and_superseded_rows_are_hidden():
    store = MemStore()
    store.save(Memory("ada", "x", user_id="ada", session_id="s"))
    store.save(Memory("bob", "x", user_id="bob", agent_id="a"))
    store.save(Memory("old", "x", user_id="ada", superseded_by="ada"))
    index = MemoryIndex(store)
    index.refresh()

    def seen(**options):
        return {index.ids[row] for row in np.flatnonzero(index.visible(**options))}

    assert seen() == {"ada", "bob"}
    assert seen(include_superseded=True) == {"ada", "bob", "old"}
    assert seen(user_id="ada") == {"ada"}
    assert seen(user_id="ada", session_id="other") == set()
    assert seen(agent_id="a") == {"bob"}
    assert seen(ids=["bob", "unknown"]) == {"bob"}
    assert seen(user_id="ada", ids=["bob"]) == set()
