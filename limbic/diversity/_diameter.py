"""The two diameters of the contract (gist.md, rule 9)."""

from typing import NamedTuple

from limbic.diversity._dispatch import Points
from limbic.diversity._parallel import map_blocks, threads_for

__all__ = ["Diameter", "approximate_diameter", "exact_diameter"]


class Diameter(NamedTuple):
    """A distance and the pair u < v that attains it; (0, 0, 0) for one point."""

    distance: float
    u: int
    v: int


def approximate_diameter(points: Points, sweeps: int) -> Diameter:
    """Walk to the farthest point, from there to the farthest from it, and so on.

    The result lies between half the diameter and the diameter of a true metric. O(sweeps n dim).
    """
    best = Diameter(0.0, 0, 0)
    if points.n == 1:
        return best
    current = 0
    for sweep in range(min(max(sweeps, 1), points.n)):
        a, _ = points.farthest_from(current)
        b, distance = points.farthest_from(a)
        found = Diameter(distance, min(a, b), max(a, b))
        best = found if sweep == 0 else _farther(best, found)
        current = b
    return best


def exact_diameter(points: Points, workers: int | None) -> Diameter:
    """Return the farthest pair; ties to the smallest u, then the smallest v. O(n**2 dim)."""
    if points.n == 1:
        return Diameter(0.0, 0, 0)
    # Its distance is real, so that nothing closer can win: most tiles are passed over at a glance.
    seed = approximate_diameter(points, 2)
    points.pack()
    nearest_that_counts = seed.distance

    def farthest_of(block: int) -> Diameter:
        nonlocal nearest_that_counts
        found = Diameter(*points.farthest_pair_of_block(block, nearest_that_counts))
        # A race between threads only leaves a lower bound, never a wrong one.
        nearest_that_counts = max(nearest_that_counts, found.distance)
        return found

    best = seed
    threads = threads_for(workers, points.n * points.n * points.dim / 2)
    for found in map_blocks(farthest_of, range(points.n_blocks), threads):
        best = _farther(best, found)
    return best


def _farther(a: Diameter, b: Diameter) -> Diameter:
    return min(a, b, key=lambda pair: (-pair.distance, pair.u, pair.v))
