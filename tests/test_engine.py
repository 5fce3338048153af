"""The engine as its users meet it."""

import logging
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from limbic import (
    DecayReport,
    EmbedderUnavailableError,
    Memory,
    MemStore,
    create_limbic,
)

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)


def at_now():
    return NOW


class Letters:
    """An embedder that counts letters."""

    model = "letters"

    def __init__(self):
        self.closed = 0

    def embed(self, texts):
        return [[1.0 + text.count(letter) for letter in "aeiou"] for text in texts]

    def close(self):
        self.closed += 1


class Failing(Letters):
    def __init__(self, outcome):
        super().__init__()
        self.outcome = outcome

    def embed(self, texts):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def test_quickstart():
    with create_limbic(now=at_now) as engine:
        engine.remember("User's name is Ada", category="personal_fact", importance=0.9)
        engine.remember("User is allergic to shellfish", category="health", importance=0.95)
        found = engine.retrieve("what should I avoid cooking?")
    assert [one.memory.content for one in found] == [
        "User is allergic to shellfish",
        "User's name is Ada",
    ]
    assert found[0].score == pytest.approx(0.5825, abs=1e-12)


def test_ids_carry_the_engine_and_a_sequence():
    store = MemStore()
    first, second = create_limbic(store=store), create_limbic(store=store)
    ids = [engine.remember("x").id for engine in (first, second, first)]
    assert all(re.fullmatch(r"mem_[0-9a-f]{8}_\d{6}", id) for id in ids)
    assert ids[0][:12] == ids[2][:12] != ids[1][:12]
    assert [id[-6:] for id in ids] == ["000001", "000001", "000002"]
    assert store.count() == 3


def test_an_id_that_is_taken_is_not_written_over():
    store = MemStore()
    engine = create_limbic(store=store)
    taken = engine.remember("x").id[:-6] + "000002"
    store.save(Memory(taken, "kept"))
    assert engine.remember("y").id.endswith("000003")
    assert store.get(taken).content == "kept"


@pytest.mark.parametrize(
    ("content", "fields", "error", "message"),
    [
        ("  ", {}, ValueError, "content must not be blank"),
        (None, {}, TypeError, "content must be a string, got NoneType"),
        ("x", {"importance": 1.1}, ValueError, r"importance must lie in \[0, 1\], got 1.1"),
        ("x", {"importance": float("nan")}, ValueError, "importance must be finite"),
        ("x", {"embedding": [0.0, 0.0]}, ValueError, "all zeros"),
        ("x", {"embedding": [np.nan, 1.0]}, ValueError, "embedding must be finite"),
        ("x", {"embedding": []}, ValueError, "embedding must not be empty"),
        ("x", {"mood": "good"}, TypeError, r"takes no 'mood'; fields are category"),
        ("x", {"id": "mine"}, TypeError, "takes no 'id'"),
        ("x", {"created_at": "yesterday"}, ValueError, "created_at must be ISO 8601"),
    ],
)
def test_what_remember_refuses_is_not_written(content, fields, error, message):
    engine = create_limbic(embedder=Letters())
    with pytest.raises(error, match=message):
        engine.remember(content, **fields)
    assert engine.store.count() == 0


def test_remember_embeds_and_uses_the_clock():
    engine = create_limbic(embedder=Letters(), now=at_now)
    memory = engine.remember("banana")
    assert memory.created_at == memory.last_accessed == NOW
    assert memory.embedding_model == "letters"
    assert memory.embedding.tolist() == [4.0, 1.0, 1.0, 1.0, 1.0]
    assert engine.store.get(memory.id) == memory


def test_a_given_vector_is_kept():
    memory = create_limbic(embedder=Letters()).remember(
        "x", embedding=[1.0, 2.0], embedding_model="mine"
    )
    assert memory.embedding_model == "mine"
    assert memory.embedding.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "outcome",
    [
        EmbedderUnavailableError("the server is down"),
        RuntimeError("anything"),
        [],
        [[1.0], [2.0]],
        [[0.0, 0.0]],
        [[float("nan")]],
        [["x"]],
        None,
    ],
    ids=str,
)
def test_an_embedder_that_fails_costs_the_vector_and_not_the_write(outcome, caplog):
    engine = create_limbic(embedder=Failing(outcome))
    with caplog.at_level(logging.WARNING, logger="limbic"):
        memory = engine.remember("x")
    assert engine.store.get(memory.id).embedding is None
    assert engine.embedder_failure is not None
    assert "no vector from letters" in caplog.text
    assert [one.memory.id for one in engine.retrieve("x")] == [memory.id]


def test_the_failure_is_forgotten_when_the_embedder_is_back():
    embedder = Failing(RuntimeError("down"))
    engine = create_limbic(embedder=embedder)
    engine.remember("x")
    embedder.outcome = [[1.0]]
    engine.remember("x")
    assert engine.embedder_failure is None


def test_close_closes_both_once_even_when_one_fails():
    class Sticky(MemStore):
        def close(self):
            raise OSError("stuck")

    embedder = Letters()
    engine = create_limbic(store=Sticky(), embedder=embedder)
    with pytest.raises(OSError, match="stuck"):
        engine.close()
    assert embedder.closed == 1
    engine.close()
    assert embedder.closed == 1


def test_decay_pass_uses_the_clock():
    engine = create_limbic(now=lambda: NOW + timedelta(days=400))
    engine.remember("old", created_at=NOW, category="work", importance=0.1)
    assert engine.decay_pass(NOW) == DecayReport(decayed=1, faded=0)
    assert engine.decay_pass() == DecayReport(decayed=0, faded=1)


def test_scopes_of_the_engine_and_of_the_call():
    store = MemStore()
    ada = create_limbic(store=store, user_id="ada")
    bob = create_limbic(store=store, user_id="bob")
    assert ada.remember("likes jazz").user_id == "ada"
    bob.remember("likes rock")
    assert [one.memory.content for one in ada.retrieve("likes")] == ["likes jazz"]
    assert [one.memory.content for one in ada.retrieve("likes", user_id="bob")] == ["likes rock"]
    assert len(ada.retrieve("likes", user_id=None)) == 2
    assert ada.remember("x", user_id="bob").user_id == "bob"


def test_options_of_the_engine_and_of_the_call():
    engine = create_limbic(now=at_now, ranking="hybrid")
    engine.remember("I play the piano", importance=0.1)
    engine.remember("filler", importance=0.9)
    assert engine.retrieve("pianos piano", 1)[0].memory.content == "I play the piano"
    assert engine.retrieve("other", 1, ranking="classic")[0].memory.content == "filler"
    with pytest.raises(TypeError, match="colour"):
        engine.retrieve("x", colour="red")


def test_what_was_written_is_found_at_once():
    engine = create_limbic(now=at_now, embedder=Letters())
    for number in range(30):
        memory = engine.remember(f"number {number} unique{number}")
        engine.retrieve("anything")
        engine.store.delete(memory.id)
        assert engine.retrieve("anything") == []
