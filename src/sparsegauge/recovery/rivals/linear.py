"""Minimum norm, and what linear programs solve: basis pursuit, reweighted l1, the Dantzig selector."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Parameter, check_count
from ...errors import InvalidInput
from ..nearest import (
    Bounds,
    Watch,
    bounded_least_squares,
    fitted,
    is_noisy,
    judged,
    nearest,
    nearest_matrix_free,
    within_noise,
)
from ..problem import CALLED_OFF, CONVERGED, INFEASIBLE, STOPPED, Callback, Problem, Recovery, Solver, finished
from .denoising import denoised

EPSILON = Parameter("epsilon", 0.3, low=0.0)
BOUND = Parameter("bound", 0.01, low=0.0, high=1.0, low_included=True)
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def whole_line(n: int) -> Bounds:
    """No bounds at all."""
    return np.full(n, -math.inf), np.full(n, math.inf)


@dataclass(frozen=True, kw_only=True)
class MinimumNorm(Solver):
    """argmin |x|_2 subject to A x = y (or |A x - y| <= noise): what sparsity has to beat.

    Works matrix-free (LSMR, at most `max_iterations` steps a solve) and for complex systems. Within bounds it is a
    least distance program (Lawson and Hanson, 1974).
    """

    max_iterations: int = 10_000

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, least=1)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        if problem.system.matrix is None:
            return self._matrix_free(problem)
        kind = complex if problem.is_complex else float
        return finished(problem, nearest(problem, np.zeros(problem.n, kind)), nit=1)

    def _matrix_free(self, problem: Problem) -> Recovery:
        if problem.bounds is not None:
            raise InvalidInput(
                "MinimumNorm keeps to bounds only where A is written out; leave out the bounds or pass a smaller A"
            )
        zero = np.zeros_like(problem.system.adjoint(problem.system.y))
        x, steps, converged = nearest_matrix_free(problem, zero, self.max_iterations)
        return finished(problem, x, status=CONVERGED if converged else STOPPED, nit=steps, nfev=2 * steps)


@dataclass(frozen=True, kw_only=True)
class BasisPursuit(Solver):
    """argmin |x|_1 subject to A x = y, and within bounds if there are any: a linear program, solved by HiGHS.

    S. S. Chen, D. L. Donoho and M. A. Saunders, "Atomic decomposition by basis pursuit", SIAM Journal on Scientific
    Computing 20(1), 1998. With noise, basis pursuit denoising: argmin |x|_1 subject to |A x - y|_2 <= noise, as the
    point of the Lasso's path where the residual meets the noise.
    """

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        x, status, nit = weighted_l1(problem, np.ones(problem.n))
        if callback is not None and callback(1, x):
            status = CALLED_OFF
        return finished(problem, x, status=status, nit=nit)


@dataclass(frozen=True, kw_only=True)
class ReweightedL1(Solver):
    """Basis pursuit again and again, with the weights w_i = 1 / (|x_i| + epsilon) of the last solution.

    E. J. Candes, M. B. Wakin and S. P. Boyd, "Enhancing sparsity by reweighted l1 minimization", Journal of Fourier
    Analysis and Applications 14, 2008. `epsilon` is in units of the root mean square of the first solution's
    non-zeros (theirs is 0.1 for unit normal ones; the default is ours, from a small search); it ends when the
    solution stays, or after `iterations` programs.
    """

    iterations: int = 5
    epsilon: float = 0.3

    def __post_init__(self) -> None:
        check_count("iterations", self.iterations, least=1)
        EPSILON.check(self.epsilon)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        before, weights, size, nit = np.zeros(problem.n), np.ones(problem.n), 0.0, 0
        for iteration in range(1, self.iterations + 1):
            x, status, steps = weighted_l1(problem, weights)
            nit += steps
            if callback is not None and callback(iteration, x):
                return finished(problem, x, status=CALLED_OFF, nit=nit)
            if status == INFEASIBLE or np.linalg.norm(x - before) <= 1e-9 * np.linalg.norm(x):
                break
            size = size or math.sqrt(np.mean(x[x != 0] ** 2))
            before, weights = x, 1 / (np.abs(x) / size + self.epsilon)
        return finished(problem, x, status=status, nit=nit)


@dataclass(frozen=True, kw_only=True)
class DantzigSelector(Solver):
    """argmin |x|_1 subject to |a_i . (y - A x)| <= lambda |a_i| for every column a_i: a linear program.

    E. Candes and T. Tao, "The Dantzig selector: statistical estimation when p is much larger than n", Annals of
    Statistics 35(6), 2007. `bound` is lambda as a part of the smallest one that gives x = 0; by default the largest
    with |A x - y| <= noise (the solution without noise is that of basis pursuit).
    """

    bound: float | None = None

    def __post_init__(self) -> None:
        if self.bound is not None:
            BOUND.check(self.bound)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        if self.bound == 0 or (self.bound is None and not is_noisy(problem)):
            return BasisPursuit().solve(problem, rng, callback)
        A, y = problem.real_matrix(), problem.system.y
        lengths = np.linalg.norm(A, axis=0)
        used = lengths > 0
        columns = A[:, used] / lengths[used]  # a column of zeros measures nothing, and its x_i stays at the least
        largest = float(np.max(np.abs(columns.T @ y)))
        bounds = problem.bounds or whole_line(problem.n)
        nit, status, watch = 0, CONVERGED, Watch(callback)

        def solved(bound: float) -> Array:
            nonlocal nit, status
            limit = bound * largest / problem.scale
            x, status, steps = _dantzig(A / problem.scale, y / problem.scale, columns, limit, bounds)
            nit += steps
            return x

        if self.bound is not None:
            watch(x := solved(self.bound))
        else:
            x = within_noise(problem, solved, np.clip(np.zeros(problem.n), *bounds), 0.1, watch)
            status = CONVERGED  # the programs that it tried on its way may have had no solution
        return judged(problem, x, status=CALLED_OFF if watch.called_off else status, nit=nit)


def weighted_l1(problem: Problem, weights: Array) -> tuple[Array, int, int]:
    """argmin sum w_i |x_i| over what explains y within the bounds; the status; the steps it took."""
    bounds = problem.bounds or whole_line(problem.n)
    problem.real_matrix()
    if is_noisy(problem):
        return denoised(problem, weights, bounds)
    B, b = problem.reduced.B, problem.reduced.b
    size = float(np.linalg.norm(b))
    if size == 0:
        return np.clip(np.zeros(problem.n), *bounds), CONVERGED, 0
    x, status, nit = _linear_program(B, b / size, weights, (bounds[0] / size, bounds[1] / size))
    if status == 0:
        x = np.clip(size * x, *bounds)
        return _refined(B, b, x, bounds), CONVERGED, nit
    if status == 2:
        return bounded_least_squares(B, b, bounds), INFEASIBLE, nit
    return nearest(problem, np.zeros(problem.n)), STOPPED, nit


def split(bounds: Bounds) -> tuple[Array, Array]:
    """x = u - v with u, v >= 0: the (least, largest) of every u_i, and of every v_i."""
    low, high = bounds
    return np.maximum(np.array([low, high]), 0).T, np.maximum(np.array([-high, -low]), 0).T


def _linear_program(B: Array, b: Array, weights: Array, bounds: Bounds) -> tuple[Array, int, int]:
    from scipy.optimize import linprog

    up, down = split(bounds)
    plus, minus = up[:, 1] > 0, down[:, 1] > 0  # the others are zero
    answer = linprog(
        np.concatenate([weights[plus], weights[minus]]),
        A_eq=np.hstack([B[:, plus], -B[:, minus]]),
        b_eq=b,
        bounds=np.vstack([up[plus], down[minus]]),
        method="highs-ds",
        options={"presolve": False, **TOLERANCES},  # nothing to presolve in a dense program: half the time
    )
    x = np.zeros(B.shape[1])
    if answer.x is not None:
        x[plus] += answer.x[: plus.sum()]
        x[minus] -= answer.x[plus.sum() :]
    return x, int(answer.status), int(answer.nit)


def _refined(B: Array, b: Array, x: Array, bounds: Bounds) -> Array:
    """One step of iterative refinement on what is neither zero nor at a bound: the basis of the program."""
    basis = (x != 0) & (x > bounds[0]) & (x < bounds[1])
    return np.asarray(np.clip(x + fitted(B, b - B @ x, np.flatnonzero(basis)), *bounds))


def _dantzig(A: Array, y: Array, columns: Array, bound: float, bounds: Bounds) -> tuple[Array, int, int]:
    """The solution, its status, and the steps it took.

    The residual y - A (u - v) = bound r as further unknowns, so that |columns^T r| <= 1 is sparse.
    """
    from scipy.optimize import linprog

    m, n = A.shape
    up, down = split(bounds)
    residual = np.tile([-math.inf, math.inf], (m, 1))
    size = float(np.linalg.norm(A, 2))  # x in units of |y| / |A|
    nothing = np.zeros((columns.shape[1], 2 * n))
    answer = linprog(
        np.concatenate([np.ones(2 * n), np.zeros(m)]),
        A_ub=np.vstack([np.hstack([nothing, columns.T]), np.hstack([nothing, -columns.T])]),
        b_ub=np.ones(2 * columns.shape[1]),
        A_eq=np.hstack([A / size, -A / size, bound * np.eye(m)]),
        b_eq=y,
        bounds=np.vstack([np.vstack([up, down]) * size, residual]),
        method="highs",
        options=TOLERANCES,
    )
    if answer.x is None:  # nothing within the bounds is near enough to y
        return bounded_least_squares(A, y, bounds), INFEASIBLE, int(answer.nit)
    return np.clip((answer.x[:n] - answer.x[n : 2 * n]) / size, *bounds), CONVERGED, int(answer.nit)
