"""The compiled kernels of limbic.diversity.

One source, compiled once per instruction set under the names ``_kernels_baseline``,
``_kernels_avx2``, ``_kernels_avx512``; `limbic.diversity._dispatch` picks one at import. Everything
is checked before it comes here: these functions trust their arguments.
"""

import heapq

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, isfinite, sqrtf

include "_distance.pxi"
include "_greedy.pxi"
include "_sweep.pxi"
