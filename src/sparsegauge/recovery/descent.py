r"""Least squares reweighted by the slopes of S_p: the steps of `GDSReweighted`.

Why it works. The slope -d log S_p/dc_i says what a coefficient costs: positive for those that S_p would rather have
smaller, negative for those it would rather have larger. S_p^(1/p) is proportional to |D c|_p / |c|_p with D the
pairwise differences. Dinkelbach's step and a linearised |D c|_p give a majoriser of its negative: a weighted l1 norm
where the slope is positive, and a well at a positive level where it is negative. Scale invariance, sum c_i dS/dc_i = 0,
forces some slopes to be negative: the wells cannot be left out, only shared. Here all share one level,
L = sum c^p / sum c^(p-1). With e = sqrt(x^2 + eps), w = -d log S_p/dc in units of its largest, and c = |x|,

    h0 = max(w, floor) (e/L)^(r-1) / e                             the well at zero, an l_r norm by reweighting
    h1 = well (1 - max(w, 0))^sharpness / sqrt((c - L)^2 + eps)    the well at the common level

    x <- argmin sum h0 |x|^2 + h1 |x - L sign x|^2   subject to A x = y,

and eps falls from 4 mean |x|^2 by halves, one stage per halving. The well at the common level fades between orders 4
and 6 and towards order 1, and is left out beyond: at high orders L follows the largest coefficient, which the well
would raise without end, and at order 1 L is the mean of all coefficients, zeros included. The one-sided form takes
c = max(s x, 0) and charges the wrong side ten times. With noise the constraint is |A x - y| <= 0.85 noise, and eps
falls to the square of what the noise makes of a coefficient, sigma / |a_i|: narrower wells would fit noise.

At order 2, S_2 = 1 - (|x|_1/|x|_2)^2 / N: maximising it is the minimisation of |x|_1/|x|_2 (Y. Rahimi, C. Wang, H. Dong
and Y. Lou, "A scale-invariant approach for sparse signal recovery", SIAM Journal on Scientific Computing 41(6), 2019).
At order 1 it is recovery by the Gini index (D. Zonoobi, A. A. Kassim and Y. V. Venkatesh, "Gini index as sparsity
measure for signal reconstruction from compressive samples", IEEE Journal of Selected Topics in Signal Processing 5(5),
2011).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .._compiled import recover as kernels
from .._compiled import wells
from .problem import Problem
from .projection import damped_dual

SHARE_OF_NOISE_BOUND = 0.85  # at which descents aim: about the residual that is to be expected


class WellOptions(NamedTuple):
    """The options of `GDSReweighted` that shape the wells."""

    order: float
    floor: float
    well: float
    sharpness: float
    exponent: float
    side: float


def stages(
    problem: Problem, options: WellOptions, jitter: Array, *, halvings: int, steps: int
) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield x and the number of steps after each stage, from wide wells to narrow ones; A is written out."""
    descent = _descent_for(problem, options, jitter)
    width = wells.FIRST_WIDTH * float(np.mean(np.abs(descent.x) ** 2))
    eps, last = width, _last_width(problem)
    for _ in range(halvings):
        if eps == 0 or not np.isfinite(descent.x).all():
            return
        taken = descent.stage(eps, wells.SETTLED * math.sqrt(eps / width), steps)
        yield descent.x.copy(), taken
        if eps <= last:
            return
        eps *= 0.5


def _last_width(problem: Problem) -> float:
    """Return where eps ends: at the variance that the noise gives to a coefficient; 0 without noise."""
    return float(problem.sigma / np.linalg.norm(problem.matrix())) ** 2 * problem.n


def _descent_for(problem: Problem, options: WellOptions, jitter: Array) -> _Exact | _Noisy | _General:
    """Return the compiled descent where there is one: for real systems with no bounds, or with a sign."""
    if problem.is_complex or (problem.bounds is not None and options.side == 0):
        return _General(problem, options, jitter)
    return _Exact(problem, options, jitter) if problem.noise == 0 else _Noisy(problem, options, jitter)


