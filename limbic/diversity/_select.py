"""The driver of GIST: Algorithm 1 of arXiv:2405.18754, with the tricks that keep its bits.

The sweep over thresholds d visits far fewer of them than there are:

* **Threshold jump.** If GIS(d) = T, then GIS(d') = T for every d < d' <= div(T): the candidates of
  d' are a subset of those of d, and every pick of T is still among them. With one pick only, every
  larger threshold gives the same.
* **lam and k are free.** lam enters the final fold alone, and the first k picks of GIS(d) are
  GIS(d) for that k. So one sweep for the largest k answers every (k, lam).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from limbic.diversity._diameter import Diameter, approximate_diameter, exact_diameter
from limbic.diversity._dispatch import Points, kernels
from limbic.diversity._parallel import map_blocks, threads_for
from limbic.diversity._utilities import GreedyRun, Objective, make_objective
from limbic.diversity._validation import (
    DIAMETER_MODES,
    METRIC_CODES,
    UTILITY_KINDS,
    as_points,
    as_table,
    check_choice,
    check_eps,
    check_ids,
    check_k,
    check_lam,
    check_sweeps,
    check_workers,
)

__all__ = ["GistResult", "Outcome", "Stage", "Sweep", "fold", "prepare"]

Stage: TypeAlias = Literal["greedy", "diameter_pair", "sweep"]
"""Which part of Algorithm 1 gave the winner."""

_STORED_THRESHOLDS = 1 << 22
"""Half distances that are sorted in memory (16 MiB) whatever the size of the input."""


@dataclass(frozen=True, eq=False)
class GistResult:
    """A selection and what it is worth.

    Attributes
    ----------
    selected : intp array of shape (m,), read-only
        Row indices in selection order; m <= k.
    f : float
        The objective g + lam * div.
    g : float
        The utility.
    div : float
        Smallest pairwise distance in the selection; `d_max` with fewer than two picks.
    threshold : float
        The winning threshold: 0 for stage "greedy", `d_max` for "diameter_pair".
    stage : {"greedy", "diameter_pair", "sweep"}
        Which part of Algorithm 1 gave the selection.
    d_max : float
        The diameter, or its estimate under ``diameter="approx"``.
    """

    selected: npt.NDArray[np.intp]
    f: float
    g: float
    div: float
    threshold: float
    stage: Stage
    d_max: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GistResult):
            return NotImplemented
        return self._comparable() == other._comparable()

    def __hash__(self) -> int:
        return hash(self._comparable())

    def __repr__(self) -> str:
        shown = np.array2string(self.selected, separator=", ", threshold=12)
        return (
            f"GistResult(selected={shown}, f={self.f:.6g}, g={self.g:.6g}, div={self.div:.6g}, "
            f"threshold={self.threshold:.6g}, stage={self.stage!r}, d_max={self.d_max:.6g})"
        )

    def _comparable(self) -> tuple[object, ...]:
        numbers = (self.f, self.g, self.div, self.threshold, self.stage, self.d_max)
        return (tuple(self.selected.tolist()), *numbers)


class Outcome(NamedTuple):
    """One distinct outcome of the sweep, with the values of each of its prefixes."""

    threshold: float
    """The largest threshold that gives this outcome."""
    run: GreedyRun
    g: list[float]
    """g[j - 1] is the utility of the first j picks, summed in selection order."""
    div: list[float]
    """div[j - 1] is the smallest pairwise distance of the first j picks."""


class Sweep(NamedTuple):
    """All that Algorithm 1 computes before lam and k decide."""

    greedy: Outcome
    pair: Outcome | None
    outcomes: list[Outcome]
    d_max: float


class _Thresholds(Protocol):
    def next(self) -> float | None: ...

    def last_at_most(self, value: float, limit: float) -> float: ...


def prepare(
    vectors: npt.ArrayLike,
    utilities: Any,
    *,
    ks: list[Any],
    lams: list[Any],
    eps: Any,
    metric: Any,
    utility: Any,
    exhaustive_thresholds: bool,
    diameter: Any,
    diameter_sweeps: Any,
    workers: Any,
    ids: list[Any] | None = None,
) -> tuple[Sweep, list[int], list[float]]:
    """Check everything in the contract's order, then run the stages once for the largest k.

    Returns
    -------
    sweep : Sweep
    ks : list of int
        Clamped to n.
    lams : list of float
    """
    metric = check_choice(metric, "metric", tuple(METRIC_CODES))
    utility = check_choice(utility, "utility", UTILITY_KINDS)
    diameter = check_choice(diameter, "diameter", DIAMETER_MODES)
    if not isinstance(exhaustive_thresholds, bool | np.bool_):
        raise TypeError(f"exhaustive_thresholds must be a bool, got {exhaustive_thresholds!r}")
    workers = check_workers(workers)
    sweeps = check_sweeps(diameter_sweeps)
    points = as_points(vectors, metric)
    if ids is not None:
        check_ids(ids, points.n)
    ks = [min(check_k(k), points.n) for k in ks]
    eps = check_eps(eps)
    lams = [check_lam(lam) for lam in lams]
    table = as_table(utility, utilities, points.n)

    exact = exact_diameter(points, workers) if diameter == "exact" else None
    objective = make_objective(points, utility, table, metric=metric, exact=exact, workers=workers)
    widest = exact if exact is not None else approximate_diameter(points, sweeps)
    if exhaustive_thresholds:
        thresholds = _exhaustive(points, workers)
    else:
        bound = 2.0 / eps if exact is not None else 4.0 / eps
        thresholds = kernels.GeometricThresholds(eps, widest.distance, bound)
    return run_stages(objective, max(ks), widest, thresholds), ks, lams


def run_stages(objective: Objective, k: int, diameter: Diameter, thresholds: _Thresholds) -> Sweep:
    """Run the classic greedy, the diameter pair and the sweep."""
    d_max = diameter.distance
    greedy = _outcome(0.0, objective.run(k, 0.0), d_max)
    pair = None
    if diameter.u != diameter.v:
        pair = _outcome(d_max, _pair_run(objective, diameter), d_max)
    outcomes = list(_sweep(objective, k, greedy, thresholds, d_max)) if d_max > 0.0 else []
    return Sweep(greedy, pair, outcomes, d_max)


def fold(sweep: Sweep, k: int, lam: float) -> GistResult:
    """Return the winner of Algorithm 1 for one (k, lam): strict for the pair, >= in the sweep."""
    best, stage = sweep.greedy, "greedy"
    best_f = _value(best, k, lam)
    if k >= 2 and sweep.pair is not None:
        f = _value(sweep.pair, k, lam)
        if f > best_f:
            best, best_f, stage = sweep.pair, f, "diameter_pair"
    for outcome in sweep.outcomes:
        f = _value(outcome, k, lam)
        if f >= best_f:
            best, best_f, stage = outcome, f, "sweep"
    last = min(k, len(best.g)) - 1
    selected = best.run.selected[: last + 1].copy()
    selected.flags.writeable = False
    return GistResult(
        selected=selected,
        f=best_f,
        g=best.g[last],
        div=best.div[last],
        threshold=best.threshold,
        stage=stage,  # type: ignore[arg-type]
        d_max=sweep.d_max,
    )


def _value(outcome: Outcome, k: int, lam: float) -> float:
    """Return f of the first k picks; a lam of 0 contributes 0 even where div is infinite."""
    last = min(k, len(outcome.g)) - 1
    return outcome.g[last] + lam * outcome.div[last] if lam else outcome.g[last]


def _sweep(
    objective: Objective, k: int, greedy: Outcome, thresholds: _Thresholds, d_max: float
) -> Iterator[Outcome]:
    outcome = greedy
    value = thresholds.next()
    while value is not None:
        if value > _reach(outcome):
            outcome = _outcome(value, objective.run(k, value), d_max)
        # `last` is the largest threshold of this outcome: it wins among equals (rule 2).
        last = thresholds.last_at_most(value, _reach(outcome))
        yield outcome._replace(threshold=last)
        value = thresholds.next()


def _reach(outcome: Outcome) -> float:
    """Return the largest threshold that still gives this outcome."""
    return outcome.div[-1] if len(outcome.div) > 1 else float("inf")


def _outcome(threshold: float, run: GreedyRun, d_max: float) -> Outcome:
    # Adding 0.0 makes a leading -0.0 the +0.0 that the contract's sum starts with.
    g = (np.cumsum(run.gains) + 0.0).tolist()
    div = np.minimum.accumulate(run.nearest).tolist()
    div[0] = d_max
    return Outcome(threshold, run, g, div)


def _pair_run(objective: Objective, diameter: Diameter) -> GreedyRun:
    gains = objective.pair_gains(diameter.u, diameter.v)
    return GreedyRun(
        np.array([diameter.u, diameter.v], dtype=np.intp),
        np.array(gains, dtype=np.float64),
        np.array([np.inf, diameter.distance], dtype=np.float32),
    )


def _exhaustive(points: Points, workers: int | None) -> _Thresholds:
    """Return every dist(u, v) / 2 for u <= v, ascending (gist.md, rule 6)."""
    n_pairs = points.n * (points.n - 1) // 2
    if n_pairs <= max(_STORED_THRESHOLDS, points.n * points.dim):
        threads = threads_for(workers, n_pairs * points.dim)
        blocks = map_blocks(points.half_distances_of_block, range(points.n_blocks), threads)
        values = np.concatenate([np.zeros(1, dtype=np.float32), *blocks])
        values.sort()
        thresholds: _Thresholds = kernels.SortedThresholds(values)
        return thresholds
    return _SearchedThresholds(points, workers)


class _SearchedThresholds:
    """The exhaustive thresholds of inputs too large to hold them: found when asked for.

    One call costs O(n**2 dim) and one block of rows at a time; the jump makes few calls.
    """

    def __init__(self, points: Points, workers: int | None) -> None:
        self.points = points
        self.threads = threads_for(workers, points.n * points.n * points.dim / 2)
        self.passed = -1.0

    def next(self) -> float | None:
        if self.passed < 0.0:
            self.passed = 0.0  # dist(u, u) / 2
            return 0.0
        passed = np.float32(self.passed)

        def smallest_above(block: int) -> float:
            halves = self.points.half_distances_of_block(block)
            return float(np.min(halves, where=halves > passed, initial=np.inf))

        # An infinite half distance is found by the count of what lies above.
        value: float = min(self._map(smallest_above))
        if value == np.inf and not any(self._map(lambda block: self._any_above(block, passed))):
            return None
        self.passed = value
        return value

    def last_at_most(self, value: float, limit: float) -> float:
        bound = np.float32(limit)

        def largest_at_most(block: int) -> float:
            halves = self.points.half_distances_of_block(block)
            return float(np.max(halves, where=halves <= bound, initial=np.float32(value)))

        self.passed = float(max(self._map(largest_at_most)))
        return self.passed

    def _any_above(self, block: int, passed: np.float32) -> bool:
        return bool((self.points.half_distances_of_block(block) > passed).any())

    def _map(self, function: Any) -> Iterator[Any]:
        return map_blocks(function, range(self.points.n_blocks), self.threads)
