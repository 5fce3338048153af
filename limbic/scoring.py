"""The classic score of a memory: recency, importance, relevance, emotion, and the cosine.

::

    base  = clamp(w.recency * recency + w.importance * importance + w.relevance * relevance
                  + w.emotion * emotion, 0, 1)
    final = base                                        without a cosine
    final = clamp(0.70 * base + 0.30 * max(0, cosine), 0, 1)  with one

This is the form for one memory and the definition; `limbic.index` computes the same numbers for
all memories at once. Nothing here reads the clock.
"""

import math
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from limbic.text import keywords, memory_keywords
from limbic.timestamps import Timestamp, as_utc, to_microseconds
from limbic.types import Memory, MemoryEmotion

__all__ = [
    "DEFAULT_WEIGHTS",
    "EMBED_BLEND",
    "EMOTION_HIGH_THRESHOLD",
    "EMOTION_MEDIUM_THRESHOLD",
    "RECENCY_HALF_LIFE_DAYS",
    "ScoreBreakdown",
    "ScoreQuery",
    "ScoreWeights",
    "cosine",
    "emotion_score",
    "recency",
    "score_memory",
    "score_memory_detailed",
]

RECENCY_HALF_LIFE_DAYS = 7
"""Days without an access after which the recency of a memory has halved."""

EMBED_BLEND = 0.30
"""Share of the cosine in the final score, where there is one."""

EMOTION_HIGH_THRESHOLD = 0.7
"""Intensity from which an emotion counts as strong."""

EMOTION_MEDIUM_THRESHOLD = 0.4
"""Intensity from which an emotion counts as felt."""

_MICROSECONDS_A_DAY = 86_400_000_000

_FAMILIES = {
    "happy": "joyful content proud playful excited optimistic peaceful",
    "sad": "lonely vulnerable guilty depressed hurt grief abandoned",
    "angry": "frustrated bitter mad aggressive hostile annoyed resentful",
    "fearful": "scared anxious insecure nervous worried overwhelmed",
    "surprised": "startled confused amazed shocked astonished",
    "disgusted": "disappointed disapproving awful repelled",
    "love": "intimate passionate aroused affectionate caring tender",
}
_FAMILY_OF = {
    label: family for family, members in _FAMILIES.items() for label in (family, *members.split())
}


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """Weights of the four channels of the base score.

    Parameters
    ----------
    recency, importance, relevance, emotion : float
        Finite; the base score is clamped to [0, 1] whatever they are.
    """

    recency: float = 0.25
    importance: float = 0.35
    relevance: float = 0.25
    emotion: float = 0.15

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not math.isfinite(value):
                raise ValueError(f"weight {one.name} must be finite, got {value!r}")


