"""Success rates of all solvers on identical problems: `python -m benchmarks.recovery TRIALS OUTPUT.md [SOLVER ...]`.

N = 100; K = 10..60 non-zeros, M = 10..90 measurements with M > K, in steps of 10; problems drawn as in the paper's
section VIII with a random scale of 1e-3..1e3; trials 1000 and up, on which nothing was tuned. Success is a relative
error below 1e-3. Beside each solver's own last iterate, the certificate's search around it is counted too: what is the
solver and what is the search stays visible.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one core a problem; set before NumPy is loaded

import numpy as np  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.recovery import certificate  # noqa: E402
from sparsegauge.recovery.problem import Problem, Solver  # noqa: E402

N = 100
FIRST_TRIAL = 1000
DISTRIBUTIONS = {"ones": 0, "uniform": 2, "normal": 3, "exponential": 4}
SETS = [("random", d) for d in DISTRIBUTIONS] + [("positive", d) for d in DISTRIBUTIONS if d != "normal"]
CELLS = [(K, M) for K in range(10, 61, 10) for M in range(10, 91, 10) if M > K]
SOLVERS: dict[str, Solver] = {
    "MinimumNorm": sg.MinimumNorm(),
    "OMP": sg.OMP(),
    "BasisPursuit": sg.BasisPursuit(),
    "ReweightedL1": sg.ReweightedL1(),
    "SL0": sg.SL0(),
    "IRLS": sg.IRLS(),
    "SBL": sg.SBL(),
    "GDSAscent": sg.GDSAscent(),
    "GDSReweighted": sg.GDSReweighted(),
    "EP": sg.EP(),
    "Portfolio": sg.Portfolio(),
}


class Outcome(NamedTuple):
    alone: bool
    searched: bool
    certified: bool
    seconds: float


def draw(signs: str, distribution: str, K: int, M: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([2016, DISTRIBUTIONS[distribution], K, M, trial])
    support = rng.choice(N, K, replace=False)
    values = {
        "ones": lambda: np.ones(K),
        "uniform": lambda: rng.uniform(0, 1, K),
        "normal": lambda: rng.standard_normal(K),
        "exponential": lambda: rng.exponential(1, K),
    }[distribution]()
    A = rng.standard_normal((M, N))
    x = np.zeros(N)
    x[support] = np.abs(values)
    if signs == "random":
        x *= rng.choice([-1.0, 1.0], N)
    return x * 10 ** rng.uniform(-3, 3), A


def attempt(solver: Solver, x: np.ndarray, A: np.ndarray) -> Outcome:
    start = time.perf_counter()
    problem = Problem.of(A, A @ x)
    rng = np.random.default_rng(0)
    found = solver.solve(problem, rng)
    seconds = time.perf_counter() - start
    alone = right(found.x, x)
    if found.certified:
        return Outcome(alone, alone, True, seconds)
    near = certificate.certify(problem, np.abs(found.x), rng)
    return Outcome(alone, alone or (near is not None and right(near, x)), False, seconds)


def right(found: np.ndarray, x: np.ndarray) -> bool:
    return bool(np.linalg.norm(found - x) < 1e-3 * np.linalg.norm(x))


def main(trials: int, path: Path, names: list[str]) -> None:
    lines = [
        "| solver | signal | success | with search | standard error | false certificates | mean ms | median ms |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    smallest: dict[tuple[str, str], list[str]] = {}
    for name in names:
        for signs, distribution in SETS:
            outcomes = {
                cell: [
                    attempt(SOLVERS[name], *draw(signs, distribution, *cell, FIRST_TRIAL + t)) for t in range(trials)
                ]
                for cell in CELLS
            }
            flat = [o for cell in outcomes.values() for o in cell]
            rate = np.mean([o.alone for o in flat])
            searched = np.mean([o.searched for o in flat])
            error = np.sqrt(searched * (1 - searched) / len(flat))
            false = sum(o.certified and not o.alone for o in flat)
            times = [1e3 * o.seconds for o in flat]
            line = (
                f"| {name} | {distribution}, {signs} | {rate:.3f} | {searched:.3f} | {error:.3f} | {false} "
                f"| {np.mean(times):.0f} | {np.median(times):.1f} |"
            )
            print(line, flush=True)
            lines.append(line)
            smallest[name, f"{distribution}, {signs}"] = [_smallest(outcomes, K) for K in range(10, 61, 10)]
    lines += ["", "The smallest M with 90 % success (with search), by K = 10, 20, ..., 60:", ""]
    lines += ["| solver | signal | 10 | 20 | 30 | 40 | 50 | 60 |", "|---|---|--:|--:|--:|--:|--:|--:|"]
    lines += [f"| {name} | {kind} | {' | '.join(row)} |" for (name, kind), row in smallest.items()]
    heading = f"# Recovery: success rates\n\n{trials} trials a cell, from trial {FIRST_TRIAL} on; one core.\n\n"
    path.write_text(heading + "\n".join(lines) + "\n", encoding="utf-8")


def _smallest(outcomes: dict[tuple[int, int], list[Outcome]], K: int) -> str:
    good = [M for (k, M), cell in outcomes.items() if k == K and np.mean([o.searched for o in cell]) >= 0.9]
    return str(min(good)) if good else "-"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: python -m benchmarks.recovery TRIALS OUTPUT.md [SOLVER ...]")
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or list(SOLVERS))
