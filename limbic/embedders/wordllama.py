"""A small real model that works offline: its weights come inside the package ``wordllama``."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from limbic.embedders._vectors import checked_texts, checked_vectors
from limbic.errors import EmbedderUnavailableError, MissingExtraError

__all__ = ["WordLlamaEmbedder"]

_CONFIG = "l2_supercat"
_DIM = 256


class WordLlamaEmbedder:
    """Static word vectors distilled from a language model, 256 numbers a text.

    It runs on one processor core in well under a millisecond a text, and never uses the network.
    The model is loaded on first use; ``wordllama`` is in the extra ``local``.

    Attributes
    ----------
    model : str
        ``"wordllama-l2_supercat-256"``.

    Raises
    ------
    MissingExtraError
        If ``wordllama`` is not installed.

    Notes
    -----
    Several threads may call `embed` at once: the model is loaded once, and only read after that.
    """

    model = f"wordllama-{_CONFIG}-{_DIM}"

    def __init__(self) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise MissingExtraError(
                "wordllama", extra="local", purpose="embedding texts offline"
            ) from error
        self._package = wordllama
        self._lock = threading.Lock()
        self._loaded: Any = None

    def __repr__(self) -> str:
        return "WordLlamaEmbedder()"

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector a text.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        ndarray of shape (len(texts), 256), float32
            A blank text gives zeros, which count as no vector.

        Raises
        ------
        EmbedderUnavailableError
            If the model cannot be loaded, or its answer is unusable.
        """
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), _DIM), dtype=np.float32)
        filled = [place for place, text in enumerate(texts) if text.strip()]
        if filled:
            answer = self._model().embed([texts[place] for place in filled])
            vectors[filled] = checked_vectors(answer, count=len(filled), model=self.model)
        return vectors

    def close(self) -> None:
        """Free the model; a later call loads it again."""
        with self._lock:
            self._loaded = None

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> Any:
        # Its own folder as the cache: the weights lie there, and nothing is fetched.
        folder = Path(self._package.__file__).parent
        try:
            return self._package.WordLlama.load(
                config=_CONFIG, cache_dir=folder, dim=_DIM, disable_download=True
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderUnavailableError(
                f"{self.model} cannot be loaded from {folder}: {error}", embedder=self.model
            ) from error
