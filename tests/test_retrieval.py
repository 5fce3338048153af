"""Retrieval: order, membership, and what each option does."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic import (
    HybridBreakdown,
    Memory,
    MemStore,
    RetrieveOptions,
    ScoredMemory,
    ScoreQuery,
    diversify,
    retrieve,
    score_memory,
    score_pool,
)
from limbic.diversity import gist_select_full

NOW = datetime(2026, 8, 26, 12, tzinfo=UTC)


def scored(rows):
    """A pool from (id, score, vector) rows."""
    return [ScoredMemory(Memory(id, id, embedding=vector), score) for id, score, vector in rows]


def ids(found):
    return "".join(one.memory.id for one in found)


def at_angle(degrees):
    return (np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))


NEAR_COPIES = scored(
    [
        ("a", 0.95, at_angle(0)),
        ("b", 0.94, at_angle(1)),
        ("c", 0.93, at_angle(2)),
        ("d", 0.70, at_angle(90)),
        ("e", 0.60, at_angle(180)),
    ]
)


def test_diversity_changes_membership_and_never_order():
    found = diversify(NEAR_COPIES, 3, lam=4.0)
    assert set(ids(found)) != set("abc")
    places = [NEAR_COPIES.index(one) for one in found]
    assert places == sorted(places)


def test_at_no_weight_it_is_the_best_by_score():
    assert ids(diversify(NEAR_COPIES, 3, lam=0.0)) == "abc"


def test_a_memory_without_a_vector_takes_a_slot_left_open():
    pool = scored(
        [("a", 0.9, at_angle(0)), ("b", 0.89, at_angle(1)), ("x", 0.2, None), ("y", 0.1, None)]
    )
    # GIST keeps one of the two copies; each bare row fills a slot, in pool order.
    assert (
        len(gist_select_full([at_angle(0), at_angle(1)], [0.9, 0.89], k=3, lam=64.0).selected) < 3
    )
    assert ids(diversify(pool, 3, lam=64.0)) in ("axy", "abx")
    assert "x" in ids(diversify(pool, 3, lam=64.0))
    # When GIST fills every slot itself there is none left, however well a bare row scores.
    full = scored([("x", 0.99, None), ("a", 0.9, at_angle(0)), ("d", 0.8, at_angle(90))])
    assert ids(diversify(full, 2, lam=1.0)) == "ad"


def pools():
    vector = st.none() | st.integers(0, 35).map(lambda step: at_angle(10 * step))
    row = st.tuples(st.floats(0, 1), vector)
    return st.lists(row, max_size=9).map(
        lambda rows: scored(
            (chr(97 + place), score, vector)
            for place, (score, vector) in enumerate(sorted(rows, key=lambda r: -r[0]))
        )
    )


@given(pools(), st.integers(1, 6), st.sampled_from([0.0, 0.5, 2.0, 64.0]))
def test_what_fills_a_slot_keeps_the_distance_of_the_chosen(pool, k, lam):
    """The rule told again, plainly: GIST, then a walk down the pool."""
    found = diversify(pool, k, lam=lam)
    embedded = [one for one in pool if one.memory.embedding is not None]
    if len(embedded) < 2:
        assert found == pool[:k]
        return
    vectors = [one.memory.embedding for one in embedded]
    picked = gist_select_full(vectors, [one.score for one in embedded], k=k, lam=lam)
    chosen = [embedded[row] for row in picked.selected]
    for one in pool:
        if one in chosen or len(chosen) >= k:
            continue
        vector = one.memory.embedding
        others = [other.memory.embedding for other in chosen if other.memory.embedding is not None]
        # A pair's diversity is its distance, in the same float32 arithmetic.
        if vector is None or all(
            gist_select_full([vector, other], k=2, lam=1.0).d_max >= picked.div for other in others
        ):
            chosen.append(one)
    assert ids(found) == "".join(sorted(ids(chosen)))


def test_a_result_may_be_shorter_than_k():
    assert len(diversify(NEAR_COPIES, 5, lam=64.0)) < 5


@pytest.mark.parametrize(
    "vectors",
    [
        [(1.0, 0.0), None, None],
        [(1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0)],
        [(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)],
        [(1.0, 0.0), (np.nan, 0.0), (0.0, 1.0)],
        [None, None, None],
    ],
    ids=["one vector", "ragged", "zero", "nan", "none"],
)
def test_without_comparable_vectors_it_is_the_best_by_score(vectors):
    pool = scored([(id, 0.5, vector) for id, vector in zip("abc", vectors, strict=True)])
    assert ids(diversify(pool, 2, lam=64.0)) == "ab"


def test_an_empty_store_gives_nothing():
    assert retrieve(MemStore(), "anything") == []
    assert diversify([], 3) == []


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "5", None])
def test_k_is_checked(k):
    error = ValueError if k in (0, -1) and k is not True else TypeError
    with pytest.raises(error, match="k must be"):
        retrieve(MemStore(), "x", k)
    with pytest.raises(error, match="k must be"):
        diversify([], k)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": -1.0}, "lam must be finite and at least 0, got -1.0"),
        ({"lam": float("nan")}, "lam must be finite"),
        ({"pool": 0}, "pool must be at least 1, got 0"),
        ({"scan_limit": -1}, "scan_limit must be at least 0"),
        ({"ranking": "best"}, "ranking must be 'classic' or 'hybrid', got 'best'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        RetrieveOptions(**options)


def many(n=300):
    store = MemStore()
    for number in range(n):
        store.save(
            Memory(
                f"m{number:03d}",
                f"note {'piano' if number == n - 1 else 'filler'} {number}",
                importance=0.5 - number / 1000,
                created_at=NOW - timedelta(hours=number % 7),
            )
        )
    return store


def test_every_memory_is_scored_unless_a_cut_is_asked_for():
    store = many()
    scores = {m.id: score_memory(m, ScoreQuery("piano"), NOW) for m in store.all(1000)}
    best = sorted(store.all(1000), key=lambda m: -scores[m.id])[:50]  # stable: store order
    pool = score_pool(store, "piano", now=NOW)
    assert [one.memory.id for one in pool] == [memory.id for memory in best]
    cut = score_pool(store, "piano", now=NOW, options=RetrieveOptions(scan_limit=200, pool=500))
    assert {one.memory.id for one in cut} == {memory.id for memory in store.all(200)}


def test_a_low_ranked_memory_beyond_the_cut_is_found():
    store = MemStore()
    for number in range(250):
        store.save(Memory(f"m{number}", "filler", importance=0.5, created_at=NOW))
    store.save(Memory("x", "piano", importance=0.4, created_at=NOW))
    assert retrieve(store, "piano", 1, now=NOW)[0].memory.id == "x"
    original = RetrieveOptions(scan_limit=200)
    assert retrieve(store, "piano", 1, now=NOW, options=original)[0].memory.id != "x"


def test_the_pool_is_never_smaller_than_k():
    assert len(retrieve(many(), "piano", 60, now=NOW)) == 60


def test_reading_changes_nothing():
    store = many(5)
    before = store.all()
    retrieve(store, "piano", now=NOW)
    assert store.all() == before


@pytest.mark.parametrize("ranking", ["classic", "hybrid"])
def test_the_same_question_at_the_same_time_gives_the_same_answer(ranking):
    options = RetrieveOptions(ranking=ranking)
    first, second = (retrieve(many(), "piano 7", now=NOW, options=options) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("ranking", ["classic", "hybrid"])
def test_explanations_recompute_the_score_exactly(ranking):
    store = MemStore()
    rng = np.random.default_rng(5)
    for number in range(40):
        store.save(
            Memory(
                f"m{number}",
                ["Do you play the piano?", "I play the piano.", "Coffee, please"][number % 3],
                importance=float(rng.random()),
                embedding=rng.standard_normal(4) if number % 4 else None,
                session_id="s",
                position=number,
                created_at=NOW - timedelta(days=number),
            )
        )
    query = ScoreQuery("who plays piano?", embedding=rng.standard_normal(4))
    options = RetrieveOptions(ranking=ranking, explain=True, pool=40, lam=0.0)
    found = retrieve(store, query, 40, now=NOW, options=options)
    assert len(found) == 40
    for one in found:
        assert isinstance(one.explanation.channels, HybridBreakdown) is (ranking == "hybrid")
        assert one.explanation.recompute() == one.score


def test_explanations_say_what_diversity_left_out():
    store = MemStore()
    for one in NEAR_COPIES:
        store.save(
            Memory(
                one.memory.id,
                "x",
                importance=one.score,
                embedding=one.memory.embedding,
                created_at=NOW,
            )
        )
    options = RetrieveOptions(explain=True, lam=64.0)
    found = retrieve(store, "x", 2, now=NOW, options=options)
    kept = {one.memory.id for one in found}
    left_out = [entry for one in found for entry in one.explanation.left_out]
    assert left_out
    assert {entry.id for entry in left_out} == set("abcde") - kept - {"e"}
    near = min(left_out, key=lambda entry: entry.distance)
    assert near.distance < 0.001
    assert str(near) == f"left out {near.id}, score {near.score:.3f}: 0.00 from this one"
    plain = retrieve(store, "x", 2, now=NOW)
    assert all(one.explanation is None for one in plain)


def test_scopes_and_superseded_memories():
    store = MemStore()
    store.save(Memory("new", "likes tea", user_id="ada", supersedes="old"))
    store.save(Memory("old", "likes coffee", user_id="ada", superseded_by="new"))
    store.save(Memory("bob", "likes coffee", user_id="bob"))

    def seen(**options):
        return {
            one.memory.id
            for ranking in ("classic", "hybrid")
            for one in retrieve(
                store, "coffee", options=RetrieveOptions(ranking=ranking, **options)
            )
        }

    assert seen() == {"new", "bob"}
    assert seen(user_id="ada") == {"new"}
    assert seen(user_id="ada", include_superseded=True) == {"new", "old"}


def test_a_row_deleted_meanwhile_is_left_out():
    class Racing(MemStore):
        def get(self, id):
            return None if id == "m001" else super().get(id)

    store = Racing()
    for memory in many(3).all():
        store.save(memory)
    assert {one.memory.id for one in retrieve(store, "x", now=NOW)} == {"m000", "m002"}


@pytest.mark.parametrize("options", [{"filter": {"user_id": "ada"}}, {"as_of": NOW}])
def test_a_store_that_cannot_filter_says_so(options):
    class Plain:
        def all(self, limit=200):
            return []

        def get(self, id):
            return None

    with pytest.raises(TypeError, match="Plain"):
        retrieve(Plain(), "x", options=RetrieveOptions(**options))
