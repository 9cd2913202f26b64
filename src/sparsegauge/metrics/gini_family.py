"""The Gini index, its generalisations and another metric of the order statistics.

Throughout, c = |x| sorted ascending and N is the number of coefficients. Larger is sparser: 0 for equal coefficients.

A generalised Gini index is 1 - (w . c)/mean c for weights w that add up to 1 and are the smaller, the larger the
coefficient. Ranks k are counted from the largest, c_(N), which has k = 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import Array, Parameter, Switch
from ..errors import Undefined
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, plain_sum, power_sum
from .gds import exact_gds
from .lemmas import LENGTH, MAJORISED, MEANS, PADDING, ROBIN_HOOD, SCHUR, Laws
from .metric import MAXIMUM
from .rank_weights import GINI_WEIGHTS, odd_powers
from .references import HOU, HURLEY, KARVANEN
from .statistics import Rows, TailPowers

LONGEST_EXACT_SUM = 5000  # terms that exact arithmetic adds up one by one

GGI_A = Parameter(
    "a", 2.0, low=0, meaning="The power of the weights, which fall with the rank; a = 1 is the Gini index."
)
POWER_P = Parameter("p", 2.0, low=0, meaning="The power of the coefficients.")


def _gini(k: Arithmetic, c: Pairs) -> Any:
    return exact_gds(k, c, 1)


@metric(
    formula="1 - 2 sum_i (c_(i)/|c|_1) (N - i + 1/2)/N",
    title="Gini index",
    meaning="half the mean difference between two coefficients over their mean: 0 for equal ones, 1 - 1/N for a "
    "single non-zero",
    reference="Gini (1921), Measurement of inequality of incomes, Economic Journal 31(121), 124-126",
    proofs={**SCHUR, **MEANS, **PADDING},
    exact=_gini,
    aliases=["gini_index", "gi"],
    options=[
        Switch(
            "bias",
            True,
            "``False`` multiplies by N/(N - 1), as statisticians do: half the mean difference between two different "
            "coefficients over their mean, from 0 to 1, and 0 for N = 1. Then it is not cloning-invariant (P6).",
        )
    ],
    bounds=(0.0, 1.0),
)
def gini(row: Rows, bias: bool) -> Array:
    r"""Return the Gini index, :math:`1 - 2 \sum_i \frac{c_{(i)}}{\|c\|_1} \frac{N - i + 1/2}{N}`.

    It is `gds` of order 1, from 0 to 1 - 1/N.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gini([0, 0, 0, 5])
    0.75
    >>> sg.gini([0, 0, 0, 5], bias=False)
    1.0
    """
    value = row.gds(1)
    return value if bias else np.where(row.N > 1, np.minimum(value * (row.N / (row.N - 1.0)), 1.0), 0.0)


def _gi2(k: Arithmetic, c: Pairs) -> Any:
    return 2 * _gi3(k, c)


@metric(
    formula="2G/(1 + G), G the Gini index",
    title="Gini index II",
    meaning="a rescaled Gini index that grows faster near equal coefficients",
    reference=HOU,
    proofs={**SCHUR, **MEANS, **PADDING},
    exact=_gi2,
    bounds=(0.0, 1.0),
)
def gi2(row: Rows) -> Array:
    r"""Return Gini index II, :math:`2G/(1 + G)`, G the Gini index.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.gi2([0, 0, 0, 5]), 12)
    0.857142857143
    """
    return 2.0 * _row_gi3(row)


def _gi3(k: Arithmetic, c: Pairs) -> Any:
    g = _gini(k, c)
    return g / (1 + g)


@metric(
    formula="G/(1 + G), G the Gini index",
    title="Gini index III",
    meaning="a rescaled Gini index, below 1/2",
    reference=HOU,
    proofs={**SCHUR, **MEANS, **PADDING},
    exact=_gi3,
    bounds=(0.0, 0.5),
)
def gi3(row: Rows) -> Array:
    r"""Return Gini index III, :math:`G/(1 + G)`, G the Gini index.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.gi3([0, 0, 0, 5]), 12)
    0.428571428571
    """
    return _row_gi3(row)


def _row_gi3(row: Rows) -> Array:
    g = row.gds(1)
    return g / (1.0 + g)


def _ggi(k: Arithmetic, c: Pairs, a: Any) -> Any:
    return 1 - _weighted(k, c, a, 1)


def _ggi_laws(a: float) -> Laws:
    found = {**SCHUR, **LENGTH}
    return {**found, **MEANS} if a == 1 else found


@metric(
    formula="1 - (w . c)/mean c, w ~ (2N-1, 2N-3, ..., 1)^a",
    title="generalised Gini index",
    meaning="a Gini index in which a chooses how much the small coefficients count",
    reference=HOU,
    parameters=[GGI_A],
    proofs=_ggi_laws,
    exact=_ggi,
    aliases=["generalised_gini", "generalized_gini"],
    bounds=(0.0, 1.0),
)
def ggi(row: Rows, a: float) -> Array:
    r"""Return a generalised Gini index, :math:`1 - w \cdot c / \bar c, w \propto (2N-1, 2N-3, \ldots, 1)^a`.

    With a = 1 it is the Gini index.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.ggi([0, 0, 0, 5], a=1)
    0.75
    """
    return row.weighted_by_rank(odd_powers(a))[0]


def _fggi(k: Arithmetic, c: Pairs, a: Any, p: Any) -> Any:
    return 1 - k.power(_weighted(k, c, a, p), 1 / p)


def _linear(p: float) -> Laws:
    """Return what holds where the power of the coefficients is 1."""
    return ROBIN_HOOD if p == 1 else {}


def _fggi_laws(a: float, p: float) -> Laws:
    return {**MAJORISED, **LENGTH, **_linear(p), **(MEANS if a == 1 else {})}


@metric(
    formula="1 - ((w . c^p)/mean c^p)^(1/p), w ~ (2N-1, 2N-3, ..., 1)^a",
    title="fully generalised Gini index",
    meaning="a generalised Gini index of powers of the coefficients",
    reference=HOU,
    parameters=[GGI_A, POWER_P],
    proofs=_fggi_laws,
    exact=_fggi,
    bounds=(0.0, 1.0),
)
def fggi(row: Rows, a: float, p: float) -> Array:
    r"""Return a generalised Gini index of powers, :math:`1 - (w \cdot c^p / \overline{c^p})^{1/p}`, w as in `ggi`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.fggi([0, 0, 0, 5], a=1)
    0.5
    """
    return -np.expm1(row.weighted_by_rank(odd_powers(a), p)[1] / p)


def _pfgi_laws(p: float) -> Laws:
    return {**MAJORISED, **MEANS, **PADDING, **_linear(p)}


def _pfgi1(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - k.power(1 - _gini_of_powers(k, c, p), 1 / p)


@metric(
    formula="1 - (1 - G_p)^(1/p), G_p the Gini index of c^p",
    title="power-function Gini index I",
    meaning="the Gini index of powers of the coefficients, brought back to their scale",
    reference=HOU,
    parameters=[POWER_P],
    proofs=_pfgi_laws,
    exact=_pfgi1,
    bounds=(0.0, 1.0),
)
def pfgi1(row: Rows, p: float) -> Array:
    r"""Return power-function Gini index I, :math:`1 - (1 - G_p)^{1/p}`, :math:`G_p` the Gini index of :math:`c^p`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.pfgi1([0, 0, 0, 5])
    0.5
    """
    return -np.expm1(_row_gini_of_powers(row, p)[1] / p)


def _pfgi2(k: Arithmetic, c: Pairs, p: Any) -> Any:
    g = _gini_of_powers(k, c, p)
    return 1 - k.power((1 - g) / (1 + g), 1 / p)


@metric(
    formula="1 - ((1 - G_p)/(1 + G_p))^(1/p), G_p the Gini index of c^p",
    title="power-function Gini index II",
    meaning="Gini index II of powers of the coefficients, brought back to their scale",
    reference=HOU,
    parameters=[POWER_P],
    proofs=_pfgi_laws,
    exact=_pfgi2,
    bounds=(0.0, 1.0),
)
def pfgi2(row: Rows, p: float) -> Array:
    r"""Return power-function Gini index II, :math:`1 - ((1 - G_p)/(1 + G_p))^{1/p}`, :math:`G_p` as in `pfgi1`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.pfgi2([0, 0, 0, 5]), 12)
    0.622035526991
    """
    g, log_rest = _row_gini_of_powers(row, p)
    return -np.expm1((log_rest - np.log1p(g)) / p)


def _pfgi3(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - k.power(1 + _gini_of_powers(k, c, p), -1 / p)


@metric(
    formula="1 - (1 + G_p)^(-1/p), G_p the Gini index of c^p",
    title="power-function Gini index III",
    meaning="Gini index III of powers of the coefficients, brought back to their scale",
    reference=HOU,
    parameters=[POWER_P],
    proofs=_pfgi_laws,
    exact=_pfgi3,
    bounds=(0.0, 1.0),
)
def pfgi3(row: Rows, p: float) -> Array:
    r"""Return power-function Gini index III, :math:`1 - (1 + G_p)^{-1/p}`, :math:`G_p` as in `pfgi1`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.pfgi3([0, 0, 0, 5]), 12)
    0.244071053982
    """
    return -np.expm1(-np.log1p(_row_gini_of_powers(row, p)[0]) / p)


def _row_gini_of_powers(row: Rows, p: float) -> tuple[Array, Array]:
    """Return G_p and log(1 - G_p)."""
    return row.weighted_by_rank(GINI_WEIGHTS, p)


def _s_gini(k: Arithmetic, c: Pairs, v: Any) -> Any:
    n = length(c)
    above = n
    weighted = k.of(0)
    for value, count in c:
        share = k.power(Fraction(above, n), v) - k.power(Fraction(above - count, n), v)
        weighted += share * value if isinstance(share, Fraction | float) else share * k.of(value)
        above -= count
    return 1 - weighted * n / k.of(plain_sum(c))


@metric(
    formula="1 - sum_i (((N-i+1)/N)^v - ((N-i)/N)^v) c_(i) / mean c",
    title="S-Gini index",
    meaning="the Gini index with a parameter for aversion to inequality: v = 2 is the Gini index",
    reference="Donaldson and Weymark (1980), J. Econ. Theory 22(1), 67-86",
    parameters=[Parameter("v", 3.0, low=1, meaning="Aversion to inequality, v > 1; v = 2 is the Gini index.")],
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_s_gini,
    aliases=["donaldson_weymark"],
    bounds=(0.0, 1.0),
)
def s_gini(row: Rows, v: float) -> Array:
    r"""Return the single-parameter Gini index of Donaldson and Weymark, v > 1; v = 2 is the Gini index.

    .. math:: 1 - \sum_i \left(\Big(\frac{N-i+1}{N}\Big)^v - \Big(\frac{N-i}{N}\Big)^v\right) c_{(i)} / \bar c

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.s_gini([0, 0, 0, 5], v=2)
    0.75
    """
    return row.weighted_by_rank(TailPowers(v))[0]


def _u_theta(k: Arithmetic, c: Pairs, theta: Any) -> Any:
    spread = c[-1][0] - c[0][0]
    if spread == 0:
        return k.of(0)
    m = math.ceil(theta * length(c))
    return 1 - k.of(min(_windows(c, m))) / k.of(spread)


def _windows(c: Pairs, m: int) -> list[Any]:
    """Return c_(i+m-1) - c_(i) where i is the first of its equals: later ones only reach further up."""
    ends: list[int] = []
    for _, n in c:
        ends.append(n + (ends[-1] if ends else 0))
    windows = []
    for (value, n), end in zip(c, ends, strict=True):
        top = end - n + m
        if top <= ends[-1]:
            windows.append(next(v for (v, _), e in zip(c, ends, strict=True) if e >= top) - value)
    return windows


@metric(
    formula="1 - min_i (c_(i+m-1) - c_(i)) / (c_(N) - c_(1)), m = ceil(theta N)",
    title="width of the densest part (u-theta)",
    meaning="the share of the range that the narrowest window with a share theta of the coefficients leaves out",
    reference=f"{HURLEY}; {KARVANEN}",
    parameters=[Parameter("theta", 0.5, low=0, high=1, meaning="The share of the coefficients in the window.")],
    proofs={"P2": "symmetric", "P4": "homogeneous", "P6": "ceilings", "P9": "spike", "P10": "unit", "P11": "unit"},
    exact=_u_theta,
    bounds=(0.0, 1.0),
    no_standard_error=MAXIMUM,
)
def u_theta(row: Rows, theta: float) -> Array:
    r"""Return one less the narrowest window with a share theta of the coefficients, over their range.

    .. math:: 1 - \min_i (c_{(i+m-1)} - c_{(i)}) / (c_{(N)} - c_{(1)}), \quad m = \lceil\theta N\rceil

    It is 0 for equal magnitudes.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.u_theta([0, 1, 2, 4])
    0.75
    """
    share = Fraction(repr(theta))  # as written: 0.55 of 100 are 55, though 0.55 * 100 > 55 in float64
    return row.narrowest(share)


# Weights by rank, in exact arithmetic and as the kernels want them


def _exact_odd_powers(k: Arithmetic, first: int, last: int, a: Any) -> Any:
    """Return the sum over i = first..last of (2 i - 1)^a: by Faulhaber's sums where a is small and whole."""
    if a == 1:
        return k.of(last**2 - (first - 1) ** 2)
    if a == 2:
        return k.of(Fraction(last * (4 * last**2 - 1) - (first - 1) * (4 * (first - 1) ** 2 - 1), 3))
    if last - first >= LONGEST_EXACT_SUM:
        raise Undefined
    return sum((k.power(2 * i - 1, a) for i in range(first, last + 1)), start=k.of(0))


def _weighted(k: Arithmetic, c: Pairs, a: Any, p: Any) -> Any:
    """Return (w . c^p) / mean c^p with w ~ (2N-1, ..., 3, 1)^a normalised."""
    n = length(c)
    below = 0
    weighted = k.of(0)
    for value, count in c:
        weighted += _exact_odd_powers(k, n - below - count + 1, n - below, a) * k.power(value, p)
        below += count
    return weighted / _exact_odd_powers(k, 1, n, a) * n / power_sum(k, c, p)


def _gini_of_powers(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - _weighted(k, c, 1, p)
