r"""Estimates from noisy measurements, with error bars, by a spike-and-slab model.

A sparse solution of |A x - y| <= noise is too small, and often has the wrong support. Here it is only a guess. The
model is y = A x + e, e ~ N(0, sigma^2), and each x_i is zero with probability 1 - rho or drawn from a slab: N(0, tau),
or N(+-mu, tau) for magnitudes that are alike. `z` says which of the x_i are zero; p(y, z) has a closed form. From a
guess,

1. single changes of z climb to a maximum of p(y, z); rho, the slab and, where it is not known, sigma are learnt from it
   (EM), in turn;
2. where the guesses lead to different z, Gibbs sampling under a noise that falls to the true one may find a better one;
3. Gibbs sampling over z, rho, the slab and sigma, from the best z found, averages x: the mean of x given y has the
   least mean square error. Its spread gives the error bars, and how often z_i is not zero the probability of inclusion.

E. I. George and R. E. McCulloch, "Approaches for Bayesian variable selection", Statistica Sinica 7, 1997.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from .problem import Problem
from .tolerances import LEAST_NOISE, NO_DIVISOR, THINNEST_SLAB

VARIANCE_RATIOS = np.geomspace(1e-8, 1e4, 25)  # of sigma^2 and tau, that are tried for a dense x
FIRST_NOISE = 0.3  # norm of the noise in units of |y| at which sampling and the search for its size start
MOST_NONZEROS_PER_MEASUREMENT = 0.7
MOST_CLIMBS = 12  # rounds of climbing and learning
SETTLED_NOISE = 0.02  # change of log sigma^2 below which it counts as learnt
COOLING_STEPS, SWEEPS_PER_COOLING_STEP = 10, 14
LOWER_NOISE = 0.03  # sigma^2 in units of what a guess suggests; tried too if sigma is not known
COOLEST_NOISE = 0.1  # sigma^2 in units of its estimate, if it is not known: the estimate may be too large
SWEEPS_PER_BLOCK = 10  # Gibbs sweeps between two draws of rho, the slab and sigma
BURN_IN_SHARE = 0.25  # of the blocks, before those that count
MOST_SWEEP_WORK = 1e9  # multiplications in the sweeps of a chain
MOST_SET_UP_WORK = 5e9  # multiplications for the covariances at the beginnings of its blocks
FEWEST_BLOCKS = 4  # averaged over, in the largest systems
CLEARLY_ALIKE = 8.0  # log evidence by which slabs at +-mu must exceed N(0, tau)


@dataclass(frozen=True)
class State:
    """One z with its hyper-parameters; slabs are rows (weight, mean, variance); x and variance are given z and y."""

    z: Indices
    rho: float
    slabs: Array
    noise: float  # sigma^2
    x: Array
    variance: Array
    evidence: float = -math.inf

    @property
    def is_alike(self) -> bool:
        """Whether the slabs are those of magnitudes that are alike."""
        return bool(self.slabs[0, 1] != 0)

    @property
    def score(self) -> float:
        """The log evidence; slabs at +-mu have to be clearly better, since they mislead where there is much noise."""
        return self.evidence - CLEARLY_ALIKE * self.is_alike


@dataclass
class PosteriorMoments:
    """Sums over sweeps: the means of x and x^2, and the probability of inclusion."""

    x: Array
    square: Array
    inclusion: Array
    noise: float = 0.0

    @classmethod
    def zeros(cls, n: int) -> PosteriorMoments:
        """Return sums over nothing."""
        return cls(*np.zeros((3, n)))

    def add(self, other: PosteriorMoments, weight: float) -> None:
        """Add the other's sums, times a weight."""
        self.x += weight * other.x
        self.square += weight * other.square
        self.inclusion += weight * other.inclusion
        self.noise += weight * other.noise


