# Threshold sequences, met in ascending order without being stored. Part of _kernels.pyx.

cdef class GeometricThresholds:
    """The thresholds of gist.md rule 7: float32(p * eps * d_max / 2) for p = 1, 1 + eps, ...

    Parameters
    ----------
    eps : float
        Already rounded to float32.
    d_max : float
    bound : float
        p stays at or below it: 2 / eps for an exact diameter, 4 / eps for an approximate one.
    """

    cdef double p, eps, d_max, bound

    def __init__(self, double eps, double d_max, double bound):
        self.p = 1.0
        self.eps = eps
        self.d_max = d_max
        self.bound = bound

    def next(self):
        """Return the next threshold, or None at the end."""
        if self.p > self.bound:
            return None
        cdef float value = <float>(self.p * self.eps * self.d_max / 2.0)
        self.p *= 1.0 + self.eps
        return value

    def last_at_most(self, float value, float limit):
        """Skip what is at most `limit`; return the last threshold skipped, `value` if none."""
        cdef float following
        cdef Py_ssize_t steps = 0
        with nogil:
            while self.p <= self.bound:
                following = <float>(self.p * self.eps * self.d_max / 2.0)
                if following > limit:
                    break
                value = following
                self.p *= 1.0 + self.eps
                steps += 1
                if steps % (1 << 22) == 0:
                    with gil:
                        PyErr_CheckSignals()
        return value


cdef class SortedThresholds:
    """Thresholds given in ascending order, with the interface of `GeometricThresholds`."""

    cdef const float[::1] values
    cdef Py_ssize_t at

    def __init__(self, const float[::1] values not None):
        self.values = values
        self.at = 0

    def next(self):
        """Return the next threshold, or None at the end."""
        if self.at >= self.values.shape[0]:
            return None
        self.at += 1
        return self.values[self.at - 1]

    def last_at_most(self, float value, float limit):
        """Skip what is at most `limit`; return the last threshold skipped, `value` if none."""
        cdef Py_ssize_t low = self.at, high = self.values.shape[0], middle
        while low < high:
            middle = (low + high) // 2
            if self.values[middle] <= limit:
                low = middle + 1
            else:
                high = middle
        if low > self.at:
            value = self.values[low - 1]
            self.at = low
        return value
