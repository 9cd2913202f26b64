"""Every solver on the same problems, one by one: `python -m benchmarks.recovery DIRECTORY [--solvers NAME ...]`.

N = 100; K = 10..60 non-zeros, M = 10..90 measurements with M > K, in steps of 10; problems drawn as in the paper's
section VIII with a random scale of 1e-3..1e3; trials 2000 and up, which nobody looked at while anything was chosen.
Positive signals are solved a second time by those solvers that take bounds: x >= 0, and 0 <= x <= max x for ones.

Success is a relative error below 1e-3. Beside each solver's own last iterate, the search for an exact solution around
it is counted too: what is the solver and what is the search stays visible. One .csv per solver, to which outcomes are
added trial by trial; what is there already is not redone. `python -m benchmarks.recovery_tables` makes tables of them.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one core per problem; set before NumPy is loaded

import argparse  # noqa: E402
import csv  # noqa: E402
import functools  # noqa: E402
import multiprocessing  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.recovery.exact_search import find_exact  # noqa: E402
from sparsegauge.recovery.uniqueness import judge_uniqueness  # noqa: E402

N = 100
FIRST_TRIAL = 2000  # 1000..1019 were looked at while one stage of the portfolio was chosen
TRIALS = 20
RIGHT = 1e-3  # relative error of a success
DISTRIBUTIONS = {"ones": 0, "uniform": 2, "normal": 3, "exponential": 4}  # with their seeds
CELLS = [(K, M) for K in range(10, 61, 10) for M in range(10, 91, 10) if M > K]
FREE = [("random", d, "none") for d in DISTRIBUTIONS] + [
    ("positive", d, "none") for d in DISTRIBUTIONS if d != "normal"
]
BOUNDED = [("positive", d, "x >= 0") for d in DISTRIBUTIONS if d != "normal"] + [("positive", "ones", "box")]
SOLVERS: dict[str, sg.Solver] = {
    "MinimumNorm": sg.MinimumNorm(),
    "OMP": sg.OMP(),
    "Lasso": sg.Lasso(),
    "LARS": sg.LARS(),
    "BasisPursuit": sg.BasisPursuit(),
    "DantzigSelector": sg.DantzigSelector(),
    "ReweightedL1": sg.ReweightedL1(),
    "SL0": sg.SL0(),
    "IRLS": sg.IRLS(),
    "SBL": sg.SBL(),
    "SPSA": sg.SPSA(),
    "GDSAscent": sg.GDSAscent(),
    "Gini (GDSReweighted, order 1)": sg.GDSReweighted(order=1),
    "l1/l2 (GDSReweighted, order 2)": sg.GDSReweighted(order=2),
    "GDSReweighted": sg.GDSReweighted(),
    "EP": sg.EP(),
    "Portfolio": sg.Portfolio(),
}
SUPPORTED = {"none": ("none", "x >= 0", "one sign", "any"), "x >= 0": ("x >= 0", "one sign", "any"), "box": ("any",)}


class Case(NamedTuple):
    """One problem; `trial` and the others but bounds and signs are its seed."""

    trial: int
    signs: str
    distribution: str
    bounds: str
    K: int
    M: int


class Outcome(NamedTuple):
    """What became of it: right alone, right with search, a certificate, and whether that was false."""

    alone: bool
    searched: bool
    certified: bool
    false: bool
    ms: float
    search_ms: float
    error: str


FIELDS = Case._fields + Outcome._fields


def cases(name: str, first: int, trials: int) -> Iterator[Case]:
    """All problems of a solver, trial by trial, so that a cut run has done some trials everywhere."""
    kinds = [kind for kind in FREE + BOUNDED if SOLVERS[name].supports.bounds in SUPPORTED[kind[2]]]
    for trial in range(first, first + trials):
        for kind in kinds:
            for K, M in CELLS:
                yield Case(trial, *kind, K, M)


def draw(case: Case) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([2016, DISTRIBUTIONS[case.distribution], case.K, case.M, case.trial])
    support = rng.choice(N, case.K, replace=False)
    values = {
        "ones": lambda: np.ones(case.K),
        "uniform": lambda: rng.uniform(0, 1, case.K),
        "normal": lambda: rng.standard_normal(case.K),
        "exponential": lambda: rng.exponential(1, case.K),
    }[case.distribution]()
    A = rng.standard_normal((case.M, N))
    x = np.zeros(N)
    x[support] = np.abs(values)
    if case.signs == "random":
        x *= rng.choice([-1.0, 1.0], N)
    return x * 10 ** rng.uniform(-3, 3), A


def attempt(name: str, case: Case) -> Outcome:
    """One solver on one problem; then the search around its result, as `recover` does it."""
    x, A = draw(case)
    bounds = {"none": None, "x >= 0": (0, None), "box": (0, np.max(x))}[case.bounds]
    start = time.perf_counter()
    problem = sg.Problem.of(A, A @ x, noise="auto" if name == "Portfolio" else 0, bounds=bounds)
    try:
        found = SOLVERS[name].solve(problem, np.random.default_rng(0))
    except (np.linalg.LinAlgError, ValueError) as error:  # a failure like any other, but one that is told
        return Outcome(False, False, False, False, _ms_since(start), 0.0, type(error).__name__)
    ms, start = _ms_since(start), time.perf_counter()
    alone = is_right(found.x, x)
    near = find_exact(problem, np.abs(found.x))
    if near is None:
        return Outcome(alone, alone, False, False, ms, _ms_since(start), "")
    certified = judge_uniqueness(problem, near)[0] is not None
    right = is_right(near, x)
    return Outcome(alone, right, certified, certified and not right, ms, _ms_since(start), "")


def is_right(found: np.ndarray, x: np.ndarray) -> bool:
    return bool(np.linalg.norm(found - x) < RIGHT * np.linalg.norm(x))


def _ms_since(start: float) -> float:
    return round(1e3 * (time.perf_counter() - start), 3)


def read(path: Path) -> dict[Case, Outcome]:
    """What a file holds; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) == len(FIELDS)][1:]
    return dict(_parsed(row) for row in rows)


