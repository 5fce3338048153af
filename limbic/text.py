"""Words of a text, in every script.

Two readings serve two channels: `keywords`, a set without stop words, for the classic relevance;
and `tokens`, every word and number in order, for the lexical channel of the hybrid ranking.
"""

import re
import sys
import unicodedata
from functools import cache

from limbic.types import Memory

__all__ = ["STOP_WORDS", "keywords", "memory_keywords", "tokens"]

_ENGLISH = """
a about above after again all also am an and are as at be because been before being below between
but by can could did do does during each few for from further had has have he her here hers
herself him himself his how i if in into is it its itself just may me might more most must my
myself no nor not of on once only or other our ours ourselves own same shall she should so some
such than that the their theirs them themselves then there these they this those through to too
under until very was we were what when where which while who whom why will with would you your
yours yourself yourselves
"""

STOP_WORDS = frozenset(_ENGLISH.split())
"""English words that carry no topic: the list of the reference fixture."""

_ASCII_WORD = re.compile(r"[a-z]+")

# Scripts that are written without spaces, or whose words are too long to match whole.
_WIDE = "\u0e00-\u0e7f\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
_WIDE += "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_SAME_KIND = re.compile(f"[{_WIDE}]+|[^{_WIDE}]+")
_IS_WIDE = re.compile(f"[{_WIDE}]")

_SHORTEST = 3


def keywords(text: str) -> frozenset[str]:
    """Return the keywords of a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    frozenset of str
        For ASCII text the runs of letters in lower case, at least three long, without stop words.
        Otherwise the same over letters of every script, after NFKC and case folding; Han, Kana,
        Hangul and Thai as overlapping pairs of characters.

    Examples
    --------
    >>> sorted(keywords("She loves the piano"))
    ['loves', 'piano']
    >>> sorted(keywords("東京都に住む"))
    ['に住', '京都', '住む', '東京', '都に']
    """
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
        return frozenset(word for word in words if len(word) >= _SHORTEST) - STOP_WORDS
    found: set[str] = set()
    for run in _letter_runs().findall(_folded(text)):
        for part in _SAME_KIND.findall(run):
            if _IS_WIDE.match(part):
                found.update(_pairs(part))
            elif len(part) >= _SHORTEST:
                found.add(part)
    return frozenset(found) - STOP_WORDS


def memory_keywords(memory: Memory) -> frozenset[str]:
    """Return what the relevance channel compares with a query.

    Parameters
    ----------
    memory : Memory
        Any memory.

    Returns
    -------
    frozenset of str
        The memory's own keywords in lower case, empty ones dropped, and those of its content.

    Examples
    --------
    >>> sorted(memory_keywords(Memory("m1", "Plays the piano", keywords=["Music", ""])))
    ['music', 'piano', 'plays']
    """
    own = (word.lower() if word.isascii() else _folded(word) for word in memory.keywords if word)
    return keywords(memory.content).union(own)


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text, in order, repeated ones included.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Runs of letters and digits after NFKC and case folding; Han, Kana, Hangul and Thai as
        overlapping pairs of characters. Stop words and short words stay in.

    Examples
    --------
    >>> tokens("Ada, 2 cats & Ada's café")
    ['ada', '2', 'cats', 'ada', 's', 'café']
    """
    found: list[str] = []
    for run in _word_runs().findall(_folded(text)):
        for part in _SAME_KIND.findall(run):
            if _IS_WIDE.match(part):
                found.extend(_pairs(part))
            else:
                found.append(part)
    return found


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Folding may decompose again, so it is normalised on both sides.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


@cache
def _letter_runs() -> re.Pattern[str]:
    return re.compile(rf"(?:[^\W\d_]|[{_marks()}])+")


@cache
def _word_runs() -> re.Pattern[str]:
    return re.compile(rf"(?:[^\W_]|[{_marks()}])+")


@cache
def _marks() -> str:
    r"""Return the combining marks as ranges of a character class; ``\w`` leaves them out.

    Without them a word of Hindi or Thai would fall apart at each vowel sign.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, min(sys.maxunicode, 0x1FFFF) + 1):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
