"""The nearest x that explains y: exactly or up to noise, free or within bounds, with a matrix or without."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .problem import Problem
from .system import Reduced, scale_by_power
from .tolerances import AIM_WITHIN_NOISE, BOUNDED_TOLERANCE, EXACT, LAST_BRACKET, LEAST_DAMP, SOLVED

Bounds = tuple[Array, Array]
Search = Generator[NDArray[Any], None, NDArray[Any]]  # yields trial solutions, returns the best

LEAST_RESIDUAL_ON_SPHERE = 0.9999  # share of the noise bound: a closer one would cost further solves
EPS = float(np.finfo(float).eps)


def is_noisy(problem: Problem) -> bool:
    """Return whether the noise allows more than what rounding and least squares leave."""
    return problem.noise > 0 and problem.noise >= problem.tolerance()


def nearest(problem: Problem, x0: NDArray[Any]) -> NDArray[Any]:
    """Return argmin |x - x0| over the x that explain y within the noise and the bounds; A is written out.

    Where no x within the bounds explains y, return the one that comes nearest to it in the least-squares sense.
    """
    if problem.bounds is None:
        return problem.reduced.project(x0) if problem.noise == 0 else Ball.of(problem).nearest(x0)
    if problem.noise == 0:
        return _nearest_bounded(problem.reduced, x0, problem.bounds)
    return _nearest_bounded_noisy(problem, x0, problem.bounds)


def within_bounds(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return x where it keeps to the bounds, else the nearest solution that does; A is written out."""
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
        """Return the solutions of a noisy problem."""
        A = problem.matrix()
        return cls(A, problem.y, problem.tolerance(), *np.linalg.svd(A, full_matrices=False))

    def nearest(self, x0: NDArray[Any]) -> NDArray[Any]:
        """Return x0 + A^H (A A^H + lambda)^-1 (y - A x0), with the lambda that puts it on the sphere."""
        r = self.y - self.A @ x0
        if np.linalg.norm(r) <= self.radius:
            return x0
        c = self.U.conj().T @ r
        misfit = float(np.linalg.norm(r - self.U @ c))
        left = math.sqrt(max(self.radius**2 - misfit**2, 0.0))
        mu = multiplier(self.s**2, c, left, negligible=(max(self.A.shape) * EPS) ** 2)
        return np.asarray(x0 + self.Vh.conj().T @ (mu * self.s * c / (1 + mu * self.s**2)))


def multiplier(d: Array, c: NDArray[Any], radius: float, *, negligible: float | None = None) -> float:
    """Return the mu = 1/lambda with |c / (1 + mu d)| = radius: what is left of c after damped least squares.

    Newton's steps on 1/|c / (1 + mu d)|, which is concave in mu: they approach from the left and never overshoot
    (J. J. More, "The Levenberg-Marquardt algorithm", Lecture Notes in Mathematics 630, 1978). Entries of d below
    `negligible` times the largest count as zero: by default what rounding leaves of eigenvalues. Where even the largest
    mu leaves more than the radius, that mu is returned.
    """
    reached = d > d.max(initial=0.0) * (len(d) * EPS if negligible is None else negligible)
    if not reached.any():
        return 0.0
    misfit = float(np.linalg.norm(c[~reached]))  # what no mu brings down
    radius = math.sqrt(max(radius**2 - misfit**2, 0.0))
    of_d, of_c = (math.frexp(float(np.max(np.abs(values))))[1] for values in (d, c))  # powers of two round nothing
    d, c, radius = np.ldexp(d[reached], -of_d), scale_by_power(c[reached], -of_c), math.ldexp(radius, -of_c)
    return math.ldexp(_increase_until_within(d, np.abs(c) ** 2, radius), -of_d)


