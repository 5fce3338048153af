"""Embedders that need no service: same text, same bits; bad answers are told apart."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic.embedders import HashingEmbedder, WordLlamaEmbedder
from limbic.embedders._vectors import checked_vectors
from limbic.errors import EmbedderUnavailableError, MissingExtraError


@given(st.lists(st.text(max_size=40), max_size=5))
def test_hashing_gives_unit_vectors_or_zeros(texts):
    vectors = HashingEmbedder(64).embed(texts)
    assert vectors.shape == (len(texts), 64)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        norm = np.linalg.norm(vector)
        assert norm == 0 or norm == pytest.approx(1, abs=1e-6)
        alone = HashingEmbedder(64).embed([text])[0]
        assert alone.tobytes() == vector.tobytes()


def test_hashing_sees_inflections_scripts_and_case():
    embed = HashingEmbedder().embed
    a, b, c = embed(["She repairs old maps", "repairing an OLD map", "He plays the violin"])
    assert a @ b > 0.25 > a @ c
    assert embed(["naïve café"]) @ embed(["NAÏVE CAFÉ"]).T == pytest.approx(1)
    assert np.linalg.norm(embed(["航海図"])) == pytest.approx(1)
    assert not embed(["", " ", "?!"]).any()


def test_hashing_is_the_same_in_another_process():
    code = (
        "from limbic.embedders import HashingEmbedder; "
        "print(HashingEmbedder(8).embed(['a boat']).tobytes().hex())"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip() == HashingEmbedder(8).embed(["a boat"]).tobytes().hex()


@pytest.mark.parametrize(
    ("dim", "error", "message"),
    [(7, ValueError, "dim must be at least 8, got 7"), (8.0, TypeError, "dim must be an int")],
)
def test_hashing_checks_its_length(dim, error, message):
    with pytest.raises(error, match=message):
        HashingEmbedder(dim)


@pytest.mark.parametrize("texts", ["a bare string", None, [b"bytes"], ["a", 3]])
def test_texts_are_checked(texts):
    with pytest.raises(TypeError, match="texts must be a list of strings, got"):
        HashingEmbedder().embed(texts)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0]], r"each of 2 texts, got an array of shape \(1, 1\)"),
        ([1.0, 2.0], r"got an array of shape \(2,\)"),
        ([[], []], r"got an array of shape \(2, 0\)"),
        ([[1.0], [1.0, 2.0]], "gave no rectangle of numbers"),
        ([["x"], ["y"]], "gave no rectangle of numbers"),
        ([[1.0], [np.nan]], "gave a vector that is not finite for text 1"),
        ([[np.inf], [1.0]], "gave a vector that is not finite for text 0"),
    ],
)
def test_unusable_answers_are_named(answer, message):
    with pytest.raises(EmbedderUnavailableError, match=message) as caught:
        checked_vectors(answer, count=2, model="m")
    assert caught.value.embedder == "m"


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtraError, match=r'pip install "limbic-memory\[local\]"'):
        WordLlamaEmbedder()


@pytest.fixture(scope="module")
def wordllama():
    pytest.importorskip("wordllama", reason="needs the extra local")
    return WordLlamaEmbedder()


def test_wordllama_knows_meaning_and_needs_no_network(wordllama, monkeypatch):
    monkeypatch.setattr("socket.socket", None)
    texts = ["the dog is ill", "a sick puppy", "the price of copper", " "]
    ill, sick, copper, blank = wordllama.embed(texts)
    assert ill.shape == (256,)
    assert cosine(ill, sick) > 0.3 > cosine(ill, copper)
    assert not blank.any()
    assert wordllama.embed([]).shape == (0, 256)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_wordllama_is_loaded_once_and_again_after_closing(monkeypatch):
    package = pytest.importorskip("wordllama", reason="needs the extra local")
    loads = []
    load = package.WordLlama.load
    monkeypatch.setattr(
        package.WordLlama, "load", lambda **options: loads.append(1) or load(**options)
    )
    embedder = WordLlamaEmbedder()
    assert loads == []
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(embedder.embed, [["a boat"]] * 16))
    assert len({answer.tobytes() for answer in answers}) == 1
    assert loads == [1]
    embedder.close()
    embedder.close()
    assert embedder.embed(["a boat"]).tobytes() == answers[0].tobytes()
    assert loads == [1, 1]


def test_wordllama_that_cannot_load_says_so(monkeypatch):
    package = pytest.importorskip("wordllama", reason="needs the extra local")

    def fail(**options):
        raise FileNotFoundError("no weights")

    monkeypatch.setattr(package.WordLlama, "load", fail)
    with pytest.raises(EmbedderUnavailableError, match=r"cannot be loaded from .*: no weights"):
        WordLlamaEmbedder().embed(["a"])
