"""Differential sparsity of normalised data (the paper's section VII): make coefficients comparable, then measure."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ._arrays import Array, Indices, is_sparse
from .errors import InvalidInput
from .metrics.coefficient_moments import CoefficientMoments, affine, is_constant, merge, moments_of
from .metrics.gds import DEFAULT_ORDER, gds

TABLE = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}  # how scikit-learn converts X


class CoefficientNormaliser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Give every coefficient of a dataset zero mean and unit standard deviation.

    Rows are signals and columns are coefficients, as everywhere in scikit-learn (the paper's X is the transpose). With
    n signals,

    .. math:: \mu_i = \frac{1}{n} \sum_{k=1}^n x_{i,k}, \quad
              \sigma_i^2 = \frac{1}{n-1} \sum_{k=1}^n (x_{i,k} - \mu_i)^2, \quad
              \widehat{x}_{i,j} = \frac{x_{i,j} - \mu_i}{\sigma_i}

    (the paper's section VII, which calls :math:`\sigma_i^2` "the standard deviation": a misprint, it is the variance,
    and the data are divided by its root).

    - **Constant coefficients** say nothing about how signals differ: they are centred and divided by 1, so they become
      0. Constant means that all values seen are equal, to the last bit; nothing that varies is taken for constant.
    - **NaN** is left out of the statistics and stays NaN in the result. Every coefficient needs two values.
    - **Infinities, complex numbers, sparse matrices** (centring would make them dense) and **masked arrays** are
      refused.
    - **Results are float64**, whatever came.
    - **Pieces**: `partial_fit` over any pieces gives what `fit` gives on the whole, to the last digits.

    Parameters
    ----------
    copy : bool
        False lets `transform` and `inverse_transform` work in the caller's array, where that is a float64 one.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
        The means, rounded to float64; `transform` uses twice as many digits.
    var_ : ndarray of shape (n_features_in_,)
        The variances, with n - 1; 0 for constant coefficients. Below 1e-308 and above 1e308 float64 has no room for
        them, and they become 0 and inf; `transform` does without them.
    scale_ : ndarray of shape (n_features_in_,)
        The divisors of the centred coefficients: the standard deviation, or 1 for constant coefficients.
    n_samples_seen_ : int or ndarray of shape (n_features_in_,)
        The number of values seen; one number per coefficient where NaN makes them differ.
    n_features_in_ : int
        The number of coefficients.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The columns' names, if a DataFrame was fitted.

    Examples
    --------
    >>> from sparsegauge.normalise import CoefficientNormaliser
    >>> X = [[1.0, 200.0, 5.0], [2.0, 400.0, 5.0], [3.0, 600.0, 5.0]]
    >>> normaliser = CoefficientNormaliser().fit(X)
    >>> normaliser.scale_
    array([  1., 200.,   1.])
    >>> normaliser.transform(X)
    array([[-1., -1.,  0.],
           [ 0.,  0.,  0.],
           [ 1.,  1.,  0.]])

    Data larger than memory, piece by piece:

    >>> pieces = CoefficientNormaliser()
    >>> for signal in X:
    ...     pieces = pieces.partial_fit([signal])
    >>> pieces.scale_
    array([  1., 200.,   1.])
    """

    mean_: Array
    var_: Array
    scale_: Array
    n_samples_seen_: int | Indices
    n_features_in_: int
    _moments: CoefficientMoments

    def __init__(self, *, copy: bool = True) -> None:
        """Keep the option; it is checked when fitting."""
        self.copy = copy

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute mean and standard deviation of every coefficient of X; what was seen before is discarded.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            At least two signals.
        y : None
            Ignored; pipelines pass it.

        Returns
        -------
        self
        """
        self.__dict__.pop("_moments", None)
        moments = moments_of(self._check(X, reset=True, ensure_min_samples=2))
        _refuse_few(moments.seen)
        self._keep(moments)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add signals to those seen before; one at a time will do, though `transform` waits for two.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            The next signals.
        y : None
            Ignored; pipelines pass it.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_moments")
        moments = moments_of(self._check(X, reset=first))
        self._keep(moments if first else merge(self._moments, moments))
        return self

    def transform(self, X: Any) -> Any:
        """Centre and scale: (x - mean) / scale.

        A result that is beyond float64's range is infinite, with NumPy's warning.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            Signals, of those fitted or new.

        Returns
        -------
        ndarray of float64 of X's shape, or what `set_output` asks for
        """
        self._refuse_unready()
        return self._normalise(self._check(X, reset=False, copy=self.copy, force_writeable=True))

    def inverse_transform(self, X: Any) -> Array:
        """Undo `transform`: x scale + mean.

        Parameters
        ----------
        X : array_like of shape (n_signals, n_coefficients)
            Normalised signals.

        Returns
        -------
        ndarray of float64 of X's shape
        """
        self._refuse_unready()
        _refuse_kinds(X)
        with _own_errors():
            x: Array = check_array(X, copy=self.copy, force_writeable=True, estimator=self, **TABLE)
        if x.shape[1] != self.n_features_in_:
            raise InvalidInput(
                f"X has {x.shape[1]} coefficients, but {type(self).__name__} was fitted to {self.n_features_in_}; "
                "pass what transform returned"
            )
        return self._restore(x)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what it may assume: NaN is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check(self, X: Any, *, reset: bool, **options: Any) -> Array:
        """Return the caller's table as float64, checked by scikit-learn's rules for shapes, names and kinds."""
        _refuse_kinds(X)
        if not isinstance(self.copy, bool | np.bool_):
            raise InvalidInput(f"copy must be True or False, got {self.copy!r}")
        with _own_errors():
            x: Array = validate_data(self, X, reset=reset, **TABLE, **options)
        return x

    def _keep(self, moments: CoefficientMoments) -> None:
        self._moments = moments
        mean, deviation, unit = affine(moments)
        with np.errstate(over="ignore", under="ignore"):
            self.mean_ = np.where(moments.seen > 0, mean[0] * unit, math.nan)
            self.scale_ = deviation * unit
            self.var_ = np.where(is_constant(moments), 0.0, self.scale_**2)
        seen = moments.seen
        self.n_samples_seen_ = int(seen[0]) if np.all(seen == seen[0]) else seen

    def _refuse_unready(self) -> None:
        check_is_fitted(self, "_moments")
        _refuse_few(self._moments.seen)

    @np.errstate(under="ignore")
    def _normalise(self, x: Array) -> Array:
        """Normalise in place."""
        mean, deviation, unit = affine(self._moments)
        x *= 1 / unit
        x -= mean[0]
        x -= mean[1]
        x /= deviation
        return x

    @np.errstate(under="ignore")
    def _restore(self, x: Array) -> Array:
        """Restore in place."""
        mean, deviation, unit = affine(self._moments)
        x *= deviation
        x += mean[1]
        x += mean[0]
        x *= unit
        return x


def normalised_gds(
    X: Any,
    order: float = DEFAULT_ORDER,
    *,
    normaliser: CoefficientNormaliser | None = None,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Array:
    r"""Return S_p of every signal of a dataset after its coefficients were made comparable.

    .. math:: \widehat{S}_p(x_{(:,j)}) = S_p(\widehat{x}_{(:,j)}), \quad
              \widehat{x}_{i,j} = \frac{x_{i,j} - \mu_i}{\sigma_i}

    (the paper's section VII), where :math:`\mu_i` is the mean and :math:`\sigma_i` the standard deviation, with n - 1,
    of coefficient i along the dataset; see `CoefficientNormaliser`, also for the misprint in the paper's
    :math:`\sigma_i`.

    What is measured is S_p of the absolute z-scores: how unevenly a signal's departures from the typical signal are
    spread over its coefficients. A signal that is ordinary except in one coefficient is the sparsest; one that is
    equally far from ordinary in all of them gives 0. A zero of X is not a zero here, unless 0 is that coefficient's
    mean. The result does not change when a coefficient is measured in another unit or from another origin.

    Parameters
    ----------
    X : array_like of shape (n_signals, n_coefficients)
        Rows are signals: at least two, unless a normaliser is passed.
    order : float
        Any real p >= 1, or inf, as in `gds`.
    normaliser : CoefficientNormaliser or None
        A fitted one measures new signals against the dataset it has seen; None fits one to X. It is not changed.
    nan_policy : {"propagate", "omit", "raise"}
        What to do with signals that hold NaN, as in `gds`; means and deviations leave NaN out in any case.
    zero : float
        The value for a signal whose coefficients are all at their means, for which S_p is not defined.

    Returns
    -------
    ndarray of shape (n_signals,)

    Examples
    --------
    Temperatures (°C) and pressures (Pa) cannot be compared, until they are normalised:

    >>> from sparsegauge.normalise import CoefficientNormaliser, normalised_gds
    >>> X = [[20.0, 101000.0], [22.0, 101200.0], [24.0, 101400.0], [22.0, 101600.0]]
    >>> normalised_gds(X).round(4)
    array([0.0007, 0.5   , 0.2125, 0.5   ])

    A new signal, which is two standard deviations off in both:

    >>> normaliser = CoefficientNormaliser().fit([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> normalised_gds([[3.0, -10.0]], normaliser=normaliser)
    array([0.])
    """
    if normaliser is None:
        normaliser = CoefficientNormaliser().fit(X)
    elif not isinstance(normaliser, CoefficientNormaliser):
        raise InvalidInput(f"normaliser must be a fitted CoefficientNormaliser or None, got {normaliser!r}")
    try:
        normaliser._refuse_unready()
    except NotFittedError as error:
        raise InvalidInput(
            "normaliser is not fitted; call normaliser.fit(signals) first, or pass None to fit one to X"
        ) from error
    z = normaliser._normalise(normaliser._check(X, reset=False, copy=True))  # a copy, whatever its `copy` says
    result: Array = gds(z, order, nan_policy=nan_policy, zero=zero)
    return result


def _refuse_few(seen: Indices) -> None:
    few = np.flatnonzero(seen < 2)
    if few.size:
        raise InvalidInput(
            f"a standard deviation needs at least two signals, and {few.size} of {seen.size} coefficients have seen "
            f"fewer than two values that are not NaN (columns {', '.join(map(str, few[:5]))}"
            f"{', ...' if few.size > 5 else ''}); pass more signals to fit or partial_fit, or leave these columns out"
        )


def _refuse_kinds(X: Any) -> None:
    """Refuse masked and sparse arrays: scikit-learn drops masks silently, and zeros would not stay zeros."""
    if is_sparse(X):
        raise InvalidInput(
            f"a sparse {type(X).__name__} cannot be centred and stay sparse; pass X.toarray() if it fits into memory"
        )
    if isinstance(X, np.ma.MaskedArray):
        raise InvalidInput("X is a masked array, whose mask would be lost; pass X.astype(float).filled(np.nan)")


@contextlib.contextmanager
def _own_errors() -> Iterator[None]:
    """Raise `InvalidInput`, which is a ValueError too, for what scikit-learn refuses."""
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # it adds all of X up, to see if X is finite
            yield
    except ValueError as error:
        raise InvalidInput(str(error)) from error