def _increase_until_within(d: Array, power: Array, radius: float) -> float:
    """Return the mu with sum power / (1 + mu d)^2 = radius^2, by Newton's steps."""
    target, mu = radius * AIM_WITHIN_NOISE, 0.0
    if target == 0:
        return 1 / (EPS * float(d.min())) if power.any() else 0.0
    while True:
        damping = 1 / (1 + mu * d)
        square = float(np.sum(power * damping**2))
        left = math.sqrt(square)
        slope = float(np.sum(power * d * damping**3))
        step = square * (left / target - 1) / slope if slope > 0 else math.inf
        if left <= radius or not mu < mu + step < math.inf:
            return mu
        mu += step


def damped_dual(d: Array, c: NDArray[Any], radius: float) -> NDArray[Any]:
    """Return mu c / (1 + mu d) with the `multiplier` mu, and zero where rounding is all that d consists of.

    With d and the rows of c in the basis of the eigenvectors of A Q A^H, that is the dual z of argmin sum |x|^2 / q
    subject to |A x - y| <= radius: x = Q A^H z.
    """
    d = np.maximum(d, 0.0)
    mu = multiplier(d, c, radius)
    return np.where(d > d.max(initial=0.0) * len(d) * EPS, mu * c / (1 + mu * d), 0.0)


def _nearest_bounded(reduced: Reduced, x0: NDArray[Any], bounds: Bounds) -> Array:
    """Solve the least distance program min |z| with low <= x + V z <= high, V spanning the null space of B.

    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23: with G z >= h for the bounds,
    r = E u - f of the non-negative least squares problem E = [G^T; h^T], f = (0, ..., 0, 1) gives z = -r_z / r_last,
    and r = 0 says that there is no solution.
    """
    if reduced.rank == 0:
        return np.asarray(np.clip(x0, *bounds))
    x = reduced.project(x0)
    scale = float(np.linalg.norm(x)) or 1.0
    V = np.linalg.svd(reduced.B)[2][reduced.rank :].T
    (below, low), (above, high) = ((np.isfinite(side), side) for side in bounds)
    G = np.vstack([V[below], -V[above]])
    h = np.concatenate([low[below] - x[below], x[above] - high[above]]) / scale
    if np.all(h <= 0):
        return x
    r = _non_negative_residual(np.vstack([G.T, h]))
    if r[-1] < 0:
        x = np.clip(x - scale * (V @ (r[:-1] / r[-1])), *bounds)
        if np.linalg.norm(reduced.b - reduced.B @ x) <= EXACT * np.linalg.norm(reduced.b):
            return np.asarray(x)
    return bounded_least_squares(reduced.B, reduced.b, bounds)


def _non_negative_residual(E: Array) -> Array:
    """Return E u - f of the best u >= 0, f = (0, ..., 0, 1); zeros where there are too many iterations to find it."""
    from scipy.optimize import nnls

    f = np.zeros(len(E))
    f[-1] = 1.0
    try:
        return np.asarray(E @ nnls(E, f, maxiter=30 * E.shape[1])[0] - f)
    except RuntimeError:
        return np.zeros(len(E))


def fitted(B: NDArray[Any], b: NDArray[Any], columns: Indices) -> NDArray[Any]:
    """Return argmin |B x - b| over the x that are zero but on the given columns."""
    x = np.zeros(B.shape[1], np.result_type(B, b))
    x[columns] = np.linalg.lstsq(B[:, columns], b, rcond=None)[0]
    return x


def bounded_least_squares(A: Array, y: Array, bounds: Bounds) -> Array:
    """Return argmin |A x - y| within the bounds (SciPy's active-set method, which wants low < high)."""
    from scipy.optimize import lsq_linear

    low, high = bounds
    free = low < high
    if A.size == 0:
        return np.clip(np.zeros(A.shape[1]), low, high)
    x = np.array(low)
    if free.any():
        rest = y - A[:, ~free] @ low[~free]
        x[free] = lsq_linear(
            A[:, free], rest, (low[free], high[free]), method="bvls", tol=BOUNDED_TOLERANCE, max_iter=10 * len(x)
        ).x
    return np.clip(x, low, high)


