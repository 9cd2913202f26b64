r"""GDSReweighted: least squares whose weights are the slopes of S_p.

Why it works. The slope -d log S_p/dc_i says what a coefficient costs: positive for those that S_p would rather have
smaller, negative for those it would rather have larger. S_p^(1/p) is proportional to |D c|_p / |c|_p with D the
pairwise differences. Dinkelbach's step and a linearised |D c|_p give a majoriser of its negative: a weighted l1 norm
where the slope is positive, and a well at a positive level where it is negative. Scale invariance, sum c_i dS/dc_i = 0,
forces some slopes to be negative: the wells cannot be left out, only shared. Here all share one level,
L = sum c^p / sum c^(p-1). With e = sqrt(x^2 + eps), w = -d log S_p/dc in units of its largest, and c = |x|,

    h0 = max(w, floor) (e/L)^(r-1) / e                             the well at zero, an l_r norm by reweighting
    h1 = well (1 - max(w, 0))^sharpness / sqrt((c - L)^2 + eps)    the well at the common level

    x <- argmin sum h0 |x|^2 + h1 |x - L sign x|^2   subject to A x = y,

and eps falls from 4 mean |x|^2 by halves. The one-sided form takes c = max(s x, 0) and charges the wrong side ten
times. With noise the constraint is |A x - y| <= 0.85 noise, and eps falls to the square of what the noise makes of a
coefficient, sigma / |a_i|: wells narrower than that would tell noise from noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Parameter, check_count, check_order
from .._arrays.systems import noise_norm
from .._compiled import recover as kernels
from .._compiled import wells
from .._compiled.support import SPARE
from ..errors import InvalidInput
from . import matrix_free
from .nearest import multiplier, within_bounds
from .noisy import refined
from .problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished
from .shrinkage import Options

FLOOR = Parameter("floor", 0.03, low=0, high=1)
WELL = Parameter("well", 0.3, low=0, low_included=True)
SHARPNESS = Parameter("sharpness", 6.0, low=0)
EXPONENT = Parameter("exponent", 1.0, low=0, high=1, high_included=True)
JITTER = Parameter("jitter", 0.0, low=0, low_included=True)
SIDES = (-1, 0, 1)
FARTHEST = 100.0  # in units of the least-norm solution: no signal that few sums tell anything of is so much larger
RAN_AWAY = (
    "the wells chased each other away from every solution, and the one of least norm is returned: "
    "take a lower order, or well=0"
)
SNUG = 0.85  # of the noise bound: about the residual that is to be expected


@dataclass(frozen=True, kw_only=True)
class GDSReweighted(Solver):
    """Iteratively reweighted least squares by the slopes of S_p, with a well at zero and one at a common level.

    Real or complex, dense or matrix-free, with or without noise; bounds by a one-sided form (x >= 0 or x <= 0) and by
    wells at the bounds.

    Parameters
    ----------
    order : float
        p > 1. High orders look at the large coefficients alone; from about 6 on they want a shallower `well`, or none
        (the common level then is nearly the largest coefficient, which the wells raise step by step).
    floor : float
        The least weight, in units of the largest.
    well, sharpness : float
        The depth of the well at the common level (0 leaves it out), and how sharply it sets in.
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

    order: float = 4.0
    floor: float = FLOOR.default
    well: float = WELL.default
    sharpness: float = SHARPNESS.default
    exponent: float = EXPONENT.default
    side: int = 0
    jitter: float = 0.0
    stages: int = wells.HALVINGS
    steps: int = wells.STEPS_PER_STAGE

    def __post_init__(self) -> None:
        if not 1 < check_order(self.order) < math.inf:
            raise InvalidInput(f"order must be a finite number above 1, got {self.order!r}")
        for parameter in (FLOOR, WELL, SHARPNESS, EXPONENT, JITTER):
            parameter.check(getattr(self, parameter.name))
        if self.side not in SIDES:
            raise InvalidInput(f"side must be -1, 0 or 1, got {self.side!r}")
        check_count("stages", self.stages, least=1)
        check_count("steps", self.steps, least=1)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """One run; with noise two, the second with half the exponent, and `refined` from the better one."""
        converged, message = True, None
        if problem.system.matrix is None or (problem.system.structured and problem.is_large):
            jitter = np.exp(self.jitter * rng.standard_normal(problem.n)) if self.jitter else None
            options = Options(*self._options(problem), jitter)
            x, nit, stopped, converged = matrix_free.run(problem, options, callback)
        else:
            x, nit, _, stopped = self.run(problem, rng, callback=callback)
            if ran_away(problem, x):
                x, converged, message = problem.start(), False, RAN_AWAY
            if problem.noise > 0 and not stopped and problem.scale > problem.noise:
                other, more, _, _ = self._sparser().run(problem, rng)
                guesses = [x] if ran_away(problem, other) else [x, other]
                x, nit = refined(problem, guesses, rng), nit + more
            x = within_bounds(problem, x)
        status = CALLED_OFF if stopped else CONVERGED if converged else STOPPED
        return finished(problem, x, status=status, nit=nit, nfev=nit, order=self.order, message=message)

    def run(
        self, problem: Problem, rng: np.random.Generator, *, certifying: bool = False, callback: Callback | None = None
    ) -> tuple[NDArray[Any], int, bool, bool]:
        """x, the number of solves, whether the search for a certificate ended it, and whether the callback did.

        For systems that are written out.
        """
        jitter = np.exp(self.jitter * rng.standard_normal(problem.n))
        if self._is_plain(problem) and callback is None:
            reduced = problem.reduced
            x = np.empty(problem.n)
            rng.standard_normal((reduced.rank, SPARE))  # unused: so that a seed gives the restarts it always gave
            certified, solves = kernels.descend(
                kernels.DescentRoom(reduced.B), kernels.SlopesRoom(problem.n), kernels.SearchRoom(*reduced.B.shape),
                reduced.b, problem.start(), *self._options(problem), jitter, certifying and reduced.rank > 2, x,
                self.stages, self.steps,
            )  # fmt: skip
            return x, solves, certified, False
        if self._is_noisy(problem) and callback is None:
            x, solves = self._descended(problem, jitter)
            return x, solves, False, False
        x, solves, stopped = _General(self, problem, jitter).run(callback)
        return x, solves, False, stopped

    def _sparser(self) -> GDSReweighted:
        """With half the exponent, a small floor and a shallow well: for magnitudes that are not alike."""
        return replace(self, exponent=self.exponent / 2, floor=min(self.floor, 0.001), well=min(self.well, 0.1))

    def _options(self, problem: Problem) -> tuple[float, float, float, float, float, float]:
        side = float(self._side(problem))
        return float(self.order), self.floor, self.well, self.sharpness, self.exponent, side

    def _is_plain(self, problem: Problem) -> bool:
        """Whether the compiled run is for it: a real matrix, no noise, at most a sign."""
        if problem.system.matrix is None or problem.is_complex or problem.noise > 0:
            return False
        return problem.bounds is None or self._side(problem) != 0

    def _is_noisy(self, problem: Problem) -> bool:
        """Whether the compiled run with noise is for it."""
        return problem.noise > 0 and self._is_plain(replace(problem, noise=0.0)) and problem.scale > problem.noise

    def _descended(self, problem: Problem, jitter: Array) -> tuple[Array, int]:
        x = np.empty(problem.n)
        solves = kernels.descend_within(
            kernels.DescentRoom(problem.matrix()), kernels.SlopesRoom(problem.n), problem.system.y,
            SNUG * problem.tolerance(), problem.start(), *self._options(problem), jitter, x, self.stages, self.steps,
            last_width(problem),
        )  # fmt: skip
        return x, solves

    def _side(self, problem: Problem) -> int:
        """The sign that the bounds demand, or the one that was asked for."""
        if problem.bounds is not None:
            low, high = problem.bounds
            if np.all(low == 0) and np.all(np.isinf(high)):
                return 1
            if np.all(high == 0) and np.all(np.isinf(low)):
                return -1
            return 0
        return self.side


