r"""How large the noise may be: its posterior distribution, by expectation propagation under a falling noise.

Where y is so noisy that a few large coefficients explain it nearly as well as many small ones with less noise, the
single support of the highest evidence says little of the noise: it takes weak coefficients for noise. Here all supports
count. Expectation propagation runs under one sigma^2 after the other, from more than |y|^2/M downwards, and each run
starts where the last one ended. The log evidence follows from its slope,

    d log p(y) / d log sigma^2 = (E |y - A x|^2 / sigma^2 - M) / 2,

with the mean over x given y (thermodynamic integration; A. Gelman and X.-L. Meng, "Simulating normalizing constants",
Statistical Science 13(2), 1998). The share of y that is noise, sigma^2 M / |y|^2, has the prior Beta(1, 3) of mean 1/4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from .._compiled import recover as kernels
from .ep import EP, Run, in_units
from .problem import Problem

LARGEST, SMALLEST, RATIO = 4.0, 1e-3, 0.8  # sigma^2 in units of |y|^2 / M, and from one to the next
SWEEPS_PER_SIZE = 10
EM_RATE = 0.1  # twice that of other runs: the prior changes with the noise
FIRST_DENSITY = 0.2  # non-zeros per measurement
PRIOR_OF_SHARE = (1.0, 3.0)  # Beta: y is rarely nothing but noise, and much noise is assumed rather than a dense x


@dataclass(frozen=True)
class NoiseSizes:
    """The sigma^2 that were tried, in units of |y|^2 / M, each with its mean of x and its log evidence.

    The log evidence is that over noise alone of the likeliest size.
    """

    variances: Array
    means: Array
    evidence: Array

    @property
    def weights(self) -> Array:
        """The posterior probability of each; they are equally spaced by their logarithm."""
        a, b = PRIOR_OF_SHARE
        less = np.maximum(1 - self.variances, np.finfo(float).tiny)
        logs = self.evidence + a * np.log(self.variances) + (b - 1) * np.log(less)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def quantiles(self, count: int) -> list[tuple[float, Array]]:
        """Return so many sigma^2 of equal probability, each with the mean of x under the nearest that was tried."""
        below = np.cumsum(self.weights) - 0.5 * self.weights
        logs = np.interp((np.arange(count) + 0.5) / count, below, np.log(self.variances))
        rows = [int(np.argmin(np.abs(np.log(self.variances) - log))) for log in logs]
        return [(math.exp(log), self.means[row]) for log, row in zip(logs, rows, strict=True)]


def weigh_noise_sizes(problem: Problem) -> NoiseSizes | None:
    """Return the sizes of the noise with their evidence, or None where rounding spoils it; A is written out."""
    scaled = in_units(problem.with_sigma(problem.scale / math.sqrt(problem.m)))
    run = EP(em_rate=EM_RATE, density=FIRST_DENSITY).start(scaled, "bernoulli-gauss", np.zeros(problem.n))
    count = math.ceil(math.log(SMALLEST / LARGEST, RATIO)) + 1
    variances: Array = LARGEST * np.power(RATIO, np.arange(count, dtype=np.float64))
    slopes, means = [], []
    for variance in variances:
        run.state[1:3] = variance
        kernels.propagate(run.work, SWEEPS_PER_SIZE)
        slopes.append(slope_of_evidence(run, scaled.B, scaled.b, variance))
        means.append(run.sites[2] * scaled.unit)
    steps = np.diff(np.log(variances))
    rises = np.cumsum(0.5 * np.add(slopes[1:], slopes[:-1]) * steps)
    m = problem.m
    alone = -0.5 * m * (math.log(LARGEST) + 1 / LARGEST - 1)  # noise alone of the first size, over that of size 1
    evidence = alone + np.concatenate([[0.0], rises])
    if not (np.isfinite(evidence).all() and np.isfinite(means).all()):
        return None
    return NoiseSizes(variances, np.array(means), evidence)


def slope_of_evidence(run: Run, B: Array, b: Array, variance: float) -> float:
    """Return d log p(b) / d log sigma^2 under the Gaussian that expectation propagation ended with."""
    m, spread = len(b), 1 / run.sites[0]
    inverse = np.linalg.inv(variance * np.eye(m) + (B * spread) @ B.T)
    left = variance * inverse @ (b - B @ (run.sites[1] * spread))
    determined = m - variance * float(np.trace(inverse))
    return 0.5 * (float(left @ left) / variance + determined - m)
