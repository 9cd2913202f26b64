"""A thread pool of our own for kernels that release the GIL.

Numba's own layers abort the process when several threads call them at once (workqueue) or after a fork (GNU
OpenMP). This pool is shared by all callers, made on first use and made anew in a forked child. No sum is cut by the
number of threads: a row's parts depend on its size alone, and are put together in a fixed order.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba
import numpy as np

from ..._arrays import Array
from .jit import exact

Task = TypeVar("Task")
Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def thread_count() -> int:
    """NUMBA_NUM_THREADS, which Numba reads from the environment; the number of cores by default."""
    return int(getattr(numba.config, "NUMBA_NUM_THREADS"))  # noqa: B009 (set at run time, so unknown to type checkers)


def _forget_pool() -> None:
    global _pool, _lock
    _pool = None  # its threads were not copied into the child
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(thread_count(), thread_name_prefix="sparsegauge")
        return _pool


def run(function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
    """The results of all tasks, in their order.

    The caller takes tasks too, and idle threads of the pool help: a busy pool can delay nobody.
    """
    tasks = list(tasks)
    helpers = min(len(tasks), thread_count()) - 1
    if helpers < 1:
        return [function(task) for task in tasks]
    results: list[Any] = [None] * len(tasks)
    numbers = itertools.count()  # its next() is atomic

    def work() -> None:
        while (number := next(numbers)) < len(tasks):
            results[number] = function(tasks[number])

    futures = []
    with contextlib.suppress(RuntimeError):  # no thread to be had, or the interpreter is ending: the caller does it all
        for _ in range(helpers):
            futures.append(_shared_pool().submit(work))
    work()
    for future in futures:
        if not future.cancel():
            future.result()
    return results


def spans(count: int, size: int) -> list[tuple[int, int]]:
    """0..count cut into (first, last) pairs of at most `size`."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]


LONG = 1 << 17  # from this length on a row is sorted in halves


@exact
def _merge_from_below(low: Array, high: Array, out: Array) -> None:
    """The first half of the merged run: as many as `low` has."""
    i = j = 0
    for k in range(len(low)):
        take = i < len(low) and (j >= len(high) or low[i] <= high[j])
        out[k] = low[i] if take else high[j]
        i += take
        j += not take


@exact
def _merge_from_above(low: Array, high: Array, out: Array) -> None:
    """The rest, from its end."""
    i = len(low) - 1
    j = len(high) - 1
    for k in range(len(out) - 1, len(low) - 1, -1):
        take = i >= 0 and (j < 0 or low[i] > high[j])
        out[k] = low[i] if take else high[j]
        i -= take
        j -= not take


def sort(row: Array) -> Array:
    """The row sorted, in its own memory where it is short; a long one by halves, two threads at a time."""
    if len(row) < LONG or thread_count() == 1:
        row.sort()
        return row
    half = len(row) // 2
    low, high = row[:half], row[half:]
    run(np.ndarray.sort, [low, high])
    merged = np.empty_like(row)
    run(lambda merge: merge(low, high, merged), [_merge_from_below, _merge_from_above])
    return merged
