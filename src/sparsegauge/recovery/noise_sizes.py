r"""The posterior distribution of the size of the noise, by expectation propagation under one size after the other.

Where y is so noisy that a few large coefficients explain it nearly as well as many small ones with less noise, the
single support of the highest evidence says little of the noise: it takes weak coefficients for noise. Here all supports
count. Expectation propagation runs under one sigma^2 after the other, from more than |y|^2/M downwards, and each run
starts where the last one ended. The log evidence follows from its slope,

    d log p(y) / d log sigma^2 = (E |y - A x|^2 / sigma^2 - M) / 2,

with the mean over x given y (thermodynamic integration; A. Gelman and X.-L. Meng, "Simulating normalizing constants",
Statistical Science 13(2), 1998). Where there is more than one solution, a falling noise follows one of them; a run
under a rising noise, from the best sparse x that is known, finds the other, and both count by their evidence. They meet
where the noise is large. The share of y that is noise, sigma^2 M / |y|^2, has the prior Beta(1, 6) of mean 1/7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from .._compiled import recover as kernels
from .ep import EP, PropagationRun, ScaledEquations, in_units
from .problem import Problem

LARGEST_NOISE = 4.0  # sigma^2 in units of |y|^2 / M
SMALLEST_NOISE = 1e-3
NOISE_RATIO = 0.75  # of one sigma^2 and the next
SWEEPS_PER_SIZE = 8
EM_RATE = 0.1  # twice that of other runs: the prior changes with the noise
FIRST_DENSITY = 0.2  # non-zeros per measurement
LARGEST_DENSITY = 0.9
VARIANCE_OF_ZEROS = 1e-3  # of the sparse x that a rising noise starts from, in mean squares of x
SAME_SOLUTION = 0.1  # relative difference of two means
BETA_PRIOR_OF_NOISE_SHARE = (1.0, 6.0)  # y is rarely nothing but noise, and the exact search covers almost none


@dataclass(frozen=True)
class NoiseSizes:
    """The sigma^2 that were tried, in units of |y|^2 / M, each with its mean of x and its log evidence.

    They fall, and come once for each solution that expectation propagation has there. The log evidence is that over
    noise alone of the likeliest size.
    """

    variances: Array
    means: Array
    evidence: Array

    @property
    def rise(self) -> float:
        """The log evidence of the likeliest size over that of the smallest: what speaks for noise."""
        return float(self.evidence.max() - self.evidence[-1])

    @property
    def weights(self) -> Array:
        """The posterior probability of each; they are equally spaced by their logarithm."""
        a, b = BETA_PRIOR_OF_NOISE_SHARE
        less = np.maximum(1 - self.variances, np.finfo(float).tiny)
        logs = self.evidence + a * np.log(self.variances) + (b - 1) * np.log(less)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def quantiles(self, count: int) -> list[tuple[float, Array]]:
        """Return this many sigma^2 of equal probability, each with the mean of x that was found under it."""
        shares, upto = (np.arange(count) + 0.5) / count, np.cumsum(self.weights)
        rows = np.minimum(np.searchsorted(upto, shares), len(upto) - 1)
        logs = np.interp(shares, upto - 0.5 * self.weights, np.log(self.variances))
        return [(math.exp(log), self.means[row]) for log, row in zip(logs, rows, strict=True)]

    def with_solutions_from(self, problem: Problem, x: Array, variance: float) -> NoiseSizes:
        """Return these, and the other solutions that a rising noise leads through from a sparse x under a sigma^2.

        Where there is more than one solution, the falling noise alone follows the one that more noise prefers.
        """
        scaled, nonzeros = in_units(_with_noise(problem)), int(np.count_nonzero(x))
        density = min(max(nonzeros, 1) / problem.m, LARGEST_DENSITY)
        run = EP(em_rate=EM_RATE, density=density).start(scaled, "bernoulli-gauss", np.zeros(problem.n))
        run.sites[0] = np.where(x != 0, density * problem.m / problem.n, 1 / VARIANCE_OF_ZEROS)
        rows = np.flatnonzero(self.variances >= variance)[::-1]
        if len(rows) < 2:
            return self
        _propagate(run, self.variances[rows[0]])
        slopes, means = _follow(run, scaled, self.variances[rows])
        rises = _integrate(slopes[::-1], self.variances[rows[::-1]])[::-1]
        differs = np.linalg.norm(means - self.means[rows], axis=1) > SAME_SOLUTION * np.linalg.norm(means, axis=1)
        if not (np.isfinite(rises).all() and np.isfinite(means).all()):
            return self
        variances = np.concatenate([self.variances, self.variances[rows[differs]]])
        evidence = np.concatenate([self.evidence, self.evidence[0] + rises[differs]])
        falling = np.argsort(-variances, kind="stable")
        return NoiseSizes(variances[falling], np.concatenate([self.means, means[differs]])[falling], evidence[falling])


def weigh_noise_sizes(problem: Problem) -> NoiseSizes | None:
    """Return the sizes of the noise with their evidence, or None if rounding errors dominate it; A is written out."""
    scaled = in_units(_with_noise(problem))
    run = EP(em_rate=EM_RATE, density=FIRST_DENSITY).start(scaled, "bernoulli-gauss", np.zeros(problem.n))
    count = math.ceil(math.log(SMALLEST_NOISE / LARGEST_NOISE, NOISE_RATIO)) + 1
    variances: Array = LARGEST_NOISE * np.power(NOISE_RATIO, np.arange(count, dtype=np.float64))
    slopes, means = _follow(run, scaled, variances)
    alone = (
        -0.5 * problem.m * (math.log(LARGEST_NOISE) + 1 / LARGEST_NOISE - 1)
    )  # noise of the first size, over that of size 1
    evidence = alone + _integrate(slopes, variances)
    if not (np.isfinite(evidence).all() and np.isfinite(means).all()):
        return None
    return NoiseSizes(variances, means, evidence)


def _with_noise(problem: Problem) -> Problem:
    """Return the problem with noise of the size of y, which sets the units."""
    return problem.with_sigma(problem.scale / math.sqrt(problem.m))


def _follow(run: PropagationRun, scaled: ScaledEquations, variances: Array) -> tuple[Array, Array]:
    """Return the slope of the evidence and the mean of x under one sigma^2 after the other."""
    slopes, means = [], []
    for variance in variances:
        _propagate(run, variance)
        slopes.append(slope_of_evidence(run, scaled.B, scaled.b, variance))
        means.append(run.sites[2] * scaled.unit)
    return np.array(slopes), np.array(means)


def _propagate(run: PropagationRun, variance: float) -> None:
    run.state[1:3] = variance
    kernels.propagate(run.work, SWEEPS_PER_SIZE)


def _integrate(slopes: Array, variances: Array) -> Array:
    """Return the integrals of the slopes over log sigma^2, from the first on."""
    steps = np.diff(np.log(variances))
    return np.concatenate([[0.0], np.cumsum(0.5 * (slopes[1:] + slopes[:-1]) * steps)])


def slope_of_evidence(run: PropagationRun, B: Array, b: Array, variance: float) -> float:
    """Return d log p(b) / d log sigma^2 under the Gaussian that expectation propagation ended with."""
    m, spread = len(b), 1 / run.sites[0]
    inverse = np.linalg.inv(variance * np.eye(m) + (B * spread) @ B.T)
    left = variance * inverse @ (b - B @ (run.sites[1] * spread))
    determined = m - variance * float(np.trace(inverse))
    return 0.5 * (float(left @ left) / variance + determined - m)
