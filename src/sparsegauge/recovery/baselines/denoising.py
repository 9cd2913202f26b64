"""Basis pursuit denoising: argmin sum w_i |x_i| subject to |A x - y| <= noise and bounds, along the Lasso's path."""

from __future__ import annotations

import math
import warnings

import numpy as np

from ..._arrays import Array
from ..._compiled import recover as kernels
from ..problem import Problem
from ..projection import Bounds, nearest
from ..status import Status
from ..tolerances import AIM_WITHIN_NOISE, DESCENT_TOLERANCE
from .trials import Solution, Trials

SWEEPS = 20_000


def denoise(problem: Problem, weights: Array, bounds: Bounds) -> Solution:
    """Return argmin sum w_i |x_i| over what explains y within the noise and the bounds."""
    A, y = problem.real_matrix(), problem.y
    low, high = bounds
    if np.all(np.isinf(high)) and (np.all(np.isinf(low)) or np.all(low == 0)):
        path = homotopy(A / weights, y, problem.tolerance(), positive=bool(low[0] == 0))
        x = path[-1] / weights
        if problem.residual(x) <= problem.tolerance():
            return Solution(x, Status.CONVERGED, len(path))
    return _descend_within_bounds(problem, weights, bounds)


def homotopy(A: Array, y: Array, radius: float, *, positive: bool = False) -> Array:
    """Return the path of argmin |A x - y|^2 / 2 + lambda |x|_1 to where it enters |A x - y| <= radius, or to its end.

    M. R. Osborne, B. Presnell and B. A. Turlach, "A new approach to variable selection in least squares problems",
    IMA Journal of Numerical Analysis 20(3), 2000; B. Efron et al., "Least angle regression", Annals of Statistics
    32(2), 2004. The path is linear between its corners, so the crossing is the root of a quadratic. Each row is a
    corner, without the first, which is x = 0; the last row is the crossing, or the last corner if there is none.
    """
    corners = _corners(A, y, positive)
    residuals = y - corners @ A.T
    reached = np.flatnonzero(np.linalg.norm(residuals, axis=1) <= radius)
    if len(corners) == 1 or (len(reached) and reached[0] == 0):
        return corners[:1]
    if len(reached) == 0:
        return corners[1:]
    k = int(reached[0])
    t = _crossing(residuals[k - 1], residuals[k] - residuals[k - 1], radius * AIM_WITHIN_NOISE)
    return np.vstack([corners[1:k], corners[k - 1] + t * (corners[k] - corners[k - 1])])


def _corners(A: Array, y: Array, positive: bool) -> Array:
    """Return the corners of the whole path, as far as they are finite."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path

    # scikit-learn ends the path at a correlation of 1e-7, whatever the units: in these that is next to nothing
    size, length = float(np.linalg.norm(y)) / 1e6, float(np.max(np.linalg.norm(A, axis=0)))
    if size == 0 or length == 0:
        return np.zeros((1, A.shape[1]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # an early end shows in the residual
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = lars_path(A / length, y / size, method="lasso", positive=positive, max_iter=8 * A.shape[1])[2]
    broken = np.flatnonzero(~np.isfinite(path).all(axis=0))
    return np.asarray(path.T[: broken[0] if len(broken) else None] * (size / length))


def _crossing(r: Array, d: Array, radius: float) -> float:
    """Return the smallest t in [0, 1] with |r + t d| = radius."""
    a, b, c = float(d @ d), float(r @ d), float(r @ r) - radius**2
    root = math.sqrt(max(b * b - a * c, 0.0))
    return min(c / (root - b), 1.0) if root > b else 1.0


def _descend_within_bounds(problem: Problem, weights: Array, bounds: Bounds) -> Solution:
    """Use coordinate descent within any bounds, and the largest lambda with a residual within the noise."""
    A, y = problem.real_matrix(), problem.y
    columns = np.ascontiguousarray(A.T)
    start = x = np.clip(np.zeros(problem.n), *bounds)

    def solve(penalty: float) -> Solution:
        nonlocal x
        x = x.copy()
        settings = (penalty * weights, *bounds, DESCENT_TOLERANCE * problem.scale, SWEEPS)
        sweeps = kernels.descend_coordinates(columns, y, *settings, x, np.empty(problem.n), np.empty(problem.m))
        return Solution(x, Status.CONVERGED if sweeps < SWEEPS else Status.ITERATION_LIMIT, int(sweeps))

    largest = float(np.max(np.abs(columns @ (y - A @ x)) / weights))
    return _explain(problem, Trials(solve).run(problem, start, largest))


def _explain(problem: Problem, solution: Solution) -> Solution:
    """Return the nearest x that explains y, where the noise is below what coordinate descent resolves."""
    if problem.residual(solution.x) <= problem.tolerance():
        return solution
    x = nearest(problem, solution.x)
    is_explained = problem.residual(x) <= problem.tolerance()
    return solution._replace(x=x, status=Status.ITERATION_LIMIT) if is_explained else solution
