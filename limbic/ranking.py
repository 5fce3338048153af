"""The hybrid ranking: evidence from words, vectors and neighbours, and priors in the open.

The score of a memory is::

    evidence = (1 - w.question * question share) * weighted mean of lexical, cosine, context
    score    = (1 - priors) * evidence + w.importance * importance + w.recency * recency
               + w.emotion * emotion,    priors = w.importance + w.recency + w.emotion

Every channel and every weight lies in [0, 1], so the score does too. A channel that is missing
takes no part in the mean: no vector is not a bad vector.

lexical
    Covered share of the query's IDF mass, where neighbours lend what a memory lacks
    (`limbic.lexical`).
cosine
    Cosine of the query's and the memory's vector, negative ones as 0. Missing when either has no
    vector or the models differ.
context
    Mean cosine of the passage: the memory and its neighbours, weighted by what these lend.
question share
    Share of the text that is questions. A question holds the words of its answer and asserts
    nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from limbic.index import MemoryIndex
from limbic.lexical import TermEvidence, total_worth
from limbic.scoring import ScoreQuery

__all__ = ["DEFAULT_HYBRID_WEIGHTS", "HybridBreakdown", "HybridScores", "HybridWeights"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridWeights:
    """Weights of the hybrid score; every one lies in [0, 1].

    Parameters
    ----------
    lexical, cosine, context : float
        Parts of the mean that is the evidence; only their proportion counts.
    question : float
        What a memory that is all questions loses of its evidence.
    importance, recency, emotion : float
        Parts of the score that do not depend on the query's words; together at most 1.
    """

    lexical: float = 0.5
    cosine: float = 0.25
    context: float = 0.25
    question: float = 0.25
    importance: float = 0.06
    recency: float = 0.02
    emotion: float = 0.02

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not 0 <= value <= 1:
                raise ValueError(f"weight {one.name} must lie in [0, 1], got {value!r}")
        if self.lexical == 0:
            raise ValueError("weight lexical must be above 0: it is the one that is never missing")
        if self.priors > 1:
            raise ValueError(
                f"importance + recency + emotion must be at most 1, got {self.priors:g}"
            )

    @property
    def priors(self) -> float:
        """What the three priors take of the score."""
        return self.importance + self.recency + self.emotion


DEFAULT_HYBRID_WEIGHTS = HybridWeights()


@dataclass(frozen=True, slots=True)
class HybridBreakdown:
    """The channels of one memory's hybrid score; `recompute` makes the score from them.

    Parameters
    ----------
    terms : tuple of TermEvidence
        The query's terms and how far the memory has each.
    lexical : float
        Covered share of the worth of the terms.
    cosine, context : float or None
        None when missing.
    question_share : float
        Share of the content that is questions.
    importance, recency, emotion : float
        The priors.
    evidence, final : float
        As in the formula at the top of `limbic.ranking`.
    """

    terms: tuple[TermEvidence, ...]
    lexical: float
    cosine: float | None
    context: float | None
    question_share: float
    importance: float
    recency: float
    emotion: float
    evidence: float
    final: float

    def recompute(self, weights: HybridWeights = DEFAULT_HYBRID_WEIGHTS) -> float:
        """Return the score that the parts make, to the last bit."""
        lexical = 0.0
        for term in self.terms:
            lexical += term.idf * term.reach
        worth = total_worth(term.idf for term in self.terms)
        lexical = lexical / worth if worth > 0 else lexical
        total, mass = weights.lexical * lexical, weights.lexical
        for weight, value in ((weights.cosine, self.cosine), (weights.context, self.context)):
            if value is not None:
                total, mass = total + weight * value, mass + weight
        evidence = (1 - weights.question * self.question_share) * (total / mass)
        score = (
            (1 - weights.priors) * evidence
            + weights.importance * self.importance
            + weights.recency * self.recency
            + weights.emotion * self.emotion
        )
        return min(1.0, max(0.0, score))


class HybridScores:
    """The hybrid score of every visible row of an index, and how each came about.

    Parameters
    ----------
    index : MemoryIndex
        Refreshed, with its lexical columns kept (`MemoryIndex.keep_lexical`).
    query : ScoreQuery
        What is asked.
    now : int
        The time of the question in microseconds since 1970-01-01 UTC.
    visible : ndarray of bool
        Rows that may be returned. The others lend no evidence and count in no statistic.
    weights : HybridWeights, optional
        Weights of the channels.
    embedding_model : str, optional
        Model of the query's vector.

    Attributes
    ----------
    final : ndarray of float64
        The scores, one a row.

    Notes
    -----
    O(n * dim) for the cosine; the rest is O(n) a channel plus the postings of the query's terms.
    """

    def __init__(
        self,
        index: MemoryIndex,
        query: ScoreQuery,
        now: int,
        visible: Mask,
        *,
        weights: HybridWeights = DEFAULT_HYBRID_WEIGHTS,
        embedding_model: str | None = None,
    ) -> None:
        self._index = index
        self._visible = visible
        self._loans = index.neighbours().loans
        self._worth = index.lexical.worth(query.text, visible)
        self._lexical = index.lexical.coverage(self._worth, visible, self._loans)
        cosine = index.cosine(query.embedding, embedding_model)
        self._cosine = np.where(visible, np.maximum(0.0, cosine), np.nan)
        self._context = passage_mean(self._cosine, index.neighbours().lenders)
        self._question = index.question_share
        self._importance = np.clip(index.importance, 0.0, 1.0)
        self._recency = index.recency(now)
        self._emotion = index.emotion(query.target_emotion)
        total, mass = weights.lexical * self._lexical, np.full(index.size, weights.lexical)
        for weight, channel in ((weights.cosine, self._cosine), (weights.context, self._context)):
            present = ~np.isnan(channel)
            total = np.where(present, total + weight * channel, total)
            mass = np.where(present, mass + weight, mass)
        self._evidence = (1 - weights.question * self._question) * (total / mass)
        self.final: Floats = np.clip(
            (1 - weights.priors) * self._evidence
            + weights.importance * self._importance
            + weights.recency * self._recency
            + weights.emotion * self._emotion,
            0.0,
            1.0,
        )

    def breakdown(self, row: int) -> HybridBreakdown:
        """Return the channels of one row."""
        terms = tuple(
            TermEvidence(
                term, idf, float(self._index.lexical.reach(term, self._visible, self._loans)[row])
            )
            for term, idf in self._worth.items()
        )
        return HybridBreakdown(
            terms=terms,
            lexical=float(self._lexical[row]),
            cosine=_or_none(self._cosine[row]),
            context=_or_none(self._context[row]),
            question_share=float(self._question[row]),
            importance=float(self._importance[row]),
            recency=float(self._recency[row]),
            emotion=float(self._emotion[row]),
            evidence=float(self._evidence[row]),
            final=float(self.final[row]),
        )


def passage_mean(values: Floats, lenders: Sequence[tuple[float, npt.NDArray[np.int64]]]) -> Floats:
    """Return for every row the mean of its own value and its neighbours', weighted by the loans.

    NaN values take no part; a row whose own value is NaN has no mean, as nothing of it is known.
    """
    total, mass = values.copy(), np.ones(len(values))
    for share, lender in lenders:
        lent = np.where(lender >= 0, values[lender], np.nan)
        present = ~np.isnan(lent)
        total[present] += share * lent[present]
        mass[present] += share
    return total / mass


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
