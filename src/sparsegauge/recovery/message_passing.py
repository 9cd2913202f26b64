"""MessagePassing: vector approximate message passing, with a prior that is learnt from the signal.

The equations are B x = b with orthonormal rows (the singular value decomposition of A). A step takes x = r + error,
whose errors look like independent normal ones of variance v, and

    r <- r + B' (b - B r) N/M         v <- (N/M - 1) |b - B r|^2 / M        uses the equations (without noise),
    r, v <- what the posterior mean and variance of x given r add to r      uses the prior.

The prior of a coefficient is a spike at zero, and a slab whose density is constant between given edges: a mixture of
uniform distributions. All unimodal slabs are such mixtures (Khinchin), whatever their tails, and so are slabs at one
level. Their weights and the share of non-zeros are learnt as it goes (EM). For large N, a Gaussian A and exact y the
variances follow the scalar recursion v <- mmse(v) N/M ("state evolution"), so that the signal is found if
mmse(v) < v M/N for all v: `benchmarks/phase_transition.py` computes that threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._arrays import Array
from .driver import Iterate
from .exact_search import exact_fit, find_exact
from .problem import Problem
from .projection import nearest
from .solver import Capabilities, Solver, choices, count, real
from .status import Status
from .tolerances import FOUND_VARIANCE, LEAST_PASSED_VARIANCE, LEAST_SHRINKAGE

# of each slab, the first shares of non-zeros to try, in units of M/N: found at N = 1000, .03 above the thresholds
FIRST_DENSITIES = {"normal": (0.75, 0.9), "uniform": (0.5, 0.8), "exponential": (0.5, 0.75), "level": (0.5, 0.8)}
SLABS = tuple(FIRST_DENSITIES)
COMPONENT_WIDTHS = np.geomspace(0.12, 6.0, 12)  # of the uniform components, in standard deviations of the slab
BIN_EDGES = np.arange(0.15, 3.0, 0.15)  # upper edges for a slab that need not be unimodal, in the same unit
LEVEL_SPREAD = 0.3  # relative width of the first slab at one level
STEPS_BETWEEN_CHECKS = 25
FARTHEST_EDGE = 38.0  # in standard deviations: normal densities are negligible beyond
CLEAR_ERROR = 1e-3  # variance in units of the mean square of x, from which the support can be read off
MOST_SHRINKAGE = 0.999  # posterior variance in units of v
LEAST_DENSITY = 1e-3  # share of non-zeros
MOST_DENSITY = 0.98  # the same in units of M/N
SURELY_ONE_SIDED = 2.0  # sum of the least-norm solution over its norm, which is about standard normal for random signs
LEAST_ONE_SIDED = 0.7  # mean over root mean square of coefficients of one sign
DEVIATIONS_OF_SUM = 3.5  # by chance
LEAST_NONZEROS_PER_MEASUREMENT = 0.25  # of signals that are not easy
STEPS_OF_EVERY_RUN = 75  # runs that succeed do so early
PROMISING_RUNS = 3  # that go on after these steps


class Slab(NamedTuple):
    """Densities on bins: component k has the constant density `densities[k, j]` between edges j and j + 1."""

    edges: Array
    densities: Array
    weights: Array

    @property
    def heights(self) -> Array:
        """The density of the mixture on each bin."""
        return np.asarray(self.weights @ self.densities)


class Posterior(NamedTuple):
    """Moments of x given r = x + noise: for each coefficient, and the odds of each bin over its density in all."""

    mean: Array
    variance: Array
    inclusion: Array
    bins: Array


class PassedMessages(NamedTuple):
    """The state of a run: posterior means and inclusion probabilities, and the error variance that is left."""

    x: Array
    inclusion: Array
    error: float  # in units of the mean square of x
    ended: bool
    converged: bool


@dataclass(frozen=True, kw_only=True)
class MessagePassing(Solver):
    """Vector approximate message passing with a spike and a learnt slab, for up to thousands of unknowns.

    A step costs two products with the M x N matrix. Each slab is run from several first shares of non-zeros, one-sided
    and symmetric, the likelier of the two first, until the most probable coefficients explain y exactly [1, 2, 3]. It
    needs a dense A without much structure, such as a Gaussian matrix.

    Parameters
    ----------
    slabs : tuple of {"normal", "uniform", "exponential", "level"}
        The initial shapes of the density of the non-zero coefficients. The first three stay unimodal, with their mode
        at zero; the last one may become any histogram, and finds equal magnitudes.
    steps : int
        The largest number of steps in a run.
    damping : float
        The size of a step: 1 is the full step.
    em_rate : float
        The size of a step of EM: 1 is the full step.
    tolerance : float
        A run ends when a step changes x, relatively, by less.

    References
    ----------
    .. [1] S. Rangan, P. Schniter, A. K. Fletcher, Vector approximate message passing, IEEE Transactions on Information
       Theory 65 (2019).
    .. [2] J. P. Vila, P. Schniter, Expectation-maximization Gaussian-mixture approximate message passing, IEEE
       Transactions on Signal Processing 61 (2013).
    .. [3] F. Krzakala, M. Mezard, F. Sausset, Y. Sun, L. Zdeborova, Probabilistic reconstruction in compressed sensing:
       algorithms, phase diagrams, and threshold achieving matrices, Journal of Statistical Mechanics (2012) P08009.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> x = sg.sparse_signal(500, 150, "normal", rng=0)
    >>> A = sg.gaussian_matrix(275, 500, rng=1)
    >>> bool(np.allclose(sg.recover(A, A @ x, solver=sg.MessagePassing()).x, x))
    True
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="one sign")

    slabs: tuple[str, ...] = choices(SLABS, SLABS)
    steps: int = count(300, least=1)
    damping: float = real(0.8, low=0, high=1, high_included=True)
    em_rate: float = real(0.3, low=0, high=1, low_included=True, high_included=True)
    tolerance: float = real(1e-5, low=0)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield run after run, until one explains y exactly with fewer coefficients than equations."""
        for estimate in self.runs(problem):
            found = explain(problem, estimate)
            if found is not None:
                yield Iterate(found, steps=STEPS_BETWEEN_CHECKS, status=Status.CONVERGED)
                return
            status = Status.CONVERGED if estimate.converged else Status.ITERATION_LIMIT
            yield Iterate(estimate.x, steps=STEPS_BETWEEN_CHECKS, status=status if estimate.ended else None)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y."""
        return x if problem.residual(x) <= problem.tolerance() else nearest(problem, x)

    def runs(self, problem: Problem) -> Iterator[PassedMessages]:
        """Yield the state of each run every few steps; only those with the least error go on after the first ones."""
        if problem.reduced.rank == 0:
            yield PassedMessages(problem.start(), np.zeros(problem.n), 1.0, ended=True, converged=True)
            return
        runs = [
            self._run(problem, slab, FIRST_DENSITIES[slab][turn], side)
            for side in likely_sides(problem)
            for turn in range(2)
            for slab in self.slabs
        ]
        unfinished: list[tuple[float, int]] = []
        for number, run in enumerate(runs):
            for checks, estimate in enumerate(run, 1):
                yield estimate
                if not estimate.ended and checks * STEPS_BETWEEN_CHECKS >= STEPS_OF_EVERY_RUN:
                    unfinished.append((estimate.error, number))
                    break
        for _, number in sorted(unfinished)[:PROMISING_RUNS]:
            yield from runs[number]

    def _run(self, problem: Problem, name: str, first_density: float, side: int) -> Iterator[PassedMessages]:
        B, b = problem.reduced.B, problem.reduced.b
        m, n = B.shape
        ratio, power = m / n, float(b @ b) / m
        rho = first_density * ratio
        slab = first_slab(name, math.sqrt(power / rho), side)
        r, x, noise = np.zeros(n), np.zeros(n), noise_variances(problem)
        for step in range(1, self.steps + 1):
            left = b - B @ r
            before = max(float(left @ left) / m - float(noise.mean()), LEAST_PASSED_VARIANCE * power)
            gain = before / (before + noise)
            share = ratio * float(gain.mean())
            pseudo_data = r + B.T @ (gain * left) / share
            variance = max(before * (1 / share - 1), LEAST_PASSED_VARIANCE * power)
            posterior = denoise(pseudo_data, variance, rho, slab)
            slab, rho = self._learn(slab, rho, posterior, ratio)
            change, x = float(np.linalg.norm(posterior.mean - x)), posterior.mean
            r = _mix(r, _extrinsic(pseudo_data, variance, posterior), self.damping if step > 1 else 1.0)
            converged = variance < FOUND_VARIANCE * power or change < self.tolerance * float(np.linalg.norm(x))
            ended = converged or step == self.steps
            if ended or step % STEPS_BETWEEN_CHECKS == 0:
                yield PassedMessages(x, posterior.inclusion, variance / power, ended, converged)
            if ended:
                return

    def _learn(self, slab: Slab, rho: float, posterior: Posterior, ratio: float) -> tuple[Slab, float]:
        """Return slab and share of non-zeros after a step of EM; more non-zeros than equations are never learnt."""
        weights = slab.weights * (slab.densities @ posterior.bins)
        total = float(weights.sum())
        if total > 0:
            slab = slab._replace(weights=_mix(slab.weights, weights / total, self.em_rate))
        share = min(max(float(posterior.inclusion.mean()), LEAST_DENSITY), MOST_DENSITY * ratio)
        return slab, rho + self.em_rate * (share - rho)


