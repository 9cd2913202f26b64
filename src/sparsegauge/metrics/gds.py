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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import (
    Array,
    Choice,
    OrderParameter,
    as_signals,
    check_number,
    check_order,
    check_orders,
    library_of,
    restore_like,
)
from ..errors import InvalidInput
from . import _dispatch, _plain_arrays, _slopes
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, power_sum, zeros
from .labels import label_like
from .lemmas import COUNTED_ZEROS, INVARIANT, MEANS, PADDING, ROBIN_HOOD, Laws
from .metric import COUNT, Axis, Center, Options
from .references import GDS

if TYPE_CHECKING:
    from .statistics import Rows

DEFAULT_ORDER = 2.0
LARGEST_PAPER_ORDER = 1000  # beyond, its binomials overflow


def exact_gds(k: Arithmetic, c: Pairs, order: Any) -> Any:
    """Return S_p in exact arithmetic, pair by pair."""
    if order == math.inf:
        return k.of(zeros(c)) / length(c)
    numerator = k.of(0)
    for j, (high, n) in enumerate(c):
        for low, m in c[:j]:
            numerator += m * n * k.power(high - low, order)
    return numerator / (length(c) * power_sum(k, c, order))


def _laws(order: float) -> Laws:
    if order == math.inf:
        return {**COUNTED_ZEROS, **MEANS, **PADDING}
    found = {**INVARIANT, **MEANS, **PADDING, "P5": "tide", "P7": "gates", "P10": "range", "P11": "range"}
    return {**found, **ROBIN_HOOD} if order in (1, 2) else found


def _no_standard_error(order: float, method: str = "auto") -> str:
    return COUNT if order == math.inf else ""


def _error_growth(order: float, method: str = "auto") -> float:
    return order - 1.0


def _measure_plainly(x: Any, order: float, method: str) -> float | Array | None:
    """Return S_p of plain arrays at even orders without any detour; None for whatever else came."""
    if method != "auto":
        return None
    value = _plain_arrays.measure_plainly(x, order)
    return value if value >= 0.0 else _plain_arrays.measure_table_plainly(x, order)


@metric(
    formula="sum_{i<j} (c_j - c_i)^p / (N sum c^p)",
    title="Generalised Differential Sparsity",
    meaning="how much the coefficients differ, in pairs, compared with their size: 0 for equal ones, 1 - 1/N for a "
    "single non-zero; the order chooses how much small coefficients count",
    reference=GDS,
    parameters=[
        OrderParameter(
            "order",
            DEFAULT_ORDER,
            low=1,
            high=math.inf,
            low_included=True,
            high_included=True,
            meaning="Any real p >= 1. Order 1 is the Gini index; order 2 is 1 - (sum c)^2 / (N sum c^2); ``inf`` is "
            "the fraction of zeros, the limit of large orders.",
            keyword_only=False,
        )
    ],
    options=[
        Choice(
            "method",
            "auto",
            ("auto", "definition", "paper"),
            "``auto`` is exact to about 1e-13 and fast; ``definition`` adds up all pairs; ``paper`` uses the paper's "
            "even and odd formulas (section VI), for integer orders. They cancel: see docs/benchmarks.md.",
        )
    ],
    proofs=_laws,
    exact=exact_gds,
    aliases=["generalised_differential_sparsity"],
    shortcut=_measure_plainly,
    bounds=(0.0, 1.0),
    error_growth=_error_growth,
    no_standard_error=_no_standard_error,
)
def gds(row: Rows, order: float, method: str) -> Array:
    r"""Return the Generalised Differential Sparsity of order p of each signal.

    .. math:: S_p(c) = \frac{1}{N \sum_i c_i^p} \sum_{i<j} (c_j - c_i)^p, \quad c = |x| \text{ sorted ascending}

    (Definition 1 of the paper, section IV). Larger is sparser: 0 for equal magnitudes, 1 - 1/N for a single non-zero.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gds([0, 0, 0, 1])
    0.75
    >>> sg.gds([[1, 1, 1, 1], [0, 0, 3, 4]], order=1)
    array([0.        , 0.53571429])
    """
    if method == "paper" and not (order.is_integer() and order <= LARGEST_PAPER_ORDER):
        raise InvalidInput(
            f"method='paper' has formulas for integer orders only, here up to {LARGEST_PAPER_ORDER}, got {order!r}; "
            "use method='auto'"
        )
    return row.gds(order, method)


def gds_profile(
    x: ArrayLike,
    orders: Any,
    *,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    zero: float = math.nan,
) -> Array:
    """Return S_p at several orders, sorting only once.

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
    options = Options(axis=axis, keepdims=keepdims, nan_policy=nan_policy, weights=weights, center=center, zero=zero)
    if library_of(x) in ("torch", "jax", "array_api", "dask"):
        from array_api_compat import array_namespace

        stacked: Array = array_namespace(x).stack([gds(x, p, **options) for p in checked])
        return stacked
    if keepdims or weights is not None or center is not None or isinstance(axis, tuple):
        measured = np.array([gds(x, p, **options) for p in checked or [2.0]], dtype=np.float64)
        return measured[: len(checked)]
    signals = as_signals(x, axis=axis, nan_policy=nan_policy)
    sort_once = functools.cache(lambda: _dispatch.sorted_magnitudes(signals))
    results = [signals.restore(_dispatch.measure(signals, p, zero, sort_once)) for p in checked]
    return np.array(results, dtype=np.float64).reshape((len(checked), *(signals.shape or ())))


def gds_gradient(x: ArrayLike, order: float, *, axis: int | None = -1) -> NDArray[Any]:
    r"""Return the gradient of S_p, in the shape of x.

    .. math:: \frac{\partial S_p}{\partial x_k} = \operatorname{sign}(x_k) \frac{p}{N \sum c^p} \left(
              \sum_{i<k} (c_k - c_i)^{p-1} - \sum_{j>k} (c_j - c_k)^{p-1} - N S_p c_k^{p-1} \right)

    Where S_p has a kink this is a subgradient: ties count 0 at order 1, and so does every x_k = 0. For complex x it is
    the direction x_k / abs(x_k) times the slope in abs(x_k). Signals that are all zero or all masked, or hold a NaN,
    give nan; masked entries among others give 0; a sparse array gives a sparse array, whose values are those at its
    stored entries; xarray and pandas objects keep their labels.

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
    return label_like(x, restore_like(x, axis, signals, _slopes.slopes(signals, p)))  # type: ignore[no-any-return]
