"""The public functions of the contract."""

from collections.abc import Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from limbic.diversity._path import GistPath, grid_of
from limbic.diversity._select import GistResult, fold, prepare
from limbic.diversity._validation import DiameterMode, Metric, UtilityKind, as_ids

__all__ = ["gist_path", "gist_select", "gist_select_full"]

Id = TypeVar("Id")


@overload
def gist_select(
    vectors: npt.ArrayLike,
    utilities: Any = ...,
    *,
    k: int,
    ids: None = ...,
    lam: float = ...,
    eps: float = ...,
    metric: Metric = ...,
    utility: UtilityKind = ...,
    exhaustive_thresholds: bool = ...,
    diameter: DiameterMode = ...,
    diameter_sweeps: int | None = ...,
    workers: int | None = ...,
) -> npt.NDArray[np.intp]: ...


@overload
def gist_select(
    vectors: npt.ArrayLike,
    utilities: Any = ...,
    *,
    k: int,
    ids: Sequence[Id],
    lam: float = ...,
    eps: float = ...,
    metric: Metric = ...,
    utility: UtilityKind = ...,
    exhaustive_thresholds: bool = ...,
    diameter: DiameterMode = ...,
    diameter_sweeps: int | None = ...,
    workers: int | None = ...,
) -> list[Id]: ...


def gist_select(
    vectors: npt.ArrayLike,
    utilities: Any = None,
    *,
    k: int,
    ids: Sequence[Any] | None = None,
    lam: float = 0.5,
    eps: float = 0.1,
    metric: Metric = "cosine",
    utility: UtilityKind = "linear",
    exhaustive_thresholds: bool = False,
    diameter: DiameterMode = "exact",
    diameter_sweeps: int | None = 3,
    workers: int | None = None,
) -> npt.NDArray[np.intp] | list[Any]:
    """Select at most k diverse and useful rows with GIST.

    Parameters
    ----------
    vectors, utilities, k, lam, eps, metric, utility, exhaustive_thresholds, diameter, \
diameter_sweeps, workers
        As in `gist_select_full`.
    ids : sequence of length n, optional
        Names of the rows; the result is then a list of names.

    Returns
    -------
    intp array of shape (m,), m <= k, or list
        Row indices, or their ids, in selection order.

    Raises
    ------
    DiversityError, TypeError, ValueError
        As in `gist_select_full`; also ValueError when `ids` is not of length n.

    Examples
    --------
    >>> from limbic.diversity import gist_select
    >>> vectors = [[1.0, 0.0], [0.99, 0.14], [0.0, 1.0]]
    >>> gist_select(vectors, [0.9, 0.8, 0.5], k=2)
    array([0, 2])
    >>> gist_select(vectors, [0.9, 0.8, 0.5], k=2, ids=["a", "b", "c"])
    ['a', 'c']
    """
    names = None if ids is None else as_ids(ids)
    sweep, ks, lams = prepare(
        vectors,
        utilities,
        ks=[k],
        lams=[lam],
        eps=eps,
        metric=metric,
        utility=utility,
        exhaustive_thresholds=exhaustive_thresholds,
        diameter=diameter,
        diameter_sweeps=diameter_sweeps,
        workers=workers,
        ids=names,
    )
    selected = fold(sweep, ks[0], lams[0]).selected
    if names is None:
        return selected.copy()
    return [names[row] for row in selected]