DEFAULT_WEIGHTS = ScoreWeights()
"""The weights of the original package."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreQuery:
    """What memories are scored against.

    Parameters
    ----------
    text : str
        The question.
    embedding : array-like of shape (dim,), optional
        Its vector.
    target_emotion : str, optional
        An emotion that memories should share.

    Attributes
    ----------
    keywords : frozenset of str
        Keywords of the text.
    """

    text: str
    embedding: npt.ArrayLike | None = None
    target_emotion: str | None = None
    keywords: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"query must be a string, got {type(self.text).__name__}")
        object.__setattr__(self, "keywords", keywords(self.text))


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """The channels of one memory's score.

    Parameters
    ----------
    recency, importance, relevance, emotion : float
        The channels before their weights.
    base : float
        Their weighted sum, clamped to [0, 1].
    cosine : float or None
        None when the two vectors cannot be compared.
    final : float
        The score.
    """

    recency: float
    importance: float
    relevance: float
    emotion: float
    base: float
    cosine: float | None
    final: float

    def recompute(self, weights: ScoreWeights = DEFAULT_WEIGHTS) -> float:
        """Return the score that the channels make with these weights, to the last bit."""
        base = _base(weights, self.recency, self.importance, self.relevance, self.emotion)
        return _blended(base, self.cosine)


def score_memory(
    memory: Memory,
    query: ScoreQuery,
    now: Timestamp,
    *,
    weights: ScoreWeights = DEFAULT_WEIGHTS,
) -> float:
    """Return the final score of a memory, in [0, 1].

    Parameters
    ----------
    memory : Memory
        What is scored.
    query : ScoreQuery
        What is asked.
    now : datetime or str
        The time of the question.
    weights : ScoreWeights, optional
        Weights of the four channels.

    Returns
    -------
    float

    Examples
    --------
    >>> fresh = Memory("m1", "User is allergic to shellfish", importance=0.95,
    ...                created_at="2026-08-26T12:00:00")
    >>> question = ScoreQuery("what should I avoid cooking?")
    >>> round(score_memory(fresh, question, "2026-08-26T12:00:00"), 4)
    0.5825
    """
    return score_memory_detailed(memory, query, now, weights=weights).final


def score_memory_detailed(
    memory: Memory,
    query: ScoreQuery,
    now: Timestamp,
    *,
    weights: ScoreWeights = DEFAULT_WEIGHTS,
) -> ScoreBreakdown:
    """Return the score of a memory with every channel; parameters as for `score_memory`.

    Returns
    -------
    ScoreBreakdown

    Examples
    --------
    >>> old = Memory("m1", "Plays the piano", created_at="2026-08-01T12:00:00")
    >>> score_memory_detailed(old, ScoreQuery("piano"), "2026-08-08T12:00:00").recency
    0.5
    """
    elapsed = to_microseconds(as_utc(now, "now")) - to_microseconds(memory.last_accessed)
    recent = recency(elapsed / _MICROSECONDS_A_DAY)
    relevance = _jaccard(query.keywords, memory_keywords(memory))
    emotion = emotion_score(memory.emotion, memory.category, query.target_emotion)
    base = _base(weights, recent, memory.importance, relevance, emotion)
    similarity = cosine(query.embedding, memory.embedding)
    final = _blended(base, similarity)
    return ScoreBreakdown(recent, memory.importance, relevance, emotion, base, similarity, final)


def recency(days: float) -> float:
    """Return 0.5 ** (days / 7); a time that lies ahead counts as now.

    Examples
    --------
    >>> recency(14)
    0.25
    """
    return float(0.5 ** (max(0.0, days) / RECENCY_HALF_LIFE_DAYS))


def emotion_score(emotion: MemoryEmotion | None, category: str, target: str | None = None) -> float:
    """Return the emotion channel of a memory, in [0, 1].

    Parameters
    ----------
    emotion : MemoryEmotion or None
        What the memory carries.
    category : str
        Its category; ``"emotion"`` adds 0.3.
    target : str, optional
        An emotion asked for: the same label adds 0.4, one of the same family 0.2.

    Returns
    -------
    float

    Examples
    --------
    >>> emotion_score(MemoryEmotion("joyful", 0.8), "experience", "happy")
    0.7
    """
    score = 0.3 if category == "emotion" else 0.0
    if emotion is not None:
        score += _intensity_part(emotion.intensity)
        if target:
            score += _target_part(emotion.label.casefold(), target.casefold())
    return min(1.0, score)


def cosine(a: npt.ArrayLike | None, b: npt.ArrayLike | None) -> float | None:
    """Return the cosine of two vectors in float64, or None when they cannot be compared.

    Parameters
    ----------
    a, b : array-like of shape (dim,) or None
        The vectors.

    Returns
    -------
    float or None
        None, never 0, when a vector is absent, empty, zero or not finite, or the dimensions differ.

    Examples
    --------
    >>> cosine([1.0, 0.0], [1.0, 0.0]), cosine([1.0, 0.0], [0.0, 0.0])
    (1.0, None)
    """
    if a is None or b is None:
        return None
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.shape != right.shape or not left.size:
        return None
    norms = vector_norm(left) * vector_norm(right)
    if math.isnan(norms):
        return None
    # Products are summed row by row in `limbic.index` too: the same order, the same bits.
    return float(np.clip(np.sum(left * right) / norms, -1.0, 1.0))


def vector_norm(vector: npt.NDArray[np.float64]) -> float:
    """Return the euclidean norm, NaN for a vector that is zero or not finite."""
    norm = math.sqrt(float(np.sum(vector * vector)))
    return norm if math.isfinite(norm) and norm > 0 else math.nan


def _base(
    weights: ScoreWeights, recency: float, importance: float, relevance: float, emotion: float
) -> float:
    return _clamp(
        weights.recency * recency
        + weights.importance * importance
        + weights.relevance * relevance
        + weights.emotion * emotion
    )


def _blended(base: float, cosine: float | None) -> float:
    if cosine is None:
        return base
    return _clamp((1 - EMBED_BLEND) * base + EMBED_BLEND * max(0.0, cosine))


def _intensity_part(intensity: float) -> float:
    if intensity >= EMOTION_HIGH_THRESHOLD:
        return 0.5
    if intensity >= EMOTION_MEDIUM_THRESHOLD:
        return 0.3
    return intensity * 0.3


def _target_part(label: str, target: str) -> float:
    if label == target:
        return 0.4
    family = _FAMILY_OF.get(label)
    return 0.2 if family is not None and family == _FAMILY_OF.get(target) else 0.0


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
