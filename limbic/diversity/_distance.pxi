# Points: every distance that limbic.diversity takes, in the contract's arithmetic.
# Part of _kernels.pyx, which is compiled once per instruction set.

cdef extern from "_kernels.h" nogil:
    enum: LANES
    enum: TILE_ROWS
    float dot_product(const float *, const float *, ptrdiff_t)
    float squared_distance(const float *, const float *, ptrdiff_t)
    void dot_product_4(const float *, const float *, ptrdiff_t, ptrdiff_t, float *)
    void squared_distance_4(const float *, const float *, ptrdiff_t, ptrdiff_t, float *)
    void tile_dot_product(const float *, const float *, const ptrdiff_t *, float *)
    void tile_squared_distance(const float *, const float *, const ptrdiff_t *, float *)
    bint tile_any_at_most(const float *, float)
    bint tile_any_at_least(const float *, float)
    float cosine_distance(float)
    bint processor_supports(int)

cdef enum:
    EUCLIDEAN = 0
    COSINE = 1
    # Rows of one unit of work of the quadratic kernels: a multiple of LANES, so that a block's rows
    # are whole panels; few enough that they stay in the second-level cache.
    BLOCK_ROWS = 64


def processor_has(str isa):
    """Return whether this processor runs the build for an instruction set."""
    return processor_supports(("baseline", "avx2", "avx512").index(isa))


cdef struct Pair:
    float distance
    Py_ssize_t u
    Py_ssize_t v


cdef inline bint comes_first(Pair a, Pair b) noexcept nogil:
    """Whether a is the farther pair, or equally far with the smaller u, then the smaller v."""
    if a.distance != b.distance:
        return a.distance > b.distance
    if a.u != b.u:
        return a.u < b.u
    return a.v < b.v


