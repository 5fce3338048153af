# The greedy passes GIS(d). Part of _kernels.pyx.

cdef class Gain:
    """Marginal gains of a monotone submodular g over a growing selection."""

    cdef void reset(self) noexcept:
        pass

    cdef double marginal(self, Py_ssize_t v) noexcept:
        return 0.0

    cdef void commit(self, Py_ssize_t v) noexcept:
        pass


cdef class CoverageGain(Gain):
    """Number of items of a row that no chosen row holds (gist.md, rule 17).

    Parameters
    ----------
    indptr, items : intp arrays
        Items of row v are ``items[indptr[v]:indptr[v + 1]]``: distinct, relabelled from 0 on.
    n_items : int
        Number of distinct labels.
    """

    cdef const Py_ssize_t[::1] indptr
    cdef const Py_ssize_t[::1] items
    cdef unsigned char[::1] covered

    def __init__(
        self,
        const Py_ssize_t[::1] indptr not None,
        const Py_ssize_t[::1] items not None,
        Py_ssize_t n_items,
    ):
        self.indptr = indptr
        self.items = items
        self.covered = np.zeros(n_items, dtype=np.uint8)

    cdef void reset(self) noexcept:
        self.covered[:] = 0

    cdef double marginal(self, Py_ssize_t v) noexcept:
        cdef Py_ssize_t at, fresh = 0
        for at in range(self.indptr[v], self.indptr[v + 1]):
            fresh += not self.covered[self.items[at]]
        return <double>fresh

    cdef void commit(self, Py_ssize_t v) noexcept:
        cdef Py_ssize_t at
        for at in range(self.indptr[v], self.indptr[v + 1]):
            self.covered[self.items[at]] = 1


cdef class FacilityLocationGain(Gain):
    """Facility location (gist.md, rule 8) with the distance rows of recent candidates kept.

    A candidate is evaluated at several thresholds and after several picks; its row of distances is
    the same each time. At most `n_slots` rows are kept, the oldest goes first.
    """

    cdef Points points
    cdef double scale
    cdef double[::1] best
    cdef float[:, ::1] slots
    cdef Py_ssize_t[::1] slot_of
    cdef Py_ssize_t[::1] holder
    cdef Py_ssize_t next_slot

    def __init__(self, Points points not None, double scale, Py_ssize_t n_slots):
        self.points = points
        self.scale = scale
        self.best = np.zeros(points.n, dtype=np.float64)
        self.slots = np.empty((n_slots, points.n), dtype=np.float32)
        self.slot_of = np.full(points.n, -1, dtype=np.intp)
        self.holder = np.full(n_slots, -1, dtype=np.intp)
        self.next_slot = 0

    cdef void reset(self) noexcept:
        self.best[:] = 0.0

    cdef const float *row(self, Py_ssize_t v) noexcept nogil:
        cdef Py_ssize_t slot = self.slot_of[v]
        if slot < 0:
            slot = self.next_slot
            self.next_slot = (slot + 1) % self.slots.shape[0]
            if self.holder[slot] >= 0:
                self.slot_of[self.holder[slot]] = -1
            self.holder[slot] = v
            self.slot_of[v] = slot
            self.points.row_range_c(v, 0, self.points.n, &self.slots[slot, 0])
        return &self.slots[slot, 0]

    cdef double marginal(self, Py_ssize_t v) noexcept:
        cdef Py_ssize_t i
        cdef double gain = 0.0, more
        cdef const float *distance
        with nogil:
            distance = self.row(v)
            for i in range(self.points.n):
                more = similarity(distance[i], self.scale) - self.best[i]
                gain += more if more > 0.0 else 0.0
        return gain

    cdef void commit(self, Py_ssize_t v) noexcept:
        cdef Py_ssize_t i
        cdef double now
        cdef const float *distance = self.row(v)
        for i in range(self.points.n):
            now = similarity(distance[i], self.scale)
            if now > self.best[i]:
                self.best[i] = now


cdef inline double similarity(float distance, double scale) noexcept nogil:
    cdef double value = 1.0 - <double>distance / scale
    return value if value > 0.0 else 0.0


cdef float nearest_chosen(
    Points points, Py_ssize_t v, const Py_ssize_t *chosen, Py_ssize_t start, Py_ssize_t stop,
    float nearest, float d
) noexcept nogil:
    """Fold dist(v, chosen[start:stop]) into `nearest`; may stop once it is below d."""
    cdef Py_ssize_t j
    cdef float distance
    for j in range(start, stop):
        distance = points.pair_c(v, chosen[j])
        if distance < nearest:
            nearest = distance
            # d == 0 bars nobody, and nothing is closer than 0.
            if nearest < d or nearest == 0.0:
                break
    return nearest


