"""GDSReweighted: least squares whose weights are the slopes of S_p. `descent.py` explains the steps."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._compiled import wells
from . import matrix_free
from .descent import WellOptions, stages
from .driver import Iterate
from .noisy import answer_to_noise
from .problem import Problem
from .projection import within_bounds
from .solver import Capabilities, Solver, choice, count, order_option, real
from .status import Status

LARGEST_GROWTH = 100.0  # in units of the least-norm solution: few measurements cannot determine a larger signal
DIVERGED = "The iteration diverged; returning the solution of the least norm. Try a lower `order` or `well=0`."


@dataclass(frozen=True, kw_only=True)
class GDSReweighted(Solver):
    """Iteratively reweighted least squares by the slopes of S_p, with a well at zero and one at a common level.

    For real and complex systems, matrices and operators, with or without noise; bounds by a one-sided form (x >= 0 or
    x <= 0) and by wells at the bounds. The callback sees each of the `stages`.

    Parameters
    ----------
    order : float
        The order p >= 1. High orders depend on the large coefficients alone; 1 is the Gini index, and 2 is |x|_1/|x|_2.
    floor : float
        The least weight, in units of the largest.
    well, sharpness : float
        The depth of the well at the common level (0 leaves it out), and how sharply it sets in. It fades between orders
        4 and 6 and towards order 1, and is left out beyond.
    exponent : float
        r of the l_r norm at zero, 0 < r <= 1.
    side : {-1, 0, 1}
        The sign that is expected of all non-zeros; 0 for none.
    jitter : float
        The spread of random factors on the weights, for restarts.
    stages, steps : int
        How often eps is halved, and the most steps at each. For large operators there are no stages: see
        `matrix_free.py`, where `floor` and `exponent` are limits of what is chosen from step to step.
    """

    supports: ClassVar[Capabilities] = Capabilities(
        bounds="any", complex=True, operators=True, unknown_noise=True, bounds_with_operator=True
    )

    order: float = order_option(4.0, finite=True)
    floor: float = real(0.03, low=0, high=1)
    well: float = real(0.3, low=0, low_included=True)
    sharpness: float = real(6.0, low=0)
    exponent: float = real(1.0, low=0, high=1, high_included=True)
    side: int = choice(0, (-1, 0, 1))
    jitter: float = real(0.0, low=0, low_included=True)
    stages: int = count(wells.HALVINGS, least=1)
    steps: int = count(wells.STEPS_PER_STAGE, least=1)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield one run; with noise a second one with half the exponent, and then the estimate from both."""
        if problem.system.matrix is None or (problem.system.structured and problem.is_large):
            jitter = np.exp(self.jitter * rng.standard_normal(problem.n)) if self.jitter else None
            solve = functools.partial(self.solve, rng=rng)
            yield from matrix_free.iterates(problem, self._wells(problem), jitter, solve)
            return
        guesses = []
        for solver in (self, self._for_unequal_magnitudes()) if problem.noise > 0 else (self,):
            x = problem.start()
            for iterate in solver.descend(problem, rng):
                x = iterate.x
                yield iterate
            if not has_diverged(problem, x):
                guesses.append(x)
        if not guesses:
            yield Iterate(problem.start(), steps=0, status=Status.DIVERGED, message=DIVERGED)
        elif problem.noise > 0 or problem.estimate_noise:
            yield answer_to_noise(problem, guesses, rng)
        else:
            yield Iterate(guesses[0], steps=0, status=Status.CONVERGED)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest solution within the bounds."""
        return x if problem.system.matrix is None else within_bounds(problem, x)

    def descend(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield one iterate per stage of one run; A is written out."""
        jitter = np.exp(self.jitter * rng.standard_normal(problem.n)) if self.jitter else np.ones(problem.n)
        run = stages(problem, self._wells(problem), jitter, halvings=self.stages, steps=self.steps)
        return (Iterate(x, steps=taken) for x, taken in run)

    def _for_unequal_magnitudes(self) -> GDSReweighted:
        return replace(self, exponent=self.exponent / 2, floor=min(self.floor, 0.001), well=min(self.well, 0.1))

    def _wells(self, problem: Problem) -> WellOptions:
        side = float(self.side if problem.bounds is None else problem.sign)
        return WellOptions(float(self.order), self.floor, self.well, self.sharpness, self.exponent, side)


def has_diverged(problem: Problem, x: NDArray[Any]) -> bool:
    """Return whether x is out of all proportion to the solution of least norm, or not finite."""
    with np.errstate(over="ignore"):
        return not np.linalg.norm(x) <= LARGEST_GROWTH * np.linalg.norm(problem.start())
