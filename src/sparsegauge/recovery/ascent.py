"""Projected gradient ascent of S_p on A x = y, with the exact gradient, at any real order.

    x_(k+1) = x_k + a_k P g_k / |P g_k|,    g_k = dS_p/dx at x_k,    P = I - A^+ A

S_p is scale invariant, so that it grows without end along some directions of the null space: what is wanted is the
maximum near the solution of least norm. Steps of a given, falling length stay there, where a line search runs away.

With noise the ascent is the same; at its end as many of the smallest coefficients as the noise explains are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Parameter, check_count, check_order
from ..errors import InvalidInput
from ..metrics.gds import gds, gds_gradient
from .problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished

REPORTS = 50  # entries of the history
ROUNDS = 1000  # of clipping and projecting, at most
ROUNDING = 1e-13  # relative: a clip that moves x by less changes nothing
SOLVED = 1e-13  # the relative residual of conjugate gradients for points ...
ROUGHLY = 1e-4  # ... and for directions, whose errors the next projection of the point mends
STEPS = 1000

STEP = Parameter("step", 0.3, low=0)
DECAY = Parameter("decay", 1e-3, low=0, high=1, high_included=True)
TOLERANCE = Parameter("tolerance", 3e-3, low=0, low_included=True)


class Feasible:
    """The solutions of A x = y: by the orthonormal rows of `problem.reduced`, or by conjugate gradients on A A^H."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.matrix_free = problem.system.matrix is None

    def start(self) -> NDArray[Any]:
        """The caller's x0 made feasible, or the solution of least norm; within the bounds where that can be."""
        problem = self.problem
        if not self.matrix_free:
            x = problem.start()
        elif problem.x0 is None:
            x = self._explain(problem.system.y, SOLVED)
        else:
            x = self.nearest(problem.x0)
        return self.within_bounds(x)

    def tangent(self, g: NDArray[Any]) -> NDArray[Any]:
        """P g, the part of g along which A x does not change."""
        if self.matrix_free:
            return np.asarray(g - self._explain(self.problem.system.forward(g), ROUGHLY))
        B = self.problem.reduced.B
        return np.asarray(g - B.conj().T @ (B @ g))

    def nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """The solution nearest to x."""
        if self.matrix_free:
            return np.asarray(x + self._explain(self.problem.system.y - self.problem.system.forward(x), SOLVED))
        return self.problem.reduced.project(x)

    def within_bounds(self, x: NDArray[Any], rounds: int = ROUNDS) -> NDArray[Any]:
        """Clip and project in turns, which converges to a solution within the bounds if there is one.

        What comes back is clipped, so that the bounds hold exactly; its residual says how far A x = y does.
        """
        if self.problem.bounds is None:
            return x
        for _ in range(rounds):
            inside = self.problem.clipped(x)
            if np.linalg.norm(inside - x) <= ROUNDING * np.linalg.norm(x):
                return inside
            x = self.nearest(inside)
        return self.problem.clipped(x)

    def _explain(self, r: NDArray[Any], tolerance: float) -> NDArray[Any]:
        """The least-norm z with A z = r."""
        from scipy.sparse.linalg import LinearOperator, cg

        system = self.problem.system
        kind = np.result_type(r.dtype, np.float64)
        gram = LinearOperator((system.m, system.m), matvec=lambda u: system.forward(system.adjoint(u)), dtype=kind)
        # short of the tolerance it returns its best; the residual of the result then says so
        u, _ = cg(gram, r, rtol=tolerance, maxiter=STEPS)
        return system.adjoint(u)


def without_smallest(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """x with as many of its smallest coefficients set to zero (or the bound next to it) as keep |A x - y| <= noise."""
    zero = problem.clipped(np.zeros_like(x))
    order = np.argsort(np.abs(x - zero))
    kept, dropped = x, 0  # of which the residual is known to be within the noise
    too_many = problem.n + 1
    while problem.noise > 0 and too_many - dropped > 1:
        count = (dropped + too_many) // 2
        fewer = x.copy()
        fewer[order[:count]] = zero[order[:count]]
        if problem.residual(fewer) <= problem.noise:
            kept, dropped = fewer, count
        else:
            too_many = count
    return kept


@dataclass(frozen=True, kw_only=True)
class GDSAscent(Solver):
    """Projected ascent of S_p with the exact gradient, for real and complex systems, with or without a matrix.

    Parameters
    ----------
    order : float
        Any real p >= 1. Between 1 and 2 does best.
    final_order : float or None
        The order goes over to this one linearly while the steps shrink; None keeps it.
    iterations : int
        How many steps.
    step : float
        The length of the first step in units of the norm of the start.
    decay : float
        The last step over the first; they shrink geometrically.
    tolerance : float
        Converged is a run in whose last tenth x moved by less than this, relative to x.

    Notes
    -----
    The result is the last iterate, feasible to rounding (without a matrix: to conjugate gradients' relative residual of
    1e-13); with noise, without those of its smallest coefficients that the noise explains. With bounds each iterate is
    clipped and projected back once; the last one alternates between both and ends with a clip: it lies within the
    bounds exactly, and its residual says how well it explains y.
    """

    order: float = 1.5
    final_order: float | None = None
    iterations: int = 400
    step: float = STEP.default
    decay: float = DECAY.default
    tolerance: float = TOLERANCE.default

    def __post_init__(self) -> None:
        """Every option is checked here."""
        for name in ("order", "final_order"):
            order = getattr(self, name)
            if (name == "order" or order is not None) and np.isinf(check_order(order)):
                raise InvalidInput(f"{name} must be finite: the fraction of zeros (order=inf) has no gradient")
        check_count("iterations", self.iterations, least=2)
        for parameter in (STEP, DECAY, TOLERANCE):
            parameter.check(getattr(self, parameter.name))

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem; nothing here is random."""
        feasible = Feasible(problem)
        x = feasible.start()
        if not x.any():  # S_p has no gradient there
            return finished(problem, x, order=self.order)
        last = self.iterations - 1
        lengths = self.step * np.linalg.norm(x) * self.decay ** (np.arange(self.iterations) / last)
        orders = np.linspace(self.order, self.order if self.final_order is None else self.final_order, self.iterations)
        every = -(-self.iterations // REPORTS)
        earlier, status, history, k = x, STOPPED, [], 0
        for k in range(self.iterations):
            if k == self.iterations * 9 // 10:
                earlier = x
            x = self._stepped(feasible, x, float(orders[k]), float(lengths[k]))
            if k % every == 0 or k == last:
                history.append(float(gds(x, float(orders[k]))))
            if callback is not None and callback(k + 1, x):
                status = CALLED_OFF
                break
        else:
            if np.linalg.norm(x - earlier) <= self.tolerance * np.linalg.norm(x):
                status = CONVERGED
        x = without_smallest(problem, feasible.within_bounds(feasible.nearest(x)))
        return finished(problem, x, status=status, nit=k + 1, nfev=k + 1, order=float(orders[-1]), history=history)

    @staticmethod
    def _stepped(feasible: Feasible, x: NDArray[Any], order: float, length: float) -> NDArray[Any]:
        direction = feasible.tangent(gds_gradient(x, order))
        norm = np.linalg.norm(direction)
        if norm == 0:
            return x
        x = x + length / norm * direction
        return x if feasible.problem.bounds is None else feasible.nearest(feasible.problem.clipped(x))
