r"""How sparse x can be at how large a residual: the front between the two, and its knee.

Where the noise is not known, the front tells it: as |A x - y| is allowed to grow from nothing, sparsity first comes
cheap, as long as it is noise that is given up, and then dear. A knee seen by geometry (the farthest point from the
chord, the largest curvature) depends on how the axes are drawn; what worked is to ask which point explains y best. With
k non-zeros and |A x - y| = r, the noise is of the variance r^2 / (M - k), and the point with the least

    (M - k) log(s^2 / (|y|^2 / M)) + k log(M) / 2,    s^2 = r^2 / (M - k)

is the knee. That is the Bayesian information criterion (G. Schwarz, "Estimating the dimension of a model", Annals of
Statistics 6(2), 1978) with two differences: its likelihood counts the M - k directions that k non-zeros leave free, for
else it falls for exact fits, and its penalty is half as large, which found the noise more often. It takes a solver
whose solutions have few non-zeros; those of basis pursuit are too small, and their knee comes too late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices, Parameter, as_rng, check_count, check_order
from .._arrays.equations import noise_norm
from ..errors import InvalidInput
from ..metrics.gds import DEFAULT_ORDER, gds
from .driver import Callback
from .problem import Problem
from .reweighted import GDSReweighted
from .solver import Solver
from .tolerances import EXACT, LEAST_RESIDUAL, NOT_ZERO, RESIDUAL_SLACK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = Parameter("least", 1e-3, low=0, high=1)
LEAST_SPARE_MEASUREMENTS = 3  # beyond the non-zeros: fewer do not determine the noise


@dataclass(frozen=True)
class TradeOff:
    """A front, from the smallest residual to the largest: each point is sparser than all before it.

    `residuals` are |A x - y|, `sparsities` S_p, `solutions` the x (a row each), `nonzeros` how many coefficients are
    more than a millionth of the largest. `knee` is the index of the point that explains y best, `x` its solution, and
    `noise` the standard deviation of the noise in a measurement that it suggests (nan where it has too many non-zeros).
    """

    residuals: Array
    sparsities: Array
    solutions: NDArray[Any]
    nonzeros: Indices
    knee: int
    noise: float
    order: float

    @property
    def x(self) -> NDArray[Any]:
        """The solution at the knee."""
        return np.asarray(self.solutions[self.knee])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the front with its knee on Matplotlib axes, new ones by default; returns the axes."""
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        relative = np.maximum(self.residuals / self.residuals[-1], EXACT)
        ax.semilogx(relative, self.sparsities, "o-", color="0.45", markersize=4, linewidth=1)
        ax.set_xlim(left=0.1 * min(relative[relative > NOT_ZERO], default=EXACT))  # an exact fit is off to the left
        at = relative[self.knee], self.sparsities[self.knee]
        ax.plot(*at, "o", color="C3", markersize=9)
        label = f"knee: {self.nonzeros[self.knee]} non-zeros"
        ax.annotate(label, at, xytext=(-8, 8), textcoords="offset points", color="C3", ha="right")
        ax.set_xlabel("residual |A x - y| / |y|")
        ax.set_ylabel(f"sparsity S_{self.order:g}(x)")
        ax.grid(alpha=0.3)
        return ax


def trade_off(
    A: Any,
    y: Any,
    *,
    solver: Solver | None = None,
    points: int = 25,
    order: float = DEFAULT_ORDER,
    least: float = LEAST.default,
    bounds: Any = None,
    rng: Any = None,
    callback: Callback | None = None,
) -> TradeOff:
    """Compute the trade-off between sparsity and residual, and its knee, for measurements with unknown noise.

    Parameters
    ----------
    A, y, bounds, rng
        As for `recover`.
    solver : Solver, optional
        Any solver that supports noise; `GDSReweighted()` by default. Each residual is a problem of its own.
    points : int
        How many residuals are tried: none, `points` - 3 from `least` |y| on in equal ratios, |y| itself (x = 0), and
        the noise that the knee of these suggests. Points that another one beats in both are left out.
    order : float
        The order p of S_p.
    least : float
        The smallest residual above zero, in units of |y|.
    callback : callable, optional
        Called with (number of the point, x); returning True ends the search with the points so far.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> rng = np.random.default_rng(0)
    >>> x = sg.sparse_signal(100, 8, "normal", rng=rng)
    >>> A = sg.gaussian_matrix(50, 100, rng=rng)
    >>> front = sg.trade_off(A, A @ x + 0.1 * rng.standard_normal(50), rng=0)
    >>> bool(np.linalg.norm(front.x - x) < 0.1 * np.linalg.norm(x))
    True
    """
    solver = GDSReweighted() if solver is None else solver
    if not isinstance(solver, Solver):
        raise InvalidInput(f"solver must be an object such as sg.GDSReweighted() or sg.BasisPursuit(), got {solver!r}")
    points = check_count("points", points, least=4)
    order = check_order(order)
    LEAST.check(least)
    problem = Problem.of(A, y, bounds=bounds)
    if problem.scale == 0:
        raise InvalidInput("y is zero: there is nothing to trade; pass measurements of which some are not zero")
    return _Search(problem, solver, float(order), int(as_rng(rng).integers(1 << 62)), callback).front(points, least)


