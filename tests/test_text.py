"""Keywords and tokens."""

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic import Memory
from limbic.text import STOP_WORDS, keywords, memory_keywords, tokens


def reference_keywords(text):
    """The rule of the reference fixture for ASCII text, character by character."""
    words, word = [], ""
    for character in text + " ":
        lower = character.lower()
        if "a" <= lower <= "z":
            word += lower
        elif word:
            words.append(word)
            word = ""
    return {word for word in words if len(word) > 2 and word not in STOP_WORDS}


@given(st.text(alphabet=string.printable))
def test_ascii_text_follows_the_reference(text):
    assert keywords(text) == reference_keywords(text)


def test_stop_words_are_those_of_the_fixture():
    assert len(STOP_WORDS) == 120
    assert {"the", "about", "may", "also", "whom"} <= STOP_WORDS
    assert "both" not in STOP_WORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café crème", {"café", "crème"}),
        ("Москва и метро", {"москва", "метро"}),
        ("ＦＵＬＬ ｗｉｄｔｈ", {"full", "width"}),
        ("Straße", {"strasse"}),
        ("東京都", {"東京", "京都"}),
        ("猫", {"猫"}),
        ("ひらがな", {"ひら", "らが", "がな"}),
        ("한국어", {"한국", "국어"}),
        ("ไทย", {"ไท", "ทย"}),
        ("हिन्दी भाषा", {"हिन्दी", "भाषा"}),
        ("naïve the of", {"naïve"}),
        ("Ada住む", {"ada", "住む"}),
    ],
)
def test_every_script(text, expected):
    assert keywords(text) == expected


@given(st.text())
def test_composition_does_not_matter(text):
    assert (
        keywords(unicodedata.normalize("NFD", text)) == keywords(unicodedata.normalize("NFC", text))
        or text.isascii()
    )


@given(st.text())
def test_tokens_hold_the_keywords(text):
    if not text.isascii():
        assert keywords(text) <= {t for token in tokens(text) for t in _letter_parts(token)}


def _letter_parts(token):
    yield token
    part = ""
    for character in token + "0":
        if unicodedata.category(character)[0] in "LM":
            part += character
        else:
            yield part
            part = ""


def test_tokens_keep_numbers_and_repetitions():
    assert tokens("2 cats, 2 dogs") == ["2", "cats", "2", "dogs"]


def test_memory_keywords_unite_its_own_and_its_contents():
    memory = Memory("m", "plays piano", keywords=["Jazz", "", "ÉTUDE", "two words"])
    assert memory_keywords(memory) == {"plays", "piano", "jazz", "étude", "two words"}
