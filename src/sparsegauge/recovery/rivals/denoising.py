"""Basis pursuit denoising: argmin sum w_i |x_i| subject to |A x - y| <= noise and bounds, along the Lasso's path."""

from __future__ import annotations

import math
import warnings

import numpy as np

from ..._arrays import Array
from ..._compiled import recover as kernels
from ..nearest import INSIDE, Bounds, Watch, within_noise
from ..problem import CONVERGED, STOPPED, Problem

SWEEPS = 20_000


def denoised(problem: Problem, weights: Array, bounds: Bounds) -> tuple[Array, int, int]:
    """The solution, its status, and the steps it took."""
    A, y = problem.real_matrix(), problem.system.y
    low, high = bounds
    if np.all(np.isinf(high)) and (np.all(np.isinf(low)) or np.all(low == 0)):
        x, steps = homotopy(A / weights, y, problem.tolerance(), positive=bool(low[0] == 0))
        if problem.residual(x / weights) <= problem.tolerance():
            return x / weights, CONVERGED, steps
    return _bounded(problem, weights, bounds)


def homotopy(
    A: Array, y: Array, radius: float, *, positive: bool = False, watch: Watch | None = None
) -> tuple[Array, int]:
    """The point where the path of argmin |A x - y|^2 / 2 + lambda |x|_1 enters |A x - y| <= radius, or its end.

    M. R. Osborne, B. Presnell and B. A. Turlach, "A new approach to variable selection in least squares problems",
    IMA Journal of Numerical Analysis 20(3), 2000; B. Efron et al., "Least angle regression", Annals of Statistics
    32(2), 2004. The path is linear between its corners, so the crossing is the root of a quadratic. `watch` sees the
    corners, and may end the path there.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path

    # scikit-learn ends the path at a correlation of 1e-7, whatever the units: in these that is next to nothing
    size, length = float(np.linalg.norm(y)) / 1e6, float(np.max(np.linalg.norm(A, axis=0)))
    with warnings.catch_warnings():  # an early end shows in the residual, which the callers look at
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = lars_path(A / length, y / size, method="lasso", positive=positive, max_iter=8 * A.shape[1])[2]
    corners = path.T * (size / length)
    residuals = y - corners @ A.T
    reached = np.flatnonzero(np.linalg.norm(residuals, axis=1) <= radius)
    k = int(reached[0]) if len(reached) else len(corners) - 1
    for corner in range(1, k + 1):
        if watch is not None and watch(corners[corner]):
            return corners[corner], corner
    if len(reached) == 0:
        return corners[-1], len(corners)
    if k == 0:
        return corners[0], 1
    t = _crossing(residuals[k - 1], residuals[k] - residuals[k - 1], radius * INSIDE)
    return corners[k - 1] + t * (corners[k] - corners[k - 1]), k


def _crossing(r: Array, d: Array, radius: float) -> float:
    """The smallest t in [0, 1] with |r + t d| = radius."""
    a, b, c = float(d @ d), float(r @ d), float(r @ r) - radius**2
    root = math.sqrt(max(b * b - a * c, 0.0))
    return min(c / (root - b), 1.0) if root > b else 1.0


def _bounded(problem: Problem, weights: Array, bounds: Bounds) -> tuple[Array, int, int]:
    """Any bounds: coordinate descent, and the largest lambda with a residual within the noise."""
    A, y = problem.real_matrix(), problem.system.y
    columns = np.ascontiguousarray(A.T)
    x, steps, converged = np.clip(np.zeros(problem.n), *bounds), 0, True

    def solved(penalty: float) -> Array:
        nonlocal x, steps, converged
        x = x.copy()
        settings = (penalty * weights, *bounds, 1e-9 * problem.scale, SWEEPS)
        sweeps = kernels.descend_coordinates(columns, y, *settings, x, np.empty(problem.n), np.empty(problem.m))
        steps, converged = steps + sweeps, sweeps < SWEEPS
        return x

    largest = float(np.max(np.abs(columns @ (y - A @ x)) / weights))
    x = within_noise(problem, solved, x, largest)
    return x, CONVERGED if converged else STOPPED, steps
