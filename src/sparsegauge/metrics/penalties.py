"""Metrics that count coefficients or add up a penalty per coefficient. All but `l0` depend on the unit of the signal.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter
from .catalogue import metric
from .exact import Arithmetic, Pairs, plain_sum, power_sum, total, zeros
from .lemmas import COUNTED_ZEROS, DECREASING, Laws
from .metric import COUNT
from .references import HURLEY, KARVANEN, RAO
from .statistics import Rows


def _l0(k: Arithmetic, c: Pairs) -> Any:
    return k.of(zeros(c))


@metric(
    formula="#{c = 0}",
    title="number of zeros",
    meaning="the number of coefficients that are exactly zero",
    reference=HURLEY,
    proofs=COUNTED_ZEROS,
    exact=_l0,
    bounds=(0.0, math.inf),
    no_standard_error=COUNT,
)
def l0(row: Rows) -> Array:
    r"""Return the number of zeros, :math:`\#\{c_i = 0\}`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.l0([0, 3, 0, 4])
    2.0
    """
    return row.N - row.n


def _l0_eps(k: Arithmetic, c: Pairs, eps: Any) -> Any:
    return k.of(sum(n for v, n in c if v <= eps))


def _l0_eps_laws(eps: float) -> Laws:
    always = {"P2": "symmetric", "P8": "counts", "P9": "spike"}
    return always | ({"P10": "zeros"} if eps < 1 else {"P11": "all"})


@metric(
    formula="#{c <= eps}",
    title="number of near zeros",
    meaning="the number of coefficients that are at most eps",
    reference=HURLEY,
    parameters=[
        Parameter("eps", 1e-3, low=0, low_included=True, meaning="What counts as small, in the unit of the signal.")
    ],
    proofs=_l0_eps_laws,
    exact=_l0_eps,
    bounds=(0.0, math.inf),
    no_standard_error=COUNT,
)
def l0_eps(row: Rows, eps: float) -> Array:
    r"""Return the number of small coefficients, :math:`\#\{c_i \le \varepsilon\}`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.l0_eps([0, 3, 1e-4, 4])
    2.0
    """
    return row.at_most(eps)


def _neg_l1(k: Arithmetic, c: Pairs) -> Any:
    return -k.of(plain_sum(c))


@metric(
    formula="-sum c",
    title="minus the l1 norm",
    meaning="minus the sum of the magnitudes, the penalty of the lasso",
    reference=HURLEY,
    proofs=DECREASING,
    exact=_neg_l1,
    aliases=["l1"],
    bounds=(-math.inf, 0.0),
)
def neg_l1(row: Rows) -> Array:
    r"""Return minus the sum of the magnitudes, :math:`-\sum c_i`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_l1([1, -2, 3])
    -6.0
    """
    return -row.unscaled(row.l1)


def _neg_lp_laws(p: float) -> Laws:
    return {**DECREASING, "P3": "concave"} if p < 1 else DECREASING


def _neg_lp(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return -k.power(power_sum(k, c, p), 1 / p)


@metric(
    formula="-(sum c^p)^(1/p)",
    title="minus the lp norm",
    meaning="minus a norm, which for orders below 1 comes closer to counting non-zeros than the sum does",
    reference=f"{HURLEY}; {RAO}",
    parameters=[Parameter("p", 0.5, low=0, meaning="The order of the norm; below 1 for sparsity.")],
    proofs=_neg_lp_laws,
    exact=_neg_lp,
    aliases=["lp"],
    bounds=(-math.inf, 0.0),
)
def neg_lp(row: Rows, p: float) -> Array:
    r"""Return minus the norm of order p, :math:`-(\sum c_i^p)^{1/p}`.

    Orders below 1 measure sparsity. At order 1 it is `neg_l1`; above 1 a transfer from a large coefficient to a small
    one raises it, the opposite of Robin Hood.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.neg_lp([1, 4, 9]), 12)
    -36.0
    """
    mean = row.l1 / row.n * np.exp(row.log_power_mean(p))
    factor, root = np.power(row.n, 1 / p), np.power(row.n, 0.5 / p)
    # the factor may overflow where the product does not
    return -np.where(np.isfinite(factor), row.unscaled(mean * factor), row.unscaled(mean * root) * root)


def _neg_tanh(k: Arithmetic, c: Pairs, a: Any, b: Any) -> Any:
    return -total(k, c, lambda v: k.tanh(k.power(a * v, b)))


def _neg_tanh_laws(a: float, b: float) -> Laws:
    return {**DECREASING, "P3": "concave"} if b <= 1 else DECREASING


@metric(
    formula="-sum tanh((a c)^b)",
    title="minus the tanh sum",
    meaning="minus a smooth count of the coefficients that are not small",
    reference=f"{HURLEY}; {KARVANEN}",
    parameters=[
        Parameter("a", 1.0, low=0, meaning="One over the size from which a coefficient counts."),
        Parameter("b", 1.0, low=0, meaning="How sharply the count sets in."),
    ],
    proofs=_neg_tanh_laws,
    exact=_neg_tanh,
    aliases=["tanh"],
    bounds=(-math.inf, 0.0),
)
def neg_tanh(row: Rows, a: float, b: float) -> Array:
    r"""Return minus a smooth count of what is not small, :math:`-\sum \tanh((a c_i)^b)`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_tanh([100, 0, 200])
    -2.0
    """
    return -row.sum_tanh(a, b)


def _neg_log(k: Arithmetic, c: Pairs) -> Any:
    return -total(k, c, lambda v: k.log(1 + v * v))


@metric(
    formula="-sum log(1 + c^2)",
    title="minus the log sum",
    meaning="minus a penalty that grows ever more slowly with the size of a coefficient",
    reference=HURLEY,
    proofs=DECREASING,
    exact=_neg_log,
    aliases=["log"],
    bounds=(-math.inf, 0.0),
)
def neg_log(row: Rows) -> Array:
    r"""Return minus the logarithmic penalty, :math:`-\sum \log(1 + c_i^2)`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.neg_log([1, 1]), 6)
    -1.386294
    """
    return -row.sum_log_one_plus_square()


def _neg_lp_neg(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return -power_sum(k, c, p)


@metric(
    formula="-sum_{c != 0} c^p, p < 0",
    title="minus the negative-power sum",
    meaning="minus a penalty that is larger for smaller coefficients, zeros excepted",
    reference=f"{HURLEY}; {RAO}",
    parameters=[Parameter("p", -1.0, high=0, meaning="The power, p < 0.")],
    proofs={"P2": "symmetric", "P7": "grows", "P9": "spike"},
    exact=_neg_lp_neg,
    aliases=["lp_neg"],
    bounds=(-math.inf, 0.0),
)
def neg_lp_neg(row: Rows, p: float) -> Array:
    r"""Return minus the sum of negative powers of the non-zeros, :math:`-\sum_{c_i \ne 0} c_i^p`, p < 0.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_lp_neg([0, 1, 2, 4])
    -1.75
    """
    return -row.sum_negative_powers(p)
