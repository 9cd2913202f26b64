"""SparseRecovery: the solvers with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .entry import recover
from .result import Recoveries, Recovery
from .solver import Solver


class SparseRecovery(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse coefficients of a linear model, by any solver: ``fit(A, y)``, then ``coef_``.

    ``fit(A, Y)`` with Y of shape (n_samples, n_targets) fits every target on its own.

    Parameters
    ----------
    solver : Solver, optional
        `Portfolio()` by default.
    noise : "auto", float or ("residual", float)
        As for `recover`: estimated, the standard deviation per measurement, or the largest norm of the residual.
    bounds : (low, high), optional
        The limits of x: numbers, arrays, or None for no limit.
    random_state : int, numpy.random.Generator or None
        The source of randomness, for solvers that use any; None stands for a fixed seed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The sparse solution, one row per target.
    recovery_ : Recovery or Recoveries
        The full result: status, residual, certificate.
    n_iter_ : int
        The number of solves that it took.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> x = sg.sparse_signal(60, 5, "normal", rng=0)
    >>> A = sg.gaussian_matrix(30, 60, rng=1)
    >>> model = sg.SparseRecovery(random_state=0).fit(A, A @ x)
    >>> bool(abs(model.coef_ - x).max() < 1e-9), model.recovery_.certified
    (True, True)
    >>> sg.SparseRecovery().fit(A, A @ sg.sparse_signal(60, 5, rng=0).reshape(60, 1).repeat(2, axis=1)).coef_.shape
    (2, 60)
    """

    def __init__(
        self, solver: Solver | None = None, *, noise: Any = "auto", bounds: Any = None, random_state: Any = None
    ) -> None:
        self.solver = solver
        self.noise = noise
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SparseRecovery:
        """Find sparse coefficients with X coef = y."""
        X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, dtype=np.float64)
        self.recovery_: Recovery | Recoveries = recover(
            X, y, solver=self.solver, noise=self.noise, bounds=self.bounds, rng=self.random_state
        )
        self.coef_: NDArray[Any] = self.recovery_.x.T
        self.n_iter_: int = max(int(np.max(self.recovery_.nit)), 1)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return X coef."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T)
