"""Threads for kernels that work block by block and let go of the GIL."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["map_blocks", "threads_for"]

T = TypeVar("T")

_SERIAL_WORK = 2_000_000
"""Multiply-adds below which starting threads costs more than it gains."""


def threads_for(workers: int | None, work: float) -> int:
    """Return how many threads to use for so many multiply-adds; `workers` decides if given."""
    if workers is not None:
        return workers
    if work < _SERIAL_WORK:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_blocks(function: Callable[[int], T], blocks: Iterable[int], threads: int) -> Iterator[T]:
    """Yield function(block) in the order of the blocks.

    The pool lives for this call alone, so that a fork never inherits it. An exception, Ctrl-C
    included, cancels what has not begun.
    """
    if threads == 1:
        yield from map(function, blocks)
        return
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="limbic")
    try:
        yield from pool.map(function, blocks)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
