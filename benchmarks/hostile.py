"""Does `recover` survive hostile systems? `python -m benchmarks.hostile [COUNT] [FIRST_SEED] [--save FILE]`.

2,000 systems of `hostile_systems.py` by default: ill-conditioned, degenerate, badly scaled, noisy, inconsistent,
bounded. Families take turns, so that 55 or more cover all. COUNT = 1 with FIRST_SEED repeats one. Each call of
`recover` runs in a worker process; 20 seconds of processor time are the most it may take, and after two minutes by the
clock it is killed. With `--save FILE` outcomes are kept as JSON lines: seeds that are in the file are not run again,
and the table is that of the whole file. Prints a Markdown table, and the seeds to look at:

- errors: exceptions other than InvalidInput, and workers that died; refused: InvalidInput;
- NaN: x is not finite; warnings: calls with a RuntimeWarning or a UserWarning;
- false success: `success`, but x is outside the bounds, or |A x - y| exceeds 1e-6 |y|, the bound on the noise and the
  residual of least squares; nearest: `success` with a residual that only least squares justifies, as y is not A x;
- false certificate: `certified`, but x is off by more than 1e-6 of the largest true coefficient.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import multiprocessing  # noqa: E402
import re  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
import warnings  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterable, Iterator  # noqa: E402
from multiprocessing.connection import Connection, wait  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402

import sparsegauge as sg  # noqa: E402

from .hostile_systems import FAMILIES, Array, Options, hostile_system  # noqa: E402

TIME_LIMIT = 20.0  # seconds of processor time per call
KILLED_AFTER = 120.0  # seconds by the clock, on a machine that may be busy
START_LIMIT = 120.0  # seconds for a worker to import everything
EXPLAINED, RIGHT = 1e-6, 1e-6  # relative residual, relative error
ROUNDING, SLACK = 1e-13, 1e-8  # of the terms of A x, of x at its bounds
FAULTS = ("errors", "NaN", "false success", "false certificate", "over 20 s", "warnings")
COLUMNS = ("runs", *FAULTS, "nearest", "refused", "success", "certified")
LISTED = 60  # lines in the list of faults


class Outcome(NamedTuple):
    seed: int
    family: str
    seconds: float
    marks: dict[str, str]  # the columns in which this call counts, and what there is to say


def noise_bound(found: Any, options: Options, M: int) -> float:
    """Return the residual that noise explains: as told, or else `found.noise` where versions estimate it."""
    noise = options.get("noise", getattr(found, "noise", 0.0))
    return float(noise[1]) if isinstance(noise, tuple) else float(noise) * math.sqrt(M + 2 * math.sqrt(2 * M))


def as_matrix(A: Any) -> Array:
    if scipy.sparse.issparse(A):
        return np.asarray(A.toarray())
    return np.asarray(A if isinstance(A, np.ndarray) else A @ np.eye(A.shape[1]))


def least_squares_residual(A: Array, y: Array) -> float:
    largest = float(np.max(np.abs(A))) or 1.0
    B = A / largest
    return float(np.linalg.norm(B @ np.linalg.lstsq(B, y, rcond=None)[0] - y))


def success_marks(found: Any, A: Array, y: Array, options: Options) -> dict[str, str]:
    """Check that x explains y, in units of the largest |y| because squares may overflow."""
    low, high = options.get("bounds") or (None, None)
    slack = SLACK * np.max(np.abs(found.x))
    if (low is not None and np.any(found.x < low - slack)) or (high is not None and np.any(found.x > high + slack)):
        return {"false success": "x is outside the bounds"}
    unit = float(np.max(np.abs(y))) or 1.0
    residual, scale = float(np.linalg.norm((A @ found.x - y) / unit)), float(np.linalg.norm(y / unit))
    rounding = ROUNDING * float(np.linalg.norm(np.abs(A) @ np.abs(found.x) / unit))
    told = noise_bound(found, options, len(y)) / unit * (1 + EXPLAINED)
    if residual <= max(EXPLAINED * scale, told, rounding):
        return {}
    if residual <= least_squares_residual(A, y / unit) * 1.001:
        return {"nearest": ""}
    return {"false success": f"residual {residual / (scale or 1):.2g} |y|, noise bound {told / (scale or 1):.2g} |y|"}


def result_marks(found: Any, A: Any, y: Any, options: Options, truth: Array | None) -> dict[str, str]:
    if found.x.shape != (A.shape[1],):
        return {"errors": f"x has the shape {found.x.shape}"}
    if not np.all(np.isfinite(found.x)):
        return {"NaN": f"{np.count_nonzero(~np.isfinite(found.x))} of {len(found.x)}; success={found.success}"}
    marks = success_marks(found, as_matrix(A), np.asarray(y), options) | {"success": ""} if found.success else {}
    if not found.certified:
        return marks
    error = 0.0 if truth is None else float(np.max(np.abs(found.x - truth)) / (np.max(np.abs(truth)) or 1.0))
    false = {"false certificate": f"relative error {error:.2g}"} if error > RIGHT else {}
    return marks | {"certified": ""} | false


def describe(error: BaseException) -> str:
    """Return the exception and the last line of sparsegauge that it went through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "sparsegauge" in f.filename]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[:150].replace("\n", " ") + place


