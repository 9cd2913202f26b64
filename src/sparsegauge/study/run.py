"""Run a study: `run_cell` is pure, `run_study` hands cells to workers and stores what comes back.

Whatever the executor and the number of workers, a cell's result is the same: its randomness comes from its own values,
BLAS works with one thread while cells run, and rows go to their place whatever order they arrive in.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401 (its BLAS has to be there to be told to use one thread)

from .._arrays import Array
from .._platform.blas import one_blas_thread
from ..errors import InvalidInput
from ..recovery.problem import Problem
from ..recovery.quality import mse, relative_error
from ..simulate import gaussian_matrix
from .axes import Cell, Columns
from .dispatch import Dispatcher, Finished, Report
from .external import import_by_path
from .manifest import versions_here
from .parts import MEASURED
from .plan import GAUSSIAN, Study
from .sources import draw_signal
from .store import Progress, Store


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
    study: Study,
    store: str | PathLike[str],
    *,
    executor: Executor | None = None,
    progress: Report | None = None,
    retry_failed: bool = False,
) -> Progress:
    """Compute the cells of a study that are missing in its store.

    Parameters
    ----------
    study : Study
        What to compute.
    store : path
        A directory for this study alone: created if it does not exist, continued if it does.
    executor : concurrent.futures.Executor, optional
        Where the cells run; as many threads as there are cores by default. A process pool and
        ``dask.distributed.Client(...).get_executor()`` do as well; the table is the same.
    progress : callable, optional
        Called with a `Progress` (done, total, rate, seconds_left) after each finished cell; cells of a few
        milliseconds are sent to workers and counted in batches of about 0.2 seconds.
    retry_failed : bool
        Whether to try cells again that an earlier run marked as failed, because they ended every worker that computed
        them. Otherwise they are left out.

    Returns
    -------
    Progress
        The state of the study: all cells are done, except those in `failed`.

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
        return Dispatcher(study, opened, progress, _work).go(executor, retry_failed=retry_failed)


def _work(study: Study, cells: Sequence[Cell]) -> Finished:
    """Compute a batch of cells on a worker.

    If a cell raises, the cells before it are sent back; if it is the first, the error is.
    """
    measured: list[Columns] = []
    seconds: list[float] = []
    with one_blas_thread:
        for cell in cells:
            started = time.perf_counter()
            try:
                measured.append(run_cell(study, cell))
            except Exception:
                if not measured:
                    raise
                break  # the driver sends the rest again, with this cell as the first
            seconds.append(time.perf_counter() - started)
    rows = {name: np.concatenate([columns[name].ravel() for columns in measured]) for name in MEASURED}
    return Finished(rows, np.array(seconds), f"{socket.gethostname()}:{os.getpid()}", versions_here())
