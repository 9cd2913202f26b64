"""Generalised Differential Sparsity S_p at any order: which algorithm when, and why.

With c = |x| sorted ascending (the paper's section IV),

    S_p(c) = sum_{i<j} (c_j - c_i)^p / (N sum_i c_i^p).

| order | algorithm | cost |
|---|---|---|
| 1 | gaps times ranks | a sort |
| even up to 128 | central moments, with a bound of their own error | no sort, for dense arrays |
| integer up to 128 | the all-positive recurrence | a sort, N p |
| any other real | splitting cells until a polynomial is good enough | a sort, N |
| inf | the fraction of zeros, the limit of large orders | N |
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._arrays import (
    Array,
    as_signals,
    check_choice,
    check_number,
    check_order,
    check_orders,
    over_signals,
    restore_like,
)
from ..errors import InvalidInput
from . import _routes, _slopes

METHODS = ("auto", "definition", "paper")
LARGEST_PAPER_ORDER = 1000  # beyond, its binomials overflow


def gds(
    x: Any,
    order: float = 2.0,
    *,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
    method: str = "auto",
) -> Any:
    r"""Generalised Differential Sparsity of order p.

    .. math:: S_p(c) = \frac{1}{N \sum_i c_i^p} \sum_{i<j} (c_j - c_i)^p, \quad c = |x| \text{ sorted ascending}

    (Definition 1 of the paper, section IV). Larger is sparser: 0 for equal magnitudes, 1 - 1/N for a single non-zero.

    Parameters
    ----------
    x : array_like
        Real or complex numbers of any shape; pandas objects, masked arrays (masked entries are left out) and SciPy
        sparse arrays (never made dense) too.
    order : float
        Any real p >= 1. Order 1 is the Gini index; order 2 is 1 - (sum c)^2 / (N sum c^2); ``inf`` is the fraction
        of zeros, the limit of large orders.
    axis : int or None
        The dimension that holds the coefficients of a signal; None measures the flattened array.
    nan_policy : {"propagate", "omit", "raise"}
        What to do with NaN.
    zero : float
        The value for a signal whose coefficients are all zero, for which S_p is not defined.
    method : {"auto", "definition", "paper"}
        ``auto`` is exact to about 1e-13 and fast; ``definition`` adds up all pairs; ``paper`` uses the paper's even and
        odd formulas (section VI), for integer orders. They cancel: see docs/benchmarks.md.

    Returns
    -------
    float or ndarray
        A float for one signal, else an array of x's shape without `axis`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gds([0, 0, 0, 1])
    0.75
    >>> sg.gds([[1, 1, 1, 1], [0, 0, 3, 4]], order=1)
    array([0.        , 0.53571429])
    """
    p = check_order(order)
    check_choice("method", method, METHODS)
    if method == "paper" and not (p.is_integer() and p <= LARGEST_PAPER_ORDER):
        raise InvalidInput(
            f"method='paper' has formulas for integer orders only, here up to {LARGEST_PAPER_ORDER}, got {order!r}; "
            "use method='auto'"
        )
    zero = check_number("zero", zero)
    if method == "auto" and type(axis) is int and axis == -1 and type(nan_policy) is str and nan_policy == "propagate":
        plain = _routes.measure_plainly(x, p)
        if plain >= 0.0:
            return plain
        table = _routes.measure_table_plainly(x, p)
        if table is not None:
            return table
    if method == "auto" or math.isinf(p):
        return over_signals(x, axis, nan_policy, lambda signals: _routes.measure(signals, p, zero))
    return over_signals(x, axis, nan_policy, lambda signals: _routes.measure_slowly(signals, p, zero, method))


def gds_profile(
    x: Any, orders: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Array:
    """S_p at several orders, sorting once.

    Returns an array whose first axis runs over `orders`, followed by the shape that `gds` would return; each entry
    equals ``gds(x, order)`` bit for bit.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gds_profile([1, 1, 1, 1, 10], [1, 2, 3])
    array([0.51428571, 0.62307692, 0.58087649])
    """
    checked = check_orders(orders)
    zero = check_number("zero", zero)
    signals = as_signals(x, axis=axis, nan_policy=nan_policy)
    sort_once = functools.cache(lambda: _routes.sorted_magnitudes(signals))
    results = [signals.restore(_routes.measure(signals, p, zero, sort_once)) for p in checked]
    return np.array(results, dtype=np.float64).reshape((len(checked), *(signals.shape or ())))


def gds_gradient(x: Any, order: float, *, axis: int | None = -1) -> Any:
    r"""dS_p/dx, of the same shape as x.

    .. math:: \frac{\partial S_p}{\partial x_k} = \operatorname{sign}(x_k) \frac{p}{N \sum c^p} \left(
              \sum_{i<k} (c_k - c_i)^{p-1} - \sum_{j>k} (c_j - c_k)^{p-1} - N S_p c_k^{p-1} \right)

    Where S_p has a kink this is a subgradient: ties count 0 at order 1, and so does every x_k = 0. For complex x it is
    the direction x_k / abs(x_k) times the slope in abs(x_k). Signals that are all zero or all masked, or hold a NaN,
    give nan; masked entries among others give 0; a sparse array gives a sparse array, whose values are those at its
    stored entries.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gds_gradient([1.0, -2.0, 2.0], 2)
    array([-0.16460905, -0.04115226,  0.04115226])
    """
    p = check_order(order)
    if math.isinf(p):
        raise InvalidInput("the fraction of zeros (order=inf) has no gradient; use a finite order")
    signals = as_signals(x, axis=axis)
    return restore_like(x, axis, signals, _slopes.slopes(signals, p))
