"""Orthogonal matching pursuit."""

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
from ..projection import fitted
from ..solver import Capabilities, Solver, count
from ..status import Status


@dataclass(frozen=True, kw_only=True)
class OMP(Solver):
    """One column after the other, always the one nearest to the residual, refitted by least squares.

    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal matching pursuit", Asilomar Conference, 1993; in
    the form of scikit-learn, on columns of length one. It ends at `nonzeros` columns, or by default when the residual
    is within the noise (1e-9 |y| without noise). The callback sees x after each column, when all have been chosen.
    """

    supports: ClassVar[Capabilities] = Capabilities()

    nonzeros: int | None = count(None, least=1)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield x after each column."""
        A, y = problem.real_matrix(), problem.y
        lengths = np.linalg.norm(A, axis=0)
        used = np.flatnonzero(lengths > 0)
        path = self._pursue(A[:, used] / lengths[used], y / problem.scale, problem.tolerance() / problem.scale)
        for step in path[:-1]:
            x = np.zeros(problem.n)
            x[used] = step * (problem.scale / lengths[used])
            yield Iterate(x)
        x = fitted(A, y, used[np.flatnonzero(path[-1])]) if len(path) else np.zeros(problem.n)
        enough = self.nonzeros is not None or problem.residual(x) <= problem.tolerance()
        yield Iterate(x, status=Status.CONVERGED if enough else Status.ITERATION_LIMIT)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Fit the chosen columns to y."""
        return fitted(problem.real_matrix(), problem.y, np.flatnonzero(x))

    def _pursue(self, columns: Array, y: Array, radius: float) -> Array:
        """Return the coefficients after every step: one row each, and none where no column says anything about y."""
        from sklearn.linear_model import orthogonal_mp

        if not (columns.T @ y).any():
            return np.empty((0, columns.shape[1]))
        nonzeros = None if self.nonzeros is None else min(self.nonzeros, *columns.shape)
        with warnings.catch_warnings():  # dependent columns end it early, which shows in the residual
            warnings.simplefilter("ignore", RuntimeWarning)
            options = {"n_nonzero_coefs": nonzeros, "tol": None if nonzeros else radius**2, "return_path": True}
            return np.asarray(orthogonal_mp(columns, y, **options)).reshape(columns.shape[1], -1).T
