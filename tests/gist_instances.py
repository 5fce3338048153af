"""Random selection problems of every awkward kind, and a bit-for-bit comparison of answers."""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = ("f", "g", "div", "threshold", "d_max")
# Around the 16 lanes of the reduction, and a few tails.
DIMENSIONS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 65)
LAMS = (0.0, 0.1, 0.5, 1.0, 4.0, 64.0, 1e6)
EPSILONS = (0.05, 0.1, 0.3, 1.0)

Problem = tuple[np.ndarray, Any, dict[str, Any]]


def normal(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return rng.standard_normal((n, dim))


def lattice(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Dyadic coordinates: distances collide exactly, in the last bit."""
    return rng.integers(-2, 3, size=(n, dim)) / 4.0


def duplicates(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    distinct = normal(rng, max(1, n // 3), dim)
    return distinct[rng.integers(0, len(distinct), size=n)]


def one_point(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return np.repeat(normal(rng, 1, dim), n, axis=0)


def clusters(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    centres = normal(rng, max(1, n // 5), dim)
    return centres[rng.integers(0, len(centres), size=n)] + 0.02 * normal(rng, n, dim)


def antipodes(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Pairs x, -x: cosine distances at the clamp."""
    rows = normal(rng, n, dim)
    rows[1::2] = -rows[: len(rows[1::2])]
    return rows


def mixed_scales(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    return normal(rng, n, dim) * 10.0 ** rng.integers(-6, 6, size=(n, 1))


def far_away(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """A large common offset: what a dot-product shortcut for distances loses."""
    return 1000.0 + 0.01 * normal(rng, n, dim)


def huge(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Squared distances overflow."""
    return normal(rng, n, dim) * 1e25


def tiny(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Squared distances are subnormal or 0."""
    return normal(rng, n, dim) * 1e-22


KINDS = {
    kind.__name__: kind
    for kind in (
        normal,
        lattice,
        duplicates,
        one_point,
        clusters,
        antipodes,
        mixed_scales,
        far_away,
        huge,
        tiny,
    )
}
EUCLIDEAN_ONLY = {"huge", "tiny"}


def utilities_of(rng: np.random.Generator, n: int, utility: str) -> Any:
    if utility == "coverage":
        return [rng.integers(0, 12, size=rng.integers(0, 6)).tolist() for _ in range(n)]
    if utility == "facility_location":
        return None
    kinds = [
        None,
        rng.random(n),
        rng.integers(0, 4, size=n).astype(float),
        np.zeros(n),
        np.where(rng.random(n) < 0.5, 0.0, -0.0),
        10.0 ** rng.integers(-20, 20, size=n),
    ]
    return kinds[rng.integers(len(kinds))]


def problem(rng: np.random.Generator, max_n: int, kind: str, utility: str) -> Problem:
    """One problem of a kind, everything else drawn."""
    n = int(rng.integers(1, max_n + 1))
    dim = int(rng.choice(DIMENSIONS))
    metric = "euclidean" if kind in EUCLIDEAN_ONLY else str(rng.choice(["cosine", "euclidean"]))
    rows = np.ascontiguousarray(KINDS[kind](rng, n, dim), dtype=np.float32)
    if metric == "cosine":
        rows[~rows.any(axis=1)] = 1.0
    options = {
        "k": int(rng.integers(1, n + 3)),
        "lam": float(rng.choice(LAMS)),
        "eps": float(rng.choice(EPSILONS)),
        "metric": metric,
        "utility": utility,
        "exhaustive_thresholds": bool(rng.random() < 0.25),
        "diameter": str(rng.choice(["exact", "exact", "approx"])),
        "diameter_sweeps": int(rng.integers(0, 5)),
    }
    return rows, utilities_of(rng, n, utility), options


def bits(answer: Any) -> tuple[Any, ...]:
    """An answer in a form whose equality is equality to the last bit."""
    return (
        [int(i) for i in answer.selected],
        answer.stage,
        *(float(getattr(answer, name)).hex() for name in NUMBERS),
    )
