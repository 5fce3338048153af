"""The classic score of one memory."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic import Memory, MemoryEmotion, ScoreQuery, ScoreWeights, score_memory_detailed
from limbic.scoring import cosine, emotion_score, recency

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)
GOLDEN = Path(__file__).parents[2] / "shared" / "golden" / "golden-scoring.json"

# content, category, importance, keywords, days since access, vector, base, final
SCENARIO = [
    ("User adores flat whites", "preference", 0.4, ["flat", "whites"], 0.0, (0.6, 0.8, 0, 0)),
    ("User's manager is called Dave", "relationship", 0.9, ["manager", "dave"], 0, (0, 0, 1, 0)),
    ("User is learning Portuguese", "interest", 0.5, ["portuguese", "learning"], 0, None),
    (
        "User drinks coffee every morning",
        "preference",
        0.6,
        ["coffee", "morning"],
        3.5,
        (1, 0.75, 0, 0),
    ),
    (
        "User felt overjoyed at the wedding",
        "emotion",
        0.7,
        ["wedding", "overjoyed"],
        7,
        (0, 0.75, 1, 0),
    ),
]
FIGURES = [(0.39, 0.453), (0.565, 0.3955), (0.425, 0.425), None, (0.415, 0.2905)]


def scenario():
    return [
        Memory(
            str(number),
            content,
            category=category,
            importance=importance,
            keywords=words,
            created_at=NOW - timedelta(days=days),
            embedding=vector,
        )
        for number, (content, category, importance, words, days, vector) in enumerate(SCENARIO)
    ]


def test_scenario_figures_and_orders():
    query = ScoreQuery("coffee", embedding=(1.0, 0.0, 0.0, 0.0))
    scores = [score_memory_detailed(memory, query, NOW) for memory in scenario()]
    for score, figures in zip(scores, FIGURES, strict=True):
        if figures is not None:
            assert (score.base, score.final) == pytest.approx(figures, abs=1e-6)
    drinks = 0.25 * 0.5**0.5 + 0.35 * 0.6 + 0.25 / 5
    assert scores[3].base == pytest.approx(drinks)
    assert scores[3].final == pytest.approx(0.7 * drinks + 0.3 * 0.8)
    assert sorted(range(5), key=lambda i: -scores[i].base) == [1, 3, 2, 4, 0]
    assert sorted(range(5), key=lambda i: -scores[i].final) == [3, 0, 2, 1, 4]


@pytest.mark.skipif(not GOLDEN.exists(), reason="the published figures are not beside the project")
def test_published_figures():
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    query = ScoreQuery(golden["query"], embedding=golden["query_vector"])
    assert query.keywords == set(golden["query_keywords"])
    scores = {}
    for row in golden["memories"]:
        memory = Memory(
            row["key"],
            row["content"],
            category=row["category"],
            importance=row["importance"],
            keywords=row["keywords"],
            created_at=row["created_at"],
            last_accessed=row["last_accessed"],
            embedding=row["vector"],
        )
        score = scores[row["content"]] = score_memory_detailed(memory, query, golden["now"])
        assert score.base == pytest.approx(row["expected_base_score"], abs=1e-6)
        assert score.final == pytest.approx(row["expected_final_score"], abs=1e-6)
    by_base = sorted(scores, key=lambda content: -scores[content].base)
    by_final = sorted(scores, key=lambda content: -scores[content].final)
    assert by_base == golden["expected_order_base"]
    assert by_final == golden["expected_order_embedded"]


@pytest.mark.parametrize(
    ("emotion", "category", "target", "expected"),
    [
        (None, "general", None, 0.0),
        (None, "emotion", "sad", 0.3),
        (("joyful", 0.7), "general", None, 0.5),
        (("joyful", 0.4), "general", None, 0.3),
        (("joyful", 0.39), "general", None, 0.117),
        (("joyful", 0.0), "general", "JOYFUL", 0.4),
        (("joyful", 0.0), "general", "proud", 0.2),
        (("joyful", 0.0), "general", "happy", 0.2),
        (("happy", 0.0), "general", "joyful", 0.2),
        (("joyful", 0.0), "general", "sad", 0.0),
        (("odd", 0.0), "general", "strange", 0.0),
        (("grief", 1.0), "emotion", "grief", 1.0),
    ],
)
def test_emotion_channel(emotion, category, target, expected):
    carried = None if emotion is None else MemoryEmotion(*emotion)
    assert emotion_score(carried, category, target) == pytest.approx(expected)


def test_a_time_that_lies_ahead_counts_as_now():
    assert recency(-3) == 1.0
    assert recency(7) == 0.5


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (None, [1.0]),
        ([], []),
        ([1.0], [1.0, 0.0]),
        ([0.0, 0.0], [1.0, 0.0]),
        ([np.nan, 1.0], [1.0, 0.0]),
        ([np.inf, 1.0], [1.0, 0.0]),
    ],
)
def test_what_cannot_be_compared_is_missing_and_not_zero(a, b):
    assert cosine(a, b) is None
    assert cosine(b, a) is None


@given(
    st.floats(-2, 2),
    st.floats(-2, 2),
    st.floats(0, 1000),
    st.none() | st.floats(-1, 1),
    st.floats(0, 1),
)
def test_scores_are_bounded_and_recomputed_exactly(weight, importance, days, similarity, intensity):
    weights = ScoreWeights(recency=weight, importance=weight, emotion=1.5)
    memory = Memory(
        "m",
        "coffee",
        importance=importance,
        emotion=MemoryEmotion("sad", intensity),
        created_at=NOW - timedelta(days=days),
        embedding=None if similarity is None else (similarity, 0.5),
    )
    query = ScoreQuery("coffee", embedding=(1.0, 0.0), target_emotion="grief")
    score = score_memory_detailed(memory, query, NOW, weights=weights)
    assert 0 <= score.base <= 1
    assert 0 <= score.final <= 1
    assert score.recompute(weights) == score.final


def test_weights_are_checked():
    with pytest.raises(ValueError, match="weight recency must be finite, got nan"):
        ScoreWeights(recency=float("nan"))


def test_a_query_is_text():
    with pytest.raises(TypeError, match="query must be a string, got NoneType"):
        ScoreQuery(None)
