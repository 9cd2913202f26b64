"""Joint and group sparsity against their peers: `python -m benchmarks.joint [COUNT] [FIRST_SEED]`.

COUNT problems per row (20 by default), the same for everybody. Joint sparsity: M-SBL and simultaneous OMP are told K;
SPGL1's spg_mmv is told the norm of the noise, and its K largest rows count. Groups: skglm's and celer's group lasso get
the best of 30 weights on their path, chosen by an oracle that knows x. A trial succeeds if the support is right. Times
are medians of process time, one BLAS thread for everybody.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import sparsegauge as sg  # noqa: E402

Array = NDArray[Any]
WEIGHTS = np.geomspace(0.9, 1e-3, 30)  # of the group lasso, in units of the least that gives x = 0
MSBL_STEPS = 300


class Case(NamedTuple):
    """A family of problems: K rows, or groups, of X are not zero, of the given rank."""

    M: int
    N: int
    K: int
    L: int
    rank: int = 99
    values: str = "normal"
    decibels: float = np.inf
    size: int = 1  # of a group

    def __str__(self) -> str:
        noise = "exact" if np.isinf(self.decibels) else f"{self.decibels:g} dB"
        rank = f", rank {self.rank}" if self.rank < min(self.K, self.L) else ""
        groups = f", groups of {self.size}" if self.size > 1 else ""
        return f"{self.M} x {self.N}, K = {self.K}, L = {self.L}{rank}{groups}, {self.values}, {noise}"


class Problem(NamedTuple):
    A: Array
    X: Array
    Y: Array
    sigma: float
    labels: Array
    K: int


JOINT = (
    Case(20, 60, 6, 8),
    Case(20, 60, 12, 8),
    Case(20, 60, 12, 2),
    Case(20, 60, 14, 3),
    Case(20, 60, 14, 3, values="equal"),
    Case(20, 60, 14, 3, values="positive"),
    Case(20, 60, 14, 3, values="correlated"),
    Case(20, 60, 16, 4),
    Case(20, 60, 19, 8),
    Case(20, 60, 19, 16),
    Case(20, 60, 10, 8, rank=1),
    Case(20, 60, 12, 8, rank=2),
    Case(50, 150, 38, 4),
    Case(250, 500, 150, 4),
    Case(20, 60, 6, 8, decibels=10),
    Case(20, 60, 6, 8, decibels=20),
    Case(20, 60, 6, 2, decibels=30),
    Case(20, 60, 10, 4, decibels=30),
    Case(50, 150, 20, 4, decibels=20),
    Case(50, 150, 20, 4, decibels=40),
)
GROUPED = (
    Case(40, 100, 5, 1, size=4),
    Case(40, 100, 7, 1, size=4),
    Case(40, 100, 8, 1, size=4),
    Case(40, 100, 9, 1, size=4),
    Case(100, 300, 14, 1, size=5),
    Case(40, 100, 5, 1, size=4, decibels=20),
    Case(40, 100, 5, 1, size=4, decibels=30),
    Case(100, 300, 12, 1, size=5, decibels=30),
)


def draw_values(case: Case, rows: int, rng: np.random.Generator) -> Array:
    shape = rows, case.L
    if case.values == "equal":
        return rng.choice([-1.0, 1.0], shape)
    if case.values == "positive":
        return rng.random(shape)
    if case.values == "correlated":
        return rng.standard_normal((rows, 1)) + 0.1 * rng.standard_normal(shape)
    if case.rank < case.L:
        return rng.standard_normal((rows, case.rank)) @ rng.standard_normal((case.rank, case.L))
    return rng.standard_normal(shape)


def draw_problem(case: Case, seed: int) -> Problem:
    rng = np.random.default_rng([seed, case.M, case.N, case.K, case.L])
    A = rng.standard_normal((case.M, case.N)) / np.sqrt(case.M)
    labels = rng.permutation(np.repeat(np.arange(case.N // case.size), case.size))
    rows = np.flatnonzero(np.isin(labels, rng.choice(case.N // case.size, case.K, replace=False)))
    X = np.zeros((case.N, case.L))
    X[rows] = draw_values(case, len(rows), rng)
    Y = A @ X
    sigma = float(np.sqrt(np.mean(Y**2))) * 10 ** (-case.decibels / 20)
    return Problem(A, X, Y + sigma * rng.standard_normal(Y.shape), sigma, labels, len(rows))


def largest_rows(X: Array, K: int) -> Array:
    return np.sort(np.argsort(-np.linalg.norm(X, axis=1))[:K])


def by_default(problem: Problem) -> Array:
    found: Any = sg.recover(problem.A, problem.Y, joint=True)
    return np.flatnonzero(found.x.any(axis=1))


def by_default_with_groups(problem: Problem) -> Array:
    found: Any = sg.recover(problem.A, problem.Y[:, 0], groups=problem.labels)
    return np.flatnonzero(found.x)


def by_msbl(problem: Problem) -> Array:
    """M-SBL (Wipf and Rao, 2007), with its fast fixed-point step, told K and the noise."""
    A, Y, K = problem.A, problem.Y, problem.K
    noise = max(problem.sigma**2, 1e-10 * float(np.mean(Y**2)))
    variances = np.ones(A.shape[1])
    for _ in range(MSBL_STEPS):
        weighted = A * variances
        solved = np.linalg.solve(noise * np.eye(len(A)) + weighted @ A.T, np.hstack([A, Y]))
        means = weighted.T @ solved[:, A.shape[1] :]
        shrink = 1 - variances * np.einsum("ij,ij->j", A, solved[:, : A.shape[1]])
        after = np.mean(means**2, axis=1) / np.maximum(1 - shrink, 1e-12)
        if np.max(np.abs(after - variances)) < 1e-6 * after.max():
            break
        variances = after
    return largest_rows(means, K)


def by_somp(problem: Problem) -> Array:
    """Simultaneous orthogonal matching pursuit, told K."""
    chosen: list[int] = []
    left = problem.Y
    for _ in range(problem.K):
        gains = np.linalg.norm(problem.A.T @ left, axis=1) / np.linalg.norm(problem.A, axis=0)
        gains[chosen] = 0.0
        chosen.append(int(np.argmax(gains)))
        fit = np.linalg.lstsq(problem.A[:, chosen], problem.Y, rcond=None)[0]
        left = problem.Y - problem.A[:, chosen] @ fit
    return np.sort(chosen)


def by_spgl1(problem: Problem) -> Array:
    """SPGL1's joint basis pursuit denoising, told the norm of the noise, and K."""
    import spgl1

    X = spgl1.spg_mmv(problem.A, problem.Y, sigma=problem.sigma * np.sqrt(problem.Y.size))[0]
    return largest_rows(X, problem.K)


