"""Hand the cells of a study to workers in batches, store what comes back, and stop cleanly.

A task costs a pool 0.1 ms and a cluster 10 ms, whatever is in it; so cells that take less than `BATCH_SECONDS` travel
together. A batch that is not finished costs its own cells and nothing else: what its worker had finished before a cell
raised is stored, and a batch whose worker died is computed again.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..errors import CellFailed, ClusterLost, StaleStudy, StudyWarning
from .axes import Cell, Columns
from .manifest import versions_here
from .plan import Study
from .store import Progress, Store
from .units import Numbers

MOST_BATCHES_IN_FLIGHT = 128  # for clusters, and executors that do not state the number of their workers
BATCH_SECONDS = 0.2  # a longer cell travels alone
MOST_CELLS_PER_BATCH = 1000
LEAST_SECONDS_PER_CELL = 1e-6  # so that a pace of zero divides nothing
BATCHES_PER_WORKER = 4  # at least, of what is left, so that all workers end at about the same time
SECONDS_BEFORE_WORKER_CHECK = 30.0  # without a finished batch
KILLED_WORKER = "KilledWorker"  # the exception of Dask for a task whose workers died three times
SECONDS_FOR_LAST_CELLS = 60.0  # of a study that is stopped
DIED = "every worker that computed it died, also when it was computed alone"
RETRY = "retry_failed=True (--retry-failed) tries it again"

Report = Callable[[Progress], Any]


class Finished(NamedTuple):
    """What a worker sends back of a batch: its first cells, up to one that raised.

    The arrays of `measured` hold one cell after the other; `seconds` has one entry per cell.
    """

    measured: Columns
    seconds: NDArray[np.float64]
    worker: str
    versions: dict[str, str]


Work = Callable[[Study, Sequence[Cell]], Finished]


class Dispatcher:
    """The loop: keep a bounded number of batches in flight, store what comes back, stop cleanly."""

    def __init__(self, study: Study, store: Store, progress: Report | None, work: Work) -> None:
        self.study, self.store, self.progress, self.work = study, store, progress, work
        self.flying: dict[Future[Finished], Numbers] = {}
        self.missing: Numbers = np.zeros(0, np.intp)
        self.returned: deque[Numbers] = deque()  # what is left of batches in which a cell raised
        self.suspects: deque[int] = deque()  # cells of batches whose workers died: tried again one at a time
        self.on_trial = -1  # the suspect that is being computed alone
        self.pace: float | None = None  # seconds per cell, lately
        self.workers = 1
        self.began, self.started_with = time.monotonic(), store.coverage.done
        self.done = self.started_with
        self.failed = store.failures.describe()
        self.missed_workers = False
        self.client: Any = None  # of a Dask cluster
        self.known_versions = [versions_here()]

    def go(self, executor: Executor | None, *, retry_failed: bool = False) -> Progress:
        """Compute the missing cells; leave out those that are marked as failed, unless they are to be tried again."""
        self.missing = self.store.coverage.missing()
        if self.failed and not retry_failed:
            self.missing = np.setdiff1d(self.missing, list(self.store.failures.reasons), assume_unique=True)
            text = f"{len(self.failed)} cells are marked as failed and left out, such as {self.failed[0]}; {RETRY}"
            warnings.warn(text, StudyWarning, stacklevel=3)
        self._report()
        if not len(self.missing):
            return self.status(running=False)
        if executor is not None:
            self._loop(executor)
        else:
            with ThreadPoolExecutor(_cores()) as pool:
                self._loop(pool)
        return self.status(running=False)

    def status(self, *, running: bool = True) -> Progress:
        """Return how far the study is."""
        elapsed = time.monotonic() - self.began
        rate = (self.done - self.started_with) / elapsed if elapsed > 0 else 0.0
        return Progress(self.done, self.study.total, rate or float("nan"), running=running, failed=self.failed)

    def _loop(self, executor: Executor) -> None:
        most = self._meet(executor)
        try:
            while True:
                most_now = most if self.pace is not None else min(most, 2 * self.workers)
                while len(self.flying) < most_now and len(batch := self._next_batch()):
                    self.flying[self._submit(executor, batch)] = batch
                if not self.flying:
                    return
                finished = wait(self.flying, timeout=SECONDS_BEFORE_WORKER_CHECK, return_when=FIRST_COMPLETED).done
                if not finished:
                    self._look_for_workers()
                for future in finished:
                    self._take(future)
        except BaseException:
            self._land()
            raise

    def _meet(self, executor: Executor) -> int:
        """Find out how many workers there are and with which versions; return how many batches to keep in flight.

        Twice as many as workers, so that none has to wait for the driver.
        """
        self.client = getattr(executor, "_client", None)
        if self.client is not None:
            found = self.client.run(versions_here, on_error="ignore")
            for worker, versions in found.items():
                self._check_versions(worker, versions)
            self.workers = max(1, len(found))
            return max(MOST_BATCHES_IN_FLIGHT, 2 * self.workers)
        workers = getattr(executor, "_max_workers", None)
        self.workers = workers if isinstance(workers, int) else max(1, MOST_BATCHES_IN_FLIGHT // 2)
        return 2 * workers if isinstance(workers, int) else MOST_BATCHES_IN_FLIGHT

    def _next_batch(self) -> Numbers:
        """Return the units to hand out next; empty if there are none, or none yet."""
        if self.returned:
            return self.returned.popleft()
        if len(self.missing):
            batch, self.missing = np.split(self.missing, [self._batch_size()])
            return batch
        if self.suspects and not self.flying:  # alone, so that no other cell is blamed
            self.on_trial = self.suspects.popleft()
            return np.array([self.on_trial])
        return self.missing

    def _batch_size(self) -> int:
        if self.pace is None:
            return 1
        fair = len(self.missing) // (BATCHES_PER_WORKER * self.workers)
        return max(1, min(fair, int(BATCH_SECONDS / max(self.pace, LEAST_SECONDS_PER_CELL)), MOST_CELLS_PER_BATCH))

    def _submit(self, executor: Executor, batch: Numbers) -> Future[Finished]:
        cells = [self.store.units.cell(number) for number in batch.tolist()]
        try:
            return executor.submit(self.work, self.study, cells)
        except Exception as error:  # of a Dask client that is closed, or a pool that broke
            raise _lost(error) from error

    def _take(self, future: Future[Finished]) -> None:
        batch = self.flying.pop(future)
        try:
            finished = future.result()
        except (concurrent.futures.CancelledError, asyncio.CancelledError, BrokenExecutor) as error:
            raise _lost(error) from error
        except Exception as error:
            if type(error).__name__ == KILLED_WORKER:
                self._suspect(batch)
                return
            if isinstance(error, OSError) and self.client is not None:
                raise _lost(error) from error
            raise CellFailed(f"{self._describe(batch[0])}: {type(error).__name__}: {error}") from error
        self._check_versions(finished.worker, finished.versions)
        count = self._store(batch, finished)
        if count < len(batch):
            self.returned.append(batch[count:])
        latest = float(finished.seconds.mean())
        self.pace = latest if self.pace is None else (self.pace + latest) / 2
        self._report()

    def _store(self, batch: Numbers, finished: Finished) -> int:
        """Store the cells that were finished, and return how many they are."""
        count = len(finished.seconds)
        rows, seconds, worker, versions = finished
        self.done += self.store.add(batch[:count], rows, seconds, worker, versions)
        self.failed = self.store.failures.describe() if self.failed else ()
        return count

    def _describe(self, number: int) -> str:
        return self.study.grid.describe(self.store.units.cell(int(number)))

    def _check_versions(self, worker: str, versions: dict[str, str]) -> None:
        """Refuse another version of sparsegauge; warn of others that may round differently, once for each."""
        if versions["sparsegauge"] != __version__:
            raise StaleStudy(
                f"worker {worker} has sparsegauge {versions['sparsegauge']}, and this process {__version__}; "
                "install the same version everywhere"
            )
        if versions not in self.known_versions:
            self.known_versions.append(versions)
            changes = "; ".join(
                f"{name} {versions.get(name)} there, {here} here"
                for name, here in self.known_versions[0].items()
                if versions.get(name) != here
            )
            text = f"worker {worker} has other versions, which may round differently: {changes}"
            warnings.warn(text, StudyWarning, stacklevel=2)

    def _suspect(self, batch: Numbers) -> None:
        """Postpone cells whose workers died; mark a cell as failed if its workers died although it was alone.

        When a worker dies, a cluster blames all tasks that were waiting on it.
        """
        if batch.tolist() != [self.on_trial]:
            self.suspects.extend(batch.tolist())
            return
        self.store.failures.mark(self.on_trial, DIED)
        self.failed = self.store.failures.describe()
        text = f"{self._describe(batch[0])}: {DIED}; it is marked as failed: {RETRY}"
        warnings.warn(text, StudyWarning, stacklevel=2)
        self._report()

    def _look_for_workers(self) -> None:
        """Say once that a cluster has no workers."""
        client = self.client
        if client is None or self.missed_workers:
            return
        if client.status != "running":
            raise _lost(ConnectionError(f"the client is {client.status}"))
        if not client.scheduler_info().get("workers"):
            self.missed_workers = True
            seconds = f"{SECONDS_BEFORE_WORKER_CHECK:g} s"
            text = f"the cluster has had no workers for {seconds}; the study waits for some to be started"
            warnings.warn(text, StudyWarning, stacklevel=2)

    def _land(self) -> None:
        """Start nothing more; keep what is finished and, for a while, wait for what is under way."""
        under_way = [future for future in self.flying if not future.cancel()]  # of Dask's, those finished only
        for future in wait(under_way, timeout=SECONDS_FOR_LAST_CELLS).done:
            if not future.cancelled() and future.exception() is None:
                finished = future.result()
                if finished.versions["sparsegauge"] == __version__:
                    self._store(self.flying[future], finished)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.status())


def _lost(error: BaseException) -> ClusterLost:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ClusterLost(
        f"the scheduler or the pool of workers has ended, or cannot be reached any more ({reason}); what was finished "
        "is stored: start it again, and run the study again to go on"
    )


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
