"""The default beside other packages on identical problems: `python -m benchmarks.packages [TRIALS] [FIRST_TRIAL]`.

N = 100, M = 50, Gaussian A, normal non-zeros of random signs; exact measurements, and measurements at 20 dB whose noise
nobody is told. All run in one process, on one thread and in turns; times are the processor's, and the table has their
ratio to the default's on the same problems. What a package is told beyond A and y, and how its parameters were chosen,
stands in its row: where a package chooses its own parameter, that choice is used; where it does not, the best of a few
values is taken **as judged by the true x**, which nobody knows in practice. skglm, celer and el0ps are compared with
where they are installed (`make peers`).
`--only NAME` (repeatable) picks the rows whose names begin so, and the default.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core for everybody; set before NumPy is loaded

import numpy as np  # noqa: E402
import pylops  # noqa: E402
import spgl1  # noqa: E402
from pylops.optimization import sparsity as pylops_sparsity  # noqa: E402
from sklearn.linear_model import ARDRegression, OrthogonalMatchingPursuit  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.recovery.quality import relative_error  # noqa: E402

from .unknown_noise import by_abess as abess_with  # noqa: E402
from .unknown_noise import by_lasso, decibels, oracle, shown  # noqa: E402

N, M, RATIO, FIRST_TRIAL = 100, 50, 20, 5000
NONZEROS = (5, 10, 15, 20)
SUCCESS = 1e-3  # relative error
DEFAULT = "sparsegauge"
WEIGHTS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4)  # of penalties, in units of the least that gives x = 0
DAMPINGS = (1e-1, 1e-2, 1e-3)  # of IRLS, in units of the root of the largest entry of A^T y / |A|^2
EL0PS_WEIGHTS, EL0PS_SECONDS = (3e-2, 1e-2, 1e-3, 1e-4), 2.0

Array = np.ndarray


class Problem(NamedTuple):
    """Measurements y of x; `noise` is 0 where they are exact."""

    A: Array
    x: Array
    y: Array
    noise: float

    def error(self, x: Array) -> float:
        return relative_error(x, self.x)

    def best(self, answers: list[Array]) -> Array:
        """The answer nearest to the true x."""
        return min(answers, key=self.error)


Method = Callable[[Problem], Array]


def draw(K: int, ratio: float, trial: int) -> Problem:
    """One problem; `ratio` in dB, infinite where y is exact."""
    rng = np.random.default_rng([2016, 15, K, trial])
    A, x = sg.gaussian_matrix(M, N, rng=rng), sg.sparse_signal(N, K, "normal", signs="random", rng=rng)
    noise = float(np.linalg.norm(A @ x)) / np.sqrt(M) * 10 ** (-ratio / 20)
    return Problem(A, x, A @ x + noise * rng.standard_normal(M), noise)


def by_default(problem: Problem) -> Array:
    return sg.recover(problem.A, problem.y, rng=0).x


def by_omp(problem: Problem) -> Array:
    told = int(np.count_nonzero(problem.x))
    return OrthogonalMatchingPursuit(n_nonzero_coefs=told, fit_intercept=False).fit(problem.A, problem.y).coef_


def by_lasso_cv(problem: Problem) -> Array:
    return by_lasso(problem.A, problem.y, problem.noise)[0]


def by_ard(problem: Problem) -> Array:
    return ARDRegression(fit_intercept=False).fit(problem.A, problem.y).coef_


def by_spgl1(problem: Problem) -> Array:
    told = problem.noise * np.sqrt(M)
    return spgl1.spgl1(problem.A, problem.y, sigma=told, verbosity=0, iter_lim=2000, opt_tol=1e-6, bp_tol=1e-8)[0]


def by_irls(problem: Problem) -> Array:
    largest = float(np.max(np.abs(problem.A.T @ problem.y))) / np.linalg.norm(problem.A, 2) ** 2
    operator = pylops.MatrixMult(problem.A)
    runs = (
        pylops_sparsity.irls(operator, problem.y, nouter=50, epsI=damping * np.sqrt(largest), kind="model", iter_lim=50)
        for damping in DAMPINGS
    )
    return problem.best([run[0] for run in runs])


def by_abess(problem: Problem) -> Array:
    search = abess_with(ic_type="ebic", support_size=range(31))
    return search(problem.A, problem.y, problem.noise)[0]


def least_weight(problem: Problem) -> float:
    """The least weight of the l1 norm, in scikit-learn's units, that gives x = 0."""
    return float(np.max(np.abs(problem.A.T @ problem.y))) / M


def by_mcp(problem: Problem) -> Array:
    from skglm import MCPRegression

    weights = least_weight(problem) * np.array(WEIGHTS)
    models = (MCPRegression(alpha=weight, fit_intercept=False, tol=1e-8) for weight in weights)
    return problem.best([model.fit(problem.A, problem.y).coef_ for model in models])


