"""Diversity selection: the exact GIST algorithm, bit for bit, fast (:mod:`limbic.diversity`).

Choose S with at most k rows so that ``f(S) = g(S) + lam * div(S)`` is large: ``g`` is a monotone
submodular utility, ``div`` the smallest pairwise distance in S. For a true metric GIST guarantees
``(1/2 - eps)`` of the optimum, ``(2/3 - eps)`` when g is linear (arXiv:2405.18754v3).

Selection
---------
gist_select         row indices (or ids) of the selection
gist_select_full    the same with objective, utility, diversity, threshold, stage
gist_path           every (k, lam) of a grid from one sweep
GistResult          what `gist_select_full` returns
GistPath            what `gist_path` returns

Errors and constants
--------------------
DiversityError      invalid argument, with a `code`
F32_EPSILON         smallest accepted eps

Results are the same to the last bit on every processor and for every number of threads. This
package imports nothing of the rest of limbic.
"""

from limbic.diversity._gist import gist_path, gist_select, gist_select_full
from limbic.diversity._path import GistPath
from limbic.diversity._select import GistResult, Stage
from limbic.diversity._validation import (
    F32_EPSILON,
    DiameterMode,
    DiversityError,
    DiversityErrorCode,
    Metric,
    UtilityKind,
)

__all__ = [
    "F32_EPSILON",
    "DiameterMode",
    "DiversityError",
    "DiversityErrorCode",
    "GistPath",
    "GistResult",
    "Metric",
    "Stage",
    "UtilityKind",
    "gist_path",
    "gist_select",
    "gist_select_full",
]
