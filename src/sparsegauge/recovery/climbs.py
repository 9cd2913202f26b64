"""The best states of the spike-and-slab model that guesses lead to, and the estimate that is averaged over them."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .noise_sizes import NoiseSizes, weigh_noise_sizes
from .problem import Problem
from .spike_slab import Estimate, Model, PosteriorMoments, State
from .tolerances import LEAST_PROBABILITY, LEAST_SIGNIFICANT, NO_DIVISOR

BLOCKS_IF_CLEAR = 20  # averaged over in all chains from the best states
BLOCKS_IF_UNCLEAR = 80
WEIGHT_TEMPERATURE = 3.0  # of the chains: the evidence of their first state says little of the others
FRESH_CHAINS = 4  # from states of their own, if the best state is unclear
BLOCKS_PER_FRESH_CHAIN = 25
SMALL_SYSTEM = 20_000  # entries of A, below which fresh chains and the sizes of the noise are affordable
LEAST_INCLUSION = 0.02  # a coefficient with a lower probability becomes zero
MOST_CHAINS = 2  # from the best states
LARGEST_LAG_IN_EVIDENCE = 3.0  # log evidence below that of the best state, for states that are averaged over
AGREEING_GUESSES = 3  # which lead to the same z and end the search
AGREEING_GUESSES_IF_DENSE = 5
DENSE_SUPPORT = 0.25  # non-zeros per measurement
LOUD_NOISE = 0.2  # norm of the noise in units of |y|, above which sampling moves freely between states
SMALL_NOISE = 0.03  # the same, below which an exact solution is looked for around the best state
NEGLIGIBLE_NOISE = 4.0  # sigma^2 in units of the least with which covariances can be computed
OVERWHELMING_GAIN = 32.0  # in log evidence, over pure noise and over a dense x
OVERWHELMING_GAIN_PER_MEASUREMENT = 0.75
NOISE_SIZES_AVERAGED = 5  # where y does not determine the size of the noise
BLOCKS_PER_SIZE = 8
CERTAIN_RISE = 14.0  # in log evidence of noise: exact signals rarely have 12
CERTAIN_RISE_PER_MEASUREMENT = 0.28
CLEAR_GAIN = 10.0  # in log evidence, over pure noise and over a dense x, that chance rarely gives


class Climbs:
    """The best states that guesses lead to, one guess after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, Model.of(problem)
        self.states: list[State] = []
        self.agreeing = 0  # guesses in a row that led to the best state

    def add(self, guess: NDArray[Any]) -> None:
        """Climb from one more guess."""
        self._take(self.model.best(guess))

    def cool(self, rng: np.random.Generator) -> None:
        """Sample from the best state under a falling noise, and climb from where that ends."""
        self._take(self.model.cool(self.states[0], rng))

    def _take(self, state: State) -> None:
        if self.states and np.array_equal(state.z, self.states[0].z):
            self.agreeing += 1
        elif not self.states or state.score > self.states[0].score:
            self.agreeing = 1
        self.states = _highest([*self.states, state])

    @property
    def agree(self) -> bool:
        """Whether a few guesses led to the same sparse state, so that others are not needed."""
        k, m = int(np.count_nonzero(self.states[0].z)), len(self.model.y)
        return k <= m / 2 and self.agreeing >= (
            AGREEING_GUESSES if k <= DENSE_SUPPORT * m else AGREEING_GUESSES_IF_DENSE
        )

    @property
    def gain(self) -> float:
        """The log evidence of the best state over that of noise alone, or of a dense x."""
        return self.states[0].evidence - self.model.evidence_without_sparsity

    @property
    def is_clear(self) -> bool:
        """Whether that gain is no chance."""
        return self.gain > CLEAR_GAIN

    @property
    def is_overwhelming(self) -> bool:
        """Whether that gain is larger than any that part of an exact sparse signal was seen to have."""
        return self.gain > max(OVERWHELMING_GAIN, OVERWHELMING_GAIN_PER_MEASUREMENT * len(self.model.y))

    @property
    def is_misled(self) -> bool:
        """Whether a dense x explains y far better than the best state, though there is little noise: it is wrong."""
        return self.gain < -CLEAR_GAIN and not self.noise_is_loud

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise in the best state."""
        return math.sqrt(self.states[0].noise) * self.model.scale

    @property
    def noise_is_negligible(self) -> bool:
        """Whether the noise is so small that covariances are rounding, and least squares does as well."""
        return self.states[0].noise <= NEGLIGIBLE_NOISE * self.model.least_noise

    @property
    def noise_is_small(self) -> bool:
        """Whether there is so little noise that there may be none."""
        return self.states[0].noise * len(self.model.y) <= SMALL_NOISE**2

    @property
    def noise_is_loud(self) -> bool:
        """Whether there is so much noise that sampling moves freely between states, and further guesses are no use."""
        return self.model.noise is not None and self.model.noise * len(self.model.y) > LOUD_NOISE**2

    @property
    def is_small(self) -> bool:
        """Whether fresh chains and the sizes of the noise are affordable."""
        return self.problem.m * self.problem.n < SMALL_SYSTEM

    @functools.cached_property
    def noise_sizes(self) -> NoiseSizes | None:
        """How probable each size of the noise is, over all supports; None where the system is too large to tell."""
        return weigh_noise_sizes(self.problem) if self.is_small else None

    @property
    def rise(self) -> float:
        """The log evidence of noise of the likeliest size over next to none, over all supports; 0 if unknown."""
        return 0.0 if self.noise_sizes is None else self.noise_sizes.rise

    @property
    def needs_noise(self) -> bool:
        """Whether noise is so much likelier than next to none that y is certainly not exact."""
        return self.rise > max(CERTAIN_RISE, CERTAIN_RISE_PER_MEASUREMENT * self.problem.m)

    @property
    def best_x(self) -> Array:
        """The mean of x in the best state."""
        return self.states[0].x * self.model.unit

    def estimate(self, rng: np.random.Generator, *, blocks: int = BLOCKS_IF_CLEAR, fresh_chains: int = 0) -> Estimate:
        """Return the average over the best states, each sampled from, and over chains that start afresh.

        A chain rarely leaves the size of the noise that it started with: where y does not say which is right, several
        chains hedge.
        """
        model, best = self.model, self.states[0]
        near = [state for state in self.states if state.score > best.score - LARGEST_LAG_IN_EVIDENCE] or [best]
        fresh = [model.cool(best, rng) for _ in range(fresh_chains if self.is_small else 0)]
        chains = [(state, max(blocks // len(near), 1)) for state in near]
        chains += [(state, BLOCKS_PER_FRESH_CHAIN) for state in fresh if math.isfinite(state.evidence)]
        total, best_score = PosteriorMoments.zeros(self.problem.n), max(state.score for state, _ in chains)
        shares = np.array([math.exp((state.score - best_score) / WEIGHT_TEMPERATURE) for state, _ in chains])
        for (state, length), share in zip(chains, shares / shares.sum(), strict=True):
            total.add(model.average(state, rng, length), share)
        return _conclude(self.problem, model, total, is_clear=self.is_clear)

    def estimate_over_noise_sizes(self, rng: np.random.Generator) -> Estimate | None:
        """Return the average over several sizes of the noise, each as if it were known, by their posterior.

        None where the system is large, or where a single state explains y better than all supports that this finds.
        """
        problem, best, sizes = self.problem, self.states[0], self.noise_sizes
        if sizes is None or best.evidence - self.model.evidence_of_noise() > sizes.evidence.max():
            return None
        if not self.needs_noise:
            sparse = np.where(best.z > 0, self.best_x, 0.0)
            sizes = sizes.with_solutions_from(problem, sparse, best.noise * problem.m)
        total = PosteriorMoments.zeros(problem.n)
        for variance, mean in sizes.quantiles(NOISE_SIZES_AVERAGED):
            known = replace(self.model, noise=variance / problem.m)
            first = known.climb(mean / known.unit, alike=best.is_alike)
            total.add(known.average(first, rng, BLOCKS_PER_SIZE), 1 / NOISE_SIZES_AVERAGED)
        return _conclude(problem, self.model, total, is_clear=self.is_clear)


def _highest(states: list[State]) -> list[State]:
    """Return the different states of the highest evidence, the best first."""
    finite = [state for state in states if math.isfinite(state.evidence)] or states[:1]
    best = {state.z.tobytes(): state for state in sorted(finite, key=lambda state: state.score)}
    return sorted(best.values(), key=lambda state: -state.score)[:MOST_CHAINS]


def _conclude(problem: Problem, model: Model, total: PosteriorMoments, *, is_clear: bool) -> Estimate:
    """Return the estimate from the moments."""
    inclusion = np.clip(total.inclusion, 0.0, 1.0)
    x = np.where(inclusion < LEAST_INCLUSION, 0.0, total.x)
    # E (x_i - estimate)^2 given x_i != 0; the least is what sigma alone does to a coefficient of a column of length 1
    share = np.maximum(inclusion, LEAST_PROBABILITY)
    square = np.maximum(total.square / share - 2 * x * total.x / share + x**2, 0.0)
    lengths = np.maximum(np.linalg.norm(model.At, axis=1), NO_DIVISOR)
    std = np.where(inclusion > LEAST_SIGNIFICANT, np.sqrt(square), math.sqrt(total.noise) / lengths)
    noise = math.sqrt(total.noise) * model.scale
    return Estimate(problem.clipped(x * model.unit), std * model.unit, inclusion, noise, is_clear)
