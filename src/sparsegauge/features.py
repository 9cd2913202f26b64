"""Sparsity as features for machine learning: one column per metric, one row per signal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ._arrays import Array, check_number, check_orders
from .metrics.catalogue import choose_columns
from .metrics.metric import Metric


class SparsityFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Describe each signal by its sparsity, measured by several metrics and at several orders.

    Rows are signals and columns are coefficients, as everywhere in scikit-learn. It learns nothing from the data: `fit`
    checks the options and remembers the number of coefficients.

    Parameters
    ----------
    metrics : sequence of str or of (str, mapping)
        Names of the catalogue `METRICS`, or pairs of a name and its parameters.
    orders : sequence of float
        Orders of `gds`, one column each.
    zero : float
        The value for signals whose coefficients are all zero.

    Attributes
    ----------
    n_features_in_ : int
        The number of coefficients of a signal.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if a DataFrame was fitted.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> features = sg.SparsityFeatures(metrics=["gini", "hoyer"], orders=[2, 4])
    >>> features.fit_transform([[0, 0, 0, 5], [0, 0, 3, 4]]).round(3)
    array([[0.75 , 1.   , 0.75 , 0.75 ],
           [0.536, 0.6  , 0.51 , 0.501]])
    >>> features.get_feature_names_out()
    array(['gini', 'hoyer', 'gds order=2', 'gds order=4'], dtype=object)
    """

    n_features_in_: int

    def __init__(
        self,
        *,
        metrics: Sequence[str | tuple[str, Mapping[str, float]]] = ("gini", "hoyer", "kurtosis"),
        orders: Sequence[float] = (2.0,),
        zero: float = 0.0,
    ) -> None:
        self.metrics = metrics
        self.orders = orders
        self.zero = zero

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the options, and remember how many coefficients a signal has.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            The signals.
        y : None
            Ignored; pipelines pass it.

        Returns
        -------
        self
        """
        self._columns()
        check_number("zero", self.zero)
        self._check(X, reset=True)
        return self

    def transform(self, X: Any) -> Array:
        """Return one row per signal, one column per metric.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            The signals: dense, or a SciPy sparse array.

        Returns
        -------
        ndarray of shape (n_signals, n_columns)
        """
        check_is_fitted(self)
        table = self._check(X, reset=False)
        columns = self._columns().values()
        return np.column_stack([metric.function(table, zero=self.zero, **own) for metric, own in columns])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns: "gini", "gds order=2".

        Parameters
        ----------
        input_features : None
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(list(self._columns()), dtype=object)

    def _columns(self) -> dict[str, tuple[Metric, dict[str, Any]]]:
        return choose_columns(self.metrics, check_orders(self.orders))

    def _check(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=np.float64, accept_sparse="csr")

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Tags:
        """Return what scikit-learn should know: sparse arrays are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
