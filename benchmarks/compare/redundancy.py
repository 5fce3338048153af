#!/usr/bin/env python3
"""How much a prompt repeats itself: the k best memories against a selection, over lam.

    python3 benchmarks/compare/redundancy.py

Sixty memories tell twelve things five times each. The corpus is that of the original limbic
package: a stream of mulberry32 numbers, so that every language makes the same one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limbic.diversity import gist_select

SEED = 0x5EED11B1
TOPICS, PARAPHRASES, DIM = 12, 5, 48
NOISE = 0.04
K = 8
LAMS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SAME_TOPIC = 0.92
"""Cosine above which two memories are counted as one fact."""


class Memory(NamedTuple):
    score: float
    content: str
    vector: npt.NDArray[np.float32]


class Row(NamedTuple):
    """One line of the table."""

    way: str
    redundancy: float
    topics: int
    characters: int

    @property
    def facts_per_1000_characters(self) -> float:
        return self.topics / self.characters * 1000


def mulberry32(seed: int) -> Iterator[float]:
    """Yield numbers in [0, 1) from 32 bits of state."""
    mask = 0xFFFFFFFF
    state = seed & mask
    while True:
        state = (state + 0x6D2B79F5) & mask
        mixed = ((state ^ (state >> 15)) * (state | 1)) & mask
        mixed ^= (mixed + (((mixed ^ (mixed >> 7)) * (mixed | 61)) & mask)) & mask
        yield ((mixed ^ (mixed >> 14)) & mask) / 2**32


def unit(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the direction of a vector, its norm taken in float64."""
    return (values / np.sqrt(np.sum(values * values))).astype(np.float32)


def corpus() -> list[Memory]:
    """Return the sixty memories, best score first."""
    stream = mulberry32(SEED)

    def draws() -> npt.NDArray[np.float64]:
        return np.array([2.0 * next(stream) - 1.0 for _ in range(DIM)])

    memories = []
    for topic in range(TOPICS):
        base = unit(draws())
        for phrasing in range(PARAPHRASES):
            vector = unit(base.astype(np.float64) + draws() * NOISE)
            score = 0.95 - 0.03 * topic + 0.004 * next(stream)
            content = (
                f"Topic {topic}, phrasing {phrasing}: the user mentioned this in passing and "
                "it was worth keeping."
            )
            memories.append(Memory(score, content, vector))
    return sorted(memories, key=lambda memory: -memory.score)


def measure(way: str, memories: list[Memory], chosen: list[int]) -> Row:
    """Return what a selection is like to read."""
    rows = np.array([memories[i].vector for i in chosen], dtype=np.float64)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    return Row(
        way,
        redundancy=float(cosines.max(axis=1).mean()),
        topics=count_components(cosines > SAME_TOPIC),
        characters=sum(len(memories[i].content) for i in chosen),
    )


def count_components(joined: npt.NDArray[np.bool_]) -> int:
    """Return the number of connected components of a graph."""
    unseen = set(range(len(joined)))
    components = 0
    while unseen:
        components += 1
        waiting = [unseen.pop()]
        while waiting:
            neighbours = unseen & set(np.flatnonzero(joined[waiting.pop()]).tolist())
            unseen -= neighbours
            waiting += neighbours
    return components


def table() -> list[Row]:
    """Return the rows: the k best by score, then one selection a lam."""
    memories = corpus()
    vectors = np.array([memory.vector for memory in memories])
    scores = np.array([memory.score for memory in memories])
    rows = [measure(f"top {K}", memories, list(range(K)))]
    for lam in LAMS:
        chosen = gist_select(vectors, scores, k=K, lam=lam).tolist()
        rows.append(measure(f"lam {lam:g}", memories, chosen))
    return rows


def main() -> int:
    print(f"{TOPICS} topics x {PARAPHRASES} phrasings, dim {DIM}, k {K}\n")
    print(f"{'way':8}  redundancy  topics  characters  facts per 1,000 characters")
    for row in table():
        print(
            f"{row.way:8}  {row.redundancy:10.4f}  {row.topics:3} of {TOPICS}  {row.characters:10}"
            f"  {row.facts_per_1000_characters:26.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