@dataclass(frozen=True)
class Estimate:
    """What is known of x: the mean, the standard error of each x_i if it is not zero, and how probable that is.

    `noise` is the standard deviation of a measurement. `is_clear` says that a sparse x explains y far better than noise
    alone, or a dense x, would.
    """

    x: NDArray[Any]
    std: Array
    inclusion: Array
    noise: float
    is_clear: bool


@dataclass(frozen=True)
class Model:
    """y = A x + e in units in which the columns of A have a length of about 1, and so has y."""

    At: Array
    y: Array
    noise: float | None  # sigma^2, where it is known
    unit: float  # of x
    scale: float  # of y
    signs: tuple[float, ...]  # that the bounds allow

    @functools.cached_property
    def rooms(self) -> dict[int, Any]:
        """Working memory by the number of slabs."""
        return {slabs: kernels.EvidenceRoom(self.At, slabs) for slabs in (1, 2)}

    @classmethod
    def of(cls, problem: Problem) -> Model:
        """Return the model of a problem with a real matrix."""
        A = problem.real_matrix()
        column = float(np.linalg.norm(A)) / math.sqrt(problem.n)
        low, high = problem.bounds or (np.array(-math.inf), np.array(math.inf))
        signs = tuple(sign for sign, free in ((1.0, np.any(high > 0)), (-1.0, np.any(low < 0))) if free)
        sigma = max(problem.sigma / problem.scale, LEAST_NOISE / math.sqrt(problem.m))
        return cls(
            np.ascontiguousarray(A.T) / column,
            problem.y / problem.scale,
            None if problem.estimate_noise else sigma**2,
            problem.scale / column,
            problem.scale,
            signs,
        )

    @property
    def least_noise(self) -> float:
        """The smallest sigma^2 that covariances can be computed with."""
        return LEAST_NOISE**2 / len(self.y)

    def evidence_of_noise(self) -> float:
        """Return log p(y) if y were noise of a free size, up to the constant of `State.evidence`."""
        return -0.5 * len(self.y) * (1 + math.log(float(self.y @ self.y) / len(self.y)))

    @functools.cached_property
    def evidence_without_sparsity(self) -> float:
        """The largest log p(y) if x were dense, x_i ~ N(mu, tau), or nothing: what a sparse x has to beat."""
        m = len(self.y)
        squares, U = np.linalg.eigh(self.At.T @ self.At)
        y, along = U.T @ self.y, U.T @ self.At.sum(axis=0)
        ratios = VARIANCE_RATIOS[:, None]
        variance = np.maximum(squares, 0.0) + ratios * squares[-1] / m
        mean = (y / variance) @ along / np.maximum((along / variance) @ along, np.finfo(float).tiny)
        rest = y - mean[:, None] * along
        scale = np.maximum((rest**2 / variance).sum(axis=1) / m, np.finfo(float).tiny)
        evidence = -0.5 * (m * (1 + np.log(scale)) + np.log(variance).sum(axis=1))
        return max(self.evidence_of_noise(), float(evidence.max()))

    def climb(self, guess: Array, *, alike: bool) -> State:
        """Return the maximum of p(y, z) above a guess; `alike` for slabs at +-mu."""
        return self._climb_from(self.first_state(guess), alike=alike)

    def _climb_from(self, first: State, *, alike: bool) -> State:
        """Return the maximum of p(y, z) above a state of which only z, the noise and x are known."""
        state = self.learn(first, alike=alike)
        for _ in range(MOST_CLIMBS):
            before, state = state, self._climb_once(state)
            if not state.z.any():
                break
            learnt = self.learn(state, alike=alike)
            settled = abs(math.log(learnt.noise / state.noise)) < SETTLED_NOISE
            if settled and before.evidence > -math.inf and np.array_equal(state.z, before.z):
                break
            state = learnt
        return state

    def _climb_once(self, state: State) -> State:
        z, x, variance = state.z.copy(), np.empty(len(state.z)), np.empty(len(state.z))
        room = self.rooms[len(state.slabs)]
        value = kernels.climb(room, self.y, state.noise, state.rho, state.slabs, z, x, variance)
        return replace(state, z=z, x=x, variance=variance, evidence=float(value))

    def first_state(self, guess: Array) -> State:
        """Take as non-zero as many of the largest coefficients of a guess as an information criterion prefers."""
        size = np.abs(guess) * (1.0 if len(self.signs) == 2 else (np.sign(guess) == self.signs[0]))
        z = np.zeros(len(guess), np.int64)
        noise = FIRST_NOISE**2 / len(self.y) if self.noise is None else self.noise
        if size.any():
            order = np.argsort(-size)[
                : min(max(int(MOST_NONZEROS_PER_MEASUREMENT * len(self.y)), 1), int(np.count_nonzero(size)))
            ]
            k, beside = self._choose_size(order)
            z[order[:k]] = 1
            noise = min(noise, max(beside, self.least_noise)) if self.noise is None else noise
        return State(z, 0.0, np.empty((0, 3)), noise, np.asarray(guess, float), np.zeros(len(guess)))

    def _choose_size(self, order: Indices) -> tuple[int, float]:
        """Return how many of the ordered columns explain y best by least squares, and the sigma^2 that this leaves."""
        m, k = len(self.y), np.arange(1, len(order) + 1)
        R: Array = np.asarray(np.linalg.qr(np.vstack([self.At[order], self.y]).T, mode="r"))  # its last column is Q^T y
        squares = np.maximum(float(self.y @ self.y) - np.cumsum(R[: len(order), -1] ** 2), m * self.least_noise)
        if self.noise is None:
            scores = (m - k) * np.log(squares / (m - k)) + 0.5 * k * math.log(m)  # as `trade_off` does
        else:
            scores = squares / self.noise + 2 * k * math.log(m)
        best = int(np.argmin(scores))
        return best + 1, float(squares[best] / (m - k[best]))

    def learn(self, state: State, *, alike: bool, rng: np.random.Generator | None = None) -> State:
        """Return the state with the rho, slabs and sigma that fit x best, or with draws of them if there is an rng."""
        members = np.flatnonzero(state.z)
        n, k, x = len(state.z), len(members), state.x[members]
        rho = max(k, 1) / n if rng is None else rng.beta(1 + k, 1 + n - k)
        rho = min(max(rho, 0.5 / n), MOST_NONZEROS_PER_MEASUREMENT * len(self.y) / n, 0.5)
        spread = state.variance[members] if rng is None else (rng.standard_normal(k) * np.sqrt(state.variance[members]))
        square = 1.0
        if k and rng is None:
            square = float(np.mean(x**2 + spread))
        elif k and rng is not None:
            square = (float(np.sum((x + spread) ** 2)) + float(np.mean(x**2))) / rng.chisquare(k + 1)
        noise = self._learn_noise(state, members, rng) if self.noise is None else self.noise
        if not alike:
            slabs = np.array([[1.0, 0.0, max(square, NO_DIVISOR)]])
            return replace(state, rho=rho, slabs=slabs, noise=noise, z=np.sign(state.z))
        level = float(np.mean(np.abs(x))) if k else 1.0
        thickness = max(float(np.mean(x**2 + state.variance[members])) - level**2 if k else 1.0, 0.0)
        thickness = max(thickness, THINNEST_SLAB * max(level**2, NO_DIVISOR))
        z = np.zeros(n, np.int64)
        z[members] = 1 if len(self.signs) == 1 else np.where(x > 0, 1, 2)
        slabs = np.array([[1 / len(self.signs), sign * level, thickness] for sign in self.signs])
        return replace(state, rho=rho, slabs=slabs, noise=noise, z=z)

    def _learn_noise(self, state: State, members: Indices, rng: np.random.Generator | None) -> float:
        """Return sigma^2 from the residual: MacKay's step, or a draw of Gibbs sampling."""
        m = len(self.y)
        if state.evidence == -math.inf and rng is None:
            return state.noise
        taus = state.slabs[state.z[members] - 1, 2]
        determined = float(np.sum(1 - state.variance[members] / taus))  # how many x_i the measurements determine
        square = float(np.sum((self.y - state.x[members] @ self.At[members]) ** 2))
        if rng is None:
            return max(square / max(m - determined, 1.0), self.least_noise)
        drawn = rng.chisquare(determined) if determined > 0.1 else 0.0
        return max((square + state.noise * drawn) / rng.chisquare(m), self.least_noise)

    def _climb_from_each_noise(self, guess: Array, *, alike: bool) -> State:
        """Return the best state above a guess; where the noise is not known, from two sizes: as suggested, and less."""
        first = self.first_state(guess)
        starts = [first]
        if self.noise is None:
            starts.append(replace(first, noise=max(first.noise * LOWER_NOISE, self.least_noise)))
        return max((self._climb_from(start, alike=alike) for start in starts), key=lambda state: state.score)

    def best(self, guess: Array) -> State:
        """Return the better state of both kinds of slabs; N(0, tau) only where both signs are allowed."""
        alike = len(self.signs) == 1
        best = self._climb_from_each_noise(guess / self.unit, alike=alike)
        return best if alike else max(best, self.climb(best.x, alike=True), key=lambda state: state.score)

    def cool(self, state: State, rng: np.random.Generator) -> State:
        """Return the state that sampling under a falling noise leads to."""
        alike, wanderer = state.is_alike, state
        last = state.noise if self.noise is not None else max(COOLEST_NOISE * state.noise, self.least_noise)
        for noise in np.geomspace(max(FIRST_NOISE**2 / len(self.y), state.noise), last, COOLING_STEPS):
            cooler = replace(wanderer, noise=float(noise))
            sampled, _ = self._sample(cooler, rng, SWEEPS_PER_COOLING_STEP, COOLING_STEPS)
            wanderer = replace(self.learn(sampled, alike=alike), noise=float(noise))
        return self._climb_from_each_noise(wanderer.x, alike=alike)

    def affordable(self, blocks: int) -> int:
        """Return this number of blocks, or as many as a system of this size can afford."""
        return min(blocks, max(int(MOST_SET_UP_WORK / (2 * self.At.size * len(self.y))), FEWEST_BLOCKS))

    def average(self, first: State, rng: np.random.Generator, blocks: int) -> PosteriorMoments:
        """Return the moments of x given y over the z near `first`, or those of `first` if rounding dominates."""
        alike, state, kept = first.is_alike, first, []
        blocks = self.affordable(blocks)
        burn_in = max(math.ceil(BURN_IN_SHARE * blocks), 1)
        for block in range(-burn_in, blocks):
            state, moments = self._sample(state, rng, SWEEPS_PER_BLOCK, burn_in + blocks)
            if not (np.isfinite(moments.x).all() and np.isfinite(moments.square).all()):
                state = first
                continue
            if block >= 0:
                kept.append(moments)
            state = self.learn(state, alike=alike, rng=rng)
        if 2 * len(kept) < blocks:
            return PosteriorMoments(first.x, first.x**2 + first.variance, (first.z > 0).astype(float), first.noise)
        total = PosteriorMoments.zeros(len(first.z))
        for moments in kept:
            total.add(moments, 1 / len(kept))
        return total

    def _sample(
        self, state: State, rng: np.random.Generator, sweeps: int, rounds: int
    ) -> tuple[State, PosteriorMoments]:
        """Return the state after this many sweeps, and the moments over them; one of several rounds."""
        n, z = len(state.z), state.z.copy()
        x, variance, average, square, inclusion = np.empty((5, n))
        flips = int(MOST_SWEEP_WORK / (2 * self.At.size * rounds))
        settings = (state.noise, state.rho, state.slabs, z, rng.random((sweeps, n)), flips)
        room = self.rooms[len(state.slabs)]
        kernels.sample(room, self.y, *settings, x, variance, average, square, inclusion)
        moments = PosteriorMoments(average, square, inclusion, state.noise)
        return replace(state, z=z, x=x, variance=variance), moments
