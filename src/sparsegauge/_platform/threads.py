"""A thread pool of our own for kernels that release the GIL.

The pool is shared by all callers, made on first use and made anew in a forked child. No sum is cut by the number of
threads: a row's parts depend on its size alone, and are put together in a fixed order.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..errors import InvalidInput

Task = TypeVar("Task")
Result = TypeVar("Result")

ENVIRONMENT = "SPARSEGAUGE_NUM_THREADS"

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()
_count: int | None = None
_working = threading.local()  # whether this thread is in the middle of a task


def thread_count() -> int:
    """Return SPARSEGAUGE_NUM_THREADS, read once from the environment; by default the cores this process may use."""
    global _count
    if _count is None:
        _count = _chosen_count()
    return _count


def _chosen_count() -> int:
    text = os.environ.get(ENVIRONMENT, "").strip()
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise InvalidInput(
            f"{ENVIRONMENT} must be a whole number of at least 1, got {text!r}; unset it to use all cores"
        )
    return int(text)


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
    """Return the results of all tasks, in their order.

    The caller takes tasks too, and idle threads of the pool help: a busy pool delays no caller. A task's own tasks stay
    with its thread.
    """
    tasks = list(tasks)
    helpers = min(len(tasks), thread_count()) - 1
    if helpers < 1 or getattr(_working, "busy", False):
        return [function(task) for task in tasks]
    results: list[Any] = [None] * len(tasks)
    numbers = itertools.count()  # its next() is atomic

    def work() -> None:
        _working.busy = True
        try:
            while (number := next(numbers)) < len(tasks):
                results[number] = function(tasks[number])
        finally:
            _working.busy = False

    futures = []
    with contextlib.suppress(RuntimeError):  # no thread can be started: the caller does it all
        for _ in range(helpers):
            futures.append(_shared_pool().submit(work))
    work()
    for future in futures:
        if not future.cancel():
            future.result()
    return results


def spans(count: int, size: int) -> list[tuple[int, int]]:
    """Return 0..count cut into (first, last) pairs of at most `size`."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]