def attempt(seed: int) -> Outcome:
    family, A, y, options, truth = hostile_system(seed)
    marks: dict[str, str] = {}
    found = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.process_time()
        try:
            found = sg.recover(A, y, rng=seed, **options)
        except sg.InvalidInput as error:
            marks["refused"] = describe(error)
        except Exception as error:
            marks["errors"] = describe(error)
        seconds = time.process_time() - started
    if seconds > TIME_LIMIT:
        marks["over 20 s"] = f"{seconds:.0f} s"
    loud = [w for w in caught if issubclass(w.category, RuntimeWarning | UserWarning)]
    if loud:
        place = f"{Path(loud[0].filename).name}:{loud[0].lineno}"
        marks["warnings"] = f"{loud[0].category.__name__}: {loud[0].message}"[:120] + f" ({place})"
    with np.errstate(all="ignore"):
        marks |= {} if found is None else result_marks(found, A, y, options, truth)
    return Outcome(seed, family, seconds, marks)


def serve(connection: Connection) -> None:
    """Run in a worker: say that it is ready, then answer seeds with outcomes."""
    sg.recover(sg.gaussian_matrix(8, 16, rng=0), np.ones(8), rng=0)  # loads what the first call would be charged for
    connection.send(None)
    for seed in iter(connection.recv, None):
        connection.send(attempt(seed))


class Worker:
    """A process that solves one system at a time and can be killed."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.deadline = time.monotonic() + START_LIMIT

    def give(self, seed: int | None) -> None:
        self.seed, self.deadline = seed, time.monotonic() + KILLED_AFTER
        self.connection.send(seed)

    def take(self) -> Outcome | None:
        """Return what arrived: None if it is only that the worker is ready."""
        try:
            outcome: Outcome | None = self.connection.recv()
        except EOFError:
            return self.end("errors", "the worker died")
        return outcome

    def end(self, mark: str, text: str) -> Outcome:
        self.process.kill()
        self.process.join()
        if self.seed is None:
            raise RuntimeError("a worker process does not start")
        family = FAMILIES[self.seed % len(FAMILIES)]
        code = f", exit code {self.process.exitcode}" if mark == "errors" else ""
        return Outcome(self.seed, family, KILLED_AFTER if mark != "errors" else 0.0, {mark: text + code})


def outcomes(seeds: Iterable[int], workers: int) -> Iterator[Outcome]:
    waiting = iter(seeds)
    pool = [Worker() for _ in range(workers)]
    while pool:
        first = min(worker.deadline for worker in pool)
        ready = wait([worker.connection for worker in pool], max(0.0, first - time.monotonic()))
        for worker in list(pool):
            if worker.connection in ready:
                outcome = worker.take()
            elif time.monotonic() > worker.deadline:
                outcome = worker.end("over 20 s", "killed")
            else:
                continue
            if outcome is not None:
                yield outcome
            pool.remove(worker)
            seed = next(waiting, None) if worker.process.is_alive() else None
            if worker.process.is_alive():
                worker.give(seed)
                pool += [worker] if seed is not None else []
            else:
                pool.append(Worker())  # it takes the next seed, if there is one, when it is ready


def read_outcomes(path: Path | None) -> list[Outcome]:
    """Return what earlier runs have saved."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return [Outcome(*json.loads(line)) for line in lines]


def append_outcome(path: Path | None, run: Outcome) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(run) + "\n")


def table(runs: list[Outcome]) -> list[str]:
    """Return one line per family, and one for all."""
    groups = {family: [run for run in runs if run.family == family] for family in FAMILIES}
    lines = [f"| family | {' | '.join(COLUMNS)} | slowest (s) |", "|---|" + "--:|" * (len(COLUMNS) + 1)]
    for family, group in (groups | {"all": runs}).items():
        if group:
            counts = Counter(mark for run in group for mark in (*run.marks, "runs"))
            slowest = max(run.seconds for run in group)
            lines.append(f"| {family} | {' | '.join(str(counts[c]) for c in COLUMNS)} | {slowest:.2f} |")
    return lines


def list_faults(runs: list[Outcome]) -> list[str]:
    """Return one line per kind of fault and family: the first seed, how many there are like it, and the text."""
    alike: dict[tuple[str, str, str], list[tuple[int, str]]] = {}
    for run in runs:
        for fault in FAULTS:
            if fault in run.marks:
                text = run.marks[fault]
                alike.setdefault((fault, run.family, re.sub(r"[-+.\d]+", "#", text)), []).append((run.seed, text))
    ordered = sorted(alike.items(), key=lambda item: (FAULTS.index(item[0][0]), -len(item[1])))
    lines = [
        f"- {fault}, {family}: seed {seeds[0][0]}" + (f" and {len(seeds) - 1} more" if seeds[1:] else "") + f": {text}"
        for (fault, family, _), seeds in ordered
        for text in [seeds[0][1]]
    ]
    return lines[:LISTED] + ([f"- and {len(lines) - LISTED} more kinds"] if lines[LISTED:] else [])


def report(runs: list[Outcome]) -> str:
    slow = sorted(runs, key=lambda run: -run.seconds)[:5]
    seconds = [f"- slow: {run.family}, seed {run.seed}: {run.seconds:.1f} s" for run in slow]
    return "\n".join([*table(runs), "", *list_faults(runs), *seconds])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("first_seed", type=int, nargs="?", default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    started = time.monotonic()
    runs = read_outcomes(options.save)
    known = {run.seed for run in runs}
    seeds = [seed for seed in range(options.first_seed, options.first_seed + options.count) if seed not in known]
    for run in outcomes(seeds, min(options.workers, len(seeds))):
        runs.append(run)
        append_outcome(options.save, run)
        if len(runs) % 100 == 0:
            print(f"{len(runs)} systems, {time.monotonic() - started:.0f} s", flush=True)
    runs.sort()
    print(f"\n{len(runs)} systems from seed {min(runs).seed}, {time.monotonic() - started:.0f} s\n")
    print(report(runs))


if __name__ == "__main__":
    main()
