"""Run a study: `run_cell` is pure, `run_study` is the only loop.

Whatever the executor and the number of workers, a cell's result is the same: its randomness comes from its own values,
BLAS works with one thread while cells run, and rows go to their place whatever order they arrive in.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from itertools import islice
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401 (its BLAS has to be there to be told to use one thread)

from .. import __version__
from .._arrays import Array
from .._platform.blas import one_blas_thread
from ..errors import CellFailed, ClusterLost, InvalidInput, StaleStudy, StudyWarning
from ..recovery.problem import Problem
from ..recovery.quality import mse, relative_error
from ..simulate import gaussian_matrix
from .axes import Cell, Columns
from .external import import_by_path
from .manifest import versions_here
from .parts import MEASURED
from .plan import GAUSSIAN, Study
from .sources import draw_signal
from .store import Progress, Store

IN_FLIGHT = 128  # futures of an executor that does not say how many workers it has
PATIENCE = 30.0  # seconds without a finished cell, after which the cluster is asked whether it has workers
KILLED_WORKER = "KilledWorker"  # what Dask raises for a task whose workers died three times
LAST_WAIT = 60.0  # seconds that a study that is stopped gives to cells under way

Report = Callable[[Progress], Any]


class DrawnTrial(NamedTuple):
    """What one trial draws: the signal, the matrix, unit noise, and the solver's own seed."""

    x: Array
    A: Any
    noise: Array
    seed: np.random.SeedSequence

    def problem(self, noise_db: float) -> Problem:
        """Return the problem y = A x + noise at a signal-to-noise ratio; inf stands for no noise."""
        y = self.A @ self.x
        deviation = float(np.linalg.norm(y)) / np.sqrt(len(y)) * 10 ** (-noise_db / 20)
        return Problem.of(self.A, y + deviation * self.noise, noise=deviation)


class Finished(NamedTuple):
    """What a worker sends back."""

    measured: Columns
    seconds: float
    worker: str
    versions: dict[str, str]


def draw_trial(study: Study, cell: Cell, trial: int) -> DrawnTrial:
    """Draw a trial, which is the same for every solver, order and level of noise."""
    problem, noise, solver = study.trial_seed(cell, trial).spawn(3)
    rng = np.random.default_rng(problem)
    drawn = study.grid.drawn(cell)
    x = draw_signal(drawn.distribution, study.n, drawn.nonzeros, signs=study.signs, rng=rng, folder=study.folder)
    make_matrix = gaussian_matrix if study.matrix == GAUSSIAN else import_by_path("matrix", study.matrix)
    A = make_matrix(drawn.measurements, study.n, rng=rng)
    return DrawnTrial(x, A, np.random.default_rng(noise).standard_normal(drawn.measurements), solver)


def run_cell(study: Study, cell: Cell) -> Columns:
    """Return every trial of a cell at every setting, as arrays of the shape (shared axes, trial).

    One factorisation per problem serves all methods.
    """
    settings = study.settings(cell)
    measured = {name: np.zeros((len(settings), cell.trials), dtype) for name, dtype in MEASURED.items()}
    with one_blas_thread:
        for t in range(cell.trials):
            trial = draw_trial(study, cell, cell.first + t)
            problems = {level: trial.problem(level) for level in dict.fromkeys(s.noise_db for s in settings)}
            for k, setting in enumerate(settings):
                found = setting.method.solve(problems[setting.noise_db], np.random.default_rng(trial.seed))
                error = relative_error(found.x, trial.x)
                values = (mse(found.x, trial.x), error, error <= study.success_below, found.nit)
                for name, value in zip(MEASURED, values, strict=True):
                    measured[name][k, t] = value
    shape = (*study.grid.shared_shape, cell.trials)
    return {name: array.reshape(shape) for name, array in measured.items()}


def run_study(
    study: Study, store: str | PathLike[str], *, executor: Executor | None = None, progress: Report | None = None
) -> Progress:
    """Compute what the store has not got yet.

    Parameters
    ----------
    study : Study
        What to compute.
    store : path
        A directory of its own: made if it is not there, continued if it is.
    executor : concurrent.futures.Executor, optional
        Where the cells run; as many threads as there are cores by default. A process pool and
        ``dask.distributed.Client(...).get_executor()`` do as well; the table is the same.
    progress : callable, optional
        Called with a `Progress` (done, total, rate, seconds_left) after each finished cell.

    Returns
    -------
    Progress
        How far the study is, which is: all done.

    Raises
    ------
    StaleStudy
        If the store holds results of another study.
    CellFailed
        If a solver raises; the message names the cell. As after Ctrl-C, everything that was finished is stored.

    Examples
    --------
    >>> import tempfile
    >>> import sparsegauge as sg
    >>> study = sg.Study(
    ...     n=20, distributions=["normal"], nonzeros=[2], measurements=[8, 12], signs="random",
    ...     solver=sg.OMP(), repeats=3, seed=0,
    ... )
    >>> with tempfile.TemporaryDirectory() as store:
    ...     done = sg.run_study(study, store).done
    ...     table = sg.load_study(store)
    >>> done, list(table.columns)
    (6, ['distributions', 'nonzeros', 'measurements', 'trial', 'mse', 'relative_error', 'success', 'nit'])
    """
    if not isinstance(study, Study):
        raise InvalidInput(f"study must be a Study, e.g. Study.from_toml(path), got {type(study).__name__}")
    if executor is not None and not isinstance(executor, Executor) and not hasattr(executor, "submit"):
        raise InvalidInput(f"executor must be a concurrent.futures.Executor or None, got {executor!r:.80}")
    # held by this thread too, first in and last out: only the thread that set a limit may take it back
    with Store.opened(store, study) as opened, one_blas_thread:
        return _Loop(study, opened, progress).go(executor)


