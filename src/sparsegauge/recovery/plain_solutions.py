"""Exact solutions that are easy to find, and whose certificate costs little: what `pursuit.py` returns.

A solution is plain if no column, pair or triple of columns is so near to its support that it could hide a coefficient,
no column of the support is a sum of others, and its magnitudes have no simple ratio. Others are judged by
`uniqueness.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .._arrays import Indices
from .._compiled.support import MARGIN
from . import dependence
from .problem import Problem
from .result import Certificate
from .system import System
from .tolerances import EXACT, INDEPENDENT_ROWS
from .uniqueness import (
    MOST_CHANCE,
    UP_TO_THREE,
    assumptions,
    chance_of_fit,
    doubt_of_structure,
)

LEAST_EQUATIONS = 3
MOST_NONZEROS_PER_EQUATION = 0.4
EQUATIONS_PER_NONZERO = 2  # on which the chance of a false fit is judged, where there are more
MORE_EQUATIONS = 64
MOST_GRAM_COLUMNS = 1500  # with more, message passing finds the support, and only its inner products are computed
STEPS_PER_COLUMN = dependence.MOST_GREEDY_STEPS  # of the pursuit that represents a column of the support by others


@dataclass(frozen=True)
class Pursued:
    """An exact solution that was easy to find, with what is known of the columns around it.

    `error` is what the fit, or rounding, leaves of y; `limit` is the distance from the support within which a column
    may hide a coefficient (see `uniqueness.Fit`). `is_plain` says that no column, pair or triple of columns is so near,
    and that x is not special: then no more has to be searched.
    """

    x: NDArray[Any]
    support: Indices
    steps: int
    error: float
    limit: float
    shortest: float  # distance of a column from the support
    is_plain: bool


def may_be_easy(problem: Problem) -> bool:
    """Return whether an easy solution is worth looking for; A is written out."""
    return not (
        problem.noise > 0
        or problem.m >= problem.n
        or problem.m < LEAST_EQUATIONS
        or problem.scale == 0
        or problem.has_uneven_rows
        or not problem.zero_is_allowed
        or (problem.is_complex and problem.n > MOST_GRAM_COLUMNS)
    )


def are_too_many(problem: Problem, support: Indices) -> bool:
    """Return whether a fit on these columns may be exact because the rows of A depend on each other."""
    rows = _rows_that_count(problem, len(support))
    return len(support) > rows - MARGIN or _factor_rows(problem.system, rows) is None


def is_doubtful(m: int, count: int, visible: float) -> bool:
    """Return whether an exact fit on this many columns may be a coincidence.

    Fewer columns leave at least `visible` of y, and so a higher score (`explanation.py`) unless that is very small.
    """
    if visible <= EXACT:
        return True
    gain = 2 * (m - count) * math.log(visible / EXACT)
    return gain <= count * (math.log(m) + 2 * math.log(1 / visible))


def certify(problem: Problem, pursued: Pursued, *, assume_generic: bool) -> Certificate | None:
    """Return a certificate for a plain solution, or None if a closer look is needed."""
    k = len(pursued.support)
    rows = _rows_that_count(problem, k)
    factor = _factor_rows(problem.system, rows)
    looks_generic = assume_generic or not doubt_of_structure(problem.system)
    if not (pursued.is_plain and looks_generic) or factor is None:
        return None
    A, y = problem.matrix()[:rows], problem.y[:rows]
    both = scipy.linalg.solve_triangular(factor, np.column_stack([A[:, pursued.support], y]), lower=True)
    chance = chance_of_fit(both[:, :-1], both[:, -1], pursued.x[pursued.support], problem.n)
    if chance > MOST_CHANCE:
        return None
    return Certificate(
        support=pursued.support,
        margin=rows - k,
        smallest_visible=pursued.error / pursued.shortest,
        chance=chance,
        assumptions=assumptions(assume_generic, _searched(problem)),
    )


def _searched(problem: Problem) -> str:
    if problem.n > MOST_GRAM_COLUMNS:
        return f"{UP_TO_THREE} (check_dependence=True looks for more)"
    return f"{UP_TO_THREE}, greedily up to {1 + STEPS_PER_COLUMN}"


def _rows_that_count(problem: Problem, k: int) -> int:
    """Return how many equations are enough to judge a fit on k columns."""
    return min(problem.m, EQUATIONS_PER_NONZERO * k + MORE_EQUATIONS)


def _factor_rows(system: System, rows: int) -> NDArray[Any] | None:
    """Return the Cholesky factor of A A^H for the first rows of A; None if they are nearly dependent."""
    key = f"factor of {rows} rows"
    if key not in system.notes:
        A = system.matrix[:rows]  # type: ignore[index]
        products = (A.conj() @ A.T).T  # A A^H, in the order in which LAPACK needs no copy
        try:
            factor = scipy.linalg.cholesky(products, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            factor = np.zeros((rows, rows))
        diagonal = factor.diagonal().real
        system.notes[key] = factor if diagonal.min() > INDEPENDENT_ROWS * diagonal.max() else None
    found: NDArray[Any] | None = system.notes[key]
    return found
