"""A recovery to watch, iterate by iterate, in a process of its own.

Python runs one thread at a time: a recovery in a thread of the server would slow the page and all other recoveries for
as long as it takes, and what it allocates would stay with the server. A process can be stopped at any time, returns its
memory when it ends, and lowers its priority so that younger ones go first.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.blas import one_blas_thread
from ..metrics.gds import gds
from ..recovery.entry import recover_signal
from ..recovery.quality import relative_error
from ..recovery.result import Recovery
from ..recovery.solver import Solver
from .experiment import ORDER_DRAWN, SOLVERS, Frame, Trial

MOST_FRAMES_KEPT = 2000  # 16 MB per run
MOST_SECONDS_PER_RUN = 300.0  # after which it is stopped at its next iterate
GRACE_SECONDS = 5.0  # after a stop, before the process is killed
SECONDS_AT_FULL_PRIORITY = 1.0
NICENESS_OF_LONG_RUNS = 10
POLLING_SECONDS = 0.05
PRELOADED = ["__main__", __name__]


@dataclass
class RecoveryRun:
    """A trial on its way: `frames` grows, then there is `result` or `failure`."""

    trial: Trial
    frames: list[Frame] = field(default_factory=list)
    result: Recovery | None = None
    failure: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the run in a process of its own; a server that ends does not wait for it."""
        self._thread = threading.Thread(target=self._follow, name="sparsegauge-recovery", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the run at the solver's next iterate, or without its result if that takes too long."""
        self._stop.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the run is over."""
        if self._thread is not None:
            self._thread.join(timeout)

    @property
    def over(self) -> bool:
        """Whether there is nothing more to come."""
        return self.result is not None or bool(self.failure)

    def last(self) -> Frame | None:
        """Return what was found in the end."""
        return None if self.result is None else make_frame(self.trial, self.result.nit, self.result.x)

    def work(self) -> None:
        """Do the whole run in this thread."""
        began = time.monotonic()

        def collect(iteration: int, x: NDArray[Any]) -> bool:
            if len(self.frames) < MOST_FRAMES_KEPT:
                self.frames.append(make_frame(self.trial, iteration, x))
            return self._stop.is_set() or time.monotonic() - began > MOST_SECONDS_PER_RUN

        self.result, self.failure = _recover(self.trial, collect)

    def _follow(self) -> None:
        """Start a process, collect what it sends, and end it."""
        try:
            own, other = _context().Pipe()
            process = _context().Process(
                target=_work_alone, args=(self.trial, SOLVERS[self.trial.solver], other), daemon=True
            )
            process.start()
        except OSError as error:
            self.failure = f"no process could be started for it ({error})"
            return
        other.close()
        try:
            self.result, self.failure = self._collect(own)
        except (EOFError, OSError):
            process.join(GRACE_SECONDS)
            self.failure = f"its process ended (exit code {process.exitcode}); it may have needed too much memory"
        finally:
            process.kill()  # nothing, if it has ended
            process.join()
            process.close()
            own.close()

    def _collect(self, connection: Any) -> tuple[Recovery | None, str]:
        """Collect frames until the result or the failure comes, or the time is over."""
        deadline, told = time.monotonic() + MOST_SECONDS_PER_RUN + GRACE_SECONDS, False
        while True:
            if connection.poll(POLLING_SECONDS):
                found = connection.recv()
                if not isinstance(found, Frame):
                    return found  # type: ignore[no-any-return]
                if len(self.frames) < MOST_FRAMES_KEPT:
                    self.frames.append(found)
            if self._stop.is_set() and not told:
                with contextlib.suppress(OSError):  # it has ended meanwhile, and what it sent is still to be read
                    connection.send("stop")
                deadline, told = min(deadline, time.monotonic() + GRACE_SECONDS), True
            if time.monotonic() > deadline:
                return None, "it was stopped before it had a result"


def make_frame(trial: Trial, iteration: int, x: NDArray[Any]) -> Frame:
    """Return an iterate and how good it is."""
    sparse = float(gds(x, ORDER_DRAWN, zero=math.nan))
    return Frame(iteration, np.array(x, dtype=np.float64), relative_error(x, trial.truth), sparse)


def start_helper() -> None:
    """Start the process of which those of recoveries are copies, so that the first does not wait for imports."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver

        _context()
        forkserver.ensure_running()


def _context() -> Any:
    """Return the way to start processes: copies of one that has everything imported, where the system has that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _recover(trial: Trial, collect: Callable[[int, NDArray[Any]], bool]) -> tuple[Recovery | None, str]:
    """Return the result, or a sentence."""
    try:
        solver = SOLVERS[trial.solver]()
        return recover_signal(trial.A, trial.y, solver=solver, noise=trial.noise, rng=trial.seed, callback=collect), ""
    except Exception as error:  # a page shows a sentence, whatever it was
        return None, " ".join(str(error).split()) or type(error).__name__


def _work_alone(trial: Trial, solver: type[Solver], connection: Any) -> None:
    """Do a run in this process, and send its frames, then its result and its failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    SOLVERS[trial.solver] = solver  # it may have been registered after the first process began
    began, sent, gives_way = time.monotonic(), 0, False

    def collect(iteration: int, x: NDArray[Any]) -> bool:
        nonlocal sent, gives_way
        if sent < MOST_FRAMES_KEPT:
            connection.send(make_frame(trial, iteration, x))
            sent += 1
        age = time.monotonic() - began
        if age > SECONDS_AT_FULL_PRIORITY and not gives_way:
            gives_way = True
            with contextlib.suppress(AttributeError, OSError):  # Windows has no such priorities
                os.nice(NICENESS_OF_LONG_RUNS)
        return connection.poll() or age > MOST_SECONDS_PER_RUN

    with contextlib.suppress(OSError), one_blas_thread:  # a server that has gone does not read
        connection.send(_recover(trial, collect))


def _end_with_the_server() -> None:
    """End this process when the server has ended, in whatever way."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)
