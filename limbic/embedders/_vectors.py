"""The check that the answer of every embedder goes through."""

from typing import Any

import numpy as np
import numpy.typing as npt

from limbic.errors import EmbedderUnavailableError

__all__ = ["checked_texts", "checked_vectors"]


def checked_texts(texts: object) -> list[str]:
    """Return the texts as a list, or raise `TypeError`: a bare string is a likely slip."""
    if isinstance(texts, str) or not hasattr(texts, "__iter__"):
        raise TypeError(f"texts must be a list of strings, got {texts!r:.60}")
    checked = list(texts)
    for text in checked:
        if not isinstance(text, str):
            raise TypeError(f"texts must be a list of strings, got {text!r:.60} in it")
    return checked


def checked_vectors(answer: Any, *, count: int, model: str) -> npt.NDArray[np.float32]:
    """Return an answer as a float32 matrix with `count` rows.

    Raises
    ------
    EmbedderUnavailableError
        If the answer has another number of rows, is ragged, has no columns, or is not finite.
    """
    try:
        vectors = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbedderUnavailableError(
            f"{model} gave no rectangle of numbers: {error}", embedder=model
        ) from error
    if count == 0:
        return np.empty((0, 0), dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count or vectors.shape[1] == 0:
        raise EmbedderUnavailableError(
            f"{model} must give one vector for each of {count} texts, "
            f"got an array of shape {vectors.shape}",
            embedder=model,
        )
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise EmbedderUnavailableError(
            f"{model} gave a vector that is not finite for text {int(np.argmin(finite))}",
            embedder=model,
        )
    return vectors
