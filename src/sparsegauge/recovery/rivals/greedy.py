"""Orthogonal matching pursuit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, check_count
from ..nearest import Watch, fitted, refuse_bounds
from ..problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished


@dataclass(frozen=True, kw_only=True)
class OMP(Solver):
    """One column after the other, always the one nearest to the residual, refitted by least squares.

    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal matching pursuit", Asilomar Conference, 1993; in
    the form of scikit-learn, on columns of length one. It ends at `nonzeros` columns, or by default when the residual
    is within the noise (1e-9 |y| without noise).
    """

    nonzeros: int | None = None

    def __post_init__(self) -> None:
        if self.nonzeros is not None:
            check_count("nonzeros", self.nonzeros, least=1)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        refuse_bounds(problem, "OMP")
        A, y = problem.real_matrix(), problem.system.y
        if problem.scale <= problem.noise:
            return finished(problem, np.zeros(problem.n))
        lengths = np.linalg.norm(A, axis=0)
        used = np.flatnonzero(lengths > 0)
        columns = A[:, used] / lengths[used]
        steps = self._pursued(columns, y / problem.scale, problem.tolerance() / problem.scale, callback is not None)
        watch = Watch(callback)
        for step in steps:
            x = fitted(A, y, used[np.flatnonzero(step)])
            if watch(x):
                return finished(problem, x, status=CALLED_OFF, nit=watch.iteration)
        enough = self.nonzeros is not None or problem.residual(x) <= problem.tolerance()
        return finished(problem, x, status=CONVERGED if enough else STOPPED, nit=int(np.count_nonzero(steps[-1])))

    def _pursued(self, columns: Array, y: Array, radius: float, all_steps: bool) -> Array:
        """The coefficients at the end, or after every step: one row each."""
        from sklearn.linear_model import orthogonal_mp

        nonzeros = None if self.nonzeros is None else min(self.nonzeros, *columns.shape)
        with warnings.catch_warnings():  # dependent columns end it early, which shows in the residual
            warnings.simplefilter("ignore", RuntimeWarning)
            options = {"n_nonzero_coefs": nonzeros, "tol": None if nonzeros else radius**2, "return_path": all_steps}
            return np.atleast_2d(np.asarray(orthogonal_mp(columns, y, **options)).T)
