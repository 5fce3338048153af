"""What memories of one conversation lend each other.

Turns of a conversation share their evidence: the question says what the answer is about. So an
earlier memory lends its evidence to the later ones, and in a smaller part a later one to the
earlier ones, up to three places away and never across a session, a user or an agent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LENT_BACKWARD", "LENT_FORWARD", "Neighbours"]

Rows = npt.NDArray[np.int64]

LENT_FORWARD = (0.7, 0.49, 0.343)
"""Share of its evidence that a memory lends to the one, two, three places after it."""

LENT_BACKWARD = (0.5, 0.25, 0.125)
"""Share that it lends to those before it: what follows a statement seldom explains it."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For every row the rows beside it, as arrays; -1 where there is none.

    Parameters
    ----------
    loans : list of (float, ndarray)
        A share and, for every row, the row that receives it. Shares ascend.
    lenders : list of (float, ndarray)
        A share and, for every row, the row that it comes from. Shares ascend.
    """

    loans: list[tuple[float, Rows]]
    lenders: list[tuple[float, Rows]]

    @classmethod
    def of(
        cls, rows: Rows, session: Rows, position: Rows, created: Rows, ids: Sequence[str]
    ) -> "Neighbours":
        """Find the neighbours of some rows.

        Parameters
        ----------
        rows : ndarray of int
            The rows that may have neighbours.
        session : ndarray of int
            Code of each row's conversation, -1 for none.
        position, created : ndarray of int
            Order within the conversation: position, then time, then id.
        ids : sequence of str
            Ids of all rows.

        Notes
        -----
        O(n log n), once after each change of the store.
        """
        rows = rows[session[rows] >= 0]
        rows = np.array(sorted(rows.tolist(), key=ids.__getitem__), dtype=np.int64)
        rows = rows[np.lexsort((created[rows], position[rows], session[rows]))]
        size = len(session)
        lent: list[tuple[float, Rows, Rows]] = []
        for step, (forward, backward) in enumerate(
            zip(LENT_FORWARD, LENT_BACKWARD, strict=True), start=1
        ):
            earlier, later = rows[:-step], rows[step:]
            together = session[earlier] == session[later]
            earlier, later = earlier[together], later[together]
            after, before = np.full(size, -1), np.full(size, -1)
            after[earlier], before[later] = later, earlier
            lent += [(forward, after, before), (backward, before, after)]
        lent.sort(key=lambda one: one[0])
        return cls(
            loans=[(share, receiver) for share, receiver, _ in lent],
            lenders=[(share, lender) for share, _, lender in lent],
        )
