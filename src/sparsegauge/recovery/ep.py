"""Expectation propagation with spike-and-slab priors whose slabs are learnt from the measurements."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import _compiled
from .._arrays import Array, Indices, Parameter, check_choice, check_count
from .._arrays.systems import noise_norm
from .._compiled.expectation import EXPONENTIALS, GAUSSIANS, QUADRATURE_NODES
from ..errors import InvalidInput
from ..metrics.gds import gds
from .certificate import exact_fit
from .nearest import nearest
from .problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished

SLABS = ("two-gaussians", "exponential", "bernoulli-gauss")
ORDER = 2.0  # of the sparsity that chooses between runs
CHECK_EVERY = 5  # sweeps between two looks at the support
NARROWEST = 1e-10  # variance of a site, in units of the signal's mean square
THINNEST = 1e-3  # variance of a slab, relative to its mean square
FADING = 0.9  # what a sweep leaves of the random log-odds: they choose where to start, not where to end
FIRST_NOISE, NOISE_FACTOR, LAST_NOISE = 1e-2, 0.8, 1e-8  # variance assumed for noise-free measurements
DAMPING = Parameter("damping", 0.5, 0, 1, high_included=True)
EM_RATE = Parameter("em_rate", 0.05, 0, 1, low_included=True, high_included=True)
BIAS = Parameter("bias", 1.0, 0, low_included=True)
DENSITY = Parameter("density", 0.7, 0, 1)
TOLERANCE = Parameter("tolerance", 1e-4, 0)


class Scaled(NamedTuple):
    """The measurements in units of their own: B x = b with rows of norm 1 and x's mean square about 1."""

    B: Array
    b: Array
    low: Array
    high: Array
    noise: float  # variance of a measurement
    unit: float  # of x


