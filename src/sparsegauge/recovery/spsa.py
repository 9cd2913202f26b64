"""SPSA, the paper's method (section VIII): simultaneous perturbations of a feasible point.

With P the projection onto the null space of A and s_k random signs, d_k = P s_k is a feasible direction, and

    x_(k+1) = x_k + a_k (S(x_k + c_k d_k) - S(x_k - c_k d_k)) / (2 c_k) d_k,
    a_k = a / (k + 1 + A)^alpha,    c_k = c / (k + 1)^gamma

(Spall, 1998, Johns Hopkins APL Tech. Digest 19(4), 482-492). The direction is projected and not the point, since a
feasible point stays feasible; the expected step is P times the gradient either way, and measuring S at feasible points
spares the noise of its slope across the constraints. `project="point"` is SPSA written literally: S is measured at
x_k +- c_k s_k, and the point after the step is projected onto the solutions of A x = y.

Signs of a Bernoulli +-1 distribution are the asymptotically optimal perturbations (Sadegh and Spall, 1998, IEEE Trans.
Automatic Control 43(10), 1480-1484). Zonoobi, Kassim and Venkatesh (2011, IEEE J. Selected Topics in Signal Processing
5(5), 927-932) recover signals with SPSA and the Gini index, which the paper follows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _compiled
from .._arrays import Array
from ..errors import InvalidInput
from ..metrics.catalogue import METRICS
from ..metrics.gds import gds
from .ascent import Feasible, make_feasible
from .driver import Iterate
from .problem import Problem
from .solver import Capabilities, Solver, choice, count, order_option, real
from .spsa_workspace import SpsaWorkspace, projector, worth_compiling
from .status import Status

HISTORY_ENTRIES = 50  # and calls of the callback
OPENING_DIRECTIONS = 32  # whose mean slope at the start is the unit of slopes
FARTHEST_FROM_START = 1e6  # in units of the start: farther out, rounding takes the digits that A x = y needs
DIVERGED = "the iterates diverged: sparsity has no maximum in the direction that they took; use a smaller a"

Measure = Callable[[Array], Any]


def _written_if_changed(option: Field[Any]) -> Any:
    """Mark an option that stores of studies before it did not have."""
    return field(default=option.default, metadata={**option.metadata, "written_if_changed": True})


@dataclass(frozen=True, kw_only=True)
class SPSA(Solver):
    """Simultaneous perturbation stochastic approximation of argmax S(x) subject to A x = y.

    Lengths are in units of the RMS of the start (the solution of least norm, or x0), slopes in units of their mean
    size at the start along random directions, which is Spall's advice on choosing a; so the same gains serve every
    metric, order and scale. The metric sees x in those units too, which matters where it depends on the scale.

    Parameters
    ----------
    order : float
        The order of GDS that is maximised.
    metric : str or callable
        "gds"; or any metric of the catalogue, of which the sparser direction is sought; or any function of a
        1-D array whose larger values are sparser.
    parameters : mapping
        The parameters of a metric of the catalogue.
    iterations : int
        The number of iterations; each measures two points.
    a, A, alpha : float
        The gains a_k = a / (k + 1 + A)^alpha.
    c, gamma : float
        The widths c_k = c / (k + 1)^gamma.
    project : {"direction", "point"}
        Measure S at feasible points x +- c P s; or literally at x +- c s, and project the point after each step.
    gains : {"relative", "absolute"}
        Whether a and c are in the units above, or a in the units of S and c in those of x.
    tolerance : float
        A run has converged if x moved by less than this, relative to x, in its last tenth.

    Notes
    -----
    The result is the last iterate and not the best one: iterates are not measured, only points around them, and S_p,
    being scale invariant, need not have a finite global maximum (along a direction v of the null space it tends to
    S_p(v), which may be larger than S_p anywhere). With noise, which the paper does not have, those of its smallest
    coefficients that the noise explains are left out at the end. With bounds each iterate is clipped and projected
    back, and the last one alternates between the two until both hold.

    The callback sees x 50 times, after every 50th part of the iterations; the history has an entry for each.

    The gains are ours and not the paper's, which gives none. They were searched at order 2 on trials 0..2 of four
    problems (uniform K = 10, M = 40; normal K = 20, M = 60; exponential K = 20, M = 50; ones K = 10, M = 40; N = 100):
    first a in 0.03..3 and c in 0.003..0.1 with 10,000 iterations, then a in 0.5..2, c in 0.01..0.1 and A of 1 % and
    10 % of 30,000 iterations, then five settings with smaller c and 50,000. A larger c biases the result by about
    c/10, with a larger a the iterates fluctuate, and with a smaller one they need more iterations. These gains suit
    orders 1.5 to 2; order 1 fluctuates with them and had the smallest errors (4e-3) with a = 1, c = 0.1.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="any")

    order: float = order_option(2.0)
    metric: str | Measure = "gds"
    parameters: Mapping[str, float] = field(default_factory=dict)
    iterations: int = count(50_000, least=1)
    a: float = real(0.5, low=0)
    c: float = real(0.005, low=0)
    A: float = real(500.0, low=0, low_included=True)
    alpha: float = real(0.602, low=0, high=1, high_included=True)
    gamma: float = real(0.101, low=0, high=1, low_included=True, high_included=True)
    tolerance: float = real(1e-3, low=0, low_included=True)
    project: str = _written_if_changed(choice("direction", ("direction", "point")))
    gains: str = _written_if_changed(choice("relative", ("relative", "absolute")))

    def __post_init__(self) -> None:
        """Check every option."""
        super().__post_init__()
        self._check_metric()

    def _check_metric(self) -> None:
        if callable(self.metric):
            if self.parameters:
                raise InvalidInput("parameters are for metrics of the catalogue; build them into the function")
            return
        metric = METRICS.find(self.metric)
        if metric.name == "gds" and self.parameters:
            raise InvalidInput("the parameter of gds is the solver's own order: pass SPSA(order=...)")
        metric.check(self.parameters)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield x at each report."""
        start = Feasible(problem).start()
        if not start.any():  # there is no scale to measure by
            yield Iterate(start, status=Status.CONVERGED)
            return
        unit = float(np.sqrt(np.mean(start**2))) if self.gains == "relative" else 1.0
        x = start / unit
        walk = _Walk(self, self._workspace(problem, unit), x, rng)
        earlier, done, evaluations = x.copy(), 0, 2 * OPENING_DIRECTIONS
        for k in self._reports():
            sparsity = walk.go_on(k)
            status, message = self._outcome(x, earlier, sparsity, is_last=k == self.iterations)
            evaluations += 2 * (k - done)
            yield Iterate(x * unit, k - done, evaluations, status, message, sparsity)
            if status is not None:
                return
            done, evaluations = k, 0
            if k <= 0.9 * self.iterations:
                earlier = x.copy()

    def _outcome(
        self, x: Array, earlier: Array, sparsity: float | None, *, is_last: bool
    ) -> tuple[Status | None, str | None]:
        """Return the status and the message after a report; None where the walk goes on."""
        if sparsity is None:
            return Status.ITERATION_LIMIT, DIVERGED
        if not is_last:
            return None, None
        has_settled = np.linalg.norm(x - earlier) <= self.tolerance * np.linalg.norm(x)
        return Status.CONVERGED if has_settled else Status.ITERATION_LIMIT, None

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest solution within the bounds, without what the noise explains."""
        return make_feasible(problem, x)

    def _workspace(self, problem: Problem, unit: float) -> SpsaWorkspace:
        reduced, bounds = problem.reduced, problem.bounds
        scaled = None if bounds is None else (bounds[0] / unit, bounds[1] / unit)
        if "spsa" not in problem.notes:
            problem.notes["spsa"] = projector(reduced.B)
        return SpsaWorkspace(reduced.B, reduced.b / unit, scaled, float(self.order), problem.notes["spsa"])

    def _reports(self) -> list[int]:
        """Return the iterations after which to report."""
        return sorted({round(k * self.iterations / HISTORY_ENTRIES) for k in range(1, HISTORY_ENTRIES + 1)} - {0})

    def _measure(self, n: int) -> Measure | None:
        """Return the metric, larger for sparser; None stands for compiled GDS."""
        if callable(self.metric):
            return self.metric
        metric = METRICS.find(self.metric)
        if metric.name == "gds":
            quick = worth_compiling(n, self.order)
            return None if quick else functools.partial(gds, order=self.order)
        parameters = metric.check(self.parameters)
        sign = 1.0 if metric.sparser == "larger" else -1.0
        return lambda x: sign * metric.function(x, **parameters)


