"""Answers where y is noisy: with noise of a known size, or of a size that is estimated first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .climbs import BLOCKS_IF_UNCLEAR, FRESH_CHAINS, Climbs
from .driver import Iterate
from .exact_search import find_exact, searchable
from .explanation import Explanation, Nested, log_choices
from .problem import Problem
from .projection import Ball, nearest
from .spike_slab import MOST_NONZEROS_PER_MEASUREMENT, Estimate
from .status import Status

FEWEST_MEASUREMENTS = 4  # to estimate the noise
IS_NOISY = (
    "y is noisy: {columns} of A explain{s} it up to noise of a standard deviation of about {noise:.2g} per measurement "
    "(estimated). Pass noise=0 if y is known to be exact"
)


def is_noisy_message(k: int, noise: float) -> str:
    """Return the message about k columns that explain y up to noise."""
    columns, s = (f"{k} columns", "") if k != 1 else ("1 column", "s")
    return IS_NOISY.format(columns=columns, s=s, noise=noise)


def is_covered_by_model(problem: Problem) -> bool:
    """Return whether the spike-and-slab model covers a problem: a real one in which x = 0 is allowed."""
    return not problem.is_complex and problem.zero_is_allowed and problem.m >= FEWEST_MEASUREMENTS


def answer_to_noise(problem: Problem, guesses: Sequence[NDArray[Any]], rng: np.random.Generator) -> Iterate:
    """Return the answer where y has noise, known or estimated, from guesses at x; A is written out.

    If the noise is not known, an exact solution near a guess is looked for first.
    """
    if problem.noise == 0 and searchable(problem):
        for guess in guesses:
            exact = find_exact(problem, np.abs(guess))
            if exact is not None:
                return Iterate(exact, steps=0, status=Status.CONVERGED)
    if not is_covered_by_model(problem):
        return answer_without_model(problem, guesses)
    climbs = Climbs(problem)
    for guess in guesses:
        climbs.add(guess)
    climbs.cool(rng)
    return answer_from_climbs(problem, climbs, rng)


def answer_from_climbs(problem: Problem, climbs: Climbs, rng: np.random.Generator) -> Iterate:
    """Return the estimate from the best states that were found."""
    if problem.noise > 0:
        is_clear = climbs.agree or climbs.is_overwhelming or climbs.noise_is_loud
        answer = _answer(problem, climbs.estimate(rng, fresh_chains=0 if is_clear else 1))
        return replace(answer, status=Status.NOT_SPARSE) if climbs.is_misled else answer
    if climbs.noise_is_negligible:
        best = Explanation.of(problem, climbs.best_x)
        if best.is_clear:
            return _answer(problem, estimate_by_least_squares(problem, best))
    if climbs.is_overwhelming:
        return _answer(problem, climbs.estimate(rng))
    estimate = climbs.estimate_over_noise_sizes(rng)
    if estimate is not None:
        return _answer(problem, estimate)
    if climbs.agree:
        return _answer(problem, climbs.estimate(rng))
    return _answer(problem, climbs.estimate(rng, blocks=BLOCKS_IF_UNCLEAR, fresh_chains=FRESH_CHAINS))


def answer_without_model(problem: Problem, guesses: Sequence[NDArray[Any]]) -> Iterate:
    """Return the least-squares fit that an information criterion prefers: for complex systems, and bounds without 0."""
    if problem.noise > 0:
        x = max((prune(problem, guess) for guess in guesses), key=lambda found: found[1])[0]
        return _answer(problem, estimate_by_least_squares(problem, Explanation(x, 0.0, problem.sigma, True)))
    best = min((Explanation.of(problem, guess) for guess in guesses), key=lambda found: found.score)
    if not math.isfinite(best.noise):
        return Iterate(nearest(problem, best.x), steps=0, status=Status.INEXACT)
    return _answer(problem, estimate_by_least_squares(problem, best))


def _answer(problem: Problem, found: Estimate) -> Iterate:
    """Return an estimate as an answer; where the noise was estimated, with a message that says how large it is."""
    if problem.noise > 0:
        x, noise, status, message = move_into_noise(problem, found.x), problem.sigma, Status.CONVERGED, None
    else:
        k = int(np.count_nonzero(found.inclusion > 0.5))
        x, noise = problem.clipped(found.x), found.noise
        status = Status.CONVERGED if found.is_clear else Status.NOT_SPARSE
        message = is_noisy_message(k, noise) if found.is_clear else None
    return Iterate(x, 0, None, status, message, noise=noise, std=found.std, inclusion=found.inclusion)


def move_into_noise(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return the nearest x that is within the noise and the bounds, with the same zeros if possible."""
    x = problem.clipped(x)
    if problem.residual(x) <= problem.tolerance():
        return x
    support = np.flatnonzero(x)
    if problem.bounds is None and len(support):
        A = problem.matrix()[:, support]
        sparse = np.zeros_like(x)
        ball = Ball(A, problem.y, problem.tolerance(), *np.linalg.svd(A, full_matrices=False))
        sparse[support] = ball.nearest(x[support])
        if problem.residual(sparse) <= problem.tolerance():
            return sparse
    return nearest(problem, x)


def prune(problem: Problem, guess: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Return least squares on the k largest of a guess, with k by an information criterion, and minus its value.

    J. Chen and Z. Chen, "Extended Bayesian information criteria for model selection with large model spaces",
    Biometrika 95(3), 2008. For complex systems, of which each coefficient counts twice.
    """
    n, parts = problem.n, 2 if problem.is_complex else 1
    fits = Nested.of(problem, guess, max(int(MOST_NONZEROS_PER_MEASUREMENT * problem.m), 1))
    k = np.arange(len(fits.squares))
    scores = parts * (fits.squares / problem.sigma**2 + k * math.log(problem.m)) + 2 * log_choices(n, k)
    size = int(np.argmin(scores))
    return fits.refit(size), -float(scores[size])


def estimate_by_least_squares(problem: Problem, explanation: Explanation) -> Estimate:
    """Return the fit of an explanation with the error bars of least squares: for complex systems, or little noise."""
    A, x = problem.matrix(), explanation.x
    zero = problem.clipped(np.zeros(problem.n))
    chosen = np.flatnonzero(x - zero)
    Q, R = np.linalg.qr(A[:, chosen])
    lengths = np.linalg.norm(A - Q @ (Q.conj().T @ A), axis=0)
    variance = np.full(problem.n, math.inf)
    np.divide(explanation.noise**2, lengths**2, out=variance, where=lengths > 0)
    inverse = np.linalg.pinv(R)
    variance[chosen] = explanation.noise**2 * np.sum(np.abs(inverse) ** 2, axis=1)
    inclusion = np.zeros(problem.n)
    inclusion[chosen] = 1.0
    return Estimate(x, np.sqrt(variance), inclusion, explanation.noise, explanation.is_clear)
