r"""From a sparse guess to an estimate of x from noisy measurements, and the choice between guesses.

With noise a solution of |A x - y| <= noise that is as sparse as can be is too small, and often has the wrong support.
Here a guess is only where to start. The model is y = A x + e, e ~ N(0, sigma^2), with sigma from the noise bound, and
each x_i zero with probability 1 - rho or else drawn from a slab: N(0, tau) or N(+-mu, tau), the latter for magnitudes
that are alike. Which of the x_i are zero is `z`; p(y, z) has a closed form. From a guess,

1. single changes of z climb to a maximum of p(y, z), and rho and the slab are learnt from it (EM), in turn;
2. of all guesses and both slabs that with the highest p(y, z) is taken;
3. Gibbs' sweeps over z, under a noise that falls to the true one, may find a still higher one;
4. more sweeps, from there and from the next best, average x over the z, rho and slabs that y leaves open: the mean of x
   given y has the least mean square error.

E. I. George and R. E. McCulloch, "Approaches for Bayesian variable selection", Statistica Sinica 7, 1997.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._arrays.systems import noise_norm
from .._compiled import recover as kernels
from .ep import EP
from .explanation import Nested, log_choices
from .nearest import Ball, nearest
from .problem import Problem

if TYPE_CHECKING:
    from .reweighted import GDSReweighted

LEAST_NOISE = 1e-5  # sigma in units of y: below it, covariances are rounding
DENSEST = 0.7  # non-zeros for each measurement, at most
NOT_SMALL = 0.2  # of the largest: what a guess holds to be non-zero
THINNEST = 1e-3  # variance of a slab, relative to its mean square
ROUNDS = 8  # of climbing and learning, at most
FIRST_NOISE, COOLINGS = 0.3, 12  # sigma in units of y, and in how many steps it falls to the true one
SWEEPS = 20  # at each of them
BLOCK = 10  # sweeps after which rho and the slabs are learnt anew
SETTLING = 5  # blocks before those that are averaged
BLOCKS, MANY_BLOCKS = 16, 64  # that are averaged, by one solver and by a portfolio
WORK = 1e9  # multiplications that the sweeps may cost
DOUBTFUL = 0.02  # coefficients that are less probably non-zero are zero
CHAINS = 4  # states that are cooled and averaged over, at most
OPEN, TEMPER = 10.0, 5.0  # how much less their log evidence may be, and how much less takes a share to 1/e
AGREED = 3  # guesses that lead to the same answer end the search for others


@dataclass(frozen=True)
class State:
    """One z with its slabs, rows (weight, mean, variance); `x` and `variance` are those given z and y."""

    z: Indices
    rho: float
    slabs: Array
    x: Array
    variance: Array
    evidence: float = -math.inf

    @property
    def is_alike(self) -> bool:
        """Whether the slabs are those of magnitudes that are alike."""
        return bool(self.slabs[0, 1] != 0)


@dataclass(frozen=True)
class Model:
    """y = A x + e in units in which A's columns are about of length 1 and so is y."""

    At: Array
    y: Array
    noise: float  # sigma^2
    unit: float  # of x
    signs: tuple[float, ...]  # that the bounds allow

    @classmethod
    def of(cls, problem: Problem) -> Model:
        """The model of a noisy problem with a real matrix."""
        A = problem.real_matrix()
        column = float(np.linalg.norm(A)) / math.sqrt(problem.n)
        sigma = problem.noise / noise_norm(problem.m) / problem.scale
        low, high = problem.bounds or (np.array(-math.inf), np.array(math.inf))
        signs = tuple(sign for sign, free in ((1.0, np.any(high > 0)), (-1.0, np.any(low < 0))) if free)
        return cls(
            np.ascontiguousarray(A.T) / column,
            problem.system.y / problem.scale,
            max(sigma, LEAST_NOISE / math.sqrt(problem.m)) ** 2,
            problem.scale / column,
            signs,
        )

    def climbed(self, guess: Array, alike: bool) -> State:
        """The maximum of p(y, z) above a guess; `alike` for slabs at +-mu."""
        state = self._learnt(self._first(guess), alike)
        for _ in range(ROUNDS):
            z, x, variance = state.z.copy(), np.empty(len(guess)), np.empty(len(guess))
            room = kernels.EvidenceRoom(self.At, len(state.slabs))
            value = kernels.climb(room, self.y, self.noise, state.rho, state.slabs, z, x, variance)
            before, state = state, State(z, state.rho, state.slabs, x, variance, float(value))
            if not z.any() or (before.evidence > -math.inf and np.array_equal(z, before.z)):
                break
            state = self._learnt(state, alike)
        return state

    def _first(self, guess: Array) -> State:
        """What is not small in a guess, but no more than the measurements can tell."""
        size = np.abs(guess) * (1.0 if len(self.signs) == 2 else (np.sign(guess) == self.signs[0]))
        most = np.sort(size)[-min(max(int(DENSEST * len(self.y)), 1), len(size))]
        z = ((size > 0) & (size >= max(NOT_SMALL * size.max(), most))).astype(np.int64)
        return State(z, 0.0, np.empty((0, 3)), np.asarray(guess, float), np.zeros(len(guess)))

    def _learnt(self, state: State, alike: bool) -> State:
        """rho and the slabs that fit x best; z follows the signs where slabs have one."""
        members = np.flatnonzero(state.z)
        n = len(state.z)
        rho = min(max(len(members), 1) / n, DENSEST * len(self.y) / n, 0.5)
        x = state.x[members]
        square = float(np.mean(x**2 + state.variance[members])) if len(members) else 1.0
        if not alike:
            return replace(state, rho=rho, slabs=np.array([[1.0, 0.0, square]]), z=np.sign(state.z))
        level = float(np.mean(np.abs(x))) if len(members) else 1.0
        spread = max(square - level**2, THINNEST * square)
        z = np.zeros(n, np.int64)
        z[members] = 1 if len(self.signs) == 1 else np.where(x > 0, 1, 2)
        return replace(
            state, rho=rho, slabs=np.array([[1 / len(self.signs), s * level, spread] for s in self.signs]), z=z
        )

    def best(self, guess: Array) -> State:
        """The better of both slabs; N(0, tau) only where both signs are allowed."""
        states = [self.climbed(guess / self.unit, alike) for alike in (True, False)[: len(self.signs)]]
        return max(states, key=lambda state: state.evidence)

    def cooled(self, state: State, rng: np.random.Generator) -> State:
        """A state of higher evidence, if sweeps under a falling noise lead to one."""
        alike, wanderer = state.is_alike, state
        for noise in np.geomspace(max(FIRST_NOISE**2 / len(self.y), self.noise), self.noise, COOLINGS):
            noisier = replace(self, noise=float(noise))
            wanderer = self._learnt(noisier._sampled(wanderer, rng, SWEEPS, COOLINGS)[0], alike)
        return max(state, self.climbed(wanderer.x, alike), key=lambda state: state.evidence)

    def averaged(self, state: State, rng: np.random.Generator, blocks: int) -> Array:
        """The mean of x given y, over the z near that of `state`, or for that z alone where rounding spoils sweeps."""
        alike, total, included, first = state.is_alike, np.zeros(len(state.z)), np.zeros(len(state.z)), state
        for block in range(-SETTLING, blocks):
            state, average, inclusion = self._sampled(state, rng, BLOCK, SETTLING + blocks)
            if not np.isfinite(average).all():
                return np.asarray(first.x * self.unit)
            state = self._learnt(state, alike)
            if block >= 0:
                total += average / blocks
                included += inclusion / blocks
        return np.where(included < DOUBTFUL, 0.0, total) * self.unit

    def _sampled(self, state: State, rng: np.random.Generator, sweeps: int, rounds: int) -> tuple[State, Array, Array]:
        """The state after so many sweeps, and the means of x and of z != 0 over them; one of so many rounds."""
        n, m = self.At.shape
        z, (x, variance, average, inclusion) = state.z.copy(), np.empty((4, n))
        settings = (self.noise, state.rho, state.slabs, z, rng.random((sweeps, n)), int(WORK / (2 * n * m * rounds)))
        room = kernels.EvidenceRoom(self.At, len(state.slabs))
        kernels.sample(room, self.y, *settings, x, variance, average, inclusion)
        return State(z, state.rho, state.slabs, x, variance), average, inclusion


