"""The lexical channel: how much of what a query asks for a memory, or its passage, mentions.

A query is a set of terms, each worth its inverse document frequency among the memories that may
be returned. A memory covers a term fully when it has the term itself, and in part when a memory a
few places away in the same conversation has it: an answer seldom repeats the words of its
question. The score is the share of the query's worth that is covered, so it lies in [0, 1] and
does not fall when a memory says other things too.
"""

import importlib
import math
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from limbic.text import STOP_WORDS, tokens
from limbic.types import Memory

__all__ = ["Analyzer", "LexicalIndex", "TermEvidence", "question_share"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

# Snowball stemmers by the script of a word; every other script is left as it is.
_STEMMERS = (
    (re.compile(r"[a-z\u00c0-\u024f]"), "english"),
    (re.compile(r"[\u0400-\u04ff]"), "russian"),
    (re.compile(r"[\u0370-\u03ff]"), "greek"),
    (re.compile(r"[\u0600-\u06ff]"), "arabic"),
)

# "May" is a stop word as a verb and a date as a name: capitalised, not first in its sentence, or
# beside a number.
_MAY = re.compile(r"(?<=[\w,] )May\b|\bMay(?= \d)")

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)

_DAY = re.compile(r"(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")

_SENTENCE = re.compile(r"[^.!?。！？؟]+[.!?。！？؟]*")
_QUESTION_MARKS = frozenset("?？؟")


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """What one term of a query says for one memory.

    Parameters
    ----------
    term : str
        The term, stemmed if a stemmer is installed.
    idf : float
        What the term is worth.
    reach : float
        1 if the memory has it, less if only a neighbour has it, 0 if neither.
    """

    term: str
    idf: float
    reach: float


class Analyzer:
    """Turns texts into terms: tokens of every script without stop words, stemmed.

    Stems come from PyStemmer (extra ``stem``); without it words are compared as they are. An
    analyzer is used by one thread at a time, as PyStemmer asks.
    """

    def __init__(self) -> None:
        self._stemmers = [(script, _stemmer(name)) for script, name in _STEMMERS]
        self._stem_of: dict[str, str] = {}  # stemming costs more than all the rest

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in its order, repeated ones included."""
        found = tokens(text)
        words = [self._stem(token) for token in found if token not in STOP_WORDS]
        if _MAY.search(text):
            words.append(self._stem(_MONTHS[4]))
        return words + _days(found)

    def date_terms(self, moment: datetime) -> list[str]:
        """Return the terms under which a date is asked for: day, month name and year."""
        month = _MONTHS[moment.month - 1]
        return [self._stem(month), str(moment.year), _day(month, moment.day)]

    def _stem(self, word: str) -> str:
        known = self._stem_of.get(word)
        if known is None:
            stems = (stem(word) for script, stem in self._stemmers if stem and script.match(word))
            known = self._stem_of[word] = next(stems, word)
        return known


class LexicalIndex:
    """Which rows have which terms.

    Notes
    -----
    Appending a memory costs time proportional to its length. Nothing is precomputed from the whole
    corpus, so a write never makes a statistic stale: document frequencies are counted, for the
    terms of a query, among the rows that it may return.
    """

    def __init__(self) -> None:
        self.analyzer = Analyzer()
        self._postings: dict[str, array[int]] = {}

    def append(self, row: int, memory: Memory) -> None:
        """Add a memory under its content, its keywords and its date."""
        terms = self.analyzer.terms(" ".join([memory.content, *memory.keywords]))
        terms += self.analyzer.date_terms(memory.created_at)
        for term in set(terms):
            self._postings.setdefault(term, array("i")).append(row)

    def worth(self, text: str, visible: Mask) -> dict[str, float]:
        """Return the terms of a query, sorted, each with its inverse document frequency.

        ``log(1 + (n - df + 0.5) / (df + 0.5))`` over the `n` visible rows, as in BM25.
        """
        n = int(np.count_nonzero(visible))
        frequencies = {
            term: int(np.count_nonzero(visible[self.rows(term)]))
            for term in sorted(set(self.analyzer.terms(text)))
        }
        return {
            term: math.log(1 + (n - frequency + 0.5) / (frequency + 0.5))
            for term, frequency in frequencies.items()
        }

    def rows(self, term: str) -> Rows:
        """Return the rows that have a term, dead ones included."""
        posting = self._postings.get(term)
        if posting is None:
            return np.empty(0, dtype=np.int64)
        return np.frombuffer(posting, dtype=np.intc).astype(np.int64)

    def reach(self, term: str, visible: Mask, loans: Sequence[tuple[float, Rows]]) -> Floats:
        """Return for every row how far it has a term: 1 itself, less by a loan, 0 not at all.

        Parameters
        ----------
        term : str
            The term.
        visible : ndarray of bool
            Rows that may be returned; the others lend nothing.
        loans : sequence of (float, ndarray)
            What is lent, ascending, and for every row the row that receives it or -1.
        """
        reach = np.zeros(len(visible))
        rows = self.rows(term)
        rows = rows[visible[rows]]
        for share, receiver in loans:  # ascending, so that the largest loan is written last
            receivers = receiver[rows]
            reach[receivers[receivers >= 0]] = share
        reach[rows] = 1.0
        return reach

    def coverage(
        self, worth: dict[str, float], visible: Mask, loans: Sequence[tuple[float, Rows]]
    ) -> Floats:
        """Return for every row the covered share of a query's worth."""
        covered = np.zeros(len(visible))
        for term, idf in worth.items():
            covered += idf * self.reach(term, visible, loans)
        total = total_worth(worth.values())
        return covered / total if total > 0 else covered


def _days(words: Sequence[str]) -> list[str]:
    """Return the days that a text names, "16 June" or "June 16th", each as one term."""
    found = []
    for first, second in pairwise(words):
        for month, number in ((first, second), (second, first)):
            day = _DAY.fullmatch(number)
            if month in _MONTHS and day is not None:
                found.append(_day(month, int(day[1])))
    return found


def _day(month: str, day: int) -> str:
    return f"{month} {day}"  # with a space, which no other term has


def total_worth(worth: Iterable[float]) -> float:
    """Return the sum, added one by one as the covered part is, so that no share exceeds 1."""
    total = 0.0
    for idf in worth:
        total += idf
    return total


def question_share(text: str) -> float:
    """Return which share of a text, by length, is questions.

    Examples
    --------
    >>> question_share("Nice! How are you?")
    0.722...
    """
    sentences = _SENTENCE.findall(text)
    length = sum(map(len, sentences))
    asked = sum(len(one) for one in sentences if not _QUESTION_MARKS.isdisjoint(one))
    return asked / length if length else 0.0


def _stemmer(language: str) -> Callable[[str], str] | None:
    try:
        module = importlib.import_module("Stemmer")
    except ImportError:
        return None
    stem: Callable[[str], str] = module.Stemmer(language).stemWord
    return stem
