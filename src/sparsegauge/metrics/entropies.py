"""Metrics from entropies: sums of logarithms, and of terms weighted by them.

Throughout, c = |x| and N is the number of coefficients, 0 log 0 = 0 and logarithms are natural. Larger is sparser,
except for `h_s` and `h_s_prime`: the literature prints these with a sign by which they grow with density.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from ..errors import Undefined
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, mean_log, nonzero, power_sum, total
from .lemmas import ENERGY, LENGTH, MAJORISED, MEANS, ROBIN_HOOD, Laws
from .references import HURLEY, RAO
from .statistics import Rows


def _h_g(k: Arithmetic, c: Pairs) -> Any:
    if c[0][0] == 0:
        raise Undefined
    return -total(k, c, lambda v: k.log(v * v))


@metric(
    formula="-sum log c^2",
    title="Gaussian entropy",
    meaning="the Gaussian entropy: infinite as soon as one coefficient is zero",
    reference=f"{HURLEY}; {RAO}",
    proofs={"P1": "continuous", "P2": "symmetric", "P3": "concave", "P5": "decreasing"},
    exact=_h_g,
    aliases=["gaussian_entropy"],
)
def h_g(row: Rows) -> Array:
    r"""Return the Gaussian entropy diversity, :math:`H_G = -\sum \log c_i^2`; inf with any zero.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.h_g([1, 1, 0])
    inf
    """
    return np.where(row.n < row.N, math.inf, -2.0 * row.sum_log())


def _neg_h_s(k: Arithmetic, c: Pairs) -> Any:
    energy = power_sum(k, c, 2)
    shares = [(k.of(v * v) / energy, n) for v, n in nonzero(c)]
    return total(k, shares, lambda t: 2 * t * k.log(t))


@metric(
    formula="sum t log t^2, t = c^2/|c|_2^2",
    title="minus the Shannon entropy of the energy",
    meaning="minus twice the entropy of the shares of energy: 0 for a single non-zero",
    reference=f"{HURLEY}; {RAO}, with its sign turned",
    proofs={law: lemma for law, lemma in {**MAJORISED, **ENERGY}.items() if law != "P9"},
    exact=_neg_h_s,
    aliases=["shannon_entropy"],
    bounds=(-math.inf, 0.0),
)
def neg_h_s(row: Rows) -> Array:
    r"""Return minus the Shannon entropy diversity, :math:`\sum t_i \log t_i^2, t_i = c_i^2/\|c\|_2^2`.

    It is minus `h_s`, so that larger is sparser.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_h_s([0, 0, 5])
    0.0
    """
    return -2.0 * row.entropy_of_squares()


def _h_s(k: Arithmetic, c: Pairs) -> Any:
    return -_neg_h_s(k, c)


@metric(
    formula="-sum t log t^2, t = c^2/|c|_2^2",
    title="Shannon entropy of the energy",
    meaning="twice the entropy of the shares of energy: 0 for a single non-zero, 2 log N for equal coefficients",
    reference=f"{HURLEY}; {RAO}",
    sparser="smaller",
    proofs={"P1": "continuous", "P2": "symmetric", "P4": "homogeneous"},
    exact=_h_s,
    bounds=(0.0, math.inf),
)
def h_s(row: Rows) -> Array:
    r"""Return the Shannon entropy diversity, :math:`H_S = -\sum t_i \log t_i^2, t_i = c_i^2/\|c\|_2^2`.

    SMALLER is sparser. This is the sign that Hurley and Rickard (2009) print; the metric is `neg_h_s`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.h_s([0, 0, 5])
    0.0
    """
    return 2.0 * row.entropy_of_squares()


def _neg_h_s_prime(k: Arithmetic, c: Pairs) -> Any:
    return total(k, nonzero(c), lambda v: k.of(v) * k.log(v * v))


@metric(
    formula="sum c log c^2",
    title="minus the modified Shannon entropy",
    meaning="minus the modified Shannon entropy, which depends on the unit of the signal",
    reference=f"{HURLEY}; {RAO}, with its sign turned",
    proofs={"P1": "continuous", "P2": "symmetric", "P3": "convex", "P7": "grows"},
    exact=_neg_h_s_prime,
    aliases=["modified_shannon_entropy"],
)
def neg_h_s_prime(row: Rows) -> Array:
    r"""Return minus the modified Shannon entropy diversity, :math:`\sum c_i \log c_i^2`.

    It is minus `h_s_prime`, so that larger is sparser.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_h_s_prime([0, 1, 1])
    0.0
    """
    return row.unscaled(2.0 * row.sum_c_log())


def _h_s_prime(k: Arithmetic, c: Pairs) -> Any:
    return -_neg_h_s_prime(k, c)


@metric(
    formula="-sum c log c^2",
    title="modified Shannon entropy",
    meaning="the modified Shannon entropy, which depends on the unit of the signal",
    reference=f"{HURLEY}; {RAO}",
    sparser="smaller",
    proofs={"P1": "continuous", "P2": "symmetric"},
    exact=_h_s_prime,
)
def h_s_prime(row: Rows) -> Array:
    r"""Return the modified Shannon entropy diversity, :math:`H_S' = -\sum c_i \log c_i^2`.

    SMALLER is sparser. This is the sign that Hurley and Rickard (2009) print; the metric is `neg_h_s_prime`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.h_s_prime([0, 1, 1])
    0.0
    """
    return -row.unscaled(2.0 * row.sum_c_log())


def _negentropy(k: Arithmetic, c: Pairs) -> Any:
    return mean_log(k, c, 2)


@metric(
    formula="mean(z log z), z = c^2/mean c^2",
    title="negentropy",
    meaning="how far the energy is from being spread evenly: 0 if it is, log N for a single non-zero",
    reference="Antoni (2016), The infogram, Mech. Syst. Signal Process. 74, 73-94",
    proofs={**MAJORISED, **MEANS, **LENGTH, **ENERGY},
    exact=_negentropy,
    bounds=(0.0, math.inf),
    error_growth=1.0,
)
def negentropy(row: Rows) -> Array:
    r"""Return the negentropy, :math:`\frac1N \sum z_i \log z_i, z_i = c_i^2 / \overline{c^2}`, from 0 to log N.

    Antoni's spectral negentropy is that of a squared envelope: pass the envelope itself.

    Examples
    --------
    >>> import math
    >>> import sparsegauge as sg
    >>> sg.negentropy([0, 0, 0, 5]) == math.log(4)
    True
    """
    return _row_negentropy(row)


def _row_negentropy(row: Rows) -> Array:
    return row.theil(squared=True) - row.log_density


def _box_cox(k: Arithmetic, c: Pairs, l: Any) -> Any:  # noqa: E741 (the formula's name)
    if l == 0:
        return _negentropy(k, c)
    n = length(c)
    # mean z^(l+1) = n^l sum c^(2l+2) / (sum c^2)^(l+1)
    ratio = k.power(n, l) * power_sum(k, c, 2 * l + 2) / k.power(power_sum(k, c, 2), l + 1)
    return (ratio - 1) / k.of(l)


def _box_cox_laws(l: float) -> Laws:  # noqa: E741 (the formula's name)
    found = {**MAJORISED, **MEANS, **LENGTH, **ENERGY}
    return {**found, **ROBIN_HOOD} if l <= -0.5 else found


@metric(
    formula="mean(z (z^l - 1)/l), z = c^2/mean c^2",
    title="Box-Cox sparsity",
    meaning="a family from the negentropy (l = 0) to the kurtosis about zero (l = 1)",
    reference="the Box-Cox transformation of the negentropy of Antoni (2016)",
    parameters=[Parameter("l", 0.5, low=-1, meaning="The power of the transformation, l > -1.")],
    proofs=_box_cox_laws,
    exact=_box_cox,
)
def box_cox(row: Rows, l: float) -> Array:  # noqa: E741 (the formula's name)
    r"""Return the Box-Cox sparsity, :math:`\frac1N \sum z_i (z_i^l - 1)/l, z_i = c_i^2 / \overline{c^2}`, l > -1.

    With l = 0 it is `negentropy`, and with l = 1 the kurtosis about zero, less 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.box_cox([0, 0, 0, 5])
    2.0
    """
    p = 1.0 + l
    power = p - 1.0  # as much of l as p keeps, so that both are of the same metric
    if power == 0.0:
        return _row_negentropy(row)
    return np.expm1(p * row.log_power_mean(p, squared=True) - power * row.log_density) / power
