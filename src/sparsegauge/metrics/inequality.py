"""Metrics from the study of incomes: what is unequal is sparse.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser: 0 for equal coefficients. The Gini index and
its relatives are in `gini_family`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from ._statistics import Rows, measured

EPSILON = Parameter("epsilon", 0.5, low=0)


def gm_am(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`1 - (\prod c_i)^{1/N} / \bar c`, one less geometric over arithmetic mean; 1 with any zero.

    >>> import sparsegauge as sg
    >>> round(sg.gm_am([1, 4]), 12)
    0.2
    """
    return measured(x, axis, nan_policy, zero, lambda row: _atkinson(row, 1.0))


def hoover(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\sum |c_i - \bar c| / (2 \sum c_i)`, the share to be moved until all are equal (Hoover 1936).

    >>> import sparsegauge as sg
    >>> sg.hoover([0, 0, 0, 5])
    0.75
    """
    return measured(x, axis, nan_policy, zero, lambda row: 0.5 * row.deviation())


def atkinson(
    x: Any,
    *,
    epsilon: float = EPSILON.default,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    r""":math:`1 - (\frac1N \sum c_i^{1-\varepsilon})^{1/(1-\varepsilon)} / \bar c` (Atkinson 1970).

    At epsilon = 1 it is `gm_am`; from there on any zero makes it 1.

    >>> import sparsegauge as sg
    >>> sg.atkinson([0, 0, 0, 5])
    0.75
    """
    aversion = EPSILON.check(epsilon)
    return measured(x, axis, nan_policy, zero, lambda row: _atkinson(row, aversion))


def _atkinson(row: Rows, epsilon: float) -> Array:
    p = 1.0 - epsilon
    apart = row.log_power_mean(p)  # log of the power mean over the mean, of the non-zeros
    if p <= 0:
        return np.where(row.n < row.N, 1.0, -np.expm1(apart))
    return -np.expm1((1 / p - 1.0) * row.log_density + apart)


def theil(x: Any, *, axis: int | None = -1, nan_policy: str = "propagate", zero: float = math.nan) -> Any:
    r""":math:`\frac1N \sum z_i \log z_i, z_i = c_i / \bar c`, from 0 to log N (Theil 1967).

    >>> import sparsegauge as sg
    >>> sg.theil([0, 0, 0, 5]) == math.log(4)
    True
    """
    return measured(x, axis, nan_policy, zero, lambda row: row.theil() - row.log_density)
