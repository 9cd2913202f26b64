"""Expectation propagation with spike-and-slab priors whose slabs are learnt from the measurements."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _compiled
from .._arrays import Array, Indices
from .._compiled.expectation import EXPONENTIALS, GAUSSIANS, QUADRATURE_NODES
from ..metrics.gds import gds
from .driver import Iterate
from .exact_search import exact_fit
from .problem import Problem
from .projection import nearest
from .solver import Capabilities, Solver, choices, count, real
from .status import Status
from .tolerances import NARROWEST_SITE, THINNEST_SLAB

SLABS = ("two-gaussians", "exponential", "bernoulli-gauss")
SWEEPS_BETWEEN_CHECKS = 5  # of the support
BIAS_FADING = 0.9  # factor per sweep on the random log-odds: they choose where to start, not where to end
FIRST_NOISE = 1e-2  # variance assumed for noise-free measurements
NOISE_FACTOR = 0.8  # per sweep
LAST_NOISE = 1e-8


class ScaledEquations(NamedTuple):
    """The measurements in units of their own: B x = b with rows of norm 1 and x's mean square about 1."""

    B: Array
    b: Array
    low: Array
    high: Array
    noise: float  # variance of a measurement
    unit: float  # of x


class Sweep(NamedTuple):
    """The state of a run after a few sweeps: posterior means, and the probabilities of not being zero."""

    x: Array
    inclusion: Array
    sweeps: int
    ended: bool
    converged: bool

    def likeliest(self, count: int) -> Indices:
        """Return the coefficients that are most probably not zero, the larger first where they are equally probable."""
        return np.lexsort((-np.abs(self.x), -self.inclusion))[:count]


class PropagationRun(NamedTuple):
    """One run: what the kernel works on, and the arrays that it changes (`_compiled/propagation.py` says how)."""

    work: Any
    state: Array
    sites: Array