class Iterate(NamedTuple):
    """Where a run stands: posterior means and the probabilities of not being zero."""

    x: Array
    inclusion: Array
    sweeps: int
    ended: bool
    converged: bool

    def likeliest(self, count: int) -> Indices:
        """The coefficients that are most probably not zero, the larger first where they are equally probable."""
        return np.lexsort((-np.abs(self.x), -self.inclusion))[:count]


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
        The priors of what is not zero: two Gaussians with free means and variances (finds equal magnitudes), an
        exponential on either side of 0, one Gaussian around 0. One-sided where the bounds are.
    restarts : int
        How many more runs with random log-odds, over all slabs in turn.
    bias : float
        Standard deviation of these log-odds.
    sweeps : int
        Most sweeps of a run.
    damping : float
        How far a sweep goes: 1 is all the way.
    em_rate : float
        How far a step of EM goes.
    density : float
        The first rho, as a fraction of the measurements per coefficient.
    tolerance : float
        A run has converged when a sweep changes x, relatively, by less.

    References
    ----------
    .. [1] J. M. Hernandez-Lobato, D. Hernandez-Lobato, A. Suarez, Expectation propagation in linear regression models
       with spike-and-slab priors, Machine Learning 99 (2015).
    .. [2] J. P. Vila, P. Schniter, Expectation-maximization Gaussian-mixture approximate message passing, IEEE
       Transactions on Signal Processing 61 (2013).
    """

    slabs: tuple[str, ...] = SLABS
    restarts: int = 6
    bias: float = BIAS.default
    sweeps: int = 150
    damping: float = DAMPING.default
    em_rate: float = EM_RATE.default
    density: float = DENSITY.default
    tolerance: float = TOLERANCE.default

    def __post_init__(self) -> None:
        if isinstance(self.slabs, str) or not self.slabs:
            raise InvalidInput(f"slabs must be a sequence of at least one of {SLABS}, got {self.slabs!r}")
        for slab in self.slabs:
            check_choice("slabs", slab, SLABS)
        check_count("restarts", self.restarts, least=0)
        check_count("sweeps", self.sweeps, least=1)
        for parameter in (BIAS, DAMPING, EM_RATE, DENSITY, TOLERANCE):
            parameter.check(getattr(self, parameter.name))

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Run after run, until one explains y exactly with fewer coefficients than equations; else the sparsest."""
        best, best_sparsity, status, nit = problem.start(), -math.inf, STOPPED, 0
        history: list[float] = []
        for iterate in self.iterates(problem, rng):
            nit += CHECK_EVERY
            x = exact_fit(problem, iterate.likeliest(problem.reduced.rank - 1), 1) if problem.noise == 0 else None
            if x is not None:
                return finished(problem, x, status=CONVERGED, nit=nit, nfev=nit, order=ORDER, history=history)
            called_off = callback is not None and callback(nit, iterate.x)
            if iterate.ended or called_off:
                candidate = nearest(problem, iterate.x)
                history.append(float(gds(candidate, ORDER, zero=0.0)))
                if history[-1] > best_sparsity:
                    best, best_sparsity = candidate, history[-1]
                    status = CONVERGED if iterate.converged else STOPPED
            if called_off:
                status = CALLED_OFF
                break
        return finished(problem, best, status=status, nit=nit, nfev=nit, order=ORDER, history=history)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Where each run stands every few sweeps: what a search for the support can start from."""
        scaled = in_units(problem)
        for run in range(len(self.slabs) + self.restarts):
            restart = run >= len(self.slabs)
            bias = self.bias * rng.standard_normal(problem.n) if restart else np.zeros(problem.n)
            yield from self._run(scaled, self.slabs[run % len(self.slabs)], bias)

    def _run(self, scaled: Scaled, slab: str, bias: Array) -> Iterator[Iterate]:
        m, n = scaled.B.shape
        rho = self.density * min(m / n, 1.0)
        components = first_components(slab, 1 / rho, scaled)
        kind = EXPONENTIALS if slab == "exponential" else GAUSSIANS
        noise = (FIRST_NOISE, LAST_NOISE, NOISE_FACTOR) if scaled.noise == 0 else (scaled.noise, scaled.noise, 1.0)
        state = np.array([rho, *noise])
        widest = float(n)  # no x_i^2 exceeds n mean squares
        settings = np.array([self.damping, self.em_rate, THINNEST, NARROWEST, widest, FADING])
        sites = np.zeros((4, n))
        sites[0] = 1.0
        known = scaled.low == scaled.high
        sites[:2, known] = np.array([np.ones(known.sum()), scaled.low[known]]) / NARROWEST
        system = (scaled.B, scaled.b, scaled.low, scaled.high)
        prior = (kind, slab == "two-gaussians", components)
        kernels = _compiled.recover
        work = kernels.Propagation(system, prior, (bias, state, sites, settings), kernels.Quadrature(*legendre_rule()))
        for done in range(CHECK_EVERY, self.sweeps + CHECK_EVERY, CHECK_EVERY):
            change = kernels.propagate(work, CHECK_EVERY)
            converged = bool(change < self.tolerance and state[1] <= state[2])
            ended = converged or done >= self.sweeps
            yield Iterate(sites[2] * scaled.unit, sites[3].copy(), done, ended, converged)
            if ended:
                return


@functools.cache
def legendre_rule() -> tuple[Array, Array]:
    """Return nodes and weights on [-1, 1], for the moments of normal distributions between two bounds."""
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
    return nodes, weights


def in_units(problem: Problem) -> Scaled:
    """The problem without units: the reduced equations, or for noisy measurements the equations as they are."""
    if problem.noise > 0:
        A, y = problem.real_matrix(), problem.system.y
        row = float(np.linalg.norm(A)) / math.sqrt(problem.m)
        B, b = A / row, y / row
        deviation = problem.noise / noise_norm(problem.m) / row
    else:
        problem.real_matrix()
        B, b, deviation = problem.reduced.B, problem.reduced.b, 0.0
    unit = float(np.linalg.norm(b)) / math.sqrt(len(b))
    low, high = problem.bounds or (np.full(problem.n, -math.inf), np.full(problem.n, math.inf))
    return Scaled(
        np.require(B, np.float64, ["C", "W"]), b / unit, low / unit, high / unit, (deviation / unit) ** 2, unit
    )


def first_components(slab: str, power: float, scaled: Scaled) -> Array:
    """Rows (weight, location, spread) of a slab with E x^2 = power, on the sides that the bounds allow."""
    if slab == "bernoulli-gauss":
        return np.array([[1.0, 0.0, power]])
    allowed = {1.0: (scaled.high > 0).any(), -1.0: (scaled.low < 0).any()}
    sides = [side for side, open_ in allowed.items() if open_] or [1.0]
    if slab == "exponential":
        return np.array([[1 / len(sides), side, math.sqrt(power / 2)] for side in sides])
    return np.array([[1 / len(sides), side * math.sqrt(0.8 * power), 0.2 * power] for side in sides])
