"""The three utilities of the contract, each as something that runs GIS(d)."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from limbic.diversity._diameter import Diameter, exact_diameter
from limbic.diversity._dispatch import Points, kernels
from limbic.diversity._parallel import map_blocks, threads_for

__all__ = ["GreedyRun", "Objective", "make_objective"]


class GreedyRun(NamedTuple):
    """What GIS(d) did, pick by pick.

    The first j picks are what GIS(d) does for k = j.
    """

    selected: npt.NDArray[np.intp]
    gains: npt.NDArray[np.float64]
    nearest: npt.NDArray[np.float32]
    """Distance of each pick to the nearest earlier one; inf for the first."""


class Objective(Protocol):
    """A monotone submodular g over the points."""

    def run(self, k: int, d: float) -> GreedyRun:
        """Run GIS(d) for at most k picks."""
        ...

    def pair_gains(self, u: int, v: int) -> tuple[float, float]:
        """Return the marginal gains of u, then of v, from an empty selection."""
        ...


class LinearObjective:
    """Sum of weights (gist.md, rule 16)."""

    def __init__(self, points: Points, weights: npt.NDArray[np.float64]) -> None:
        self.points = points
        self.weights = weights
        # Total order of weights >= 0: their bits as integers, where +0 comes before -0.
        self.order = np.argsort(~weights.view(np.int64), kind="stable")

    def run(self, k: int, d: float) -> GreedyRun:
        return GreedyRun(*kernels.scan_linear(self.points, self.weights, self.order, k, d))

    def pair_gains(self, u: int, v: int) -> tuple[float, float]:
        return float(self.weights[u]), float(self.weights[v])


class LazyObjective:
    """Coverage and facility location: gains that fall as the selection grows."""

    def __init__(self, points: Points, gain: Any, first_gains: npt.NDArray[np.float64]) -> None:
        self.points = points
        self.gain = gain
        self.first_gains = first_gains
        self.order = np.argsort(-first_gains, kind="stable")

    def run(self, k: int, d: float) -> GreedyRun:
        run = kernels.run_lazily(self.points, self.gain, self.first_gains, self.order, k, d)
        return GreedyRun(*run)

    def pair_gains(self, u: int, v: int) -> tuple[float, float]:
        first, second = kernels.gains_of_pair(self.gain, u, v)
        return first, second


def make_objective(
    points: Points,
    kind: str,
    table: Any,
    *,
    metric: str,
    exact: Diameter | None,
    workers: int | None,
) -> Objective:
    """Return the objective.

    Parameters
    ----------
    points : Points
    kind : {"linear", "coverage", "facility_location"}
    table : object
        What `as_table` made of the caller's utilities.
    metric : {"cosine", "euclidean"}
    exact : Diameter or None
        The exact diameter if it is known already; facility location under the euclidean metric
        is scaled by it in either diameter mode.
    workers : int or None
    """
    if kind == "linear":
        return LinearObjective(points, table)
    if kind == "coverage":
        indptr, items, n_items = table
        gain = kernels.CoverageGain(indptr, items, n_items)
        return LazyObjective(points, gain, np.diff(indptr).astype(np.float64))
    scale = 1.0
    if metric == "euclidean":
        widest = (exact or exact_diameter(points, workers)).distance
        scale = widest if 0.0 < widest < np.inf else 1.0
    # As many cached rows of n distances as make one more copy of the points.
    slots = min(points.n, max(points.dim, 16))
    gain = kernels.FacilityLocationGain(points, scale, slots)
    return LazyObjective(points, gain, _first_gains(points, scale, workers))


def _first_gains(points: Points, scale: float, workers: int | None) -> npt.NDArray[np.float64]:
    """Facility-location gain of every point for the empty selection. O(n**2 dim), once."""
    gains = np.empty(points.n)
    points.pack()
    threads = threads_for(workers, points.n * points.n * points.dim)
    for _ in map_blocks(
        lambda block: points.first_gains_of_block(block, scale, gains),
        range(points.n_blocks),
        threads,
    ):
        pass
    return gains