def explain(problem: Problem, estimate: PassedMessages) -> Array | None:
    """Return the exact solution on the probable coefficients, where the error that is left is small.

    At the end of a run, coefficients that are smaller than that error are searched for too.
    """
    probable = np.flatnonzero(estimate.inclusion > 0.5)
    if problem.noise > 0 or estimate.error > CLEAR_ERROR or not 0 < len(probable) < problem.reduced.rank:
        return None
    found = exact_fit(problem, probable, 1)
    return find_exact(problem, np.abs(estimate.x)) if found is None and estimate.ended else found


def noise_variances(problem: Problem) -> Array:
    """Return the variance of the noise in each reduced equation: that of y over the squared singular values of A."""
    if problem.noise == 0:
        return np.zeros(problem.reduced.rank)
    singular_values = np.linalg.norm(problem.real_matrix() @ problem.reduced.B.T, axis=0)
    return np.asarray((problem.sigma / singular_values) ** 2)


def likely_sides(problem: Problem) -> tuple[int, ...]:
    """Return the signs to assume in turn, 0 for both, by the least-norm solution; only that of the bounds, if any."""
    if problem.bounds is not None:
        return (problem.sign,)
    x = problem.reduced.least_norm()
    total = float(x.sum() / max(float(np.linalg.norm(x)), np.finfo(float).tiny))
    side = 1 if total >= 0 else -1
    fewest = (
        LEAST_NONZEROS_PER_MEASUREMENT * problem.m
    )  # non-zeros of one sign: their least-norm solution has a large sum
    if abs(total) < LEAST_ONE_SIDED * math.sqrt(fewest * problem.m / problem.n) - DEVIATIONS_OF_SUM:
        return (0,)
    return (side, 0) if abs(total) > SURELY_ONE_SIDED else (0, side)


