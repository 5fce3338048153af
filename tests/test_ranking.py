"""The hybrid ranking."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic import HybridWeights, Memory, MemoryEmotion, MemStore, ScoreQuery
from limbic.index import MemoryIndex
from limbic.ranking import HybridScores, passage_mean
from limbic.timestamps import to_microseconds

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)
NO_PRIORS = HybridWeights(importance=0.0, recency=0.0, emotion=0.0)


def scores(memories, query, weights=NO_PRIORS, model=None):
    """Hybrid breakdowns by id."""
    store = MemStore()
    for memory in memories:
        store.save(memory)
    index = MemoryIndex(store)
    index.keep_lexical()
    index.refresh()
    query = ScoreQuery(query) if isinstance(query, str) else query
    found = HybridScores(
        index,
        query,
        to_microseconds(NOW),
        index.visible(),
        weights=weights,
        embedding_model=model,
    )
    return {memory.id: found.breakdown(index.row(memory.id)) for memory in memories}


def note(id, content, **fields):
    return Memory(id, content, **{"created_at": NOW} | fields)


def test_a_missing_cosine_is_missing_and_not_zero():
    rows = [note("bare", "piano"), note("far", "piano", embedding=(0.0, 1.0))]
    query = ScoreQuery("piano", embedding=(1.0, 0.0))
    found = scores(rows, query)
    assert found["bare"].cosine is None
    assert found["bare"].context is None
    assert found["bare"].final == 1.0
    assert found["far"].cosine == 0.0
    assert found["far"].final == 0.5


def test_vectors_of_another_model_are_not_compared():
    rows = [
        note("same", "x", embedding=(1.0, 0.0), embedding_model="one"),
        note("other", "x", embedding=(1.0, 0.0), embedding_model="two"),
    ]
    found = scores(rows, ScoreQuery("y", embedding=(1.0, 0.0)), model="one")
    assert (found["same"].cosine, found["other"].cosine) == (1.0, None)


def test_neighbours_lend_their_evidence():
    rows = [
        note("question", "Which instrument do you play?", session_id="s", position=0),
        note("answer", "The cello, since school.", session_id="s", position=1),
        note("elsewhere", "The cello, since school.", session_id="t", position=1),
    ]
    found = scores(rows, "What instrument does she play?")
    assert found["answer"].lexical > found["elsewhere"].lexical == 0.0


def test_neighbours_of_other_users_lend_nothing():
    rows = [
        note("ada", "Which instrument?", session_id="s", position=0, user_id="ada"),
        note("bob", "The cello.", session_id="s", position=1, user_id="bob"),
    ]
    assert scores(rows, "instrument")["bob"].lexical == 0.0


def test_a_question_asserts_nothing():
    found = scores([note("asks", "Piano?"), note("says", "Piano.")], "piano")
    assert found["asks"].question_share == 1.0
    assert found["asks"].final == pytest.approx(0.75 * found["says"].final)


@pytest.mark.parametrize(
    ("prior", "better", "worse"),
    [
        ("importance", {"importance": 0.9}, {"importance": 0.1}),
        ("recency", {}, {"created_at": NOW - timedelta(days=30)}),
        ("emotion", {"emotion": MemoryEmotion("joyful", 0.9)}, {}),
    ],
)
def test_priors_decide_between_equals(prior, better, worse):
    found = scores(
        [note("worse", "piano", **worse), note("better", "piano", **better)],
        "piano",
        HybridWeights(**{"importance": 0.0, "recency": 0.0, "emotion": 0.0} | {prior: 0.02}),
    )
    assert found["better"].evidence == found["worse"].evidence
    assert found["better"].final > found["worse"].final


def test_nothing_asked_and_nothing_stored():
    assert scores([], "piano") == {}
    assert scores([note("m", "piano")], "")["m"].final == 0.0


weights = st.builds(
    HybridWeights,
    lexical=st.floats(0.01, 1),
    cosine=st.floats(0, 1),
    context=st.floats(0, 1),
    question=st.floats(0, 1),
    importance=st.floats(0, 0.3),
    recency=st.floats(0, 0.3),
    emotion=st.floats(0, 0.3),
)
memories = st.builds(
    note,
    st.just("m"),
    st.sampled_from(
        ["Do you play piano?", "I play the cello.", "Piano, since school. And you?", ""]
    ),
    importance=st.floats(-1, 2),
    embedding=st.none() | st.tuples(st.floats(-1, 1, width=32), st.just(0.5)),
    session_id=st.sampled_from([None, "s", "t"]),
    position=st.integers(0, 5),
    emotion=st.none() | st.builds(MemoryEmotion, st.just("sad"), st.floats(0, 1)),
)


@given(st.lists(memories, max_size=8), weights, st.booleans())
def test_scores_are_bounded_and_recomputed_exactly(rows, weights, embedded):
    rows = [replace(memory, id=f"m{number}") for number, memory in enumerate(rows)]
    query = ScoreQuery(
        "who plays the piano?", embedding=(1.0, 0.25) if embedded else None, target_emotion="grief"
    )
    for found in scores(rows, query, weights).values():
        assert 0 <= found.final <= 1
        for channel in ("lexical", "question_share", "importance", "recency", "emotion"):
            assert 0 <= getattr(found, channel) <= 1
        assert found.recompute(weights) == found.final


def test_passage_mean_is_over_what_is_there():
    values = np.array([1.0, 0.5, np.nan, 0.2])
    lenders = [(0.5, np.array([1, 2, 3, -1]))]
    mean = passage_mean(values, lenders)
    assert mean[0] == (1.0 + 0.5 * 0.5) / 1.5
    assert mean[1] == 0.5
    assert np.isnan(mean[2])
    assert mean[3] == 0.2


@pytest.mark.parametrize("name", [one.name for one in fields(HybridWeights)])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_weights_are_checked(name, value):
    with pytest.raises(ValueError, match=f"weight {name} must lie in"):
        HybridWeights(**{name: value})


def test_weights_leave_room():
    with pytest.raises(ValueError, match="lexical must be above 0"):
        HybridWeights(lexical=0.0)
    with pytest.raises(ValueError, match=r"must be at most 1, got 1\.2"):
        HybridWeights(importance=0.5, recency=0.5, emotion=0.2)