class _Exact:
    """A x = y, compiled."""

    def __init__(self, problem: Problem, options: WellOptions, jitter: Array) -> None:
        self.b, self.x = problem.reduced.b, problem.start()
        self.shared = kernels.DescentRoom(problem.reduced.B), kernels.SlopesRoom(problem.n)
        self.wells, self.jitter = kernels.Wells(*options), jitter

    def stage(self, eps: float, settled: float, steps: int) -> int:
        """Take steps at one eps; return how many."""
        return int(kernels.descend(*self.shared, self.b, self.wells, self.jitter, eps, settled, steps, self.x))


class _Noisy:
    """|A x - y| <= noise, compiled."""

    def __init__(self, problem: Problem, options: WellOptions, jitter: Array) -> None:
        self.y, self.radius = problem.y, SHARE_OF_NOISE_BOUND * problem.tolerance()
        self.x, self.damping = problem.start(), 1.0
        self.shared = kernels.DescentRoom(problem.matrix()), kernels.SlopesRoom(problem.n)
        self.wells, self.jitter = kernels.Wells(*options), jitter

    def stage(self, eps: float, settled: float, steps: int) -> int:
        """Take steps at one eps; return how many."""
        options = (self.wells, self.jitter, eps, settled, steps, self.damping)
        taken, self.damping = kernels.descend_within(*self.shared, self.y, self.radius, *options, self.x)
        return int(taken)


class _General:
    """The same steps for complex systems and boxes, with or without noise."""

    def __init__(self, problem: Problem, options: WellOptions, jitter: Array) -> None:
        self.problem, self.jitter, self.x = problem, jitter, problem.start()
        self.wells, self.room = kernels.Wells(*options._replace(side=0.0)), kernels.SlopesRoom(problem.n)

    def stage(self, eps: float, settled: float, steps: int) -> int:
        """Take steps at one eps; return how many."""
        taken = 0
        while taken < steps:
            taken += 1
            previous = self.x
            self.x = self.problem.clipped(self._step(previous, eps))
            moved = float(np.linalg.norm(self.x - previous))
            if not moved >= settled * float(np.linalg.norm(self.x)):
                break
        return taken

    def _step(self, x: NDArray[Any], eps: float) -> NDArray[Any]:
        weight, level = np.empty((2, len(x)))
        kernels.weigh(np.abs(x), eps, self.wells, self.jitter, self.room, weight, level)
        target = level * np.exp(1j * np.angle(x)) if np.iscomplexobj(x) else level * np.sign(x)
        return self._solve(*self._pull_to_bounds(x, eps, weight, target))

    def _pull_to_bounds(
        self, x: NDArray[Any], eps: float, weight: Array, target: NDArray[Any]
    ) -> tuple[Array, NDArray[Any]]:
        """Draw to a bound what lies at it or beyond it."""
        if self.problem.bounds is None:
            return weight, target
        low, high = self.problem.bounds
        beyond = (x <= low) | (x >= high)
        pull = wells.PENALTY / math.sqrt(eps)
        bound = np.where(x <= low, low, high)
        weight = np.where(beyond, weight + pull, weight)
        with np.errstate(invalid="ignore"):  # an infinite bound is never met
            return weight, np.where(beyond, (target * (weight - pull) + pull * bound) / weight, target)

    def _solve(self, weight: Array, target: NDArray[Any]) -> NDArray[Any]:
        """Return argmin sum weight |x - target|^2 subject to |A x - y| <= noise."""
        problem = self.problem
        exact = problem.noise == 0
        A = problem.reduced.B if exact else problem.matrix()
        y = problem.reduced.b if exact else problem.y
        values, vectors = np.linalg.eigh((A / weight) @ A.conj().T)
        left = vectors.conj().T @ (y - A @ target)
        if exact:
            dual = vectors @ (left / np.maximum(values, np.finfo(float).eps * values[-1]))
        else:
            dual = vectors @ damped_dual(np.maximum(values, 0.0), left, SHARE_OF_NOISE_BOUND * problem.tolerance())
        return np.asarray(target + (A.conj().T @ dual) / weight)
