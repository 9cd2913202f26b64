"""The Gini index, its generalisations and another metric of the order statistics.

Throughout, c = |x| sorted ascending and N is the number of coefficients. Larger is sparser: 0 for equal coefficients.

A generalised Gini index is 1 - (w . c)/mean c for weights w that add up to 1 and are the smaller, the larger the
coefficient. Ranks k are counted from the largest, c_(N), which has k = 1.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from ._statistics import Rows, Weights, measured

THETA = Parameter("theta", 0.5, low=0, high=1)
GGI_A = Parameter("a", 2.0, low=0)
POWER_P = Parameter("p", 2.0, low=0)
S_GINI_V = Parameter("v", 3.0, low=1)

SUMMED = 1_000_000  # weights added up one by one; of more, the sum has a series


def gini(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`1 - 2 \sum_i \frac{c_{(i)}}{\|c\|_1} \frac{N - i + 1/2}{N}`, the Gini index (Gini 1921).

    It is `gds` of order 1, from 0 to 1 - 1/N.

    >>> import sparsegauge as sg
    >>> sg.gini([0, 0, 0, 5])
    0.75
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.gds(1))


def gi2(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`2G/(1 + G)`, G the Gini index: Gini index II (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> round(sg.gi2([0, 0, 0, 5]), 12)
    0.857142857143
    """
    return measured(x, axis, nan_policy, zero, lambda row: 2.0 * _gi3(row))


def gi3(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`G/(1 + G)`, G the Gini index: Gini index III (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> round(sg.gi3([0, 0, 0, 5]), 12)
    0.428571428571
    """
    return measured(x, axis, nan_policy, zero, _gi3)


def _gi3(row: Rows) -> Array:
    g = row.gds(1)
    return g / (1.0 + g)


def ggi(
    x: Any, *, a: float = GGI_A.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`1 - w \cdot c / \bar c, w \propto (2N-1, 2N-3, \ldots, 1)^a`; a = 1 is the Gini index.

    Generalised Gini indices (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> sg.ggi([0, 0, 0, 5], a=1)
    0.75
    """
    weights = _odd_powers(GGI_A.check(a))
    return measured(x, axis, nan_policy, zero, lambda row: row.weighted_by_rank(weights)[0])


def fggi(
    x: Any,
    *,
    a: float = GGI_A.default,
    p: float = POWER_P.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`1 - (w \cdot c^p / \overline{c^p})^{1/p}`, the weights w of `ggi` (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> sg.fggi([0, 0, 0, 5], a=1)
    0.5
    """
    weights, power = _odd_powers(GGI_A.check(a)), POWER_P.check(p)

    def formula(row: Rows) -> Array:
        return -np.expm1(row.weighted_by_rank(weights, power)[1] / power)

    return measured(x, axis, nan_policy, zero, formula)


def pfgi1(
    x: Any, *, p: float = POWER_P.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`1 - (1 - G_p)^{1/p}`, :math:`G_p` the Gini index of :math:`c^p` (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> sg.pfgi1([0, 0, 0, 5])
    0.5
    """
    power = POWER_P.check(p)
    return measured(x, axis, nan_policy, zero, lambda row: -np.expm1(_gini_of_powers(row, power)[1] / power))


def pfgi2(
    x: Any, *, p: float = POWER_P.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`1 - ((1 - G_p)/(1 + G_p))^{1/p}`, :math:`G_p` the Gini index of :math:`c^p` (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> round(sg.pfgi2([0, 0, 0, 5]), 12)
    0.622035526991
    """
    power = POWER_P.check(p)

    def formula(row: Rows) -> Array:
        g, log_rest = _gini_of_powers(row, power)
        return -np.expm1((log_rest - np.log1p(g)) / power)

    return measured(x, axis, nan_policy, zero, formula)


def pfgi3(
    x: Any, *, p: float = POWER_P.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`1 - (1 + G_p)^{-1/p}`, :math:`G_p` the Gini index of :math:`c^p` (Hou, Wang et al.).

    >>> import sparsegauge as sg
    >>> round(sg.pfgi3([0, 0, 0, 5]), 12)
    0.244071053982
    """
    power = POWER_P.check(p)
    return measured(x, axis, nan_policy, zero, lambda row: -np.expm1(-np.log1p(_gini_of_powers(row, power)[0]) / power))


def _gini_of_powers(row: Rows, p: float) -> tuple[Array, Array]:
    """G_p and log(1 - G_p)."""
    return row.weighted_by_rank(_gini_weights, p)


def s_gini(
    x: Any, *, v: float = S_GINI_V.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r"""The single-parameter Gini index of Donaldson and Weymark (1980), v > 1; v = 2 is the Gini index.

    .. math:: 1 - \sum_i \left(\Big(\frac{N-i+1}{N}\Big)^v - \Big(\frac{N-i}{N}\Big)^v\right) c_{(i)} / \bar c

    >>> import sparsegauge as sg
    >>> sg.s_gini([0, 0, 0, 5], v=2)
    0.75
    """
    weights = _tail_powers(S_GINI_V.check(v))
    return measured(x, axis, nan_policy, zero, lambda row: row.weighted_by_rank(weights)[0])


def u_theta(
    x: Any,
    *,
    theta: float = THETA.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`1 - \min_i (c_{(i+m-1)} - c_{(i)}) / (c_{(N)} - c_{(1)}), m = \lceil\theta N\rceil`.

    The narrowest window with a share theta of the coefficients (Hurley and Rickard 2009; Karvanen and Cichocki 2003); 0
    for equal magnitudes.

    >>> import sparsegauge as sg
    >>> sg.u_theta([0, 1, 2, 4])
    0.75
    """
    share = Fraction(repr(THETA.check(theta)))  # as written: 0.55 of 100 are 55, though 0.55 * 100 > 55 in float64

    def formula(row: Rows) -> Array:
        lengths, where = np.unique(row.N, return_inverse=True)
        return row.narrowest(np.array([math.ceil(share * int(N)) for N in lengths])[where])

    return measured(x, axis, nan_policy, zero, formula)


def _gini_weights(N: int, k: Array) -> tuple[Array, Array]:
    """N w and log(N w), w = (2k - 1)/N^2."""
    u = (2.0 * k - 1.0) / N
    return u, np.log(u)


def _odd_powers(a: float) -> Weights:
    """N w and log(N w), w ~ (2k - 1)^a."""
    if a == 1.0:
        return _gini_weights

    def weights(N: int, k: Array) -> tuple[Array, Array]:
        ratio, mean = (k - 0.5) / (N - 0.5), _mean_odd_power(a, N)
        return ratio**a / mean, a * np.log(ratio) - math.log(mean)

    return weights


@functools.lru_cache(64)
def _mean_odd_power(a: float, N: int) -> float:
    """The mean of ((k - 1/2)/(N - 1/2))^a over k = 1..N; beyond SUMMED terms by Euler and Maclaurin."""
    first = min(N, SUMMED)
    total = float((((np.arange(first) + 0.5) / (N - 0.5)) ** a).sum())
    if first < N:
        start = first / N
        further = N * (1.0 - start ** (a + 1.0)) / (a + 1.0) - a * (1.0 - start ** (a - 1.0)) / (24.0 * N)
        total += further * (N / (N - 0.5)) ** a
    return total / N


def _tail_powers(v: float) -> Weights:
    """N w and log(N w), w = (k/N)^v - ((k - 1)/N)^v."""

    def weights(N: int, k: Array) -> tuple[Array, Array]:
        step = -N * np.expm1(v * np.log1p(-1.0 / k))
        return step * (k / N) ** v, np.log(step) + v * np.log(k / N)

    return weights
