"""Projected gradient ascent of S_p on A x = y, with the exact gradient, at any real order.

    x_(k+1) = x_k + a_k P g_k / |P g_k|,    g_k = dS_p/dx at x_k,    P = I - A^+ A

S_p is scale invariant, so that it grows without end along some directions of the null space: what is wanted is the
maximum near the solution of least norm. Steps of a given, falling length stay there, where a line search diverges.

With noise the ascent is the same; at its end as many of the smallest coefficients as the noise explains are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..metrics.gds import gds, gds_gradient
from .driver import Iterate
from .problem import Problem
from .solver import Capabilities, Solver, count, order_option, real
from .status import Status
from .tolerances import ROUNDING_OF_CLIP, SOLVED

HISTORY_ENTRIES = 50
MOST_CLIPS_AND_PROJECTIONS = 1000
SOLVED_ROUGHLY = 1e-4  # relative residual for directions, whose errors the next projection of the point corrects
STEPS = 1000


class Feasible:
    """The solutions of A x = y: by the orthonormal rows of `problem.reduced`, or by conjugate gradients on A A^H."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.matrix_free = problem.system.matrix is None
        self.is_singular = False  # whether conjugate gradients diverged, so that LSMR replaces them

    def start(self) -> NDArray[Any]:
        """Return the caller's x0 made feasible, or the solution of least norm; within the bounds if possible."""
        problem = self.problem
        if not self.matrix_free:
            x = problem.start()
        elif problem.x0 is None:
            x = self._explain(problem.y, SOLVED)
        else:
            x = self.nearest(problem.x0)
        return self.within_bounds(x)

    def tangent(self, g: NDArray[Any]) -> NDArray[Any]:
        """Return P g, the part of g along which A x does not change."""
        if self.matrix_free:
            return np.asarray(g - self._explain(self.problem.system.forward(g), SOLVED_ROUGHLY))
        B = self.problem.reduced.B
        return np.asarray(g - B.conj().T @ (B @ g))

    def nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the solution nearest to x."""
        if self.matrix_free:
            return np.asarray(x + self._explain(self.problem.y - self.problem.system.forward(x), SOLVED))
        return self.problem.reduced.project(x)

    def within_bounds(self, x: NDArray[Any], rounds: int = MOST_CLIPS_AND_PROJECTIONS) -> NDArray[Any]:
        """Return x after clipping and projecting in turns.

        That converges to a solution within the bounds if there is one. What comes back is clipped, so that the
        bounds hold exactly; its residual says how far A x = y does.
        """
        if self.problem.bounds is None:
            return x
        for _ in range(rounds):
            inside = self.problem.clipped(x)
            if np.linalg.norm(inside - x) <= ROUNDING_OF_CLIP * np.linalg.norm(x):
                return inside
            x = self.nearest(inside)
        return self.problem.clipped(x)

    def _explain(self, r: NDArray[Any], tolerance: float) -> NDArray[Any]:
        """Return the least-norm z with A z = r, or as near to r as the iterations come."""
        from scipy.sparse.linalg import aslinearoperator, lsmr

        if not self.is_singular:
            z, left = self._conjugate_gradients(r, tolerance)
            if left <= SOLVED_ROUGHLY * np.linalg.norm(
                r
            ):  # short of the tolerance; the residual of the result then says so
                return z
            self.is_singular = True
        tight = {"atol": tolerance, "btol": tolerance, "conlim": 0.0, "maxiter": STEPS}
        return np.asarray(lsmr(aslinearoperator(self.problem.system.operator), r, **tight)[0])

    def _conjugate_gradients(self, r: NDArray[Any], tolerance: float) -> tuple[NDArray[Any], float]:
        """Return A^H u with A A^H u = r, and the residual if it is not within the tolerance."""
        from scipy.sparse.linalg import LinearOperator, cg

        system = self.problem.system
        kind = np.result_type(r.dtype, np.float64)
        gram = LinearOperator((system.m, system.m), matvec=lambda u: system.forward(system.adjoint(u)), dtype=kind)
        with np.errstate(all="ignore"):
            u, unfinished = cg(gram, r, rtol=tolerance, maxiter=STEPS)
            z = system.adjoint(u)
            return z, float(np.linalg.norm(system.forward(z) - r)) if unfinished else 0.0


def without_smallest(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return x with as many of its smallest coefficients at zero (or the bound next to it) as the noise explains."""
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
        Any real p >= 1. Orders between 1 and 2 are the most successful.
    final_order : float or None
        The order goes over to this one linearly while the steps shrink; None keeps it.
    iterations : int
        The number of steps.
    step : float
        The length of the first step in units of the norm of the start.
    decay : float
        The last step over the first; they shrink geometrically.
    tolerance : float
        A run has converged if x moved by less than this, relative to x, in its last tenth.

    Notes
    -----
    The result is the last iterate, feasible to rounding (without a matrix: to conjugate gradients' relative residual of
    1e-13); with noise, without those of its smallest coefficients that the noise explains. With bounds each iterate is
    clipped and projected back once; the last one alternates between both and ends with a clip: it lies within the
    bounds exactly, and its residual says how well it explains y.
    """

    supports: ClassVar[Capabilities] = Capabilities(
        bounds="any", complex=True, operators=True, bounds_with_operator=True
    )

    order: float = order_option(1.5, finite=True)
    final_order: float | None = order_option(None, finite=True)
    iterations: int = count(400, least=2)
    step: float = real(0.3, low=0)
    decay: float = real(1e-3, low=0, high=1, high_included=True)
    tolerance: float = real(3e-3, low=0, low_included=True)

    @property
    def sparsity_order(self) -> float:
        """The order of the sparsity that the result reports: the last one."""
        return float(self.order if self.final_order is None else self.final_order)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield x after each step; nothing here is random."""
        feasible = Feasible(problem)
        x = feasible.start()
        if not x.any():  # S_p has no gradient there
            yield Iterate(x, status=Status.CONVERGED)
            return
        last = self.iterations - 1
        lengths = self.step * np.linalg.norm(x) * self.decay ** (np.arange(self.iterations) / last)
        orders = np.linspace(self.order, self.sparsity_order, self.iterations)
        every = -(-self.iterations // HISTORY_ENTRIES)
        earlier, status = x, None
        for k, (order, length) in enumerate(zip(orders.tolist(), lengths.tolist(), strict=True)):
            if k == self.iterations * 9 // 10:
                earlier = x
            x = _climb(feasible, x, order, length)
            if k == last:
                moved = np.linalg.norm(x - earlier)
                has_settled = moved <= self.tolerance * np.linalg.norm(x)
                status = Status.CONVERGED if has_settled else Status.ITERATION_LIMIT
            is_report = k % every == 0 or k == last
            yield Iterate(x, status=status, sparsity=float(gds(x, order, zero=math.nan)) if is_report else None)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest solution within the bounds, without what the noise explains."""
        return make_feasible(problem, x)


def make_feasible(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return the nearest solution within the bounds, without those of its smallest coefficients that noise explains."""
    feasible = Feasible(problem)
    return without_smallest(problem, feasible.within_bounds(feasible.nearest(x)))


def _climb(feasible: Feasible, x: NDArray[Any], order: float, length: float) -> NDArray[Any]:
    """Return x after one step of a given length along the projected gradient."""
    direction = feasible.tangent(gds_gradient(x, order))
    norm = np.linalg.norm(direction)
    if norm == 0:
        return x
    x = x + length / norm * direction
    return x if feasible.problem.bounds is None else feasible.nearest(feasible.problem.clipped(x))
