"""The lexical channel: terms, their worth, and what neighbours lend."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic import Memory
from limbic.lexical import Analyzer, LexicalIndex, question_share
from limbic.neighbours import LENT_BACKWARD, LENT_FORWARD, Neighbours

LONG_AGO = datetime(1999, 12, 31, tzinfo=UTC)
NO_LOANS = []


def index_of(*contents):
    index = LexicalIndex()
    for row, content in enumerate(contents):
        index.append(row, Memory(str(row), content, created_at=LONG_AGO))
    return index


def everything(n):
    return np.ones(n, dtype=bool)


def test_terms_without_a_stemmer(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "Stemmer", None)
    assert Analyzer().terms("Cats and 2 dogs in 東京都") == ["cats", "2", "dogs", "東京", "京都"]


def test_terms_are_stemmed_by_script():
    pytest.importorskip("Stemmer", reason="needs the extra stem")
    analyzer = Analyzer()
    assert analyzer.terms("running cats") == ["run", "cat"]
    assert analyzer.terms("кошками") == analyzer.terms("кошка")
    assert analyzer.terms("東京") == ["東京"]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("What happened on 16 June, 2023?", "june 16"),
        ("on June 16th", "june 16"),
        ("June 06", "june 6"),
        ("in May", "may"),
        ("May 3, 2023", "may 3"),
    ],
)
def test_dates_are_terms(text, term):
    assert term in Analyzer().terms(text)


@pytest.mark.parametrize("text", ["May I come?", "it may rain", "32 June", "June wrote 16 letters"])
def test_what_is_no_date(text):
    assert not {"may", "june 32", "june 16"} & set(Analyzer().terms(text))


def test_a_memory_is_found_by_its_date():
    index = LexicalIndex()
    index.append(0, Memory("m", "nothing of it", created_at="2023-06-16"))
    index.append(1, Memory("n", "nothing of it", created_at="2023-06-17"))
    worth = index.worth("16 June 2023", everything(2))
    covered = index.coverage(worth, everything(2), NO_LOANS)
    assert covered[0] > covered[1] > 0


def plain_coverage(query, contents, visible):
    """The definition, told with sets."""
    analyzer = Analyzer()
    own = [{*analyzer.terms(content), *analyzer.date_terms(LONG_AGO)} for content in contents]
    seen = [terms for terms, shown in zip(own, visible, strict=True) if shown]
    worth = {}
    for term in set(analyzer.terms(query)):
        df = sum(term in terms for terms in seen)
        worth[term] = math.log(1 + (len(seen) - df + 0.5) / (df + 0.5))
    total = sum(worth.values())
    return [
        sum(idf for term, idf in worth.items() if term in terms) / total if total and shown else 0
        for terms, shown in zip(own, visible, strict=True)
    ]


words = st.lists(st.sampled_from(["cat", "dog", "кот", "東京", "7", "the", "run"]), max_size=5)


@given(words, st.lists(st.tuples(words, st.booleans()), max_size=6))
def test_coverage_is_the_covered_share_of_the_worth(query, rows):
    contents = [" ".join(row) for row, _ in rows]
    visible = np.array([shown for _, shown in rows], dtype=bool)
    index = index_of(*contents)
    query = " ".join(query)
    covered = index.coverage(index.worth(query, visible), visible, NO_LOANS)
    assert covered == pytest.approx(plain_coverage(query, contents, visible))
    assert ((covered >= 0) & (covered <= 1)).all()


def test_rare_terms_are_worth_more():
    index = index_of("cat dog", "cat", "cat", "dog bird")
    worth = index.worth("cat dog bird", everything(4))
    assert worth["bird"] > worth["dog"] > worth["cat"] > 0


def test_what_is_not_visible_counts_in_no_statistic_and_lends_nothing():
    index = index_of("cat", "bird", "cat")
    neighbours = conversation([0, 0, 0])
    shown = np.array([True, True, False])
    worth = index.worth("cat", shown)
    assert worth["cat"] == math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert index.coverage(worth, shown, neighbours.loans).tolist() == [
        1.0,
        LENT_FORWARD[0],
        LENT_FORWARD[1],
    ]
    hidden = np.array([False, True, False])
    assert not index.coverage(index.worth("cat", hidden), hidden, neighbours.loans).any()


def conversation(sessions, positions=None, created=None):
    n = len(sessions)
    return Neighbours.of(
        np.arange(n),
        np.array(sessions),
        np.array(range(n) if positions is None else positions),
        np.array([0] * n if created is None else created),
        [f"m{row}" for row in range(n)],
    )


def test_loans_fade_with_the_distance_and_stop_at_the_session():
    index = index_of("cat", "x", "x", "x", "x", "x", "cat", "x")
    neighbours = conversation([0, 0, 0, 0, 0, 0, 0, 1])
    reach = index.reach("cat", everything(8), neighbours.loans)
    assert reach.tolist() == [
        1.0,
        LENT_FORWARD[0],
        LENT_FORWARD[1],
        max(LENT_FORWARD[2], LENT_BACKWARD[2]),
        LENT_BACKWARD[1],
        LENT_BACKWARD[0],
        1.0,
        0.0,
    ]


def test_memories_without_a_session_have_no_neighbours():
    neighbours = conversation([-1, -1, 0])
    for _, rows in neighbours.loans + neighbours.lenders:
        assert (rows == -1).all()


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3), st.integers(0, 3)), max_size=12))
def test_neighbours_are_those_of_the_sorted_conversation(rows):
    sessions, positions, created = ([row[i] for row in rows] for i in range(3))
    neighbours = conversation(sessions, positions, created)
    by_share = dict(neighbours.loans)
    lenders = dict(neighbours.lenders)
    for step, (forward, backward) in enumerate(zip(LENT_FORWARD, LENT_BACKWARD, strict=True), 1):
        for row, session in enumerate(sessions):
            turns = sorted(
                (other for other, code in enumerate(sessions) if code == session),
                key=lambda other: (positions[other], created[other], f"m{other}"),
            )
            place = turns.index(row)
            after = turns[place + step] if session >= 0 and place + step < len(turns) else -1
            before = turns[place - step] if session >= 0 and place >= step else -1
            assert (by_share[forward][row], by_share[backward][row]) == (after, before)
            assert (lenders[forward][row], lenders[backward][row]) == (before, after)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        ("I play.", 0.0),
        ("Do you?", 1.0),
        ("好吗？好。", 3 / 5),
        ("Yes. Do you?", 8 / 12),
    ],
)
def test_question_share(text, share):
    assert question_share(text) == pytest.approx(share)
