"""The demonstration shows what it promises, on a conversation that repeats itself."""

import io
import re
from collections import Counter
from datetime import timedelta

import pytest

pytest.importorskip("rich", reason="needs the extra cli")

from rich.console import Console

from limbic import demo
from limbic.embedders import HashingEmbedder, WordLlamaEmbedder


def shown(embedder):
    file = io.StringIO()
    demo.run(embedder=embedder, console=Console(file=file, width=118, highlight=False))
    return file.getvalue()


def test_the_conversation_is_what_the_demonstration_needs():
    turns = demo.conversation()
    assert 75 <= len(turns) <= 90
    assert [turn.created_at for turn in turns] == sorted(turn.created_at for turn in turns)
    assert turns[-1].created_at - turns[0].created_at > timedelta(days=110)
    assert len({turn.content for turn in turns}) == len(turns)
    assert Counter(turn.metadata["role"] for turn in turns)["user"] > 35
    said = [turn.content for turn in turns if turn.metadata["role"] == "user"]
    for fact in (r"[Hh]azel", r"\bknee|meniscus", "Judith|wedding", "tablet", "before ten|bullet"):
        days = {turn.created_at.date() for turn in turns if re.search(fact, turn.content)}
        assert len(days) >= 3, fact
        assert sum(bool(re.search(fact, text)) for text in said) >= 3, fact


def test_it_asks_six_questions_and_lets_time_pass():
    text = shown(HashingEmbedder())
    assert len(demo.QUESTIONS) == 6
    assert all(question in text for question in demo.QUESTIONS)
    assert len(re.findall(r"redundancy \d\.\d\d", text)) == 12
    faded, kept = map(int, re.search(r"(\d+) memories have faded, (\d+) remain", text).groups())
    assert faded + kept == len(demo.conversation())
    assert faded >= 5
    assert kept >= 20
    assert "hazelnuts" in text.rpartition("Kept")[2] or "Maren" in text.rpartition("Kept")[2]


def test_without_an_embedder_it_says_how_vectors_are_got_and_goes_on():
    text = shown(None)
    assert 'pip install "limbic-memory[local]"' in text
    assert "redundancy" not in text
    assert all(question in text for question in demo.QUESTIONS)


def test_with_a_real_model_the_selection_repeats_itself_less():
    pytest.importorskip("wordllama", reason="needs the extra local")
    values = [float(v) for v in re.findall(r"redundancy (\d\.\d\d)", shown(WordLlamaEmbedder()))]
    plain, chosen = values[::2], values[1::2]
    assert sum(chosen) < sum(plain)
