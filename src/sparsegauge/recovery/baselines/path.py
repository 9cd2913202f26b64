"""The Lasso by coordinate descent, and its whole path (LARS, homotopy), both by scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ..driver import Iterate
from ..problem import Problem
from ..projection import nearest
from ..solver import Capabilities, Solver, count, real
from ..status import Status
from ..tolerances import PROGRAM_TOLERANCE
from .denoising import homotopy
from .trials import Solution, Trials

EXACT_PENALTY = 1e-5  # where y is exact
EXACT_PENALTY_STEPS = 10  # down to it
FIRST_PENALTY = 0.1  # of the search for the penalty that meets the noise


@dataclass(frozen=True, kw_only=True)
class Lasso(Solver):
    """argmin |A x - y|^2 / 2 + lambda |x|_1, by coordinate descent; also with x >= 0.

    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B
    58(1), 1996. `penalty` is lambda as a part of the smallest one that gives x = 0. By default it is the largest with
    |A x - y| <= noise; without noise it is 1e-5, reached in ten steps, and the nearest exact solution is returned.
    The callback sees x once per lambda; iterations are sweeps over all coefficients, at most `max_iterations` per
    lambda.
    """

    supports: ClassVar[Capabilities] = Capabilities(bounds="x >= 0")

    penalty: float | None = real(None, low=0.0, high=1.0)
    max_iterations: int = count(2000, least=1)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the solution at each penalty."""
        trials = _coordinate_descent(problem, self.max_iterations)
        zero = np.zeros(problem.n)
        if trials is None:  # no x is better than zero
            yield Iterate(zero, status=Status.CONVERGED)
        elif self._searches(problem):
            x = yield from trials.search(problem, zero, FIRST_PENALTY)
            yield trials.iterate(x, trials.status)
        else:
            penalties = np.geomspace(1.0, self.penalty or EXACT_PENALTY, EXACT_PENALTY_STEPS + 1)[1:].tolist()
            for k, penalty in enumerate(penalties, start=1):
                x = trials(penalty)
                yield trials.iterate(x, trials.status if k == EXACT_PENALTY_STEPS else None)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y, unless the caller chose a penalty for noisy measurements.

        With noise, that is x itself but where the noise is below what coordinate descent resolves.
        """
        if problem.noise == 0 or (self._searches(problem) and problem.residual(x) > problem.tolerance()):
            return nearest(problem, x)
        return x

    def _searches(self, problem: Problem) -> bool:
        return self.penalty is None and problem.noise > 0


def _coordinate_descent(problem: Problem, max_iterations: int) -> Trials | None:
    """Return the Lasso at any penalty in units of the largest, each from the last solution; None if that is x = 0."""
    y, positive = problem.y / problem.scale, problem.bounds is not None
    size = float(np.linalg.norm(problem.real_matrix(), 2)) or 1.0
    A = np.asfortranarray(problem.real_matrix() / size)
    largest = float(np.max(A.T @ y if positive else np.abs(A.T @ y)))
    x = np.zeros(problem.n)

    def solve(penalty: float) -> Solution:
        nonlocal x
        x, sweeps = _lasso(A, y, penalty * largest, x, positive, max_iterations)
        status = Status.CONVERGED if sweeps < max_iterations else Status.ITERATION_LIMIT
        return Solution(x * (problem.scale / size), status, sweeps)

    return Trials(solve) if largest > 0 else None


def _lasso(A: Array, y: Array, penalty: float, start: Array, positive: bool, iterations: int) -> tuple[Array, int]:
    """Call scikit-learn, whose objective is divided by the number of rows, with a tolerance of the duality gap."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    with warnings.catch_warnings():  # too few iterations become a status
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"coef_init": start, "positive": positive, "max_iter": iterations, "tol": PROGRAM_TOLERANCE}
        answer = lasso_path(A, y, alphas=[penalty / len(y)], return_n_iter=True, **options)
    return np.ascontiguousarray(answer[1][:, 0]), int(answer[3][0])


@dataclass(frozen=True, kw_only=True)
class LARS(Solver):
    """The whole path of the Lasso, by least angle regression (homotopy), down to the noise or to its end.

    M. R. Osborne, B. Presnell and B. A. Turlach, IMA Journal of Numerical Analysis 20(3), 2000; B. Efron, T. Hastie,
    I. Johnstone and R. Tibshirani, "Least angle regression", Annals of Statistics 32(2), 2004. The end of the Lasso's
    path is the solution of basis pursuit. The callback sees the corners of the path, when all have been found.
    """

    supports: ClassVar[Capabilities] = Capabilities()

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the corners of the path."""
        *corners, x = homotopy(problem.real_matrix(), problem.y, problem.tolerance())
        for corner in corners:
            yield Iterate(corner)
        reached = problem.residual(x) <= problem.explained_below
        yield Iterate(x, status=Status.CONVERGED if reached else Status.ITERATION_LIMIT)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y: the path ends a little before the residual does."""
        return nearest(problem, x)
