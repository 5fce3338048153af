"""Vectors without a model: words and pieces of words, hashed."""

import math
import re
import unicodedata
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from limbic.embedders._vectors import checked_texts

__all__ = ["HashingEmbedder"]

_WORD = re.compile(r"[^\W_]+")
_SHORT = 0.3
"""Weight of a word of up to three letters, mostly grammar; a longer one weighs 1."""
_PIECES = 1.0
"""Weight of all pieces of a word together, beside the word itself."""
_PIECE_LENGTHS = (3, 4)


class HashingEmbedder:
    """An embedder that needs no package and no model.

    A text becomes the weighted sum of its words and of their runs of three and four letters, each
    at a place and with a sign that its hash decides. Texts that share words, or inflections of one
    word, point in similar directions, so that diversity sees repetition; synonyms are strangers.

    Parameters
    ----------
    dim : int, default=512
        Length of the vectors, at least 8.

    Attributes
    ----------
    model : str
        ``"hashing-"`` and the length.

    Notes
    -----
    The same text gives the same bits in every process. A text without a letter or digit gives a
    vector of zeros, which counts as no vector. This is the hashing trick with signs of Weinberger
    et al., "Feature Hashing for Large Scale Multitask Learning", 2009.

    Examples
    --------
    >>> vectors = HashingEmbedder().embed(["her boats", "the boat", "a violin"])
    >>> vectors.shape
    (3, 512)
    >>> bool(vectors[0] @ vectors[1] > 0.2 > vectors[0] @ vectors[2])
    True
    """

    def __init__(self, dim: int = 512) -> None:
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeError(f"dim must be an int, got {dim!r}")
        if dim < 8:
            raise ValueError(f"dim must be at least 8, got {dim}")
        self.dim = dim
        self.model = f"hashing-{dim}"

    def __repr__(self) -> str:
        return f"HashingEmbedder(dim={self.dim})"

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector a text.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        ndarray of shape (len(texts), dim), float32
        """
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float64)
        for vector, text in zip(vectors, texts, strict=True):
            for feature, weight in _features(text):
                code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
                vector[(code >> 1) % self.dim] += weight if code & 1 else -weight
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors.astype(np.float32)

    def close(self) -> None:
        """Do nothing; there is nothing to free."""


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    for word in dict.fromkeys(words):  # each once: a tenth "the" says nothing
        weight = 1.0 if len(word) > 3 else _SHORT
        yield f"w:{word}", weight
        padded = f"<{word}>"
        pieces = [
            padded[start : start + length]
            for length in _PIECE_LENGTHS
            for start in range(len(padded) - length + 1)
        ]
        for piece in pieces:
            yield f"p:{piece}", weight * _PIECES / math.sqrt(len(pieces))