def by_skglm(problem: Problem) -> Array:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD
    from skglm.utils.data import grp_converter

    groups = [np.flatnonzero(problem.labels == label).tolist() for label in np.unique(problem.labels)]
    indices, starts = grp_converter(groups, problem.A.shape[1])
    weights = np.ones(len(groups))

    def solve(weight: float) -> Array:
        model = GeneralizedLinearEstimator(
            QuadraticGroup(starts, indices), WeightedGroupL2(weight, weights, starts, indices), GroupBCD(tol=1e-6)
        )
        model.solver.fit_intercept = False
        return np.asarray(model.fit(problem.A, problem.Y[:, 0]).coef_)

    return best_on_path(problem, groups, solve)


def by_celer(problem: Problem) -> Array:
    from celer import GroupLasso

    groups = [np.flatnonzero(problem.labels == label).tolist() for label in np.unique(problem.labels)]

    def solve(weight: float) -> Array:
        return np.asarray(
            GroupLasso(groups, alpha=weight, fit_intercept=False, tol=1e-6).fit(problem.A, problem.Y[:, 0]).coef_
        )

    return best_on_path(problem, groups, solve)


def best_on_path(problem: Problem, groups: list[list[int]], solve: Callable[[float], Array]) -> Array:
    """Return the K largest of the solution that, of all weights, has the most of them right."""
    largest = max(float(np.linalg.norm(problem.A[:, g].T @ problem.Y[:, 0])) for g in groups) / len(problem.A)
    best, most = np.zeros(0, np.int64), -1
    for weight in WEIGHTS * largest:
        x = solve(weight)
        sizes = np.array([np.linalg.norm(x[g]) for g in groups])
        kept = np.argsort(-sizes)[: problem.K // len(groups[0])]
        rows = np.sort(np.concatenate([groups[g] for g in kept]))
        right = int(np.count_nonzero(problem.X[rows].any(axis=1)))
        if right > most:
            best, most = rows, right
    return best


def measure(case: Case, means: dict[str, Callable[[Problem], Array]], seeds: range) -> str:
    cells = []
    for solve in means.values():
        right, seconds = 0, []
        for seed in seeds:
            problem = draw_problem(case, seed)
            began = time.process_time()
            rows = solve(problem)
            seconds.append(time.process_time() - began)
            right += int(np.array_equal(rows, np.flatnonzero(problem.X.any(axis=1))))
        cells.append(f"{100 * right / len(seeds):.0f} % ({1e3 * np.median(seconds):.1f} ms)")
    return f"| {case} | {' | '.join(cells)} |"


def print_table(cases: tuple[Case, ...], means: dict[str, Callable[[Problem], Array]], seeds: range) -> None:
    print(f"| | {' | '.join(means)} |\n|---|{'--:|' * len(means)}")
    for case in cases:
        print(measure(case, means, seeds), flush=True)
    print()


def main() -> None:
    warnings.simplefilter("ignore")  # the peers' remarks on convergence
    count, first = (int(word) for word in (*sys.argv[1:], *("20", "1000")[len(sys.argv) - 1 :]))
    seeds = range(first, first + count)
    print("Support right (median time), joint sparsity\n")
    told = {"M-SBL, told K": by_msbl, "SOMP, told K": by_somp, "SPGL1 mmv, told K": by_spgl1}
    print_table(JOINT, {"default": by_default} | told, seeds)
    print("The same, groups\n")
    print_table(
        GROUPED, {"default": by_default_with_groups, "skglm, oracle": by_skglm, "celer, oracle": by_celer}, seeds
    )


if __name__ == "__main__":
    main()
