"""Checks and conversions of what callers hand in; nothing beyond this module looks at raw input.

The order of the checks is part of the contract (gist.md, rule 13): the matrix, then k, eps, lam,
then the utility's own table.
"""

import math
import operator
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from limbic.diversity._dispatch import Points

__all__ = ["F32_EPSILON", "DiversityError", "DiversityErrorCode"]

F32_EPSILON: Final = 2.0**-23
"""The smallest accepted `eps`: the distance from 1 to the next float32."""

DiversityErrorCode: TypeAlias = Literal[
    "ZeroDim",
    "EmptyInput",
    "LengthNotMultipleOfDim",
    "NonFinite",
    "ZeroNormRow",
    "InvalidK",
    "InvalidEps",
    "InvalidLambda",
    "WeightsLength",
    "InvalidWeight",
    "CoverageLength",
    "CoverageItemOutOfRange",
]
"""The values of `DiversityError.code`."""

Metric: TypeAlias = Literal["cosine", "euclidean"]
UtilityKind: TypeAlias = Literal["linear", "coverage", "facility_location"]
DiameterMode: TypeAlias = Literal["exact", "approx"]

METRIC_CODES: Final = {"euclidean": 0, "cosine": 1}
UTILITY_KINDS: Final = ("linear", "coverage", "facility_location")
DIAMETER_MODES: Final = ("exact", "approx")
LARGEST_ITEM: Final = 2**32 - 1


class DiversityError(ValueError):
    """An argument of a selection is invalid.

    Parameters
    ----------
    code : str
        What is wrong, for programs: one of `DiversityErrorCode`.
    message : str
        What is wrong, for people: the argument, its value, the fix.

    Attributes
    ----------
    code : str
        As given.

    Examples
    --------
    >>> from limbic.diversity import DiversityError, gist_select
    >>> try:
    ...     gist_select([[1.0, 0.0]], k=0)
    ... except DiversityError as error:
    ...     print(error.code, "-", error)
    InvalidK - k must be at least 1, got 0
    """

    def __init__(self, code: DiversityErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: DiversityErrorCode = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, str(self))


def as_points(vectors: npt.ArrayLike, metric: str) -> Points:
    """Return the points under the metric, after every check of the matrix."""
    rows = as_rows(vectors)
    points = Points(rows, METRIC_CODES[metric])
    if points.zero_norm_row >= 0:
        raise DiversityError(
            "ZeroNormRow",
            f"row {points.zero_norm_row} of vectors has a norm that is 0 or not finite in float32, "
            "so its cosine distance is undefined; drop the row or use metric='euclidean'",
        )
    return points


