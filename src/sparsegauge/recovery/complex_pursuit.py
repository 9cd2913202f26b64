"""Orthogonal least squares for complex systems: what `pursuit.py` does for real ones, in NumPy.

With q_1, q_2, ... the orthonormal basis of the chosen columns, row k of W holds q_k^H a_j for all columns a_j, so that
a step costs one product with A and one with W.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled.kernel_tolerances import SMALLEST_SQUARE
from . import dependence
from .explanation import is_coincidence
from .plain_solutions import MOST_NONZEROS_PER_EQUATION, STEPS_PER_COLUMN, Pursued, are_too_many, is_doubtful
from .problem import Problem
from .tolerances import CLEAR_SQUARE, EXACT, HIDDEN, NEGLIGIBLE, SMALLEST_SQUARED_RESIDUAL
from .uniqueness import MANY_COLUMNS, ROUNDING, greedy_relation, is_special, work_for_relations


def pursue_complex(problem: Problem) -> Pursued | None:
    """Return an exact solution of a complex system with few non-zeros, if a greedy choice of columns finds one."""
    chosen = choose_columns(problem.matrix(), problem.y, max(int(MOST_NONZEROS_PER_EQUATION * problem.m), 1))
    if chosen is None or are_too_many(problem, chosen):
        return None
    fit = _fit(problem, chosen)
    return None if fit is None else fit.conclude(len(chosen))


def choose_columns(A: NDArray[Any], y: NDArray[Any], most: int) -> Indices | None:
    """Choose columns, each the one that leaves the least residual, until y is explained; None if `most` are too few."""
    lengths = np.linalg.norm(A, axis=0)
    units = np.where(lengths > 0, lengths, 1.0)
    square = (lengths > 0).astype(float)  # of each unit column, what is outside the span of those chosen
    along = (y.conj() @ A).conj() / units  # a_j^H (what is left of y)
    W = np.empty((most, A.shape[1]), np.result_type(A, y))
    energy = left = float(np.linalg.norm(y)) ** 2
    chosen = np.empty(most, np.int64)
    for k in range(most):
        is_free = square > SMALLEST_SQUARE
        gains = np.where(is_free, np.abs(along) ** 2 / np.where(is_free, square, 1.0), 0.0)
        best = int(np.argmax(gains))
        if gains[best] == 0:
            return None
        pivot = math.sqrt(square[best])
        inner = (A[:, best].conj() @ A) / (units[best] * units)
        W[k] = (inner - W[:k, best].conj() @ W[:k]) / pivot
        beta = along[best] / pivot
        along = along - W[k].conj() * beta
        square -= np.abs(W[k]) ** 2
        square[best], chosen[k] = 0.0, best
        left -= abs(beta) ** 2
        if left <= SMALLEST_SQUARED_RESIDUAL * energy:
            return chosen[: k + 1]
    return None


class ComplexFit:
    """Least squares on some columns, and the distances of all columns from each other that the certificate needs."""

    def __init__(self, problem: Problem, support: Indices) -> None:
        A, y = problem.matrix(), problem.y
        self.problem, self.support = problem, np.sort(support)
        self.Q, self.R = np.linalg.qr(A[:, self.support])
        self.x = scipy.linalg.solve_triangular(self.R, self.Q.conj().T @ y)
        self.x += scipy.linalg.solve_triangular(self.R, self.Q.conj().T @ (y - A[:, self.support] @ self.x))
        self.residual = float(np.linalg.norm(y - A[:, self.support] @ self.x))

    @property
    def is_exact(self) -> bool:
        """Whether the columns explain y up to rounding."""
        return bool(self.residual <= EXACT * self.problem.scale)

    def conclude(self, steps: int) -> Pursued | None:
        """Return the solution, with what is known of the columns around it; None if it may be a coincidence."""
        problem, k = self.problem, len(self.support)
        x = np.zeros(problem.n, problem.dtype)
        x[self.support] = self.x
        inverse = scipy.linalg.solve_triangular(self.R, np.eye(k))
        distances = 1 / np.linalg.norm(inverse, axis=1)
        visible = float((distances * np.abs(self.x)).min()) / problem.scale
        if is_doubtful(problem.m, k, visible) and is_coincidence(problem, x):
            return None
        lengths = problem.system.column_lengths
        error = max(self.residual, ROUNDING * float(lengths[self.support] @ np.abs(self.x)))
        limit = error / (HIDDEN * float(np.abs(self.x).max()))
        outside = np.flatnonzero(x == 0)
        beside = problem.matrix()[:, outside]
        beside = beside - self.Q @ (self.Q.conj().T @ beside)
        sides = np.linalg.norm(beside, axis=0)
        is_plain = (
            self._are_apart(sides, lengths[outside], distances, limit)
            and not is_special(np.abs(self.x))
            and not dependence.dependent_pair(beside, limit).columns
            and not dependence.dependent_triple(beside, limit).columns
            and not self._stands_in(limit)
        )
        return Pursued(x, self.support, steps, error, limit, float(sides.min()), is_plain)

    def _are_apart(self, sides: Array, lengths: Array, distances: Array, limit: float) -> bool:
        """Return whether no single column is so near to others that it could hide a coefficient."""
        spread = math.sqrt(self.problem.m / (self.problem.m - len(self.support)))
        is_clear = np.all(sides**2 > CLEAR_SQUARE * lengths**2) and sides.min() > limit
        return bool(is_clear and distances.min() > limit * spread)

    def _stands_in(self, limit: float) -> bool:
        """Return whether a column of the support may be the sum of others, so that it stands in for them in x."""
        problem, A = self.problem, self.problem.matrix()
        if problem.n <= MANY_COLUMNS:
            return greedy_relation(problem, A, work_for_relations(problem, A)).hides(limit)
        found = dependence.greedy_relation(A, A, most_steps=STEPS_PER_COLUMN, targets=self.support)
        return found.hides(limit)


def _fit(problem: Problem, support: Indices) -> ComplexFit | None:
    """Fit y on the support, without columns whose coefficients are rounding; None if that is not exact."""
    fit = ComplexFit(problem, support)
    kept = np.abs(fit.x) > NEGLIGIBLE * np.abs(fit.x).max()
    if fit.is_exact and not kept.all():
        fit = ComplexFit(problem, fit.support[kept])
    return fit if fit.is_exact else None