def gist_select_full(
    vectors: npt.ArrayLike,
    utilities: Any = None,
    *,
    k: int,
    lam: float = 0.5,
    eps: float = 0.1,
    metric: Metric = "cosine",
    utility: UtilityKind = "linear",
    exhaustive_thresholds: bool = False,
    diameter: DiameterMode = "exact",
    diameter_sweeps: int | None = 3,
    workers: int | None = None,
) -> GistResult:
    """Select at most k diverse and useful rows with GIST, and tell what they are worth.

    Parameters
    ----------
    vectors : array-like of shape (n, dim)
        The points, taken as float32 (float64 is rounded). Read-only, strided, Fortran-ordered,
        big-endian and memory-mapped arrays give the same bits; nothing is written to.
    utilities : optional
        For "linear": n weights, finite and >= 0; None means 1 for each. For "coverage": one list
        of integer item ids in [0, 2**32 - 1] per row. For "facility_location": None.
    k : int
        Most rows to select, >= 1; larger than n is n.
    lam : float, default=0.5
        Weight of diversity against utility, finite and >= 0; 0 maximises the utility alone.
    eps : float, default=0.1
        Step of the threshold grid, in [2**-23, 1]; rounded to float32. Smaller means closer to
        the guarantee and more thresholds.
    metric : {"cosine", "euclidean"}, default="cosine"
        "cosine" is 1 - cos, in [0, 2]; it refuses rows of norm 0 and is no true metric, so the
        guarantees hold for "euclidean" only.
    utility : {"linear", "coverage", "facility_location"}, default="linear"
        Sum of weights; number of distinct items; sum over all points of the similarity to the
        nearest selected one.
    exhaustive_thresholds : bool, default=False
        Try every half distance instead of the grid: exactly 2/3 of the optimum for linear g.
    diameter : {"exact", "approx"}, default="exact"
        How the largest distance is found; "approx" takes `diameter_sweeps` passes instead of
        all pairs and finds at least half of it.
    diameter_sweeps : int, default=3
        Passes of the approximation, >= 0; 0 counts as 1, None as 3.
    workers : int, optional
        Threads; None takes every available core for large work and one for small. The result
        does not depend on it.

    Returns
    -------
    GistResult

    Raises
    ------
    DiversityError
        A `ValueError` with a `code`, for invalid numbers; see `DiversityErrorCode`.
    TypeError
        If an argument has the wrong type, a masked or sparse matrix included.
    ValueError
        If `metric`, `utility`, `diameter` or `workers` is none of what is offered.

    Notes
    -----
    Algorithm 1 of arXiv:2405.18754v3. Time O(n**2 dim) for the exact diameter, O(n dim) for the
    approximate one; the sweep is O(r n k dim) at worst for r distinct outcomes (r is some ten in
    practice), facility location O(n**2 dim) once more and O(n dim) a marginal gain. Memory
    O(n dim): one more copy of the points for the diameter, one for "cosine", one for cached rows
    of facility location; exhaustive thresholds are stored up to 16 MiB or n * dim of them.

    Examples
    --------
    >>> from limbic.diversity import gist_select_full
    >>> gist_select_full([[0.0], [1.0], [10.0]], [1.0, 1.0, 1.0], k=2, metric="euclidean")
    GistResult(selected=[0, 2], f=7, g=2, div=10, threshold=9.59717, stage='sweep', d_max=10)
    """
    sweep, ks, lams = prepare(
        vectors,
        utilities,
        ks=[k],
        lams=[lam],
        eps=eps,
        metric=metric,
        utility=utility,
        exhaustive_thresholds=exhaustive_thresholds,
        diameter=diameter,
        diameter_sweeps=diameter_sweeps,
        workers=workers,
    )
    return fold(sweep, ks[0], lams[0])


def gist_path(
    vectors: npt.ArrayLike,
    utilities: Any = None,
    *,
    k: int | Sequence[int],
    lam: float | Sequence[float],
    eps: float = 0.1,
    metric: Metric = "cosine",
    utility: UtilityKind = "linear",
    exhaustive_thresholds: bool = False,
    diameter: DiameterMode = "exact",
    diameter_sweeps: int | None = 3,
    workers: int | None = None,
) -> GistPath:
    """Answer a whole grid of k and lam from one sweep.

    Parameters
    ----------
    vectors, utilities, eps, metric, utility, exhaustive_thresholds, diameter, diameter_sweeps, \
workers
        As in `gist_select_full`.
    k : int or sequence of int
        One or many; kept as given in the result.
    lam : float or sequence of float
        One or many.

    Returns
    -------
    GistPath
        Each cell equals `gist_select_full` of its k and lam, to the last bit.

    Raises
    ------
    DiversityError, TypeError, ValueError
        As in `gist_select_full`; ValueError when `k` or `lam` is an empty sequence.

    Notes
    -----
    Costs one run for the largest k, since lam enters the last step alone and the first k picks of
    a greedy pass are the pass for that k; then O(outcomes) a cell.

    Examples
    --------
    >>> from limbic.diversity import gist_path
    >>> path = gist_path([[0.0], [1.0], [10.0]], k=[1, 2], lam=[0.0, 1.0], metric="euclidean")
    >>> path.g
    array([[1., 1.],
           [2., 2.]])
    >>> [point.selected.tolist() for point in path.pareto()]
    [[0, 2]]
    """
    sweep, ks, lams = prepare(
        vectors,
        utilities,
        ks=_as_list(k, "k"),
        lams=_as_list(lam, "lam"),
        eps=eps,
        metric=metric,
        utility=utility,
        exhaustive_thresholds=exhaustive_thresholds,
        diameter=diameter,
        diameter_sweeps=diameter_sweeps,
        workers=workers,
    )
    results = [[fold(sweep, each_k, each_lam) for each_lam in lams] for each_k in ks]
    return grid_of(results, [int(each) for each in _as_list(k, "k")], lams)


def _as_list(values: Any, name: str) -> list[Any]:
    if np.ndim(values) == 0:
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must hold at least one value, got an empty sequence")
    return listed