def by_celer(problem: Problem) -> Array:
    from celer import Lasso

    weights = least_weight(problem) * np.array(WEIGHTS)
    models = (Lasso(alpha=weight, fit_intercept=False, tol=1e-8) for weight in weights)
    return problem.best([model.fit(problem.A, problem.y).coef_ for model in models])


def by_el0ps(problem: Problem) -> Array:
    from el0ps.datafit import Leastsquares
    from el0ps.penalty import Bigm
    from el0ps.solver import BnbSolver
    from el0ps.utils import compute_lmbd_max

    fit, bound = Leastsquares(problem.y), Bigm(1.5 * float(np.max(np.abs(problem.x))))
    weights = compute_lmbd_max(fit, bound, problem.A) * np.array(EL0PS_WEIGHTS)
    runs = (BnbSolver(time_limit=EL0PS_SECONDS).solve(fit, bound, np.asfortranarray(problem.A), w) for w in weights)
    return problem.best([run.x for run in runs])


METHODS: dict[str, Method] = {
    DEFAULT: by_default,
    "scikit-learn OMP, told K": by_omp,
    "scikit-learn LassoCV": by_lasso_cv,
    "scikit-learn ARDRegression": by_ard,
    "SPGL1, told the noise": by_spgl1,
    f"PyLops IRLS, best of {len(DAMPINGS)} dampings": by_irls,
    "abess, EBIC, 0 to 30 non-zeros": by_abess,
    f"skglm MCP, best of {len(WEIGHTS)} weights": by_mcp,
    f"celer Lasso, best of {len(WEIGHTS)} weights": by_celer,
    f"el0ps, told max \\|x\\|, best of {len(EL0PS_WEIGHTS)} weights, {EL0PS_SECONDS:g} s each": by_el0ps,
}


def installed(only: list[str]) -> dict[str, Method]:
    """The methods whose packages run here; says which do not."""
    chosen, small = {}, draw(3, RATIO, 0)
    for label, method in METHODS.items():
        if label != DEFAULT and not label.startswith(tuple(only) or ("",)):
            continue
        try:
            method(small)  # loads and compiles
        except (ImportError, OSError, RuntimeError) as missing:
            print(f"left out: {label} ({type(missing).__name__}: {str(missing).splitlines()[0]})", file=sys.stderr)
        else:
            chosen[label] = method
    return chosen


def run(methods: dict[str, Method], problems: list[Problem]) -> dict[str, Array]:
    """For each method an array of (error, seconds) for each problem, the methods in turns."""
    rows: dict[str, list[tuple[float, float]]] = {label: [] for label in methods}
    for problem in problems:
        for label, method in methods.items():
            started = time.process_time()
            x = method(problem)
            rows[label].append((problem.error(x), time.process_time() - started))
    return {label: np.array(row) for label, row in rows.items()}


def share(errors: Array) -> str:
    return f"{np.mean(errors < SUCCESS):.2f}"


def table(title: str, methods: dict[str, Method], ratio: float, trials: int, first: int) -> list[str]:
    """One table: a row per method, a column per K, and the ratio of times."""
    results, oracles = {}, {}
    for K in NONZEROS:
        problems = [draw(K, ratio, first + trial) for trial in range(trials)]
        results[K], oracles[K] = run(methods, problems), [p.error(oracle(p.A, p.x, p.y)) for p in problems]
        print(f"{title}: K = {K}", file=sys.stderr, flush=True)
    base: Any = np.concatenate([results[K][DEFAULT][:, 1] for K in NONZEROS])
    lines = ["", f"| {title} | " + " | ".join(f"K = {K}" for K in NONZEROS) + " | ms | over ours: means | median |"]
    lines.append("|---|" + "--:|" * (len(NONZEROS) + 3))
    for label in methods:
        seconds = np.concatenate([results[K][label][:, 1] for K in NONZEROS])
        cells = [
            share(results[K][label][:, 0])
            if np.isinf(ratio)
            else shown(decibels(results[K][label][:, 0].tolist(), oracles[K]))
            for K in NONZEROS
        ]
        times = f"{1e3 * seconds.mean():.1f} | {seconds.mean() / base.mean():.2g} | {np.median(seconds / base):.2g}"
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {times} |")
    return lines


def main(trials: int, first: int, only: list[str]) -> None:
    warnings.simplefilter("ignore")  # packages that say that they have not converged
    methods = installed(only)
    print(f"N = {N}, M = {M}, {trials} problems per column from trial {first} on, the same for all.")
    print("\n".join(table("exact y: success", methods, np.inf, trials, first)))
    print("\n".join(table(f"{RATIO} dB: dB above the oracle", methods, RATIO, trials, first)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages")
    parser.add_argument("trials", type=int, nargs="?", default=20)
    parser.add_argument("first_trial", type=int, nargs="?", default=FIRST_TRIAL)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    given = parser.parse_args()
    main(given.trials, given.first_trial, given.only)
