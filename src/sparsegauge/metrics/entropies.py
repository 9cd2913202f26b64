"""Metrics from entropies: sums of logarithms, and of terms weighted by them.

Throughout, c = |x| and N is the number of coefficients, 0 log 0 = 0 and logarithms are natural. Larger is sparser,
except for `h_s` and `h_s_prime`: these are printed in the literature with a sign by which they grow with density.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from ._statistics import Rows, measured

BOX_COX_L = Parameter("l", 0.5, low=-1)


def h_g(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`H_G = -\sum \log c_i^2`, Gaussian entropy diversity; inf with any zero (Rao and Kreutz-Delgado 1999).

    >>> import sparsegauge as sg
    >>> sg.h_g([1, 1, 0])
    inf
    """

    def formula(row: Rows) -> Array:
        return np.where(row.n < row.N, math.inf, -2.0 * row.sum_log())

    return measured(x, axis, nan_policy, zero, formula)


def neg_h_s(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\sum t_i \log t_i^2, t_i = c_i^2/\|c\|_2^2`: minus `h_s`, so that larger is sparser.

    >>> import sparsegauge as sg
    >>> sg.neg_h_s([0, 0, 5])
    0.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: -2.0 * row.entropy_of_squares())


def h_s(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`H_S = -\sum t_i \log t_i^2, t_i = c_i^2/\|c\|_2^2`, Shannon entropy diversity; SMALLER is sparser.

    As printed by Hurley and Rickard (2009), after Rao and Kreutz-Delgado (1999); the metric is `neg_h_s`.

    >>> import sparsegauge as sg
    >>> sg.h_s([0, 0, 5])
    0.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: 2.0 * row.entropy_of_squares())


def neg_h_s_prime(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\sum c_i \log c_i^2`: minus `h_s_prime`, so that larger is sparser.

    >>> import sparsegauge as sg
    >>> sg.neg_h_s_prime([0, 1, 1])
    0.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.unscaled(2.0 * row.sum_c_log()))


def h_s_prime(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`H_S' = -\sum c_i \log c_i^2`, the modified Shannon entropy diversity; SMALLER is sparser.

    As printed by Hurley and Rickard (2009), after Rao and Kreutz-Delgado (1999); the metric is `neg_h_s_prime`.

    >>> import sparsegauge as sg
    >>> sg.h_s_prime([0, 1, 1])
    0.0
    """
    return measured(x, axis, nan_policy, zero, lambda row: -row.unscaled(2.0 * row.sum_c_log()))


def negentropy(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\frac1N \sum z_i \log z_i, z_i = c_i^2 / \overline{c^2}`, from 0 to log N (Antoni 2016).

    Antoni's spectral negentropy is that of a squared envelope: pass the envelope itself.

    >>> import sparsegauge as sg
    >>> sg.negentropy([0, 0, 0, 5]) == math.log(4)
    True
    """
    return measured(x, axis, nan_policy, zero, _negentropy)


def box_cox(
    x: Any,
    *,
    l: float = BOX_COX_L.default,  # noqa: E741 (the formula's name)
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`\frac1N \sum z_i (z_i^l - 1)/l, z_i = c_i^2 / \overline{c^2}`, l > -1; l = 0 is `negentropy`.

    With l = 1 it is the kurtosis about zero, less 1.

    >>> import sparsegauge as sg
    >>> sg.box_cox([0, 0, 0, 5])
    2.0
    """
    p = 1.0 + BOX_COX_L.check(l)
    power = p - 1.0  # as much of l as p keeps, so that both are of the same metric
    if power == 0.0:
        return measured(x, axis, nan_policy, zero, _negentropy)

    def formula(row: Rows) -> Array:
        return np.expm1(p * row.log_power_mean(p, squared=True) - power * row.log_density) / power

    return measured(x, axis, nan_policy, zero, formula)


def _negentropy(row: Rows) -> Array:
    return row.theil(squared=True) - row.log_density