def ran_away(problem: Problem, x: NDArray[Any]) -> bool:
    """Whether x is out of all proportion to the solution of least norm, or no number."""
    return not np.linalg.norm(x) <= FARTHEST * np.linalg.norm(problem.start())


def last_width(problem: Problem) -> float:
    """Where eps ends: at the variance that the noise gives to a coefficient; 0 without noise."""
    if problem.noise == 0 or problem.system.matrix is None:
        return 0.0
    return float(problem.noise / noise_norm(problem.m) / np.linalg.norm(problem.matrix())) ** 2 * problem.n


class _General:
    """The same steps for complex systems and boxes, with or without noise."""

    def __init__(self, solver: GDSReweighted, problem: Problem, jitter: Array) -> None:
        self.solver, self.problem, self.jitter = solver, problem, jitter
        self.room = kernels.SlopesRoom(problem.n)

    def run(self, callback: Callback | None) -> tuple[NDArray[Any], int, bool]:
        """x, the number of solves, and whether the callback stopped it."""
        solver, problem = self.solver, self.problem
        x = problem.start()
        width = wells.FIRST_WIDTH * float(np.mean(np.abs(x) ** 2))
        eps, solves, last = width, 0, last_width(problem)
        for _ in range(solver.stages):
            for _ in range(solver.steps):
                previous = x
                x = problem.clipped(self._step(x, eps))
                solves += 1
                if callback is not None and callback(solves, x):
                    return x, solves, True
                if np.linalg.norm(x - previous) < wells.SETTLED * math.sqrt(eps / width) * np.linalg.norm(x):
                    break
            if eps <= last:
                break
            eps *= 0.5
        return x, solves, False

    def _step(self, x: NDArray[Any], eps: float) -> NDArray[Any]:
        solver = self.solver
        weight, level = np.empty(len(x)), np.empty(len(x))
        options = (float(solver.order), solver.floor, solver.well, solver.sharpness, solver.exponent)
        kernels.weigh(np.abs(x), eps, *options, 0.0, self.jitter, self.room, weight, level)
        target = level * np.exp(1j * np.angle(x)) if np.iscomplexobj(x) else level * np.sign(x)
        weight, target = self._within_bounds(x, eps, weight, target)
        return self._solve(weight, target)

    def _within_bounds(
        self, x: NDArray[Any], eps: float, weight: Array, target: NDArray[Any]
    ) -> tuple[Array, NDArray[Any]]:
        """What lies at or beyond a bound is drawn to it."""
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
        """argmin sum weight |x - target|^2 subject to |A x - y| <= noise."""
        problem = self.problem
        if problem.noise == 0:
            B, b = problem.reduced.B, problem.reduced.b
            dual = np.linalg.solve((B / weight) @ B.conj().T, b - B @ target)
            return np.asarray(target + (B.conj().T @ dual) / weight)
        A = problem.matrix()
        values, vectors = np.linalg.eigh((A / weight) @ A.conj().T)
        left = vectors.conj().T @ (problem.system.y - A @ target)
        values = np.maximum(values, 0.0)
        mu = multiplier(values, left, SNUG * problem.tolerance())
        dual = vectors @ (mu * left / (1 + mu * values))
        return np.asarray(target + (A.conj().T @ dual) / weight)
