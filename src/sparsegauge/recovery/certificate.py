"""When is a sparse solution the signal that was measured? The certificate, and when it must not be given.

Theorem. Let x0 be fixed before A (M x N) is drawn from a continuous density. Then almost surely every x with A x = A x0
and at most M - 1 non-zeros is x0. (Take a set T of at most M - 1 columns. If x0 is not supported in T, then A x0 has a
component along a column outside T, which is independent of A_T, so it lies in span(A_T) with probability zero only.
There are finitely many T; and on T the solution is unique.)

In floating point: at most rank(A) - 2 non-zeros, a refit with a residual of at most 1e-9 |y|, well-conditioned columns,
and no noise. The theorem says nothing about matrices that are discrete or structured: with entries +-1 a wrong sparse
solution is likely, with parallel columns it is certain. So what looks like that gets no certificate, unless the caller
vouches for A with `assume_generic=True`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernels import support
from .problem import EXACT, Problem

FEW_VALUES = 0.5  # a matrix with fewer different entries than this share of all is discrete
PARALLEL = 1e-10

CERTIFIED = "the refit on {k} columns is exact, {spare} equations to spare, and A is generic"


def objection(problem: Problem, assume_generic: bool) -> str:
    """Why no solution of this problem can be certified; empty where one can."""
    if problem.noise > 0:
        return "y is noisy: an exact fit proves nothing"
    if problem.system.matrix is None:
        return "A is too large to write out, so its columns cannot be looked at"
    if problem.misfit > EXACT * problem.scale:
        return "y is not in the range of A: there is no exact fit"
    if problem.reduced.rank < 3:
        return "fewer than three independent equations"
    if assume_generic:
        return ""
    if problem.system.structured:
        return "A is a sparse array or an operator, so perhaps structured (assume_generic=True vouches for it)"
    return _discrete_or_parallel(problem.matrix())


def _discrete_or_parallel(A: NDArray[Any]) -> str:
    different = len(np.unique(np.abs(A)))
    if different < FEW_VALUES * A.size:
        return f"A has only {different} different magnitudes among {A.size} entries, so it is discrete or structured"
    columns = A / np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    cosines = np.abs(columns.conj().T @ columns)
    np.fill_diagonal(cosines, 0.0)
    if (cosines > 1 - PARALLEL).any():
        return "A has parallel columns, between which no measurement can tell"
    return ""


def certify(problem: Problem, likely: NDArray[Any], rng: np.random.Generator) -> NDArray[Any] | None:
    """An exact solution with few non-zeros near the order of `likely` (e.g. |x|), or None.

    A certificate follows from it only where `objection` has none.
    """
    reduced = problem.reduced
    if reduced.rank < 3:
        return None
    if problem.is_complex:
        return _refitted(problem, likely)
    x = np.empty(problem.n)
    filler = rng.standard_normal((reduced.rank, support.SPARE))
    found = support.certify(reduced.B, reduced.b, np.ascontiguousarray(likely, np.float64), filler, x)
    return x if found and accepted(problem, x) else None


def _refitted(problem: Problem, likely: NDArray[Any]) -> NDArray[Any] | None:
    """The exact solution on the largest coefficients, cut where they drop most steeply: without a search."""
    order = np.argsort(-likely)
    most = problem.reduced.rank - support.MARGIN
    drops = likely[order[:most]] / np.maximum(likely[order[1 : most + 1]], np.finfo(float).tiny)
    for size in np.argsort(-drops)[:3] + 1:
        x = np.zeros(problem.n, problem.reduced.B.dtype)
        x[order[:size]] = np.linalg.lstsq(problem.reduced.B[:, order[:size]], problem.reduced.b, rcond=None)[0]
        if accepted(problem, x):
            return x
    return None


def searchable(problem: Problem) -> bool:
    """Whether an exact solution can be looked for: it is better than what a solver ended with, certified or not."""
    return problem.noise == 0 and problem.system.matrix is not None and problem.misfit <= EXACT * problem.scale


def accepted(problem: Problem, x: NDArray[Any]) -> bool:
    """Whether x solves the system as it came, within its bounds."""
    if problem.residual(x) > EXACT * problem.scale + problem.misfit:
        return False
    if problem.bounds is None:
        return True
    slack = 1e-9 * float(np.max(np.abs(x)))
    return bool(np.all(x >= problem.bounds[0] - slack) and np.all(x <= problem.bounds[1] + slack))


def reason(problem: Problem, x: NDArray[Any]) -> str:
    """What a certificate rests on."""
    k = int(np.count_nonzero(x))
    return CERTIFIED.format(k=k, spare=problem.reduced.rank - k)