class _Walk:
    """The iterations, compiled for GDS and one by one for any other metric; x is changed in place."""

    def __init__(self, solver: SPSA, work: SpsaWorkspace, x: Array, rng: np.random.Generator) -> None:
        self.work, self.x, self.k = work, x, 0
        self.measure = solver._measure(len(x))
        self.state = rng.integers(0, 1 << 64, 1, np.uint64)
        self.a, self.alpha, self.A = solver.a, solver.alpha, float(solver.A)
        self.c, self.gamma = solver.c, solver.gamma
        self.kernels = _compiled.recover
        self.is_literal = solver.project == "point"
        self.farthest = FARTHEST_FROM_START * float(np.linalg.norm(x))
        if self.is_literal and self.measure is None:
            self.measure = functools.partial(self.kernels.sparsity_of, work.walk)
        if solver.gains == "relative":  # a metric that is flat here, such as l0, has no unit and needs none
            self.a /= self._mean_slope() or 1.0

    def go_on(self, last: int) -> float | None:
        """Go on up to an iteration; return the sparsity there, or None if x diverged and was reset."""
        if self.measure is None:
            gains = np.array([self.a, self.alpha, self.A, self.c, self.gamma])
            seen, report = np.empty(1), np.array([last])
            first, self.k = self.k, last
            reached = self.kernels.walk_on(
                self.work.walk, self.x, self.state, gains, first, report, self.farthest, seen
            )
            return float(seen[0]) if reached else None
        before = self.x.copy()
        self._step_by_step(last)
        if not np.linalg.norm(self.x) <= self.farthest:  # nan too
            self.x[:] = before
            return None
        return float(self.measure(self.x))

    def _step_by_step(self, last: int) -> None:
        for k in range(self.k, last):
            found = self._slope(self.c / (k + 1.0) ** self.gamma)
            self.kernels.take_step(self.work.walk, self.x, self.a / (k + 1.0 + self.A) ** self.alpha * found)
        self.k = last

    def _slope(self, c: float) -> float:
        assert self.measure is not None
        if self.is_literal:
            self._place_literal_points(c)
        else:
            self.kernels.draw_direction(self.work.walk, self.state)
            self.kernels.perturb(self.work.walk, self.x, c)
        return float(self.measure(self.work.plus) - self.measure(self.work.minus)) / (2.0 * c)

    def _place_literal_points(self, c: float) -> None:
        """Write x + c s, x - c s and the direction P s; the projection of x + h s, for a feasible x, is x + h P s."""
        self.kernels.draw_signs(self.state.copy(), self.work.signs)  # the signs that the direction is made from
        self.kernels.draw_direction(self.work.walk, self.state)
        shift = c * self.work.signs
        np.add(self.x, shift, out=self.work.plus)
        np.subtract(self.x, shift, out=self.work.minus)

    def _mean_slope(self) -> float:
        if self.measure is None:
            return float(self.kernels.mean_slope(self.work.walk, self.x, self.c, self.state, OPENING_DIRECTIONS))
        return sum(abs(self._slope(self.c)) for _ in range(OPENING_DIRECTIONS)) / OPENING_DIRECTIONS