def scan_linear(
    Points points not None,
    const double[::1] weights not None,
    const Py_ssize_t[::1] order not None,
    Py_ssize_t k,
    float d,
):
    """Run GIS(d) for a linear g: visit by descending weight, take what is far enough.

    Parameters
    ----------
    points : Points
    weights : float64 array of shape (n,)
    order : intp array of shape (n,)
        Indices by (weight descending, index ascending).
    k : int
        At most so many picks.
    d : float
        Least distance to every earlier pick.

    Returns
    -------
    selected : intp array
    gains : float64 array
        Marginal gain of each pick.
    nearest : float32 array
        Distance of each pick to the nearest earlier one, inf for the first.

    Notes
    -----
    The gains never change, so a candidate that was passed over once stays barred and one scan is
    the whole greedy pass.
    """
    cdef Py_ssize_t[::1] selected = np.empty(k, dtype=np.intp)
    cdef double[::1] gains = np.empty(k, dtype=np.float64)
    cdef float[::1] nearest = np.empty(k, dtype=np.float32)
    cdef Py_ssize_t at, v, count = 0, since_check = 0
    cdef float distance
    with nogil:
        for at in range(order.shape[0]):
            v = order[at]
            distance = nearest_chosen(points, v, &selected[0], 0, count, INFINITY, d)
            since_check += count
            if since_check > 1 << 16:
                since_check = 0
                with gil:
                    PyErr_CheckSignals()
            if distance < d:
                continue
            selected[count] = v
            gains[count] = weights[v]
            nearest[count] = distance
            count += 1
            if count == k:
                break
    return np.asarray(selected)[:count], np.asarray(gains)[:count], np.asarray(nearest)[:count]


def run_lazily(
    Points points not None,
    Gain gain not None,
    const double[::1] first_gains not None,
    const Py_ssize_t[::1] order not None,
    Py_ssize_t k,
    float d,
):
    """Run GIS(d) for a submodular g with lazily updated bounds (Minoux; CELF).

    A gain only falls as the selection grows, in floating point as well: `best` only rises, and
    subtraction, maximum and addition round monotonically. So an old gain bounds the new one. The
    candidate with the largest bound (lowest index among equals) is evaluated; if its bound still
    holds exactly, no other candidate can beat it, and none of equal gain has a lower index.

    Parameters and returns are those of `scan_linear`; `first_gains` holds the gains for the empty
    selection and `order` sorts them.
    """
    cdef Py_ssize_t n = points.n
    cdef Py_ssize_t[::1] selected = np.empty(k, dtype=np.intp)
    cdef double[::1] gains = np.empty(k, dtype=np.float64)
    cdef float[::1] near_pick = np.empty(k, dtype=np.float32)
    cdef float[::1] nearest = np.full(n, np.inf, dtype=np.float32)
    # How many picks a candidate's distance, and its gain, have been compared with.
    cdef Py_ssize_t[::1] compared = np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t[::1] evaluated = np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t at = 0, v, count = 0, steps = 0
    cdef double bound, fresh
    cdef list heap = []
    gain.reset()
    while count < k:
        if at < n and (not heap or precedes(first_gains[order[at]], order[at], heap[0])):
            v = order[at]
            bound = first_gains[v]
            at += 1
        elif heap:
            negative, v = heapq.heappop(heap)
            bound = -negative
        else:
            break
        steps += 1
        if steps % 64 == 0:
            PyErr_CheckSignals()
        if compared[v] < count:
            nearest[v] = nearest_chosen(
                points, v, &selected[0], compared[v], count, nearest[v], d
            )
            compared[v] = count
        if nearest[v] < d:
            continue
        if evaluated[v] < count and bound > 0.0:
            fresh = gain.marginal(v)
            evaluated[v] = count
            if fresh != bound:
                heapq.heappush(heap, (-fresh, v))
                continue
        selected[count] = v
        gains[count] = bound
        near_pick[count] = nearest[v]
        count += 1
        gain.commit(v)
    return np.asarray(selected)[:count], np.asarray(gains)[:count], np.asarray(near_pick)[:count]


cdef bint precedes(double gain, Py_ssize_t v, tuple top):
    """Whether (gain, v) comes before the heap's top: larger gain first, then lower index."""
    cdef double other = -<double>top[0]
    if gain != other:
        return gain > other
    return v < <Py_ssize_t>top[1]


def gains_of_pair(Gain gain not None, Py_ssize_t u, Py_ssize_t v):
    """Return the marginal gains of u, then of v, from an empty selection."""
    gain.reset()
    first = gain.marginal(u)
    gain.commit(u)
    return first, gain.marginal(v)
