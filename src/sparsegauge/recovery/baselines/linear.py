"""Minimum norm, and what linear programs solve: basis pursuit, reweighted l1, the Dantzig selector."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._arrays import Array
from ..driver import Iterate
from ..problem import Problem
from ..projection import Bounds, bounded_least_squares, fitted, is_noisy, nearest, nearest_matrix_free
from ..solver import Capabilities, Solver, count, real
from ..status import Status
from ..tolerances import PROGRAM_TOLERANCE, UNCHANGED
from .denoising import denoise
from .trials import Solution, Trials

TOLERANCES = {"primal_feasibility_tolerance": PROGRAM_TOLERANCE, "dual_feasibility_tolerance": PROGRAM_TOLERANCE}
LINPROG_SOLVED = 0  # statuses of SciPy's linprog
LINPROG_INFEASIBLE = 2
FIRST_BOUND = 0.1  # of the search for the bound that meets the noise


def whole_line(n: int) -> Bounds:
    """Return bounds that exclude nothing."""
    return np.full(n, -math.inf), np.full(n, math.inf)


@dataclass(frozen=True, kw_only=True)
class MinimumNorm(Solver):
    """argmin |x|_2 subject to A x = y (or |A x - y| <= noise): the reference without sparsity.

    Works matrix-free (LSMR, at most `max_iterations` steps per solve) and for complex systems. Within bounds, where A
    is written out, it is a least distance program (Lawson and Hanson, 1974). The callback sees the result only.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any", complex=True, operators=True)

    max_iterations: int = count(10_000, least=1)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the solution."""
        if problem.system.matrix is not None:
            yield Iterate(nearest(problem, np.zeros(problem.n, problem.dtype)), status=Status.CONVERGED)
            return
        zero = np.zeros_like(problem.system.adjoint(problem.y))
        x, steps, enough = nearest_matrix_free(problem, zero, self.max_iterations)
        status = Status.CONVERGED if enough else Status.ITERATION_LIMIT
        yield Iterate(x, steps=max(steps, 1), evaluations=2 * steps, status=status)


@dataclass(frozen=True, kw_only=True)
class BasisPursuit(Solver):
    """argmin |x|_1 subject to A x = y, and within bounds if there are any: a linear program, solved by HiGHS.

    S. S. Chen, D. L. Donoho and M. A. Saunders, "Atomic decomposition by basis pursuit", SIAM Journal on Scientific
    Computing 20(1), 1998. With noise, basis pursuit denoising: argmin |x|_1 subject to |A x - y|_2 <= noise, as the
    point of the Lasso's path where the residual meets the noise. The callback sees the result only.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any")

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the solution."""
        x, status, steps = weighted_l1(problem, np.ones(problem.n))
        yield Iterate(x, steps=max(steps, 1), status=status)


@dataclass(frozen=True, kw_only=True)
class ReweightedL1(Solver):
    """Basis pursuit again and again, with the weights w_i = 1 / (|x_i| + epsilon) of the last solution.

    E. J. Candes, M. B. Wakin and S. P. Boyd, "Enhancing sparsity by reweighted l1 minimization", Journal of Fourier
    Analysis and Applications 14, 2008. `epsilon` is in units of the root mean square of the first solution's
    non-zeros (theirs is 0.1 for unit normal ones; the default is ours, from a small search); it ends when the
    solution stays, or after `iterations` programs. The callback sees the solution of each program; the iterations
    that it and the result count are those within the programs.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any")

    iterations: int = count(5, least=1)
    epsilon: float = real(0.3, low=0.0)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the solution of each program."""
        before, weights, size = np.zeros(problem.n), np.ones(problem.n), 0.0
        for iteration in range(1, self.iterations + 1):
            x, status, steps = weighted_l1(problem, weights)
            has_settled = np.linalg.norm(x - before) <= UNCHANGED * np.linalg.norm(x)
            is_last = status == Status.INFEASIBLE or has_settled or iteration == self.iterations
            yield Iterate(x, steps=max(steps, 1), status=status if is_last else None)
            if is_last:
                return
            size = size or math.sqrt(np.mean(x[x != 0] ** 2))
            before, weights = x, 1 / (np.abs(x) / size + self.epsilon)


@dataclass(frozen=True, kw_only=True)
class DantzigSelector(Solver):
    """argmin |x|_1 subject to |a_i . (y - A x)| <= lambda |a_i| for every column a_i: a linear program.

    E. Candes and T. Tao, "The Dantzig selector: statistical estimation when p is much larger than n", Annals of
    Statistics 35(6), 2007. `bound` is lambda as a part of the smallest one that gives x = 0; by default the largest
    with |A x - y| <= noise (the solution without noise is that of basis pursuit). The callback sees the solution of
    each program.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any")

    bound: float | None = real(None, low=0.0, high=1.0, low_included=True)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the solution of each program."""
        trials = None if self.bound == 0 or (self.bound is None and not is_noisy(problem)) else _selectors(problem)
        if trials is None:
            yield from BasisPursuit().iterates(problem, rng)
        elif self.bound is not None:
            x = trials(self.bound)
            yield trials.iterate(x, trials.status)
        else:
            x = yield from trials.search(problem, problem.clipped(np.zeros(problem.n)), FIRST_BOUND)
            yield trials.iterate(x, Status.CONVERGED)  # the programs tried on the way may have had no solution


def _selectors(problem: Problem) -> Trials | None:
    """Return the Dantzig selector at any bound in units of the largest; None where A^T y = 0."""
    A, y, scale = problem.real_matrix(), problem.y, problem.scale
    lengths = np.linalg.norm(A, axis=0)
    used = lengths > 0
    columns = A[:, used] / lengths[used]  # a column of zeros measures nothing, and its x_i stays at the least
    largest = float(np.max(np.abs(columns.T @ y), initial=0.0))
    bounds = problem.bounds or whole_line(problem.n)
    if largest == 0:
        return None
    return Trials(lambda bound: _dantzig(A / scale, y / scale, columns, bound * largest / scale, bounds))


def weighted_l1(problem: Problem, weights: Array) -> Solution:
    """Return argmin sum w_i |x_i| over what explains y within the bounds."""
    bounds = problem.bounds or whole_line(problem.n)
    if is_noisy(problem):
        return denoise(problem, weights, bounds)
    B, b = problem.reduced.B, problem.reduced.b
    size = float(np.linalg.norm(b))
    if size == 0 and (problem.zero_is_allowed or len(b) == 0):
        return Solution(problem.clipped(np.zeros(problem.n)), Status.CONVERGED, 0)
    size = size or 1.0
    x, status, nit = _linear_program(B, b / size, weights, (bounds[0] / size, bounds[1] / size))
    if status == LINPROG_SOLVED:
        x = np.clip(size * x, *bounds)
        return Solution(_refine(B, b, x, bounds), Status.CONVERGED, nit)
    if status == LINPROG_INFEASIBLE:
        x = bounded_least_squares(B, b, bounds)
        if problem.residual(x) > problem.explained_below:
            return Solution(x, Status.INFEASIBLE, nit)
    return Solution(nearest(problem, np.zeros(problem.n)), Status.ITERATION_LIMIT, nit)


def split(bounds: Bounds) -> tuple[Array, Array]:
    """Return the (least, largest) of every u_i, and of every v_i, for x = u - v with u, v >= 0."""
    low, high = bounds
    return np.maximum(np.array([low, high]), 0).T, np.maximum(np.array([-high, -low]), 0).T


def _linear_program(B: Array, b: Array, weights: Array, bounds: Bounds) -> tuple[Array, int, int]:
    from scipy.optimize import linprog

    up, down = split(bounds)
    plus, minus = up[:, 1] > 0, down[:, 1] > 0  # the others are zero
    if not (plus.any() or minus.any()):
        return np.zeros(B.shape[1]), LINPROG_INFEASIBLE, 0
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


def _refine(B: Array, b: Array, x: Array, bounds: Bounds) -> Array:
    """Take one step of iterative refinement on what is neither zero nor at a bound: the basis of the program."""
    basis = (x != 0) & (x > bounds[0]) & (x < bounds[1])
    return np.asarray(np.clip(x + fitted(B, b - B @ x, np.flatnonzero(basis)), *bounds))


def _dantzig(A: Array, y: Array, columns: Array, bound: float, bounds: Bounds) -> Solution:
    """Solve the program of the Dantzig selector.

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
        status = Status.INFEASIBLE if answer.status == LINPROG_INFEASIBLE else Status.ITERATION_LIMIT
        return Solution(bounded_least_squares(A, y, bounds), status, int(answer.nit))
    x = np.clip((answer.x[:n] - answer.x[n : 2 * n]) / size, *bounds)
    return Solution(x, Status.CONVERGED, int(answer.nit))