class _Search:
    """Solutions of one system at several residuals."""

    def __init__(self, problem: Problem, solver: Solver, order: float, seed: int, callback: Callback | None) -> None:
        self.problem, self.solver, self.order, self.seed, self.callback = problem, solver, order, seed, callback
        self.solutions = [problem.clipped(np.zeros(problem.n, complex if problem.is_complex else float))]
        self.called_off = False
        # what a solution leaves: more than nothing where A is ill-conditioned, and rounding spoils some equations
        exact = problem.system.matrix is not None and problem.bounds is None
        self.least = problem.residual(problem.reduced.least_norm()) if exact else 0.0

    def front(self, points: int, least: float) -> TradeOff:
        """Return a front of the given number of points, one of them placed where the others suggest the knee."""
        problem = self.problem
        largest = problem.residual(self.solutions[0])
        smallest = max(least * problem.scale, problem.misfit * RESIDUAL_SLACK, 2 * self.least)
        self._solve(0.0)
        for level in np.geomspace(smallest, max(smallest, largest), points - 2)[:-1]:
            self._solve(float(level))
        self._check_that_noise_matters()
        found = self._sorted()
        if smallest < found.noise * noise_norm(problem.m) < largest:
            self._solve(found.noise * noise_norm(problem.m))
        return self._sorted()

    def _solve(self, level: float) -> None:
        if self.called_off:
            return
        problem = replace(self.problem, noise=level)
        x = problem.clipped(self.solver.solve(problem, np.random.default_rng(self.seed)).x)
        residual = problem.residual(x)
        if residual > max(problem.tolerance() * RESIDUAL_SLACK, LEAST_RESIDUAL * problem.scale, 2 * self.least):
            if problem.bounds is not None:  # no x within them need come as near to y as that
                return
            raise InvalidInput(
                f"the solver left a residual of {residual:.6g} where {level:.6g} was allowed: it does not "
                f"honour noise; pass one that does, such as sg.GDSReweighted(), in place of {self.solver!r}"
            )
        self.solutions.append(x)
        self.called_off = self.callback is not None and self.callback(len(self.solutions) - 1, x) is True

    def _check_that_noise_matters(self) -> None:
        exact = [self.problem.residual(x) <= EXACT * self.problem.scale for x in self.solutions[1:]]
        if len(exact) > 1 and all(exact):
            raise InvalidInput(
                "the solver fits y exactly, however much noise is allowed: pass one that honours noise, such as "
                f"sg.GDSReweighted(), in place of {self.solver!r}"
            )

    def _sorted(self) -> TradeOff:
        """Sort by residual, and leave out what another point beats."""
        residuals = np.array([self.problem.residual(x) for x in self.solutions])
        sparsities = np.array([float(gds(x, self.order, zero=1.0)) for x in self.solutions])
        kept: list[int] = []
        for i in np.lexsort((-sparsities, residuals)):
            if not kept or sparsities[i] > sparsities[kept[-1]]:
                kept.append(int(i))
        solutions = np.array([self.solutions[i] for i in kept])
        sizes = np.abs(solutions)
        nonzeros = np.count_nonzero(sizes > NOT_ZERO * np.max(sizes, axis=1, keepdims=True), axis=1)
        knee = self._knee(residuals[kept], sparsities[kept], nonzeros)
        spare = self.problem.m - int(nonzeros[knee])
        noise = float(residuals[kept[knee]]) / math.sqrt(spare) if spare > 0 else math.nan
        return TradeOff(residuals[kept], sparsities[kept], solutions, nonzeros, knee, noise, self.order)

    def _knee(self, residuals: Array, sparsities: Array, nonzeros: Indices) -> int:
        """Return the point that explains y best; if none has few enough non-zeros, the one farthest above the chord."""
        m = self.problem.m
        inside = residuals < self.problem.scale  # x = 0 explains nothing
        if not inside.any():
            return 0
        few = inside & (nonzeros <= m - LEAST_SPARE_MEASUREMENTS)
        if not few.any():
            u, v = ((a - a[0]) / (np.ptp(a) or 1.0) for a in (residuals, sparsities))
            return int(np.argmax(np.where(inside, v - u, -math.inf)))
        scores = np.full(len(residuals), math.inf)
        for i in np.flatnonzero(few):
            k = int(nonzeros[i])
            share = max(residuals[i] / self.problem.scale, EXACT) ** 2 * m / (m - k)
            scores[i] = (m - k) * math.log(share) + k * math.log(m) / 2
        return int(np.argmin(scores))
