"""Few columns that explain y up to noise of unknown size: what is left to find where y has no exact sparse solution.

Any x near the signal tells by its largest coefficients which columns these are. Least squares on the k largest has the
residual r_k, and k is chosen by the Bayesian information criterion (G. Schwarz, "Estimating the dimension of a model",
Annals of Statistics 6(2), 1978) with M - k degrees of freedom: the least

    (M - k) log(s^2 / (r_0^2 / M)) + k log M,    s^2 = r_k^2 / (M - k),

with r_0 = |y|, or what is left of y where bounds keep coefficients away from zero. The same score compares guesses.
For k = 0 it is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from ..metrics.gds import gds
from .problem import Problem
from .projection import fitted
from .tolerances import EXACT

LEAST_SPARE_MEASUREMENTS = 3  # beyond the non-zeros: fewer do not determine the noise
LARGEST_CLEAR_RESIDUAL = 0.03  # relative to r_0; part of an exact sparse signal often leaves 0.06 of it


@dataclass(frozen=True)
class Nested:
    """Least squares on the 0, 1, 2, ... largest coefficients of a guess; the others are zero, or at a bound."""

    problem: Problem
    order: Indices
    zero: NDArray[Any]
    rest: NDArray[Any]  # y - A zero
    squares: Array  # squared residuals

    @classmethod
    def of(cls, problem: Problem, guess: NDArray[Any], most: int) -> Nested:
        """Fit at most `most` columns."""
        A = problem.matrix()
        zero = problem.clipped(np.zeros(problem.n)).astype(guess.dtype)
        order = np.argsort(-np.abs(guess - zero))[:most]
        rest = problem.y - A @ zero
        Q = np.linalg.qr(A[:, order])[0]
        along = Q.conj().T @ rest
        outside = float(np.linalg.norm(rest - Q @ along) ** 2)
        squares = outside + np.append(np.cumsum(np.abs(along[::-1]) ** 2)[::-1], 0.0)
        return cls(problem, order, zero, rest, squares)

    def refit(self, k: int) -> NDArray[Any]:
        """Return the fit on the k largest."""
        return np.asarray(self.zero + fitted(self.problem.matrix(), self.rest, self.order[:k]))


@dataclass(frozen=True)
class Explanation:
    """The fit with the lowest score. `noise` is the standard deviation of what it leaves of each measurement.

    `is_clear` says that y looks like these columns and noise: the residual is small, and the score stays below 0 after
    2 log C(N, k) is added for the choice of the columns.
    """

    x: NDArray[Any]
    score: float
    noise: float
    is_clear: bool

    @classmethod
    def of(cls, problem: Problem, guess: NDArray[Any]) -> Explanation:
        """Choose among the fits on the largest coefficients of a guess; A is written out."""
        most = problem.reduced.rank - LEAST_SPARE_MEASUREMENTS
        if most < 1:
            return cls(guess, -float(gds(guess, 2, zero=1.0)), math.nan, False)
        fits = Nested.of(problem, guess, most)
        k = np.arange(1, len(fits.squares))
        scores = _scores(problem, k, fits.squares[1:], fits.squares[0])
        best = int(np.argmin(scores))
        square, chosen = float(fits.squares[best + 1]), best + 1
        few = scores[best] + 2 * log_choices(problem.n, k[best : best + 1])[0] < 0
        clear = bool(few and square <= LARGEST_CLEAR_RESIDUAL**2 * fits.squares[0])
        return cls(fits.refit(chosen), float(scores[best]), math.sqrt(square / (problem.m - chosen)), clear)


def is_coincidence(problem: Problem, x: NDArray[Any]) -> bool:
    """Return whether an exact x is rather a sparser signal and columns that happen to fit its noise."""
    zero = problem.clipped(np.zeros(problem.n))
    k = np.array([np.count_nonzero(x - zero)])
    if k[0] >= problem.m:
        return False
    fewer = Explanation.of(problem, x)
    if not fewer.is_clear or problem.residual(fewer.x) <= EXACT * problem.scale:
        return False
    own = _scores(problem, k, np.array([problem.residual(x) ** 2]), problem.residual(zero) ** 2)
    return fewer.score < float(own[0])


def log_choices(n: int, k: Indices) -> Array:
    """Return log C(n, k)."""
    return np.array([math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) for j in k])


def _scores(problem: Problem, k: Indices, squares: Array, whole: float) -> Array:
    """Return the scores of fits with k non-zeros, which for complex numbers count twice; `whole` is r_0^2."""
    least = (EXACT * problem.scale) ** 2
    share = np.maximum(squares, least) / max(whole, least) * problem.m / (problem.m - k)
    return (2 if problem.is_complex else 1) * ((problem.m - k) * np.log(share) + k * math.log(problem.m))
