"""The selection contract in plain Python: what every kernel's answer is compared with.

Written from the rules alone and sharing nothing with the package. Slow on purpose: one step of the
contract is one line here. float32 arithmetic is emulated step by step: each NumPy operation below
rounds once, and no operation is fused with another.

``Rules`` holds the choices that a mutation test breaks one at a time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

F32 = np.float32
LANES = 16


@dataclass(frozen=True)
class Rules:
    """Choices of the contract; the defaults are the contract, anything else is a mutation."""

    sweep_replaces_on_equal: bool = True
    lowest_index_wins: bool = True
    lam_factor: float = 1.0
    single_div_is_d_max: bool = True


@dataclass(frozen=True)
class Answer:
    selected: list[int]
    f: float
    g: float
    div: float
    threshold: float
    stage: str
    d_max: float


# Distances -----------------------------------------------------------------------------------


def _reduce(terms_of: Callable[[int], np.ndarray], dim: int, shape: tuple[int, ...]) -> np.ndarray:
    """Sum of `dim` terms: term i into lane i % 16, ascending; then the lanes left to right."""
    lanes = [np.zeros(shape, F32) for _ in range(LANES)]
    for i in range(dim):
        lanes[i % LANES] = lanes[i % LANES] + terms_of(i)
    total = np.zeros(shape, F32)
    for lane in lanes:
        total = total + lane
    return total


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Dot product of the last axes of two broadcastable stacks of rows."""
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    return _reduce(lambda i: a[..., i] * b[..., i], a.shape[-1], shape)


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distance of the last axes of two broadcastable stacks of rows."""

    def term(i: int) -> np.ndarray:
        difference = a[..., i] - b[..., i]
        return difference * difference

    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    return _reduce(term, a.shape[-1], shape)


def distances(vectors: Any, metric: str) -> np.ndarray:
    """Every distance, as float32 of shape (n, n)."""
    rows = np.array(vectors, dtype=F32)
    with np.errstate(all="ignore"):
        if metric == "cosine":
            norms = np.sqrt(_dots(rows, rows))
            assert np.isfinite(norms).all(), "the reference takes valid input only"
            assert (norms > 0).all(), "the reference takes valid input only"
            rows = rows / norms[:, None]
            gaps = F32(1) - _dots(rows[:, None], rows[None])
            table = np.minimum(np.maximum(gaps, F32(0)), F32(2))
        elif metric == "euclidean":
            table = np.sqrt(_squares(rows[:, None], rows[None]))
        else:
            raise AssertionError(metric)
    np.fill_diagonal(table, F32(0))
    assert table.dtype == F32
    return table


def scalar_distance(x: Sequence[float], y: Sequence[float]) -> float:
    """Euclidean distance with every rounding written out; checks the tables above.

    A float64 operation on two float32 values, rounded to float32, is that operation in float32:
    53 bits are more than twice 24 plus two.
    """

    def rounded(value: float) -> float:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])

    lanes = [0.0] * LANES
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        difference = rounded(a - b)
        lanes[i % LANES] = rounded(lanes[i % LANES] + rounded(difference * difference))
    total = 0.0
    for lane in lanes:
        total = rounded(total + lane)
    return rounded(math.sqrt(total))


def exact_diameter(table: np.ndarray) -> tuple[np.float32, int, int]:
    best = (F32(0), 0, 0)
    n = len(table)
    for u in range(n):
        for v in range(u + 1, n):
            if (u, v) == (0, 1) or table[u, v] > best[0]:
                best = (table[u, v], u, v)
    return best


def approximate_diameter(table: np.ndarray, sweeps: int) -> tuple[np.float32, int, int]:
    n = len(table)
    if n == 1:
        return F32(0), 0, 0

    def farthest(origin: int) -> int:
        # max() keeps the first of equals, so the lowest index.
        return max((i for i in range(n) if i != origin), key=lambda i: table[origin, i])

    best: tuple[np.float32, int, int] | None = None
    current = 0
    for _ in range(min(max(sweeps, 1), n)):
        a = farthest(current)
        b = farthest(a)
        found = (table[a, b], min(a, b), max(a, b))
        if best is None or (-found[0], *found[1:]) < (-best[0], *best[1:]):
            best = found
        current = b
    assert best is not None
    return best


# Utilities: a state answers the gain of v and takes v --------------------------------------------


class LinearState:
    def __init__(self, weights: Sequence[float] | None, n: int) -> None:
        self.weights = [1.0] * n if weights is None else [float(w) for w in weights]

    def gain(self, v: int) -> float:
        return self.weights[v]

    def take(self, v: int) -> None:
        pass


class CoverageState:
    def __init__(self, items: Sequence[Sequence[int]]) -> None:
        self.items = [set(row) for row in items]
        self.covered: set[int] = set()

    def gain(self, v: int) -> float:
        return float(len(self.items[v] - self.covered))

    def take(self, v: int) -> None:
        self.covered |= self.items[v]


class FacilityLocationState:
    def __init__(self, table: np.ndarray, metric: str) -> None:
        # The exact diameter also under the approximate mode.
        scale = 1.0 if metric == "cosine" else float(exact_diameter(table)[0])
        if not (math.isfinite(scale) and scale > 0):
            scale = 1.0
        self.similarity = [[max(0.0, 1.0 - float(d) / scale) for d in row] for row in table]
        self.best = [0.0] * len(table)

    def gain(self, v: int) -> float:
        total = 0.0
        for row, best in zip(self.similarity, self.best, strict=True):
            total += max(0.0, row[v] - best)
        return total

    def take(self, v: int) -> None:
        self.best = [
            max(best, row[v]) for row, best in zip(self.similarity, self.best, strict=True)
        ]


# The algorithm -------------------------------------------------------------------------------


def total_order(value: float) -> tuple[float, float]:
    """Sort key of finite floats in IEEE total order: -0 before +0."""
    return value, math.copysign(1.0, value)


def greedy(
    table: np.ndarray, state: Any, k: int, d: np.float32, rules: Rules
) -> tuple[list[int], float]:
    """GIS(d) and its g."""
    chosen: list[int] = []
    g = 0.0
    for _ in range(k):
        allowed = [
            v
            for v in range(len(table))
            if v not in chosen and all(table[v, s] >= d for s in chosen)
        ]
        if not allowed:
            break
        if not rules.lowest_index_wins:
            allowed.reverse()
        gains = {v: state.gain(v) for v in allowed}
        v = max(allowed, key=lambda v: total_order(gains[v]))
        state.take(v)
        chosen.append(v)
        g += gains[v]
    return chosen, g


def geometric_thresholds(d_max: np.float32, eps: float, *, exact: bool) -> list[np.float32]:
    found: list[np.float32] = []
    p = 1.0
    while p <= (2.0 if exact else 4.0) / eps:
        with np.errstate(over="ignore"):
            d = F32(p * eps * float(d_max) / 2.0)
        if not found or found[-1] != d:
            found.append(d)
        p *= 1.0 + eps
    return found


def half_distances(table: np.ndarray) -> list[np.float32]:
    return sorted({d / F32(2) for d in table.ravel()})


def gist(
    vectors: Any,
    utilities: Any = None,
    *,
    k: int,
    lam: float = 0.5,
    eps: float = 0.1,
    metric: str = "cosine",
    utility: str = "linear",
    exhaustive_thresholds: bool = False,
    diameter: str = "exact",
    diameter_sweeps: int = 3,
    rules: Rules = Rules(),
) -> Answer:
    """Algorithm 1 with the contract's choices; valid input only."""
    table = distances(vectors, metric)
    n = len(table)
    k = min(k, n)
    eps = float(F32(eps))
    lam = lam * rules.lam_factor

    def fresh_state() -> Any:
        if utility == "linear":
            return LinearState(utilities, n)
        if utility == "coverage":
            return CoverageState(utilities)
        return FacilityLocationState(table, metric)

    if diameter == "exact":
        d_max, u, v = exact_diameter(table)
    else:
        d_max, u, v = approximate_diameter(table, diameter_sweeps)

    def div(chosen: list[int]) -> np.float32:
        if len(chosen) <= 1:
            return d_max if rules.single_div_is_d_max else F32(0)
        return min(table[a, b] for i, a in enumerate(chosen) for b in chosen[i + 1 :])

    def answer(chosen: list[int], g: float, threshold: np.float32, stage: str) -> Answer:
        spread = float(div(chosen))
        f = g if lam == 0 else g + lam * spread
        return Answer(chosen, f, g, spread, float(threshold), stage, float(d_max))

    best = answer(*greedy(table, fresh_state(), k, F32(0), rules), F32(0), "greedy")
    if k >= 2 and n >= 2:
        state = fresh_state()
        first = state.gain(u)
        state.take(u)
        pair = answer([u, v], 0.0 + first + state.gain(v), d_max, "diameter_pair")
        if pair.f > best.f:
            best = pair
    if d_max == 0:
        return best
    thresholds = (
        half_distances(table)
        if exhaustive_thresholds
        else geometric_thresholds(d_max, eps, exact=diameter == "exact")
    )
    for d in thresholds:
        found = answer(*greedy(table, fresh_state(), k, d, rules), d, "sweep")
        if found.f > best.f or (rules.sweep_replaces_on_equal and found.f == best.f):
            best = found
    return best
