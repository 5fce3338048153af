"""The result of a whole (k, lam) grid."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limbic.diversity._select import GistResult

__all__ = ["GistPath", "ParetoPoint"]


class ParetoPoint(NamedTuple):
    """An outcome that no other of the same path beats in both g and div."""

    g: float
    div: float
    k: int
    lam: float
    selected: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class GistPath:
    """Selections for every k and lam of a grid; row i is ``k[i]``, column j is ``lam[j]``.

    Attributes
    ----------
    k : intp array of shape (n_k,)
    lam : float64 array of shape (n_lam,)
    f, g, div, threshold : float64 arrays of shape (n_k, n_lam)
        As in `GistResult`.
    stage : array of str of shape (n_k, n_lam)
    d_max : float
        The same for the whole grid.
    selections : tuple of tuple of intp array
        ``selections[i][j]`` are the row indices in selection order.
    """

    k: npt.NDArray[np.intp]
    lam: npt.NDArray[np.float64]
    f: npt.NDArray[np.float64]
    g: npt.NDArray[np.float64]
    div: npt.NDArray[np.float64]
    threshold: npt.NDArray[np.float64]
    stage: npt.NDArray[np.str_]
    d_max: float
    selections: tuple[tuple[npt.NDArray[np.intp], ...], ...]

    def __repr__(self) -> str:
        return (
            f"GistPath({self.k.size} k x {self.lam.size} lam, "
            f"f from {self.f.min():.6g} to {self.f.max():.6g}, d_max={self.d_max:.6g})"
        )

    def result(self, i: int, j: int) -> GistResult:
        """Return the cell of ``k[i]`` and ``lam[j]``."""
        return GistResult(
            selected=self.selections[i][j],
            f=float(self.f[i, j]),
            g=float(self.g[i, j]),
            div=float(self.div[i, j]),
            threshold=float(self.threshold[i, j]),
            stage=str(self.stage[i, j]),  # type: ignore[arg-type]
            d_max=self.d_max,
        )

    def pareto(self) -> list[ParetoPoint]:
        """Return the undominated (g, div) outcomes of the grid, by descending g.

        An outcome is dominated when another has at least its g and its div and more of one. Equal
        outcomes are given once, for the smallest k and then the smallest lam.
        """
        cells = sorted(
            (-self.g[i, j], -self.div[i, j], int(self.k[i]), float(self.lam[j]), i, j)
            for i in range(self.k.size)
            for j in range(self.lam.size)
        )
        front: list[ParetoPoint] = []
        widest = -np.inf
        for negative_g, negative_div, k, lam, i, j in cells:
            if -negative_div > widest:
                widest = -negative_div
                selected = self.selections[i][j]
                front.append(ParetoPoint(float(-negative_g), float(widest), k, lam, selected))
        return front


def grid_of(results: list[list[GistResult]], ks: list[int], lams: list[float]) -> GistPath:
    """Return the cells, rows by k, as arrays."""

    def column(name: str) -> npt.NDArray[np.float64]:
        return np.array([[getattr(cell, name) for cell in row] for row in results])

    return GistPath(
        k=np.array(ks, dtype=np.intp),
        lam=np.array(lams, dtype=np.float64),
        f=column("f"),
        g=column("g"),
        div=column("div"),
        threshold=column("threshold"),
        stage=np.array([[cell.stage for cell in row] for row in results]),
        d_max=results[0][0].d_max,
        selections=tuple(tuple(cell.selected for cell in row) for row in results),
    )