@dataclass(frozen=True, kw_only=True)
class EP(Solver):
    """Expectation propagation: x_i is 0 with probability 1 - rho, and drawn from a slab otherwise.

    The posterior of y = A x + noise under that prior is approached by a Gaussian, N(y; A x, v I) prod_i N(x_i; m_i,
    s_i), whose factors are refined until each gives the mean and variance of the true one [1]. rho and the slab are
    learnt as it goes (EM) [2]; for noise-free measurements v falls to almost 0. The slabs are tried in turn, then again
    with random log-odds added to each coefficient's, until the most probable coefficients explain y exactly.

    Parameters
    ----------
    slabs : tuple of {"two-gaussians", "exponential", "bernoulli-gauss"}
        The priors of the non-zero coefficients: two Gaussians with free means and variances (finds equal magnitudes),
        an exponential on either side of 0, one Gaussian around 0. One-sided where the bounds are.
    restarts : int
        The number of further runs with random log-odds, over all slabs in turn.
    bias : float
        The standard deviation of these log-odds.
    sweeps : int
        The largest number of sweeps in a run.
    damping : float
        The size of a sweep's step: 1 is the full step.
    em_rate : float
        The size of a step of EM: 1 is the full step.
    density : float
        The initial rho, as a fraction of the measurements per coefficient.
    tolerance : float
        A run has converged when a sweep changes x, relatively, by less.

    References
    ----------
    .. [1] J. M. Hernandez-Lobato, D. Hernandez-Lobato, A. Suarez, Expectation propagation in linear regression models
       with spike-and-slab priors, Machine Learning 99 (2015).
    .. [2] J. P. Vila, P. Schniter, Expectation-maximization Gaussian-mixture approximate message passing, IEEE
       Transactions on Signal Processing 61 (2013).
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any")

    slabs: tuple[str, ...] = choices(SLABS, SLABS)
    restarts: int = count(6, least=0)
    bias: float = real(1.0, low=0, low_included=True)
    sweeps: int = count(150, least=1)
    damping: float = real(0.5, low=0, high=1, high_included=True)
    em_rate: float = real(0.05, low=0, high=1, low_included=True, high_included=True)
    density: float = real(0.7, low=0, high=1)
    tolerance: float = real(1e-4, low=0)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield run after run, until one explains y exactly with fewer coefficients than equations."""
        for sweep in self.runs(problem, rng):
            exact = None
            if problem.noise == 0:
                exact = exact_fit(problem, sweep.likeliest(problem.reduced.rank - 1), 1)
            if exact is not None:
                yield Iterate(exact, steps=SWEEPS_BETWEEN_CHECKS, status=Status.CONVERGED)
                return
            if not sweep.ended:
                yield Iterate(sweep.x, steps=SWEEPS_BETWEEN_CHECKS)
                continue
            status = Status.CONVERGED if sweep.converged else Status.ITERATION_LIMIT
            yield Iterate(sweep.x, SWEEPS_BETWEEN_CHECKS, status=status, sparsity=float(gds(sweep.x, 2.0, zero=0.0)))

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y."""
        return x if problem.residual(x) <= problem.tolerance() else nearest(problem, x)

    def runs(self, problem: Problem, rng: np.random.Generator) -> Iterator[Sweep]:
        """Yield the state of each run every few sweeps: what a search for the support can start from."""
        scaled = in_units(problem)
        for run in range(len(self.slabs) + self.restarts):
            restart = run >= len(self.slabs)
            bias = self.bias * rng.standard_normal(problem.n) if restart else np.zeros(problem.n)
            yield from self._run(scaled, self.slabs[run % len(self.slabs)], bias)

    def _run(self, scaled: ScaledEquations, slab: str, bias: Array) -> Iterator[Sweep]:
        work, state, sites = self.start(scaled, slab, bias)
        for done in range(SWEEPS_BETWEEN_CHECKS, self.sweeps + SWEEPS_BETWEEN_CHECKS, SWEEPS_BETWEEN_CHECKS):
            change = _compiled.recover.propagate(work, SWEEPS_BETWEEN_CHECKS)
            converged = bool(change < self.tolerance and state[1] <= state[2])
            ended = converged or done >= self.sweeps
            yield Sweep(sites[2] * scaled.unit, sites[3].copy(), done, ended, converged)
            if ended:
                return

    def start(self, scaled: ScaledEquations, slab: str, bias: Array) -> PropagationRun:
        """Return a run before its first sweep."""
        m, n = scaled.B.shape
        rho = self.density * min(m / n, 1.0)
        components = first_components(slab, 1 / rho, scaled)
        kind = EXPONENTIALS if slab == "exponential" else GAUSSIANS
        noise = (FIRST_NOISE, LAST_NOISE, NOISE_FACTOR) if scaled.noise == 0 else (scaled.noise, scaled.noise, 1.0)
        state = np.array([rho, *noise])
        widest = float(n)  # no x_i^2 exceeds n mean squares
        settings = np.array([self.damping, self.em_rate, THINNEST_SLAB, NARROWEST_SITE, widest, BIAS_FADING])
        sites = np.zeros((4, n))
        sites[0] = 1.0
        known = scaled.low == scaled.high
        sites[:2, known] = np.array([np.ones(known.sum()), scaled.low[known]]) / NARROWEST_SITE
        system = (scaled.B, scaled.b, scaled.low, scaled.high)
        prior = (kind, slab == "two-gaussians", components)
        kernels = _compiled.recover
        work = kernels.Propagation(system, prior, (bias, state, sites, settings), kernels.Quadrature(*legendre_rule()))
        return PropagationRun(work, state, sites)


@functools.cache
def legendre_rule() -> tuple[Array, Array]:
    """Return nodes and weights on [-1, 1], for the moments of normal distributions between two bounds."""
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
    return nodes, weights


def in_units(problem: Problem) -> ScaledEquations:
    """Return the problem without units: the reduced equations, or for noisy measurements the equations as they are."""
    if problem.noise > 0:
        A, y = problem.real_matrix(), problem.y
        row = float(np.linalg.norm(A)) / math.sqrt(problem.m)
        B, b = A / row, y / row
        deviation = problem.sigma / row
    else:
        problem.real_matrix()
        B, b, deviation = problem.reduced.B, problem.reduced.b, 0.0
    unit = float(np.linalg.norm(b)) / math.sqrt(len(b))
    low, high = problem.bounds or (np.full(problem.n, -math.inf), np.full(problem.n, math.inf))
    return ScaledEquations(
        np.require(B, np.float64, ["C", "W"]), b / unit, low / unit, high / unit, (deviation / unit) ** 2, unit
    )


def first_components(slab: str, power: float, scaled: ScaledEquations) -> Array:
    """Return rows (weight, location, spread) of a slab with E x^2 = power, on the sides that the bounds allow."""
    if slab == "bernoulli-gauss":
        return np.array([[1.0, 0.0, power]])
    allowed = {1.0: (scaled.high > 0).any(), -1.0: (scaled.low < 0).any()}
    sides = [side for side, open_ in allowed.items() if open_] or [1.0]
    if slab == "exponential":
        return np.array([[1 / len(sides), side, math.sqrt(power / 2)] for side in sides])
    return np.array([[1 / len(sides), side * math.sqrt(0.8 * power), 0.2 * power] for side in sides])
