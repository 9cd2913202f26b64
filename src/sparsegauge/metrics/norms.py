"""Metrics from norms, counts and powers of the coefficients, in whatever order they come.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser. All take real or complex numbers of any
shape, masked arrays and SciPy sparse arrays, like `gds`; signals that are all zero give `zero`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from ..errors import InvalidInput
from ._statistics import Rows, measured

EPS = Parameter("eps", 1e-3, low=0, low_included=True)
LP_P = Parameter("p", 0.5, low=0, high=1)
TANH_A = Parameter("a", 1.0, low=0)
TANH_B = Parameter("b", 1.0, low=0)
NEGATIVE_P = Parameter("p", -1.0, high=0)
MEAN_P = Parameter("p", 1.0, low=0, high=1, high_included=True)
MEAN_Q = Parameter("q", 2.0, low=1)
INDEX_P = Parameter("p", 0.5, low=0)
INDEX_Q = Parameter("q", 1.0, low=0)


def l0(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r"""The number of zeros, :math:`\#\{c_i = 0\}` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.l0([0, 3, 0, 4])
    2.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.N - row.n)


def l0_eps(
    x: Any, *, eps: float = EPS.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r"""The number of small coefficients, :math:`\#\{c_i \le \varepsilon\}` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.l0_eps([0, 3, 1e-4, 4])
    2.0
    """
    bound = EPS.check(eps)
    return measured(x, axis, nan_policy, zero, lambda row: row.at_most(bound))


def neg_l1(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`-\sum c_i` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.neg_l1([1, -2, 3])
    -6.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: -row.unscaled(row.l1))


def neg_lp(
    x: Any, *, p: float = LP_P.default, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`-(\sum c_i^p)^{1/p}`, 0 < p < 1 (Hurley and Rickard 2009; Rao and Kreutz-Delgado 1999).

    >>> import sparsegauge as sg
    >>> round(sg.neg_lp([1, 4, 9]), 12)
    -36.0
    """
    order = LP_P.check(p)

    def formula(row: Rows) -> Array:
        mean = row.l1 / row.n * np.exp(row.log_power_mean(order))
        factor, root = np.power(row.n, 1 / order), np.power(row.n, 0.5 / order)
        # the factor may overflow where the product does not
        return -np.where(np.isfinite(factor), row.unscaled(mean * factor), row.unscaled(mean * root) * root)

    return measured(x, axis, nan_policy, zero, formula)


def l2_l1(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\|c\|_2 / \|c\|_1` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.l2_l1([0, 3, 4, 0]) == 5 / 7
    True
    """
    return measured(x, axis, nan_policy, zero, lambda row: np.sqrt(row.squares) / row.l1)


def neg_tanh(
    x: Any,
    *,
    a: float = TANH_A.default,
    b: float = TANH_B.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`-\sum \tanh((a c_i)^b)`: a smooth count of what is not small (Karvanen and Cichocki 2003).

    >>> import sparsegauge as sg
    >>> sg.neg_tanh([100, 0, 200])
    -2.0
    """
    slope, power = TANH_A.check(a), TANH_B.check(b)
    return measured(x, axis, nan_policy, zero, lambda row: -row.sum_tanh(slope, power))


def neg_log(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`-\sum \log(1 + c_i^2)` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> round(sg.neg_log([1, 1]), 6)
    -1.386294
    """
    return measured(x, axis, nan_policy, zero, lambda row: -row.sum_log_one_plus_square())


def kappa4(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\sum c_i^4 / (\sum c_i^2)^2` (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.kappa4([1, 1, 1, 1])
    0.25
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.fourths / row.squares**2)


def kurtosis(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`N \sum c_i^4 / (\sum c_i^2)^2 - 3`: the excess kurtosis about zero.

    Signs do not matter; for a signal of mean zero it is ``scipy.stats.kurtosis``.

    >>> import sparsegauge as sg
    >>> sg.kurtosis([1, -1, 1, -1])
    -2.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.N * (row.fourths / row.squares**2) - 3.0)


def neg_lp_neg(
    x: Any,
    *,
    p: float = NEGATIVE_P.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`-\sum_{c_i \ne 0} c_i^p`, p < 0 (Hurley and Rickard 2009; Rao and Kreutz-Delgado 1999).

    >>> import sparsegauge as sg
    >>> sg.neg_lp_neg([0, 1, 2, 4])
    -1.75
    """
    order = NEGATIVE_P.check(p)
    return measured(x, axis, nan_policy, zero, lambda row: -row.sum_negative_powers(order))


def hoyer(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`(\sqrt N - \|c\|_1 / \|c\|_2) / (\sqrt N - 1)`, from 0 to 1; 0 for N = 1 (Hoyer 2004).

    >>> import sparsegauge as sg
    >>> sg.hoyer([0, 0, 0, 5])
    1.0
    """

    def formula(row: Rows) -> Array:
        root = np.sqrt(row.N)
        return np.where(row.N > 1, np.minimum(_one_less_cosine(row) * root / (root - 1.0), 1.0), 0.0)

    return measured(x, axis, nan_policy, zero, formula)


def pastor(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`1 - \|c\|_1 / (\sqrt N \|c\|_2)`: one less the cosine of the angle between c and equal coefficients.

    Reconstructed from descriptions of the inner-product sparsity of Pastor et al. (2013); the source could not be read.

    >>> import sparsegauge as sg
    >>> sg.pastor([0, 0, 0, 5])
    0.5
    """
    return measured(x, axis, nan_policy, zero, _one_less_cosine)


def _one_less_cosine(row: Rows) -> Array:
    """1 - |c|_1/(sqrt N |c|_2) from S_2 = 1 - |c|_1^2/(N |c|_2^2), so that nothing cancels for nearly equal data."""
    s = row.gds(2)
    return s / (1.0 + np.sqrt(1.0 - s))


def treves_rolls(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`(1 - (\sum c_i / N)^2 / (\sum c_i^2 / N)) / (1 - 1/N)`, from 0 to 1; 0 for N = 1.

    Treves and Rolls (1991), as normalised by Vinje and Gallant (2000): `gds` of order 2 over its largest value.

    >>> import sparsegauge as sg
    >>> sg.treves_rolls([0, 0, 0, 5])
    1.0
    """

    def formula(row: Rows) -> Array:
        return np.where(row.N > 1, np.minimum(row.gds(2) * row.N / (row.N - 1.0), 1.0), 0.0)

    return measured(x, axis, nan_policy, zero, formula)


def neg_numerical_sparsity(
    x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan
) -> Any:
    r""":math:`-\|c\|_1^2 / \|c\|_2^2`, a stable stand-in for minus the number of non-zeros (Lopes 2013).

    >>> import sparsegauge as sg
    >>> sg.neg_numerical_sparsity([0, 1, 1, 1])
    -3.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: -(row.l1**2) / row.squares)


def d_norm(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\max c / \|c\|_2`, from :math:`1/\sqrt N` to 1.

    >>> import sparsegauge as sg
    >>> sg.d_norm([3, 4])
    0.8
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.top / np.sqrt(row.squares))


def pq_mean(
    x: Any,
    *,
    p: float = MEAN_P.default,
    q: float = MEAN_Q.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`-(\frac1N \sum c_i^p)^{1/p} (\frac1N \sum c_i^q)^{-1/q}`, 0 < p <= 1 < q (Hurley and Rickard 2009).

    >>> import sparsegauge as sg
    >>> sg.pq_mean([0, 0, 0, 5])
    -0.5
    """
    low, high = MEAN_P.check(p), MEAN_Q.check(q)
    return measured(x, axis, nan_policy, zero, lambda row: -np.exp(_log_ratio_of_means(row, low, high)))


def pq_index(
    x: Any,
    *,
    p: float = INDEX_P.default,
    q: float = INDEX_Q.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`1 - N^{1/q - 1/p} \|c\|_p / \|c\|_q`, 0 < p < q, from 0 to 1 (Diao et al. 2023).

    >>> import sparsegauge as sg
    >>> sg.pq_index([0, 0, 0, 5])
    0.75
    """
    low, high = check_index(p, q)
    return measured(x, axis, nan_policy, zero, lambda row: -np.expm1(_log_ratio_of_means(row, low, high)))


def check_index(p: Any, q: Any) -> tuple[float, float]:
    """The orders of `pq_index`, 0 < p < q."""
    low, high = INDEX_P.check(p), INDEX_Q.check(q)
    if not low < high:
        raise InvalidInput(f"p must be less than q, got p={p!r} and q={q!r}; the defaults are p=0.5 and q=1")
    return low, high


def _log_ratio_of_means(row: Rows, p: float, q: float) -> Array:
    """log of (mean c^p)^(1/p) / (mean c^q)^(1/q): never positive, and exactly 0 for equal data."""
    return (1 / p - 1 / q) * row.log_density + (row.log_power_mean(p) - row.log_power_mean(q))
