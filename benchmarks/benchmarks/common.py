"""Memories made from a seed: the same in every run and on every commit."""

from datetime import timedelta

import numpy as np

from limbic.timestamps import as_utc
from limbic.types import MEMORY_CATEGORIES, Memory

NOW = as_utc("2026-06-01T12:00:00")
QUESTION = "which boat did she see at the harbour in winter?"
_WORDS = (
    "boat harbour winter letter garden bread kettle window market bicycle island ticket violin "
    "sister doctor forest library morning supper river candle mountain station orchard pocket"
)
WORDS = _WORDS.split()


def made_memories(count, dim):
    """Return memories of ten words each; vectors cluster around one direction a word."""
    rng = np.random.default_rng(20260601)
    centres = rng.standard_normal((len(WORDS), max(dim, 1)))
    memories = []
    for number in range(count):
        picks = rng.integers(len(WORDS), size=10)
        vector = centres[picks[0]] + 0.4 * rng.standard_normal(max(dim, 1))
        memories.append(
            Memory(
                f"m{number:06d}",
                " ".join(WORDS[pick] for pick in picks),
                category=MEMORY_CATEGORIES[number % len(MEMORY_CATEGORIES)],
                importance=float(rng.uniform(0.2, 1.0)),
                created_at=NOW - timedelta(minutes=int(rng.integers(200_000))),
                embedding=vector if dim else None,
                embedding_model="made" if dim else None,
            )
        )
    return memories


class FixedEmbedder:
    """Gives every text the same vector, so that no time goes into a model."""

    model = "made"

    def __init__(self, dim):
        self.vector = np.random.default_rng(7).standard_normal(dim).astype(np.float32)

    def embed(self, texts):
        return [self.vector] * len(texts)

    def close(self):
        pass
