"""Many right-hand sides: A is prepared once, and the columns of Y go to threads, or to any executor, in chunks.

A column has the same result whether it is recovered alone or with others, and by any worker, except for the rounding
errors of other processes' BLAS.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.blas import one_blas_thread
from .._platform.threads import thread_count
from ..errors import InvalidInput
from .easy_problems import is_easy, prepare
from .problem import Problem
from .result import Recoveries, Recovery

COLUMNS_PER_TASK = 16
LARGEST_SYSTEM_WITHOUT_THREADS = 50_000  # entries of A: an easy column takes less time than a thread
Progress = Callable[[int, int], Any]  # (columns done, columns in all)
One = Callable[[Problem, np.random.Generator | int], Recovery]


@dataclass(frozen=True)
class Columns:
    """Some columns of Y with all that a worker needs to recover them."""

    problem: Problem  # of any y
    Y: NDArray[Any]
    starts: NDArray[Any] | None
    seeds: list[Any]
    recover_one: One

    def chunks(self) -> Iterator[Columns]:
        """Yield a few columns at a time."""
        for first in range(0, self.Y.shape[1], COLUMNS_PER_TASK):
            yield self.part(slice(first, first + COLUMNS_PER_TASK))

    def part(self, some: slice) -> Columns:
        """Return some of the columns."""
        starts = None if self.starts is None else self.starts[:, some]
        return Columns(self.problem, self.Y[:, some], starts, self.seeds[some], self.recover_one)

    def recover(self) -> list[Recovery]:
        """Recover one column after the other."""
        with one_blas_thread:
            return [self.recover_one(self.problem_of(k), seed) for k, seed in enumerate(self.seeds)]

    def problem_of(self, k: int) -> Problem:
        """Return the problem of one column."""
        x0 = self.problem.x0 if self.starts is None else self.starts[:, k]
        return self.problem.with_y(np.ascontiguousarray(self.Y[:, k]), x0)


def recover_many(columns: Columns, *, executor: Executor | None, progress: Progress | None) -> Recoveries:
    """Recover all columns, by threads unless there is an executor."""
    total = columns.Y.shape[1]
    with one_blas_thread:
        prepare(columns.problem)
        if executor is not None:
            return _collect(executor, list(columns.chunks()), total, progress)
        if total <= COLUMNS_PER_TASK or thread_count() == 1:
            return _one_after_the_other(list(columns.chunks()), total, progress)
        with ThreadPoolExecutor(thread_count(), "sparsegauge-recover") as threads:
            if columns.problem.m * columns.problem.n <= LARGEST_SYSTEM_WITHOUT_THREADS:
                return _easy_ones_first(threads, columns, progress)
            return _collect(threads, list(columns.chunks()), total, progress)


def _easy_ones_first(threads: Executor, columns: Columns, progress: Progress | None) -> Recoveries:
    """Recover easy columns here, while threads work on the others."""
    total = columns.Y.shape[1]
    found: dict[int, Recovery] = {}
    hard: dict[Future[list[Recovery]], int] = {}

    def keep(k: int, recovery: Recovery) -> None:
        found[k] = recovery
        if progress is not None and (len(found) % COLUMNS_PER_TASK == 0 or len(found) == total):
            progress(len(found), total)

    try:
        for k in range(total):
            problem = columns.problem_of(k)
            if is_easy(problem):
                keep(k, columns.recover_one(problem, columns.seeds[k]))
            else:
                hard[threads.submit(Columns.recover, columns.part(slice(k, k + 1)))] = k
        for future in as_completed(hard):
            keep(hard[future], future.result()[0])
    except BaseException:
        _cancel(hard)
        raise
    return Recoveries([found[k] for k in range(total)])


def _cancel(futures: Iterable[Future[list[Recovery]]]) -> None:
    """Start no more of these."""
    for future in futures:
        future.cancel()


def _one_after_the_other(parts: list[Columns], total: int, progress: Progress | None) -> Recoveries:
    found: list[Recovery] = []
    for part in parts:
        found += part.recover()
        if progress is not None:
            progress(len(found), total)
    return Recoveries(found)


def _collect(executor: Executor, parts: list[Columns], total: int, progress: Progress | None) -> Recoveries:
    """Submit all parts; if one fails, or the caller interrupts, start no more of them."""
    futures: list[Future[list[Recovery]]] = [executor.submit(Columns.recover, part) for part in parts]
    done = 0
    try:
        for future in as_completed(futures):
            done += len(future.result())
            if progress is not None:
                progress(done, total)
    except BaseException:
        _cancel(futures)
        raise
    return Recoveries(list(itertools.chain.from_iterable(future.result() for future in futures)))


def seeds_of_columns(rng: Any, count: int) -> list[Any]:
    """Return a source of randomness per column: the same seed for all, or children of a generator."""
    if isinstance(rng, np.random.Generator):
        return list(rng.spawn(count))
    return [copy.copy(rng) for _ in range(count)]


def check_helpers(executor: Any, progress: Any) -> None:
    """Refuse what is no executor, and a progress that cannot be called."""
    if progress is not None and not callable(progress):
        raise InvalidInput(f"progress must be a function of (columns done, columns in all), got {progress!r}")
    if executor is not None and not hasattr(executor, "submit"):
        raise InvalidInput(
            f"executor must be a concurrent.futures.Executor or Dask's client.get_executor(), got {executor!r}"
        )
