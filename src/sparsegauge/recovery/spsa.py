"""SPSA, the paper's method (section VIII): simultaneous perturbations of a feasible point.

With P the projection onto the null space of A and s_k random signs, d_k = P s_k is a feasible direction, and

    x_(k+1) = x_k + a_k (S(x_k + c_k d_k) - S(x_k - c_k d_k)) / (2 c_k) d_k,
    a_k = a / (k + 1 + A)^alpha,    c_k = c / (k + 1)^gamma

(Spall, 1998, Johns Hopkins APL Tech. Digest 19(4), 482-492). The direction is projected and not the point, since a
feasible point stays feasible; the expected step is P times the gradient either way, and measuring S at feasible points
spares the noise of its slope across the constraints.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _compiled
from .._arrays import Array, Parameter, check_count, check_order
from ..errors import InvalidInput
from ..metrics.catalogue import check_parameters, find_metric
from ..metrics.gds import gds
from .ascent import Feasible, without_smallest
from .problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished
from .spsa_workspace import Reports, Workspace, projector, worth_compiling

REPORTS = 50  # entries of the history, and calls of the callback
OPENING = 32  # directions whose slopes at the start are the unit of slopes
FARTHEST = 1e6  # in units of the start: farther out, rounding takes the digits that A x = y needs
DIVERGED = "the iterates ran away from the start, where sparsity has no maximum; use a smaller a"

GAIN = Parameter("a", 0.5, low=0)
WIDTH = Parameter("c", 0.005, low=0)
STABILITY = Parameter("A", 500.0, low=0, low_included=True)
ALPHA = Parameter("alpha", 0.602, low=0, high=1, high_included=True)
GAMMA = Parameter("gamma", 0.101, low=0, high=1, low_included=True, high_included=True)
TOLERANCE = Parameter("tolerance", 1e-3, low=0, low_included=True)

Measure = Callable[[Array], Any]


@dataclass(frozen=True, kw_only=True)
class SPSA(Solver):
    """Simultaneous perturbation stochastic approximation of argmax S(x) subject to A x = y.

    Lengths are in units of the RMS of the start (the solution of least norm, or x0), slopes in units of their mean
    size at the start along random directions, which is Spall's advice on choosing a; so the same gains serve every
    metric, order and scale. The metric sees x in those units too, which matters where it depends on the scale.

    Parameters
    ----------
    order : float
        Of GDS.
    metric : str or callable
        "gds"; or any metric of the catalogue, of which the sparser direction is sought; or any function of a
        1-D array whose larger values are sparser.
    parameters : mapping
        Those of a metric of the catalogue.
    iterations : int
        How many; each measures two points.
    a, A, alpha : float
        The gains a_k = a / (k + 1 + A)^alpha.
    c, gamma : float
        The widths c_k = c / (k + 1)^gamma.
    tolerance : float
        Converged is a run in whose last tenth x moved by less than this, relative to x.

    Notes
    -----
    The result is the last iterate and not the best one: iterates are not measured, only points around them, and S_p,
    being scale invariant, has no finite global maximum to be the best (along a direction v of the null space it tends
    to S_p(v)). With noise, which the paper does not have, those of its smallest coefficients that the noise explains
    are left out at the end. With bounds each iterate is clipped and projected back, and the last one alternates between
    the two until both hold.

    The gains are ours and not the paper's, which gives none. They were searched at order 2 on trials 0..2 of four
    problems (uniform K = 10, M = 40; normal K = 20, M = 60; exponential K = 20, M = 50; ones K = 10, M = 40; N = 100):
    first a in 0.03..3 and c in 0.003..0.1 with 10,000 iterations, then a in 0.5..2, c in 0.01..0.1 and A of 1 % and
    10 % of 30,000 iterations, then five settings with smaller c and 50,000. A larger c biases the result by about
    c/10, a larger a leaves it trembling, and a smaller a needs more iterations to arrive. They serve orders 1.5 to 2;
    order 1 trembles with them and did best (errors of 4e-3) with a = 1, c = 0.1.
    """

    order: float = 2.0
    metric: str | Measure = "gds"
    parameters: Mapping[str, float] = field(default_factory=dict)
    iterations: int = 50_000
    a: float = GAIN.default
    c: float = WIDTH.default
    A: float = STABILITY.default
    alpha: float = ALPHA.default
    gamma: float = GAMMA.default
    tolerance: float = TOLERANCE.default

    def __post_init__(self) -> None:
        """Every option is checked here."""
        check_order(self.order)
        check_count("iterations", self.iterations, least=1)
        for parameter in (GAIN, WIDTH, STABILITY, ALPHA, GAMMA, TOLERANCE):
            parameter.check(getattr(self, parameter.name))
        self._check_metric()

    def _check_metric(self) -> None:
        if callable(self.metric):
            if self.parameters:
                raise InvalidInput("parameters are for metrics of the catalogue; build them into the function")
            return
        metric = find_metric(self.metric)
        if metric.name == "gds" and self.parameters:
            raise InvalidInput("the parameter of gds is the solver's own order: pass SPSA(order=...)")
        check_parameters(metric, self.parameters)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        problem.real_matrix()
        feasible = Feasible(problem)
        start = feasible.start()
        if not start.any():  # there is no scale to measure by
            return finished(problem, start, order=self.order)
        unit = float(np.sqrt(np.mean(start**2)))
        x = start / unit
        walk = _Walk(self, self._workspace(problem, unit), x, rng)
        history: list[float] = []
        earlier, status, message, k = x.copy(), STOPPED, None, 0
        for reports in self._stages(watched=callback is not None):
            reached = walk.go_on(reports, history)
            k = int(reports[min(reached, len(reports) - 1)])
            if reached < len(reports):
                message = DIVERGED
                break
            if callback is not None and callback(k, x * unit):
                status = CALLED_OFF
                break
            if k <= 0.9 * self.iterations:
                earlier = x.copy()
        else:
            if np.linalg.norm(x - earlier) <= self.tolerance * np.linalg.norm(x):
                status = CONVERGED
        x = without_smallest(problem, feasible.within_bounds(feasible.nearest(x * unit)))
        return finished(
            problem, x, status=status, nit=k, nfev=2 * (k + OPENING), order=self.order, history=history, message=message
        )

    def _workspace(self, problem: Problem, unit: float) -> Workspace:
        reduced, bounds = problem.reduced, problem.bounds
        scaled = None if bounds is None else (bounds[0] / unit, bounds[1] / unit)
        if "spsa" not in problem.notes:
            problem.notes["spsa"] = projector(reduced.B)
        return Workspace(reduced.B, reduced.b / unit, scaled, float(self.order), problem.notes["spsa"])

    def _stages(self, *, watched: bool) -> list[Reports]:
        """The iterations after which to report: one by one for a callback, else up to the last tenth, and the rest."""
        reports = np.array(sorted({round(k * self.iterations / REPORTS) for k in range(1, REPORTS + 1)} - {0}))
        cuts = np.arange(1, len(reports)) if watched else np.searchsorted(reports, 0.9 * self.iterations, "right")
        return [stage for stage in np.split(reports, np.atleast_1d(cuts)) if len(stage)]

    def _measure(self, n: int) -> Measure | None:
        """The metric, larger for sparser; None stands for compiled GDS."""
        if callable(self.metric):
            return self.metric
        metric = find_metric(self.metric)
        if metric.name == "gds":
            quick = worth_compiling(n, self.order)
            return None if quick else functools.partial(gds, order=self.order)
        parameters = check_parameters(metric, self.parameters)
        sign = 1.0 if metric.sparser == "larger" else -1.0
        return lambda x: sign * metric.function(x, **parameters)


class _Walk:
    """The iterations, compiled for GDS and one by one for any other metric; x is changed in place."""

    def __init__(self, solver: SPSA, work: Workspace, x: Array, rng: np.random.Generator) -> None:
        self.work, self.x, self.k = work, x, 0
        self.measure = solver._measure(len(x))
        self.state = rng.integers(0, 1 << 64, 1, np.uint64)
        self.a, self.alpha, self.A = solver.a, solver.alpha, float(solver.A)
        self.c, self.gamma = solver.c, solver.gamma
        self.kernels = _compiled.recover
        # a metric that is flat here, such as l0, has no unit and needs none
        self.a /= self._mean_slope() or 1.0

    def go_on(self, reports: Reports, history: list[float]) -> int:
        """Up to the last of these reports, or the last before x ran away; how many of them were reached."""
        farthest = FARTHEST * math.sqrt(len(self.x))
        if self.measure is None:
            gains = np.array([self.a, self.alpha, self.A, self.c, self.gamma])
            seen = np.empty(len(reports))
            reached = int(
                self.kernels.walk_on(self.work.walk, self.x, self.state, gains, self.k, reports, farthest, seen)
            )
            history += seen[:reached].tolist()
            self.k = int(reports[-1])
            return reached
        for reached, last in enumerate(reports.tolist()):
            before = self.x.copy()
            self._step_by_step(last)
            if not np.linalg.norm(self.x) <= farthest:  # nan too
                self.x[:] = before
                return reached
            history.append(float(self.measure(self.x)))
        return len(reports)

    def _step_by_step(self, last: int) -> None:
        for k in range(self.k, last):
            found = self._slope(self.c / (k + 1.0) ** self.gamma)
            self.kernels.take_step(self.work.walk, self.x, self.a / (k + 1.0 + self.A) ** self.alpha * found)
        self.k = last

    def _slope(self, c: float) -> float:
        assert self.measure is not None
        self.kernels.draw_direction(self.work.walk, self.state)
        self.kernels.perturb(self.work.walk, self.x, c)
        return float(self.measure(self.work.plus) - self.measure(self.work.minus)) / (2.0 * c)

    def _mean_slope(self) -> float:
        if self.measure is None:
            return float(self.kernels.mean_slope(self.work.walk, self.x, self.c, self.state, OPENING))
        return sum(abs(self._slope(self.c)) for _ in range(OPENING)) / OPENING
