"""What turns texts into vectors; each kind of model is an extra, imported on first use."""

from limbic.embedders.hashing import HashingEmbedder
from limbic.embedders.wordllama import WordLlamaEmbedder

__all__ = ["HashingEmbedder", "WordLlamaEmbedder"]