cdef class Points:
    """Points under one metric, and the float32 distances between them.

    Parameters
    ----------
    rows : float32 array of shape (n, dim), C-contiguous
        Checked by the caller: n and dim at least 1, all finite.
    metric : int
        0 euclidean: `rows` is used without a copy. 1 cosine: rows are normalised into a copy.

    Attributes
    ----------
    zero_norm_row : int
        First row that cannot be normalised, or -1; with such a row no distance is defined.
    """

    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t dim
    cdef readonly Py_ssize_t zero_norm_row
    cdef int metric
    cdef const float[:, ::1] rows
    cdef float[::1] panels
    cdef bint packed
    cdef ptrdiff_t group_start[LANES + 1]

    def __init__(self, const float[:, ::1] rows not None, int metric):
        self.n = rows.shape[0]
        self.dim = rows.shape[1]
        self.metric = metric
        self.zero_norm_row = -1
        self.rows = rows
        if metric == COSINE:
            self.rows = self._normalised(rows)
        cdef Py_ssize_t lane
        self.group_start[0] = 0
        for lane in range(LANES):
            self.group_start[lane + 1] = (
                self.group_start[lane] + (self.dim + LANES - 1 - lane) // LANES
            )

    cdef object _normalised(self, const float[:, ::1] rows):
        units = np.empty((self.n, self.dim), dtype=np.float32)
        cdef float[:, ::1] out = units
        cdef Py_ssize_t i, c
        cdef float norm
        with nogil:
            for i in range(self.n):
                norm = sqrtf(dot_product(&rows[i, 0], &rows[i, 0], self.dim))
                if not (norm > 0.0 and isfinite(norm)):
                    self.zero_norm_row = i
                    break
                for c in range(self.dim):
                    out[i, c] = rows[i, c] / norm
        return units

    cdef float pair_c(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        if i == j:
            return 0.0
        if self.metric == COSINE:
            return cosine_distance(dot_product(&self.rows[i, 0], &self.rows[j, 0], self.dim))
        return sqrtf(squared_distance(&self.rows[i, 0], &self.rows[j, 0], self.dim))

    cdef void row_range_c(
        self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop, float *out
    ) noexcept nogil:
        """Write dist(i, j) for j in [start, stop) to out[0], out[1], ..."""
        cdef const float *x = &self.rows[i, 0]
        cdef Py_ssize_t j = start, c
        while j + 4 <= stop:
            if self.metric == COSINE:
                dot_product_4(x, &self.rows[j, 0], self.dim, self.dim, out + (j - start))
                for c in range(j - start, j - start + 4):
                    out[c] = cosine_distance(out[c])
            else:
                squared_distance_4(x, &self.rows[j, 0], self.dim, self.dim, out + (j - start))
                for c in range(j - start, j - start + 4):
                    out[c] = sqrtf(out[c])
            j += 4
        while j < stop:
            out[j - start] = self.pair_c(i, j)
            j += 1
        if start <= i < stop:
            out[i - start] = 0.0

    def pair(self, Py_ssize_t i, Py_ssize_t j):
        """Return dist(i, j)."""
        self._check(i)
        self._check(j)
        return self.pair_c(i, j)

    def row(self, Py_ssize_t i):
        """Return dist(i, j) for every j, as a float32 array of shape (n,)."""
        self._check(i)
        distances = np.empty(self.n, dtype=np.float32)
        cdef float[::1] out = distances
        with nogil:
            self.row_range_c(i, 0, self.n, &out[0])
        return distances

    def gather(self, Py_ssize_t i, const Py_ssize_t[::1] indices not None):
        """Return dist(i, j) for the j in `indices`, as a float32 array."""
        cdef Py_ssize_t c
        self._check(i)
        for c in range(indices.shape[0]):
            self._check(indices[c])
        distances = np.empty(indices.shape[0], dtype=np.float32)
        cdef float[::1] out = distances
        with nogil:
            for c in range(indices.shape[0]):
                out[c] = self.pair_c(i, indices[c])
        return distances

    cdef int _check(self, Py_ssize_t i) except -1:
        if not 0 <= i < self.n:
            raise IndexError(f"point {i} is out of range for {self.n} points")
        return 0

    # The quadratic kernels. Each works on a block of rows and lets go of the GIL, so that the
    # caller can hand blocks to threads and answer Ctrl-C between them.

    @property
    def n_blocks(self):
        """How many blocks of rows the quadratic kernels are cut into."""
        return (self.n + BLOCK_ROWS - 1) // BLOCK_ROWS

    def pack(self):
        """Lay the points out in panels; once, before the first quadratic kernel. Costs n * dim."""
        if self.packed:
            return
        cdef Py_ssize_t n_panels = (self.n + LANES - 1) // LANES
        cdef float[::1] panels = np.zeros(n_panels * LANES * self.dim, dtype=np.float32)
        cdef Py_ssize_t i, lane, p, c
        cdef float *panel
        with nogil:
            for i in range(self.n):
                panel = &panels[(i // LANES) * LANES * self.dim] + i % LANES
                p = 0
                for lane in range(min(<Py_ssize_t>LANES, self.dim)):
                    c = lane
                    while c < self.dim:
                        panel[p * LANES] = self.rows[i, c]
                        p += 1
                        c += LANES
        self.panels = panels
        self.packed = True

    cdef void _tile(self, Py_ssize_t row, Py_ssize_t panel, float *out) noexcept nogil:
        """Reduce rows row ... row + 3 against a panel; the metric's last step is left out."""
        cdef Py_ssize_t size = LANES * self.dim
        cdef const float *columns = &self.panels[panel * size]
        cdef const float *rows = &self.panels[(row // LANES) * size] + row % LANES
        if self.metric == COSINE:
            tile_dot_product(rows, columns, self.group_start, out)
        else:
            tile_squared_distance(rows, columns, self.group_start, out)

    cdef float _finish(self, float reduced) noexcept nogil:
        return cosine_distance(reduced) if self.metric == COSINE else sqrtf(reduced)

    def farthest_pair_of_block(self, Py_ssize_t block, float at_least):
        """Return the first farthest pair (distance, u, v) with u in the block and u < v.

        Pairs closer than `at_least` may be passed over; (-1, 0, 0) when all of them are.
        """
        cdef Py_ssize_t first = block * BLOCK_ROWS
        cdef Py_ssize_t last = min(first + BLOCK_ROWS, self.n)
        cdef Py_ssize_t n_panels = (self.n + LANES - 1) // LANES
        cdef Py_ssize_t panel, row, r, c
        cdef float out[TILE_ROWS * LANES]
        cdef float limit
        cdef Pair best = Pair(-1.0, 0, 0), pair
        self.pack()
        with nogil:
            limit = self._limit(at_least)
            for panel in range(first // LANES, n_panels):
                row = first
                while row < last:
                    self._tile(row, panel, out)
                    if self._tile_may_reach(out, limit):
                        for r in range(TILE_ROWS):
                            for c in range(LANES):
                                pair.u = row + r
                                pair.v = panel * LANES + c
                                if pair.u >= pair.v or pair.v >= self.n:
                                    continue
                                pair.distance = self._finish(out[r * LANES + c])
                                if comes_first(pair, best):
                                    best = pair
                        limit = self._limit(max(at_least, best.distance))
                    row += TILE_ROWS
        return best.distance, best.u, best.v

    cdef bint _tile_may_reach(self, const float *out, float limit) noexcept nogil:
        if self.metric == COSINE:
            return tile_any_at_most(out, limit)
        return tile_any_at_least(out, limit)

    cdef float _limit(self, float distance) noexcept nogil:
        """A bound on the reduced value that no pair as far as `distance` misses.

        The last step of the metric rounds; the slack is several times what it can lose.
        """
        if distance <= 0.0:
            return INFINITY if self.metric == COSINE else <float>-1.0
        if self.metric == COSINE:
            return (1.0 - distance) + <float>4e-6
        # The square of a distance may overflow where the reduced value did not.
        return min(distance * distance, FLT_MAX) * (<float>1.0 - <float>2e-6)

    def first_gains_of_block(self, Py_ssize_t block, double scale, double[::1] gains not None):
        """Add sim(i, v) over all i, in ascending i, to gains[v] for the v of the block.

        sim(i, v) = max(0, 1 - dist(i, v) / scale) in float64: the facility-location gain of each
        point for an empty selection (gist.md, rule 8).
        """
        cdef Py_ssize_t first = block * BLOCK_ROWS
        cdef Py_ssize_t last = min(first + BLOCK_ROWS, self.n)
        cdef Py_ssize_t panel, row, r, c, v
        cdef float out[TILE_ROWS * LANES]
        cdef double total[LANES]
        self.pack()
        with nogil:
            for panel in range(first // LANES, (last + LANES - 1) // LANES):
                for c in range(LANES):
                    total[c] = 0.0
                row = 0
                while row < self.n:
                    self._tile(row, panel, out)
                    if self.metric == COSINE:
                        for c in range(TILE_ROWS * LANES):
                            out[c] = cosine_distance(out[c])
                    else:
                        for c in range(TILE_ROWS * LANES):
                            out[c] = sqrtf(out[c])
                    if panel == row // LANES:
                        for r in range(TILE_ROWS):
                            out[r * LANES + row % LANES + r] = 0.0
                    for r in range(min(<Py_ssize_t>TILE_ROWS, self.n - row)):
                        add_similarities(out + r * LANES, scale, total)
                    row += TILE_ROWS
                for c in range(LANES):
                    v = panel * LANES + c
                    if v < self.n:
                        gains[v] = total[c]

    def half_distances_of_block(self, Py_ssize_t block):
        """Return float32(dist(u, v) / 2) for u in the block and v > u, unordered."""
        cdef Py_ssize_t first = block * BLOCK_ROWS
        cdef Py_ssize_t last = min(first + BLOCK_ROWS, self.n)
        cdef Py_ssize_t u, at = 0
        # Row u has n - 1 - u columns to its right.
        halves = np.empty(
            (last - first) * (2 * self.n - 1 - first - last) // 2, dtype=np.float32
        )
        cdef float[::1] out = halves
        cdef Py_ssize_t c
        if not out.shape[0]:
            return halves
        with nogil:
            for u in range(first, last):
                if u + 1 < self.n:
                    self.row_range_c(u, u + 1, self.n, &out[at])
                    at += self.n - 1 - u
            for c in range(at):
                out[c] = out[c] / 2
        return halves

    def farthest_from(self, Py_ssize_t i):
        """Return (j, dist(i, j)) for the lowest j != i of largest distance; (i, 0) when n is 1."""
        self._check(i)
        cdef Py_ssize_t j, start, stop, best = -1
        cdef float distance = -1.0
        cdef float out[256]
        with nogil:
            for start in range(0, self.n, 256):
                stop = min(start + 256, self.n)
                self.row_range_c(i, start, stop, out)
                for j in range(start, stop):
                    if j != i and out[j - start] > distance:
                        distance = out[j - start]
                        best = j
        if best < 0:
            return i, 0.0
        return best, distance


cdef inline void add_similarities(const float *distance, double scale, double *total) noexcept nogil:
    cdef Py_ssize_t c
    cdef double similarity
    if scale == 1.0:
        for c in range(LANES):
            similarity = 1.0 - <double>distance[c]
            total[c] += similarity if similarity > 0.0 else 0.0
    else:
        for c in range(LANES):
            similarity = 1.0 - <double>distance[c] / scale
            total[c] += similarity if similarity > 0.0 else 0.0
