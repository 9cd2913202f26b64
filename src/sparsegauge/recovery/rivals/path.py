"""The Lasso by coordinate descent, and its whole path (LARS, homotopy), both by scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Parameter, check_count
from ...errors import InvalidInput
from ..nearest import Watch, judged, nearest, refuse_bounds, within_noise
from ..problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished
from .denoising import homotopy

PENALTY = Parameter("penalty", 1e-5, low=0.0, high=1.0)


@dataclass(frozen=True, kw_only=True)
class Lasso(Solver):
    """argmin |A x - y|^2 / 2 + lambda |x|_1, by coordinate descent; also with x >= 0.

    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B
    58(1), 1996. `penalty` is lambda as a part of the smallest one that gives x = 0. By default it is the largest with
    |A x - y| <= noise; without noise it is 1e-5, reached in ten steps, and the nearest exact solution is returned.
    """

    penalty: float | None = None
    max_iterations: int = 2000

    def __post_init__(self) -> None:
        if self.penalty is not None:
            PENALTY.check(self.penalty)
        check_count("max_iterations", self.max_iterations, least=1)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        A, y = problem.real_matrix(), problem.system.y / problem.scale
        positive = _is_positive(problem)
        size = float(np.linalg.norm(A, 2))
        A = np.asfortranarray(A / size)
        largest = float(np.max(A.T @ y if positive else np.abs(A.T @ y)))
        x, steps, converged, watch = np.zeros(problem.n), 0, True, Watch(callback)

        def solved(penalty: float) -> Array:
            nonlocal x, steps, converged
            x, sweeps = _lasso(A, y, penalty * largest, x, positive, self.max_iterations)
            steps, converged = steps + sweeps, sweeps < self.max_iterations
            return x * (problem.scale / size)

        if largest <= 0:  # no x >= 0 is better than zero
            return finished(problem, x)
        if self.penalty is None and problem.noise > 0:
            answer = within_noise(problem, solved, x, 0.1, watch)
            if problem.residual(answer) > problem.tolerance():
                answer = nearest(problem, answer)  # the noise is below what coordinate descent resolves
        else:
            for penalty in np.geomspace(1.0, self.penalty or PENALTY.default, 11)[1:]:
                if watch(answer := solved(float(penalty))):
                    break
            answer = nearest(problem, answer) if problem.noise == 0 else answer
        status = CALLED_OFF if watch.called_off else CONVERGED if converged else STOPPED
        return judged(problem, answer, status=status, nit=steps)


def _is_positive(problem: Problem) -> bool:
    if problem.bounds is None:
        return False
    low, high = problem.bounds
    if not (np.all(low == 0) and np.all(np.isinf(high))):
        raise InvalidInput(
            "Lasso keeps to x >= 0 only; MinimumNorm, BasisPursuit, ReweightedL1 and DantzigSelector keep to any bounds"
        )
    return True


def _lasso(A: Array, y: Array, penalty: float, start: Array, positive: bool, iterations: int) -> tuple[Array, int]:
    """Scikit-learn's objective is divided by the number of rows, and its tolerance is of the duality gap."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    with warnings.catch_warnings():  # too few iterations become a status
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"coef_init": start, "positive": positive, "max_iter": iterations, "tol": 1e-10}
        answer = lasso_path(A, y, alphas=[penalty / len(y)], return_n_iter=True, **options)
    return np.ascontiguousarray(answer[1][:, 0]), int(answer[3][0])


@dataclass(frozen=True, kw_only=True)
class LARS(Solver):
    """The whole path of the Lasso, by least angle regression (homotopy), down to the noise or to its end.

    M. R. Osborne, B. Presnell and B. A. Turlach, IMA Journal of Numerical Analysis 20(3), 2000; B. Efron, T. Hastie,
    I. Johnstone and R. Tibshirani, "Least angle regression", Annals of Statistics 32(2), 2004. The end of the Lasso's
    path is the solution of basis pursuit.
    """

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        refuse_bounds(problem, "LARS")
        watch = Watch(callback)
        x, steps = homotopy(problem.real_matrix(), problem.system.y, problem.tolerance(), watch=watch)
        reached = problem.residual(x) <= max(problem.tolerance(), 1e-6 * problem.scale)
        x = nearest(problem, x)  # the path ends a little before the residual does
        status = CALLED_OFF if watch.called_off else CONVERGED if reached else STOPPED
        return finished(problem, x, status=status, nit=steps)