def _nearest_bounded_noisy(problem: Problem, x0: NDArray[Any], bounds: Bounds) -> Array:
    """Return argmin |A x - y|^2 + damp^2 |x - x0|^2 within the bounds, with the largest damp that explains y."""
    A, y = problem.real_matrix(), problem.y
    size = float(np.linalg.norm(A, 2))

    def solve(damp: float) -> Array:
        damped = np.vstack([A, damp * np.eye(problem.n)])
        return bounded_least_squares(damped, np.concatenate([y, damp * x0]), bounds)

    return run(within_noise(problem, solve, np.clip(x0, *bounds), size))


def run(search: Search) -> NDArray[Any]:
    """Run a search to its end, and return what it found."""
    while True:
        try:
            next(search)
        except StopIteration as end:
            return np.asarray(end.value)


def within_noise(problem: Problem, solve: Callable[[float], NDArray[Any]], start: NDArray[Any], damp: float) -> Search:
    """Search for the solution with the largest damp that explains y, to a residual of 0.9999..1 of the noise.

    `start` is the limit of an infinite damp; the residual of `solve` rises with damp. Yields every solution that was
    tried but the last, and returns the best of all.
    """
    radius = problem.tolerance()
    if problem.bounds is not None:
        x = bounded_least_squares(problem.real_matrix(), problem.y, problem.bounds)
        if problem.residual(x) > radius:
            return x
    if problem.residual(start) <= radius:
        return start
    low = damp = damp or 1.0
    best = solve(low)
    while not (inside := problem.residual(best)) <= radius:
        low /= 10
        if low <= damp * LEAST_DAMP:
            return best
        yield best
        best = solve(low)
    high, outside, latest = math.inf, math.inf, best
    while inside < LEAST_RESIDUAL_ON_SPHERE * radius and high > low * (1 + LAST_BRACKET):
        yield latest
        middle = _between(low, high, inside, outside, radius)
        latest = solve(middle)
        residual = problem.residual(latest)
        if residual <= radius:
            low, inside, best = middle, residual, latest
        else:
            high, outside = middle, residual
    return best


def _between(low: float, high: float, inside: float, outside: float, radius: float) -> float:
    """Return where log residual against log damp would cross the radius, away from the ends of the bracket."""
    if high == math.inf:
        return low * 10
    slope = math.log(outside / inside) if inside > 0 else math.inf
    part = math.log(radius * (1 + LEAST_RESIDUAL_ON_SPHERE) / 2 / inside) / slope if 0 < slope < math.inf else 0.5
    return float(low * (high / low) ** min(max(part, 0.02), 0.98))


def nearest_matrix_free(problem: Problem, x0: NDArray[Any], iterations: int) -> tuple[NDArray[Any], int, bool]:
    """Return `nearest` without bounds and without A written out, the steps it took, and whether they sufficed.

    D. C.-L. Fong and M. Saunders, "LSMR: an iterative algorithm for sparse least-squares problems", SIAM Journal on
    Scientific Computing 33(5), 2011: from zero on it stays in the range of A^H, and so finds the least norm.
    """
    from scipy.sparse.linalg import aslinearoperator, lsmr

    rest = problem.y - problem.system.forward(x0)
    operator = aslinearoperator(problem.system.operator)
    # no limit on the condition number, and as near as rounding allows
    tight = {"atol": SOLVED, "btol": SOLVED, "conlim": 0.0, "maxiter": iterations}
    steps, enough = 0, True

    def solve(damp: float) -> NDArray[Any]:
        nonlocal steps, enough
        change, reason, taken, *_ = lsmr(operator, rest, damp=damp, **tight)
        steps, enough = steps + int(taken), reason != 7
        return np.asarray(x0 + change)

    x = solve(0.0) if problem.noise == 0 else run(within_noise(problem, solve, x0, size_of(problem)))
    return x, steps, enough


def size_of(problem: Problem) -> float:
    """Return about the size of A, from its effect on y."""
    exponent = math.frexp(problem.scale)[1]
    y = scale_by_power(problem.y, -exponent)
    return float(np.linalg.norm(problem.system.adjoint(y))) / (math.ldexp(problem.scale, -exponent) or 1.0)
