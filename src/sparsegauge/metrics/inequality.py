"""Metrics from the study of incomes: what is unequal is sparse.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser: 0 for equal coefficients. The Gini index and
its relatives are in `gini_family`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, mean_log, plain_sum, power_sum
from .lemmas import INVARIANT, LENGTH, MAJORISED, MEANS, SCHUR, Laws
from .statistics import Rows

# proved at every epsilon; from 1 on a single zero decides, so that the other laws fail
_ATKINSON: Laws = {**INVARIANT, **MEANS, "P5": "ratios", "P10": "least", "P11": "most"}


def _gm_am(k: Arithmetic, c: Pairs) -> Any:
    n = length(c)
    if c[0][0] == 0:
        return k.of(1)
    product = k.of(1)
    for v, count in c:
        product *= k.power(v, Fraction(count, n))
    return 1 - product * n / k.of(plain_sum(c))


@metric(
    formula="1 - GM/AM, the geometric over the arithmetic mean",
    meaning="how far the geometric mean is below the arithmetic mean: 0 for equal coefficients, 1 with any zero",
    reference="Atkinson (1970), at epsilon = 1",
    proofs=_ATKINSON,
    exact=_gm_am,
    aliases=["1-gm/am"],
)
def gm_am(row: Rows) -> Array:
    r"""Return one less the geometric over the arithmetic mean, :math:`1 - (\prod c_i)^{1/N} / \bar c`; 1 with any zero.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.gm_am([1, 4]), 12)
    0.2
    """
    return _row_atkinson(row, 1.0)


def _hoover(k: Arithmetic, c: Pairs) -> Any:
    mean = plain_sum(c) / length(c)
    return k.of(sum(n * abs(v - mean) for v, n in c)) / k.of(2 * plain_sum(c))


@metric(
    formula="sum |c - mean c| / (2 sum c)",
    meaning="the share of the total that would have to be moved until all coefficients are equal",
    reference="Hoover (1936)",
    proofs={**MAJORISED, **MEANS, **LENGTH, "P5": "shift", "P7": "share"},
    exact=_hoover,
    aliases=["hoover_index", "robin_hood_index"],
)
def hoover(row: Rows) -> Array:
    r"""Return the Hoover index, :math:`\sum |c_i - \bar c| / (2 \sum c_i)`: the share to be moved until all are equal.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.hoover([0, 0, 0, 5])
    0.75
    """
    return 0.5 * row.deviation()


def _atkinson(k: Arithmetic, c: Pairs, epsilon: Any) -> Any:
    if epsilon == 1:
        return _gm_am(k, c)
    if epsilon > 1 and c[0][0] == 0:
        return k.of(1)
    n = length(c)
    power = 1 - epsilon
    return 1 - k.power(power_sum(k, c, power) / n, 1 / power) * n / k.of(plain_sum(c))


def _atkinson_laws(epsilon: float) -> Laws:
    return {**SCHUR, **MEANS, **LENGTH} if epsilon < 1 else _ATKINSON


@metric(
    formula="1 - (mean c^(1-epsilon))^(1/(1-epsilon)) / mean c",
    meaning="the share of the total that could be given up for equal coefficients of the same welfare",
    reference="Atkinson (1970), On the measurement of inequality, J. Econ. Theory 2(3), 244-263",
    parameters=[
        Parameter(
            "epsilon", 0.5, low=0, meaning="Aversion to inequality: the larger, the more small coefficients count."
        )
    ],
    proofs=_atkinson_laws,
    exact=_atkinson,
    aliases=["atkinson_index"],
)
def atkinson(row: Rows, epsilon: float) -> Array:
    r"""Return the Atkinson index, :math:`1 - (\frac1N \sum c_i^{1-\varepsilon})^{1/(1-\varepsilon)} / \bar c`.

    At epsilon = 1 it is `gm_am`; from there on any zero makes it 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.atkinson([0, 0, 0, 5])
    0.75
    """
    return _row_atkinson(row, epsilon)


def _row_atkinson(row: Rows, epsilon: float) -> Array:
    p = 1.0 - epsilon
    apart = row.log_power_mean(p)  # log of the power mean over the mean, of the non-zeros
    if p <= 0:
        return np.where(row.n < row.N, 1.0, -np.expm1(apart))
    return -np.expm1((1 / p - 1.0) * row.log_density + apart)


def _theil(k: Arithmetic, c: Pairs) -> Any:
    return mean_log(k, c, 1)


@metric(
    formula="mean(z log z), z = c/mean c",
    meaning="how far the total is from being spread evenly: 0 if it is, log N for a single non-zero",
    reference="Theil (1967), Economics and Information Theory, North-Holland",
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_theil,
    aliases=["theil_index"],
)
def theil(row: Rows) -> Array:
    r"""Return the Theil index, :math:`\frac1N \sum z_i \log z_i, z_i = c_i / \bar c`, from 0 to log N.

    Examples
    --------
    >>> import math
    >>> import sparsegauge as sg
    >>> sg.theil([0, 0, 0, 5]) == math.log(4)
    True
    """
    return row.theil() - row.log_density
