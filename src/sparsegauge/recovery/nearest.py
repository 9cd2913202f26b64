"""The nearest x that explains y: exactly or up to noise, free or within bounds, with a matrix or without."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from ..errors import InvalidInput
from .problem import CONVERGED, EXACT, INFEASIBLE, MESSAGES, Callback, Problem, Recovery, Reduced, finished

Bounds = tuple[Array, Array]

INSIDE = 1 - 1e-9  # aim at this part of the noise, so that rounding leaves the result within it
CLOSE = 0.9999  # a residual between this and 1 of the noise is on the sphere, where each trial costs a whole solve
BOUNDED = "MinimumNorm, BasisPursuit, ReweightedL1, DantzigSelector and Lasso"


def refuse_bounds(problem: Problem, name: str) -> None:
    """For solvers that do not know how to stay within bounds."""
    if problem.bounds is not None:
        raise InvalidInput(f"{name} cannot keep to bounds; {BOUNDED} can: use one of them, or leave out the bounds")


class Watch:
    """Shows each iterate to a callback, counts them, and remembers whether any answer asked for the end."""

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.iteration, self.called_off = callback, 0, False

    def __call__(self, x: NDArray[Any]) -> bool:
        """Whether to stop."""
        self.iteration += 1
        if self.callback is not None and self.callback(self.iteration, x):
            self.called_off = True
        return self.called_off


def judged(problem: Problem, x: NDArray[Any], *, status: int = CONVERGED, nit: int = 0) -> Recovery:
    """`finished` for solvers that aim at something else: infeasible is only what no x within the bounds explains."""
    found = finished(problem, x, status=status, nit=nit)
    if found.status != INFEASIBLE or status == INFEASIBLE or problem.bounds is None:
        return found
    best = bounded_least_squares(problem.real_matrix(), problem.system.y, problem.bounds)
    feasible = problem.residual(best) <= max(problem.tolerance(), 1e-6 * problem.scale)
    return replace(found, status=status, message=MESSAGES[status]) if feasible else found


def is_noisy(problem: Problem) -> bool:
    """Whether the noise allows more than what rounding and least squares leave."""
    return problem.noise >= problem.tolerance()


def nearest(problem: Problem, x0: NDArray[Any]) -> NDArray[Any]:
    """argmin |x - x0| over the x that explain y within the noise and the bounds; A is written out.

    Where no x within the bounds explains y, the one that comes nearest to it in the least-squares sense.
    """
    if problem.bounds is None:
        return problem.reduced.project(x0) if problem.noise == 0 else Ball.of(problem).nearest(x0)
    if problem.noise == 0:
        return _nearest_bounded(problem.reduced, x0, problem.bounds)
    return _nearest_bounded_noisy(problem, x0, problem.bounds)


def within_bounds(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """x where it keeps to the bounds, else the nearest solution that does; A is written out."""
    return x if problem.bounds is None or np.array_equal(problem.clipped(x), x) else nearest(problem, x)


@dataclass(frozen=True)
class Ball:
    """All x with |A x - y| <= radius, through A = U diag(s) V^H."""

    A: NDArray[Any]
    y: NDArray[Any]
    radius: float
    U: NDArray[Any]
    s: Array
    Vh: NDArray[Any]

    @classmethod
    def of(cls, problem: Problem) -> Ball:
        """The solutions of a noisy problem."""
        A = problem.matrix()
        return cls(A, problem.system.y, problem.tolerance(), *np.linalg.svd(A, full_matrices=False))

    def nearest(self, x0: NDArray[Any]) -> NDArray[Any]:
        """x0 + A^H (A A^H + lambda)^-1 (y - A x0), with the lambda that puts it on the sphere."""
        r = self.y - self.A @ x0
        if np.linalg.norm(r) <= self.radius:
            return x0
        c = self.U.conj().T @ r
        misfit = float(np.linalg.norm(r - self.U @ c))
        mu = multiplier(self.s**2, c, math.sqrt(max(self.radius**2 - misfit**2, 0.0)))
        return np.asarray(x0 + self.Vh.conj().T @ (mu * self.s * c / (1 + mu * self.s**2)))


def multiplier(d: Array, c: NDArray[Any], radius: float) -> float:
    """The mu = 1/lambda with |c / (1 + mu d)| = radius: what is left of c after damped least squares.

    Newton's steps on 1/|c / (1 + mu d)|, which is concave in mu: they approach from the left and never overshoot
    (J. J. More, "The Levenberg-Marquardt algorithm", Lecture Notes in Mathematics 630, 1978).
    """
    reached = d > d.max() * len(d) * np.finfo(float).eps
    misfit = float(np.linalg.norm(c[~reached]))  # what no mu brings down
    d, power, radius = d[reached], np.abs(c[reached]) ** 2, math.sqrt(max(radius**2 - misfit**2, 0.0))
    target, mu = radius * INSIDE, 0.0
    while True:
        damping = 1 / (1 + mu * d)
        square = float(np.sum(power * damping**2))
        left = math.sqrt(square)
        step = square * (left / target - 1) / float(np.sum(power * d * damping**3)) if target > 0 else math.inf
        if left <= radius or not mu < mu + step < math.inf:
            return mu
        mu += step


def _nearest_bounded(reduced: Reduced, x0: NDArray[Any], bounds: Bounds) -> Array:
    """Least distance programming: min |z| with low <= x + V z <= high, V spanning the null space of B.

    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23: with G z >= h for the bounds,
    r = E u - f of the non-negative least squares problem E = [G^T; h^T], f = (0, ..., 0, 1) gives z = -r_z / r_last,
    and r = 0 says that there is no solution.
    """
    from scipy.optimize import nnls

    x = reduced.project(x0)
    scale = float(np.linalg.norm(x)) or 1.0
    V = np.linalg.svd(reduced.B)[2][reduced.rank :].T
    (below, low), (above, high) = ((np.isfinite(side), side) for side in bounds)
    G = np.vstack([V[below], -V[above]])
    h = np.concatenate([low[below] - x[below], x[above] - high[above]]) / scale
    if np.all(h <= 0):
        return x
    E = np.vstack([G.T, h])
    f = np.zeros(len(E))
    f[-1] = 1.0
    r = E @ nnls(E, f, maxiter=30 * len(h))[0] - f
    if r[-1] < 0:
        x = np.clip(x - scale * (V @ (r[:-1] / r[-1])), *bounds)
        if np.linalg.norm(reduced.b - reduced.B @ x) <= EXACT * np.linalg.norm(reduced.b):
            return np.asarray(x)
    return bounded_least_squares(reduced.B, reduced.b, bounds)


def fitted(B: NDArray[Any], b: NDArray[Any], columns: Indices) -> NDArray[Any]:
    """argmin |B x - b| over the x that are zero but on the given columns."""
    x = np.zeros(B.shape[1], np.result_type(B, b))
    x[columns] = np.linalg.lstsq(B[:, columns], b, rcond=None)[0]
    return x


def bounded_least_squares(A: Array, y: Array, bounds: Bounds) -> Array:
    """argmin |A x - y| within the bounds (SciPy's active-set method, which wants low < high)."""
    from scipy.optimize import lsq_linear

    low, high = bounds
    free = low < high
    x = np.array(low)
    if free.any():
        rest = y - A[:, ~free] @ low[~free]
        x[free] = lsq_linear(
            A[:, free], rest, (low[free], high[free]), method="bvls", tol=1e-14, max_iter=10 * len(x)
        ).x
    return np.clip(x, low, high)


def _nearest_bounded_noisy(problem: Problem, x0: NDArray[Any], bounds: Bounds) -> Array:
    """argmin |A x - y|^2 + damp^2 |x - x0|^2 within the bounds, with the largest damp that keeps within the noise."""
    A, y = problem.real_matrix(), problem.system.y
    size = float(np.linalg.norm(A, 2))

    def solved(damp: float) -> Array:
        damped = np.vstack([A, damp * np.eye(problem.n)])
        return bounded_least_squares(damped, np.concatenate([y, damp * x0]), bounds)

    return within_noise(problem, solved, np.clip(x0, *bounds), size)


def within_noise(
    problem: Problem,
    solved: Callable[[float], NDArray[Any]],
    start: NDArray[Any],
    damp: float,
    watch: Watch | None = None,
) -> NDArray[Any]:
    """The solution with the largest damp (to a residual of 0.9999..1 of the noise) that explains y.

    `start` is the limit of an infinite damp; the residual of `solved` rises with damp. `watch` sees every solution.
    """
    watch = watch or Watch(None)
    radius = problem.tolerance()
    if problem.bounds is not None:
        x = bounded_least_squares(problem.real_matrix(), problem.system.y, problem.bounds)
        if problem.residual(x) > radius:
            return x
    if problem.residual(start) <= radius:
        return start
    low = damp
    while (inside := problem.residual(best := solved(low))) > radius:
        low /= 10
        if watch(best) or low <= damp * 1e-12:
            return best
    if watch(best):
        return best
    high, outside = math.inf, math.inf
    while inside < CLOSE * radius and high > low * (1 + 1e-9):
        middle = _between(low, high, inside, outside, radius)
        x = solved(middle)
        if watch(x):
            return x
        residual = problem.residual(x)
        if residual <= radius:
            low, inside, best = middle, residual, x
        else:
            high, outside = middle, residual
    return best


def _between(low: float, high: float, inside: float, outside: float, radius: float) -> float:
    """Where log residual against log damp would cross the radius, kept away from the ends of the bracket."""
    if high == math.inf:
        return low * 10
    slope = math.log(outside / inside) if inside > 0 else math.inf
    part = math.log(radius * (1 + CLOSE) / 2 / inside) / slope if 0 < slope < math.inf else 0.5
    return float(low * (high / low) ** min(max(part, 0.02), 0.98))


def nearest_matrix_free(problem: Problem, x0: NDArray[Any], iterations: int) -> tuple[NDArray[Any], int, bool]:
    """`nearest` without bounds and without A written out; how many steps it took, and whether they sufficed.

    D. C.-L. Fong and M. Saunders, "LSMR: an iterative algorithm for sparse least-squares problems", SIAM Journal on
    Scientific Computing 33(5), 2011: from zero on it stays in the range of A^H, and so finds the least norm.
    """
    from scipy.sparse.linalg import aslinearoperator, lsmr

    rest = problem.system.y - problem.system.forward(x0)
    operator = aslinearoperator(problem.system.operator)
    # no limit on the condition number, and as near as rounding allows
    tight = {"atol": 1e-13, "btol": 1e-13, "conlim": 0.0, "maxiter": iterations}
    steps, enough = 0, True

    def solved(damp: float) -> NDArray[Any]:
        nonlocal steps, enough
        change, reason, taken, *_ = lsmr(operator, rest, damp=damp, **tight)
        steps, enough = steps + int(taken), reason != 7
        return np.asarray(x0 + change)

    x = solved(0.0) if problem.noise == 0 else within_noise(problem, solved, x0, size_of(problem))
    return x, steps, enough


def size_of(problem: Problem) -> float:
    """About the size of A, from its effect on y."""
    return float(np.linalg.norm(problem.system.adjoint(problem.system.y))) / problem.scale