class _Loop:
    """The loop: keep a bounded number of cells in flight, store what comes back, stop cleanly."""

    def __init__(self, study: Study, store: Store, progress: Report | None) -> None:
        self.study, self.store, self.progress = study, store, progress
        self.flying: dict[Future[Finished], Cell] = {}
        self.began, self.started_with = time.monotonic(), store.results.done
        self.done = self.started_with
        self.failed: list[str] = []
        self.missed_workers = False
        self.client: Any = None  # of a Dask cluster
        self.known_versions = [versions_here()]

    def go(self, executor: Executor | None) -> Progress:
        missing = self.store.results.missing()
        self._report()
        if not missing:
            return self.status(running=False)
        if executor is not None:
            self._loop(executor, iter(missing))
        else:
            with ThreadPoolExecutor(_cores()) as pool:
                self._loop(pool, iter(missing))
        return self.status(running=False)

    def status(self, *, running: bool = True) -> Progress:
        elapsed = time.monotonic() - self.began
        rate = (self.done - self.started_with) / elapsed if elapsed > 0 else 0.0
        return Progress(self.done, self.study.total, rate or float("nan"), running=running, failed=tuple(self.failed))

    def _loop(self, executor: Executor, cells: Iterator[Cell]) -> None:
        most, self.client = _in_flight(executor), getattr(executor, "_client", None)
        if self.client is not None:
            for worker, versions in self.client.run(versions_here, on_error="ignore").items():
                self._check_versions(worker, versions)
        try:
            while True:
                for cell in islice(cells, most - len(self.flying)):
                    self.flying[_submit(executor, self.study, cell)] = cell
                if not self.flying:
                    return
                finished = wait(self.flying, timeout=PATIENCE, return_when=FIRST_COMPLETED).done
                if not finished:
                    self._look_for_workers()
                for future in finished:
                    self._take(future)
        except BaseException:
            self._land()
            raise

    def _take(self, future: Future[Finished]) -> None:
        cell = self.flying.pop(future)
        try:
            finished = future.result()
        except (concurrent.futures.CancelledError, asyncio.CancelledError, BrokenExecutor) as error:
            raise _lost(error) from error
        except Exception as error:
            if type(error).__name__ == KILLED_WORKER:
                self._mark_failed(cell)
                return
            if isinstance(error, OSError) and self.client is not None:
                raise _lost(error) from error
            raise CellFailed(f"{self.study.grid.describe(cell)}: {type(error).__name__}: {error}") from error
        self._check_versions(finished.worker, finished.versions)
        self.done += self.store.add(cell, finished.measured, finished.seconds, finished.worker, finished.versions)
        self._report()

    def _check_versions(self, worker: str, versions: dict[str, str]) -> None:
        """Refuse another version of sparsegauge; warn of others that may round otherwise, once per set of versions."""
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
            text = f"worker {worker} has other versions, which may round otherwise: {changes}"
            warnings.warn(text, StudyWarning, stacklevel=2)

    def _mark_failed(self, cell: Cell) -> None:
        """Go on without a cell whose workers died; the next run tries it again."""
        where = self.study.grid.describe(cell)
        self.failed.append(where)
        text = f"{where}: every worker that computed it died; it is marked as failed, and the next run tries it again"
        warnings.warn(text, StudyWarning, stacklevel=2)

    def _look_for_workers(self) -> None:
        """Say once that a cluster has no workers."""
        client = self.client
        if client is None or self.missed_workers:
            return
        if client.status != "running":
            raise _lost(ConnectionError(f"the client is {client.status}"))
        if not client.scheduler_info().get("workers"):
            self.missed_workers = True
            text = f"the cluster has had no workers for {PATIENCE:g} s; the study waits for some to be started"
            warnings.warn(text, StudyWarning, stacklevel=2)

    def _land(self) -> None:
        """Start nothing more; keep what is finished and, for a while, wait for what is under way."""
        under_way = [future for future in self.flying if not future.cancel()]  # of Dask's, those finished only
        for future in wait(under_way, timeout=LAST_WAIT).done:
            if not future.cancelled() and future.exception() is None:
                cell, (measured, seconds, worker, versions) = self.flying[future], future.result()
                if versions["sparsegauge"] == __version__:
                    self.store.add(cell, measured, seconds, worker, versions)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.status())


def _work(study: Study, cell: Cell) -> Finished:
    """Compute one cell on a worker."""
    started = time.perf_counter()
    measured = run_cell(study, cell)
    return Finished(measured, time.perf_counter() - started, f"{socket.gethostname()}:{os.getpid()}", versions_here())


def _submit(executor: Executor, study: Study, cell: Cell) -> Future[Finished]:
    try:
        return executor.submit(_work, study, cell)
    except Exception as error:  # of a Dask client that is closed, or a pool that broke
        raise _lost(error) from error


def _lost(error: BaseException) -> ClusterLost:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ClusterLost(
        f"the scheduler or the pool of workers has ended, or cannot be reached any more ({reason}); what was finished "
        "is stored: start it again, and run the study again to go on"
    )


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_flight(executor: Executor) -> int:
    """Return how many cells to keep in flight: twice as many as workers, since a cluster may grow."""
    workers = getattr(executor, "_max_workers", None)
    return 2 * workers if isinstance(workers, int) else IN_FLIGHT