def refined(
    problem: Problem, guesses: Iterable[NDArray[Any]], rng: np.random.Generator, *, blocks: int = BLOCKS
) -> NDArray[Any]:
    """The estimate of x from whichever guess explains y best, within the noise and the bounds."""
    if problem.is_complex or not _may_be_zero(problem):
        return within(problem, max((pruned(problem, x) for x in guesses), key=lambda found: found[1])[0])
    model = Model.of(problem)
    states = _climbed(model, guesses)
    states = _highest([*states, *(model.cooled(state, rng) for state in states)])
    states = [state for state in states if state.evidence > states[0].evidence - OPEN]
    shares = np.exp([(state.evidence - states[0].evidence) / TEMPER for state in states])
    averages = [model.averaged(state, rng, max(blocks // len(states), 1)) for state in states]
    return within(problem, shares @ np.array(averages) / shares.sum())


def _climbed(model: Model, guesses: Iterable[NDArray[Any]]) -> list[State]:
    """The best states that guesses lead to; a few that lead to the best one, if it is sparse, spare the others."""
    states: list[State] = []
    agreed = 0
    for guess in guesses:
        state = model.best(guess)
        same = bool(states) and np.array_equal(state.z, states[0].z)
        agreed = agreed + 1 if same else agreed if states and state.evidence <= states[0].evidence else 1
        states = _highest([*states, state])
        if agreed == AGREED and np.count_nonzero(states[0].z) <= len(model.y) / 2:
            return states[:1]
    return states


def _highest(states: list[State]) -> list[State]:
    """The different ones of the highest evidence, the best first."""
    best = {state.z.tobytes(): state for state in sorted(states, key=lambda state: state.evidence)}
    return sorted(best.values(), key=lambda state: -state.evidence)[:CHAINS]


def _may_be_zero(problem: Problem) -> bool:
    return problem.bounds is None or not problem.clipped(np.zeros(problem.n)).any()


def within(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """x where it is within the noise and the bounds, else the nearest that is; with the same zeros if that can be."""
    x = problem.clipped(x)
    if problem.residual(x) <= problem.tolerance():
        return x
    support = np.flatnonzero(x)
    if problem.bounds is None and len(support):
        A = problem.matrix()[:, support]
        sparse = np.zeros_like(x)
        ball = Ball(A, problem.system.y, problem.tolerance(), *np.linalg.svd(A, full_matrices=False))
        sparse[support] = ball.nearest(x[support])
        if problem.residual(sparse) <= problem.tolerance():
            return sparse
    return nearest(problem, x)


def pruned(problem: Problem, guess: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Least squares on the k largest of a guess, k by the extended Bayesian information criterion; its value, negated.

    J. Chen and Z. Chen, "Extended Bayesian information criteria for model selection with large model spaces",
    Biometrika 95(3), 2008. For complex systems, of which each coefficient counts twice.
    """
    n, parts = problem.n, 2 if problem.is_complex else 1
    sigma = problem.noise / noise_norm(problem.m)
    fits = Nested.of(problem, guess, max(int(DENSEST * problem.m), 1))
    k = np.arange(len(fits.squares))
    scores = parts * (fits.squares / sigma**2 + k * math.log(problem.m)) + 2 * log_choices(n, k)
    size = int(np.argmin(scores))
    return fits.refit(size), -float(scores[size])


def guesses(
    problem: Problem, wells: Sequence[GDSReweighted], rng: np.random.Generator, restarts: int, propagations: int
) -> Iterator[NDArray[Any]]:
    """What a portfolio starts from: wells, expectation propagation, and wells with jitter."""
    for solver in wells:
        yield solver.run(problem, rng)[0]
    if problem.is_complex:
        return
    for iterate in EP(restarts=propagations).iterates(problem, rng):
        if iterate.ended:
            yield iterate.x
    for k in range(restarts):
        yield replace(wells[k % len(wells)], jitter=0.2).run(problem, rng)[0]
