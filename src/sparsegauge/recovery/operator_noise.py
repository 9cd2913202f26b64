r"""Estimate the size of the noise in y, where A is an operator and the noise is not given.

Message passing sees r = x + white noise of variance v. The residual of its x says how large the errors of x and the
noise in y are together, and so leaves a range for v: from `low`, where y is exact, to `high`, where all of it is noise
in y. The distribution of r shows where in between v lies. With x from a scale mixture of normal distributions,

    r ~ sum_k pi_k N(0, v + s_k),    s_0 = 0 < s_1 < s_2 < ...,

the likelihood, maximised over the weights pi by the EM algorithm, is flat for v that are too small, since small s_k
make up for them, and falls where v is larger than the variance of those r whose x is zero or nearly so. Large
coefficients that tend to be together, as those of pictures do, say where these r are: beside others that are small.
y is noisy if nearly all that is left of it may be noise: to call small coefficients noise costs less than to call
noise coefficients.

Measurements that no x explains show the noise directly: `noise_outside_range`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .problem import Problem
from .projection import nearest_matrix_free
from .shrinkage import neighbours
from .tolerances import HISTOGRAM_MARGIN

LIKELY_DROP = 1.0  # of the log-likelihood below its maximum
PLAUSIBLE_DROP = 3.0  # the same, for what cannot be refuted
VARIANCES_TRIED = 6  # from the least to the largest
EM_STEPS = 1000
VARIANCE_RATIO = 4.0  # of one s_k and the next
LEAST_SQUARES_STEPS = 60
NOISE_DRAWS = 4
LEAST_SHARE_OUTSIDE_RANGE = 0.03  # root of the share of white noise that least squares must leave to estimate it
FINE_BINS = 240  # of the histogram of |r|
FINE_END = 6.0  # in units of the root of the largest v
COARSE_BINS = 60


class Variance(NamedTuple):
    """The variance of the noise in r: about the largest that is likely, and the largest that is not refuted."""

    likely: float
    largest: float


def estimate_variance(r: NDArray[Any], low: float, high: float) -> Variance:
    """Return the variance of the noise in r, from `low` to `high`, by the distribution of r."""
    counts, squares = _histogram(_quieter_half(r, high), high)
    freedom = 2 if np.iscomplexobj(r) else 1
    variances = np.linspace(low, high, VARIANCES_TRIED)
    likelihoods = np.array([_log_likelihood(counts, squares, v, high, freedom) for v in variances])
    return Variance(
        *(_last_above(variances, likelihoods - likelihoods.max() + fall) for fall in (LIKELY_DROP, PLAUSIBLE_DROP))
    )


def _last_above(x: Array, values: Array) -> float:
    """Return the last x at which the interpolated values are not negative."""
    last = int(np.flatnonzero(values >= 0)[-1])
    if last == len(x) - 1:
        return float(x[-1])
    return float(x[last] + values[last] / (values[last] - values[last + 1]) * (x[last + 1] - x[last]))


def _quieter_half(r: NDArray[Any], unit: float) -> NDArray[Any]:
    """Return the half of r with the smaller neighbours, where large ones tend to be together; else all."""
    beside, are_alike = neighbours(np.abs(r) / math.sqrt(unit))
    return r[beside <= np.median(beside)] if are_alike else r


def _histogram(r: NDArray[Any], unit: float) -> tuple[Array, Array]:
    """Return how many magnitudes of r there are in each bin that is not empty, and the mean square in the bin."""
    squares = np.abs(r) ** 2
    magnitudes = np.sqrt(squares / unit)
    end = max(2 * FINE_END, float(magnitudes.max()) * (1 + HISTOGRAM_MARGIN))
    fine = np.linspace(0, FINE_END, FINE_BINS, endpoint=False)
    edges = np.concatenate([fine, np.geomspace(FINE_END, end, COARSE_BINS)])
    counts = np.histogram(magnitudes, edges)[0]
    sums = np.histogram(magnitudes, edges, weights=squares)[0]
    filled = counts > 0
    return counts[filled].astype(float), sums[filled] / counts[filled]


def _log_likelihood(counts: Array, squares: Array, v: float, unit: float, freedom: int) -> float:
    """Return the likelihood of v with the best weights of the mixture, up to a constant."""
    largest = max(float(squares.max()) / unit, 1.0)
    scales = unit * VARIANCE_RATIO ** np.arange(-1, math.ceil(math.log(largest, VARIANCE_RATIO)) + 1)
    of_components = (v + np.concatenate([[0.0], scales]))[:, None]
    logarithms = -freedom / 2 * (np.log(of_components) + squares / of_components)
    highest = logarithms.max(axis=0)
    densities = np.exp(logarithms - highest)
    weights = np.full(len(densities), 1 / len(densities))
    for _ in range(EM_STEPS):
        weights = weights * (densities @ (counts / (weights @ densities))) / counts.sum()
    return float(counts @ (np.log(weights @ densities) + highest))


def noise_outside_range(problem: Problem, x: NDArray[Any]) -> float:
    """Return the standard deviation of noise that explains what least squares from x on leave of y; 0 if nothing.

    Least squares leave a part of the energy of white noise that depends on A alone, and so is seen on other noise that
    is drawn for it. Where they take many steps, nothing is said.
    """
    nearest, _, has_ended = nearest_matrix_free(problem, x, LEAST_SQUARES_STEPS)
    left = problem.residual(nearest)
    if not has_ended or left <= problem.explained_below:
        return 0.0
    parts = [_part_outside_range(problem, x.dtype, seed) for seed in range(NOISE_DRAWS)]
    part = math.sqrt(sum(parts) / NOISE_DRAWS)
    return left / (part * math.sqrt(problem.m)) if part > LEAST_SHARE_OUTSIDE_RANGE else 0.0


def _part_outside_range(problem: Problem, kind: np.dtype[Any], seed: int) -> float:
    """Return the part of the energy of white noise that least squares leave."""
    rng = np.random.default_rng(seed)
    white: NDArray[Any] = rng.standard_normal(problem.m)
    if np.iscomplexobj(problem.y):
        white = white + 1j * rng.standard_normal(problem.m)
    trial = problem.with_y(white)
    return (
        trial.residual(nearest_matrix_free(trial, np.zeros(problem.n, kind), LEAST_SQUARES_STEPS)[0]) / trial.scale
    ) ** 2


def noise_left(problem: Problem, x: NDArray[Any], otherwise: float) -> float:
    """Return the standard deviation of what a sparse x leaves of y; `otherwise` where x is not sparse."""
    of_y, of_x = (2 if np.iscomplexobj(values) else 1 for values in (problem.y, x))  # real parts of each
    measurements, unknowns = of_y * problem.m, of_x * int(np.count_nonzero(x))
    if unknowns > measurements / 2:
        return otherwise
    return problem.residual(x) / math.sqrt(problem.m * (1 - unknowns / measurements))