def _parsed(row: list[str]) -> tuple[Case, Outcome]:
    trial, signs, distribution, bounds, K, M, *flags, ms, search_ms, error = row
    case = Case(int(trial), signs, distribution, bounds, int(K), int(M))
    return case, Outcome(*(flag == "1" for flag in flags), float(ms), float(search_ms), error)


def path_of(directory: Path, name: str) -> Path:
    """Return where the outcomes of a solver are; its name may have signs that file names cannot have."""
    return directory / f"{name.replace('/', '-')}.csv"


def run(name: str, directory: Path, first: int, trials: int, pool: Any) -> None:
    """What is missing of a solver's outcomes, in their order whatever the number of workers."""
    path = path_of(directory, name)
    done = read(path)
    missing = [case for case in cases(name, first, trials) if case not in done]
    print(f"{name}: {len(done)} outcomes are there, {len(missing)} to go", flush=True)
    started = time.perf_counter()
    ends_well = not path.exists() or path.read_bytes().endswith(b"\n")
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        if not ends_well:
            file.write("\n")
        each = functools.partial(attempt, name)
        for case, outcome in zip(missing, pool.imap(each, missing, 8) if pool else map(each, missing), strict=True):
            flags = [int(value) if isinstance(value, bool) else value for value in outcome]
            writer.writerow([*case, *flags])
            if CELLS[-1] == (case.K, case.M):
                file.flush()
    print(f"{name}: done in {time.perf_counter() - started:.0f} s", flush=True)


def warm_up(names: list[str]) -> None:
    """Compile before the clock runs."""
    for name in names:
        for case in cases(name, 0, 1):
            if (case.K, case.M) == (30, 60):
                attempt(name, case)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="where the outcomes go, one .csv a solver")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS), metavar="NAME")
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"of every cell ({TRIALS})")
    parser.add_argument("--first-trial", type=int, default=FIRST_TRIAL, help=f"({FIRST_TRIAL})")
    parser.add_argument("--workers", type=int, default=1, help="processes, one core each (1)")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    options.directory.mkdir(parents=True, exist_ok=True)
    if options.workers == 1:
        warm_up(options.solvers)
        for name in options.solvers:
            run(name, options.directory, options.first_trial, options.trials, None)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy thread pools that no longer run
    with context.Pool(options.workers, warm_up, (options.solvers,)) as pool:
        for name in options.solvers:
            run(name, options.directory, options.first_trial, options.trials, pool)


if __name__ == "__main__":
    main()
