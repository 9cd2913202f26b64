"""Metrics from the study of incomes: what is unequal is sparse.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser: 0 for equal coefficients. The Gini index and
its relatives are in `gini_family`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import Array, Parameter, Switch
from ..errors import Undefined
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, mean_log, plain_sum, power_sum, total
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
    title="one less geometric over arithmetic mean",
    meaning="how far the geometric mean is below the arithmetic mean: 0 for equal coefficients, 1 with any zero",
    reference="Atkinson (1970), at epsilon = 1",
    proofs=_ATKINSON,
    exact=_gm_am,
    aliases=["1-gm/am"],
    bounds=(0.0, 1.0),
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
    title="Hoover index",
    meaning="the share of the total that would have to be moved until all coefficients are equal",
    reference="Hoover (1936)",
    proofs={**MAJORISED, **MEANS, **LENGTH, "P5": "shift", "P7": "share"},
    exact=_hoover,
    aliases=["hoover_index", "robin_hood_index"],
    bounds=(0.0, 1.0),
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
    title="Atkinson index",
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
    bounds=(0.0, 1.0),
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
    title="Theil index",
    meaning="how far the total is from being spread evenly: 0 if it is, log N for a single non-zero",
    reference="Theil (1967), Economics and Information Theory, North-Holland",
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_theil,
    aliases=["theil_index"],
    bounds=(0.0, math.inf),
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


def _generalised_entropy(k: Arithmetic, c: Pairs, alpha: Any) -> Any:
    if alpha == 1:
        return _theil(k, c)
    n = length(c)
    if alpha <= 0 and c[0][0] == 0:
        raise Undefined
    if alpha == 0:
        return k.log(plain_sum(c) / n) - total(k, c, k.log) / n
    ratio = k.power(n, alpha - 1) * power_sum(k, c, alpha) / k.power(plain_sum(c), alpha)
    return (ratio - 1) / k.of(alpha * (alpha - 1))


def _generalised_entropy_laws(alpha: float) -> Laws:
    if alpha > 0:
        return {**SCHUR, **MEANS, **LENGTH}
    return {law: lemma for law, lemma in {**SCHUR, **MEANS}.items() if law not in ("P9", "P11")}  # inf with a zero


@metric(
    formula="mean(z^alpha - 1) / (alpha (alpha - 1)), z = c/mean c",
    title="generalised entropy index",
    meaning="a family from the mean log deviation (alpha = 0) over the Theil index (1) to half the squared coefficient "
    "of variation (2)",
    reference="Shorrocks (1980), The class of additively decomposable inequality measures, Econometrica 48(3), 613-625",
    parameters=[
        Parameter(
            "alpha", 2.0, meaning="The larger, the more large coefficients count; up to 0 any zero makes it infinite."
        )
    ],
    proofs=_generalised_entropy_laws,
    exact=_generalised_entropy,
    aliases=["generalized_entropy", "ge"],
    bounds=(0.0, math.inf),
)
def generalised_entropy(row: Rows, alpha: float) -> Array:
    r"""Return the generalised entropy index GE(alpha).

    .. math:: \frac{1}{\alpha(\alpha-1)} \frac1N \sum (z_i^\alpha - 1), \quad z_i = c_i/\bar c

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.generalised_entropy([0, 0, 0, 5])
    1.5
    """
    return _row_generalised_entropy(row, alpha)


def _row_generalised_entropy(row: Rows, alpha: float) -> Array:
    if alpha == 1:
        return row.theil() - row.log_density
    if alpha == 0:
        return np.where(row.n < row.N, math.inf, -row.log_power_mean(0.0))
    values = np.expm1((1.0 - alpha) * row.log_density + alpha * row.log_power_mean(alpha)) / (alpha * (alpha - 1.0))
    return np.where(row.n < row.N, math.inf, values) if alpha < 0 else values


def _mean_log_deviation(k: Arithmetic, c: Pairs) -> Any:
    return _generalised_entropy(k, c, 0)


@metric(
    formula="-mean(log z), z = c/mean c",
    title="mean log deviation",
    meaning="the mean distance, in logarithms, below the mean: infinite with any zero",
    reference="Theil (1967), Economics and Information Theory, North-Holland",
    proofs=_generalised_entropy_laws(0.0),
    exact=_mean_log_deviation,
    aliases=["theil_l", "mld"],
    bounds=(0.0, math.inf),
)
def mean_log_deviation(row: Rows) -> Array:
    r"""Return the mean log deviation, :math:`-\frac1N \sum \log z_i, z_i = c_i / \bar c`; inf with any zero.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.mean_log_deviation([1, 1]), sg.mean_log_deviation([0, 1])
    (0.0, inf)
    """
    return _row_generalised_entropy(row, 0.0)


def _coefficient_of_variation(k: Arithmetic, c: Pairs) -> Any:
    return k.sqrt(length(c) * power_sum(k, c, 2) / k.of(plain_sum(c)) ** 2 - 1)


@metric(
    formula="std c / mean c",
    title="coefficient of variation",
    meaning="the standard deviation of the magnitudes over their mean",
    reference="Pearson (1896), Phil. Trans. R. Soc. A 187, 253-318",
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_coefficient_of_variation,
    aliases=["cv"],
    options=[
        Switch(
            "bias",
            True,
            "``False`` divides the variance by N - 1 instead of N, and gives 0 for N = 1. Then it is not "
            "cloning-invariant (P6).",
        )
    ],
    bounds=(0.0, math.inf),
    error_growth=1.0,
)
def coefficient_of_variation(row: Rows, bias: bool) -> Array:
    r"""Return the coefficient of variation of the magnitudes, :math:`\sigma_c / \bar c`, from 0 to :math:`\sqrt{N-1}`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.coefficient_of_variation([1, 3]), round(sg.coefficient_of_variation([1, 3], bias=False), 6)
    (0.5, 0.707107)
    """
    values = np.sqrt(2.0 * _row_generalised_entropy(row, 2.0))
    if bias:
        return values
    return np.where(row.N > 1, values * np.sqrt(row.N / (row.N - 1.0)), 0.0)


def _spectral_flatness(k: Arithmetic, c: Pairs) -> Any:
    return 1 - _gm_am(k, c)


@metric(
    formula="GM/AM, the geometric over the arithmetic mean",
    title="spectral flatness",
    meaning="how flat a spectrum is: 1 for equal coefficients, 0 with any zero",
    reference="Gray and Markel (1974), IEEE Trans. Acoust. Speech Signal Process. 22(3), 207-217",
    sparser="smaller",
    proofs={law: lemma for law, lemma in {**INVARIANT, **MEANS}.items() if law != "P9"},
    exact=_spectral_flatness,
    aliases=["wiener_entropy"],
    bounds=(0.0, 1.0),
)
def spectral_flatness(row: Rows) -> Array:
    r"""Return the spectral flatness, :math:`(\prod c_i)^{1/N} / \bar c`; SMALLER is sparser. It is 1 less `gm_am`.

    It is defined for a power spectrum: pass the squared magnitudes.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.spectral_flatness([1, 4]), 12)
    0.8
    """
    return np.where(row.n < row.N, 0.0, np.exp(row.log_power_mean(0.0)))