def first_slab(name: str, root_mean_square: float, side: int) -> Slab:
    """Return a slab of the named shape with the given root mean square, on one side of zero or on both (side 0)."""
    edges = np.concatenate([[0.0], BIN_EDGES if name == "level" else COMPONENT_WIDTHS])
    outer = edges[1:]
    if name == "level":
        densities = np.diag(1 / np.diff(edges))
        weights = np.exp(-0.5 * ((outer - 1) / LEVEL_SPREAD) ** 2)
    else:
        densities = np.tril(np.ones((len(outer), len(outer)))) / outer[:, None]
        weights = _unimodal_weights(name, outer)
    weights /= weights.sum()
    power = float(weights @ densities @ np.diff(edges**3)) / 3
    unit = root_mean_square / math.sqrt(power)
    edges, densities = edges * unit, densities / unit
    if side == 0:
        return Slab(np.concatenate([-edges[:0:-1], edges]), np.hstack([densities[:, ::-1], densities]) / 2, weights)
    return Slab(edges, densities, weights) if side > 0 else Slab(-edges[::-1], densities[:, ::-1], weights)


def _unimodal_weights(name: str, width: Array) -> Array:
    """Return the weights of U(0, width) in a density f, -width^2 f'(width) on a logarithmic grid of widths."""
    if name == "normal":
        return np.asarray(width**2 * np.exp(-0.5 * width**2))
    if name == "exponential":
        return np.asarray(width**2 * np.exp(-math.sqrt(2) * width))
    return np.exp(-0.5 * ((width - math.sqrt(3)) / 0.25) ** 2)


def denoise(r: Array, variance: float, rho: float, slab: Slab) -> Posterior:
    """Return the moments of x, zero with probability 1 - rho and else from the slab, given r = x + N(0, variance)."""
    deviation = math.sqrt(variance)
    z = np.clip((slab.edges[:, None] - r) / deviation, -FARTHEST_EDGE, FARTHEST_EDGE)
    tail, density = ndtr(-np.abs(z)), np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    beside = (z[:-1] > 0) | (z[1:] < 0)
    mass = np.where(beside, np.abs(tail[:-1] - tail[1:]), 1 - tail[:-1] - tail[1:])
    heights = rho * slab.heights
    spike = (1 - rho) * np.exp(-0.5 * r * r / variance) / (math.sqrt(2 * math.pi) * deviation)
    in_slab = heights @ mass
    total = in_slab + spike + np.finfo(float).tiny
    inclusion = in_slab / total
    first = -(heights @ np.diff(density, axis=0)) / total  # moments of z times the inclusion
    second = inclusion - (heights @ np.diff(z * density, axis=0)) / total
    mean = inclusion * r + deviation * first
    square = inclusion * r * r + 2 * deviation * r * first + variance * second
    return Posterior(mean, np.maximum(square - mean * mean, 0.0), inclusion, mass @ (1 / total))


def _extrinsic(r: Array, variance: float, posterior: Posterior) -> Array:
    """Return what the prior alone says of x: the posterior without its part of r."""
    shrinkage = min(max(float(posterior.variance.mean()) / variance, LEAST_SHRINKAGE), MOST_SHRINKAGE)
    return np.asarray((posterior.mean - shrinkage * r) / (1 - shrinkage))


def _mix(old: Array, new: Array, rate: float) -> Array:
    return np.asarray(old + rate * (new - old))