def as_rows(vectors: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return a finite C-contiguous float32 matrix; a copy only where one is needed."""
    if isinstance(vectors, np.ma.MaskedArray):
        raise TypeError("vectors must not be a masked array; fill or drop the masked values first")
    if hasattr(vectors, "toarray"):
        raise TypeError(f"vectors must be dense, got {type(vectors).__name__}; call .toarray()")
    try:
        matrix = np.asarray(vectors)
    except ValueError as error:
        raise DiversityError(
            "LengthNotMultipleOfDim", f"vectors must be rows of one length: {error}"
        ) from error
    if matrix.ndim == 1 and matrix.size == 0:
        raise DiversityError("EmptyInput", "vectors must have at least one row, got none")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"vectors must be real numbers, got dtype {matrix.dtype}")
    if matrix.ndim != 2:
        raise DiversityError(
            "LengthNotMultipleOfDim",
            f"vectors must have shape (n, dim), got {matrix.ndim} axes of shape {matrix.shape}; "
            "one vector alone is vectors.reshape(1, -1)",
        )
    if matrix.shape[1] == 0:
        raise DiversityError("ZeroDim", f"vectors must have dim >= 1, got shape {matrix.shape}")
    if matrix.shape[0] == 0:
        raise DiversityError(
            "EmptyInput", f"vectors must have at least one row, got shape {matrix.shape}"
        )
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(matrix, dtype=np.float32)
    finite = np.isfinite(rows)
    if not finite.all():
        row, column = np.unravel_index(int(np.argmin(finite)), rows.shape)
        raise DiversityError(
            "NonFinite",
            f"vectors must be finite in float32, got {matrix[row, column]} "
            f"in row {row}, column {column}",
        )
    return rows


def check_k(k: object) -> int:
    """Return k as an int of at least 1."""
    number = _as_int(k, "k")
    if number < 1:
        raise DiversityError("InvalidK", f"k must be at least 1, got {number}")
    return number


def check_eps(eps: object) -> float:
    """Return eps rounded to float32."""
    number = _as_float(eps, "eps")
    if not F32_EPSILON <= number <= 1.0:
        raise DiversityError("InvalidEps", f"eps must lie in [2**-23, 1], got {number}")
    return float(np.float32(number))


def check_lam(lam: object) -> float:
    """Return lam as a finite float of at least 0."""
    number = _as_float(lam, "lam")
    if not (math.isfinite(number) and number >= 0.0):
        raise DiversityError("InvalidLambda", f"lam must be finite and at least 0, got {number}")
    return number


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {value!r}")
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_sweeps(sweeps: object) -> int:
    """Return the number of diameter sweeps; None means 3."""
    if sweeps is None:
        return 3
    number = _as_int(sweeps, "diameter_sweeps")
    if number < 0:
        raise ValueError(f"diameter_sweeps must be at least 0, got {number}")
    if number > 2**63 - 1:
        raise ValueError(f"diameter_sweeps must be below 2**63, got {number}")
    return number


def check_workers(workers: object) -> int | None:
    """Return the number of threads; None leaves it to the size of the work."""
    if workers is None:
        return None
    number = _as_int(workers, "workers")
    if number < 1:
        raise ValueError(f"workers must be at least 1, or None for one per core, got {number}")
    return min(number, 4 * (os.cpu_count() or 1))


def as_ids(ids: Iterable[Any]) -> list[Any]:
    """Return the ids as a list; an iterator can be read once only."""
    try:
        return list(ids)
    except TypeError as error:
        raise TypeError(f"ids must be a sequence, got {type(ids).__name__}") from error


def check_ids(ids: list[Any], n: int) -> None:
    """Refuse ids that are not one per row."""
    if len(ids) != n:
        raise ValueError(f"ids must hold one id per row of vectors ({n}), got {len(ids)}")


def as_table(kind: str, utilities: Any, n: int) -> Any:
    """Return the utility's own table, checked: weights, a coverage table, or None."""
    if kind == "linear":
        return as_weights(utilities, n)
    if kind == "coverage":
        return as_coverage(utilities, n)
    if utilities is not None:
        raise ValueError(
            "utilities must be None for utility='facility_location', which is computed from "
            "vectors alone"
        )
    return None


def as_weights(weights: npt.ArrayLike | None, n: int) -> npt.NDArray[np.float64]:
    """Return the weights of the linear utility; None means that every weight is 1."""
    if weights is None:
        return np.ones(n)
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("utilities must not be a masked array; fill the masked weights first")
    try:
        values = np.asarray(weights)
    except ValueError as error:
        raise TypeError(f"utilities must be a one-dimensional array of numbers: {error}") from error
    if values.ndim != 1 or (values.size and values.dtype.kind not in "fiub"):
        raise TypeError(
            "utilities must be a one-dimensional array of numbers for utility='linear', "
            f"got dtype {values.dtype} of shape {values.shape}"
        )
    if values.size != n:
        raise DiversityError(
            "WeightsLength",
            f"utilities must hold one weight per row of vectors ({n}), got {values.size}",
        )
    checked = np.ascontiguousarray(values, dtype=np.float64)
    valid = np.isfinite(checked) & (checked >= 0.0)
    if not valid.all():
        first = int(np.argmin(valid))
        raise DiversityError(
            "InvalidWeight",
            f"utilities must be finite and at least 0, got {checked[first]} at index {first}",
        )
    return checked


def as_coverage(table: Any, n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], int]:
    """Return a coverage table as (indptr, items, n_items): distinct per row, relabelled from 0."""
    if table is None:
        raise TypeError(
            "utilities must be given for utility='coverage': one list of item ids per row"
        )
    if isinstance(table, np.ndarray):
        table = table.tolist()
    try:
        if isinstance(table, str | bytes):
            raise TypeError("it is text")
        rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in table]
    except TypeError as error:
        raise TypeError(
            f"utilities must be a sequence of item id lists for utility='coverage': {error}"
        ) from error
    if len(rows) != n:
        raise DiversityError(
            "CoverageLength",
            f"utilities must hold one item list per row of vectors ({n}), got {len(rows)}",
        )
    lengths = np.fromiter(map(len, rows), dtype=np.intp, count=n)
    flat = list(chain.from_iterable(rows))
    _check_items(rows, flat)
    row_of = np.repeat(np.arange(n, dtype=np.intp), lengths)
    distinct, labels = np.unique(np.array(flat, dtype=np.int64), return_inverse=True)
    n_items = distinct.size
    # One number per (row, label): sorting and thinning it drops the repeats within each row.
    pairs = np.unique(row_of * max(n_items, 1) + labels)
    row_of, items = np.divmod(pairs, max(n_items, 1))
    indptr = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(row_of, minlength=n), out=indptr[1:])
    return indptr, np.ascontiguousarray(items, dtype=np.intp), n_items


def _check_items(rows: list[list[Any]], flat: list[Any]) -> None:
    kinds = set(map(type, flat))
    integers = all(kind is int or issubclass(kind, np.integer) for kind in kinds)
    if integers and (not flat or (min(flat) >= 0 and max(flat) <= LARGEST_ITEM)):
        return
    for index, row in enumerate(rows):
        for item in row:
            if isinstance(item, bool) or not isinstance(item, int | np.integer):
                raise TypeError(
                    f"item ids must be integers, got {item!r} in row {index} of utilities"
                )
            if not 0 <= item <= LARGEST_ITEM:
                raise DiversityError(
                    "CoverageItemOutOfRange",
                    f"item ids must lie in [0, 2**32 - 1], got {item} in row {index} of utilities",
                )


def _as_int(value: object, name: str) -> int:
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        return operator.index(value)  # type: ignore[arg-type]  # the error is what we want
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, got {value!r}") from error


def _as_float(value: object, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
