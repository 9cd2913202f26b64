"""Metrics from ecology and physics: how many coefficients share the total, in effect.

Throughout, c = |x| and t = c/sum c are shares. A Hill number is an effective number of non-zeros: SMALLER is sparser
for `hill`, `renyi`, `tsallis` and `participation_ratio`; larger is sparser for `herfindahl` and `berger_parker`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter, Switch
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, nonzero, plain_sum, power_sum, total, zeros
from .lemmas import INVARIANT, MAJORISED, SCHUR, Laws
from .metric import COUNT, MAXIMUM
from .statistics import CLOSE_TO_A_SPIKE, Rows

HILL = "Hill (1973), Diversity and evenness: a unifying notation and its consequences, Ecology 54(2), 427-432"


def _order(default: float) -> Parameter:
    return Parameter(
        "q",
        default,
        low=0,
        high=math.inf,
        low_included=True,
        high_included=True,
        meaning="The order: 0 counts the non-zeros, 1 is Shannon's entropy, 2 Simpson's index, inf the largest share.",
    )


def _shares(c: Pairs) -> list[tuple[Any, int]]:
    whole = plain_sum(c)
    return [(value / whole, count) for value, count in nonzero(c)]


def _power_sum_of_shares(k: Arithmetic, c: Pairs, q: Any) -> Any:
    return power_sum(k, c, q) / k.power(plain_sum(c), q)


def _log_hill(row: Rows, q: float) -> Array:
    """Return the logarithm of the Hill number, from 0 for a single non-zero to log n for n equal ones."""
    log_n = np.log(row.n)
    if q == 1:
        return log_n - row.theil()
    if math.isinf(q):
        return np.log(row.l1 / row.top)
    return log_n + q / (1.0 - q) * row.log_power_mean(q) if q else log_n


def _continuous(q: float) -> Laws:
    """Return what holds of a function of shares: at order 0 it counts, and counts jump."""
    return {law: lemma for law, lemma in INVARIANT.items() if q > 0 or law != "P1"}


def _no_standard_error(q: float) -> str:
    return COUNT if q == 0 else MAXIMUM if math.isinf(q) else ""


def _hill(k: Arithmetic, c: Pairs, q: Any) -> Any:
    if q == 0:
        return k.of(length(c) - zeros(c))
    if q == math.inf:
        return k.of(plain_sum(c)) / k.of(c[-1][0])
    if q == 1:
        product = k.of(1)
        for share, count in _shares(c):
            product *= k.power(share, -share * count)
        return product
    return k.power(_power_sum_of_shares(k, c, q), 1 / (1 - q))


@metric(
    formula="(sum t^q)^(1/(1-q)), t = c/sum c",
    title="Hill number",
    meaning="the effective number of non-zeros: n for n equal ones, 1 for a single one",
    reference=HILL,
    parameters=[_order(1.0)],
    sparser="smaller",
    proofs=_continuous,
    exact=_hill,
    aliases=["hill_number", "effective_number"],
    bounds=(1.0, math.inf),
    no_standard_error=_no_standard_error,
)
def hill(row: Rows, q: float) -> Array:
    r"""Return the Hill number of order q, :math:`(\sum t_i^q)^{1/(1-q)}, t_i = c_i/\sum c`.

    It is an effective number of non-zeros: SMALLER is sparser. Order 1 is the exponential of Shannon's entropy, order 2
    the inverse Simpson index. Counts of a sample have an unbiased estimate at order 2 alone, which is that of Simpson's
    index: 1/herfindahl(x, bias=False).

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.hill([0, 1, 1, 1]), 12), sg.hill([0, 0, 0, 5], q=2)
    (3.0, 1.0)
    """
    return np.exp(_log_hill(row, q))


def _renyi(k: Arithmetic, c: Pairs, q: Any) -> Any:
    if q == 1:
        return -total(k, [(k.of(share), count) for share, count in _shares(c)], lambda t: t * k.log(t))
    if q in (0, math.inf):
        return k.log(_hill(k, c, q))
    return k.log(_power_sum_of_shares(k, c, q)) / k.of(1 - q)


def _without_spike(q: float) -> Laws:
    """Return the same of an entropy, which is zero on a single non-zero: P9 does not apply."""
    return {law: lemma for law, lemma in _continuous(q).items() if law != "P9"}


@metric(
    formula="log(sum t^q) / (1 - q), t = c/sum c",
    title="Rényi entropy",
    meaning="the logarithm of the effective number of non-zeros: 0 for a single one",
    reference="Renyi (1961), On measures of entropy and information, Proc. 4th Berkeley Symp. 1, 547-561",
    parameters=[_order(2.0)],
    sparser="smaller",
    proofs=_without_spike,
    exact=_renyi,
    aliases=["renyi_entropy"],
    bounds=(0.0, math.inf),
    no_standard_error=_no_standard_error,
)
def renyi(row: Rows, q: float) -> Array:
    r"""Return the Renyi entropy of order q in nats, :math:`\log(\sum t_i^q) / (1 - q), t_i = c_i/\sum c`.

    SMALLER is sparser. It is the logarithm of `hill`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.renyi([0, 0, 0, 5])
    0.0
    """
    if math.isinf(q):
        return np.log1p(row.beside_top())
    log_hill = _log_hill(row, q)
    if q in (0, 1):
        return log_hill if q == 0 else _row_tsallis(row, 1.0)
    return np.where(log_hill > CLOSE_TO_A_SPIKE, log_hill, np.log1p((1.0 - q) * _row_tsallis(row, q)) / (1.0 - q))


def _tsallis(k: Arithmetic, c: Pairs, q: Any) -> Any:
    if q == 1:
        return _renyi(k, c, 1)
    if q == 0:
        return k.of(length(c) - zeros(c) - 1)
    return (1 - _power_sum_of_shares(k, c, q)) / k.of(q - 1)


@metric(
    formula="(1 - sum t^q) / (q - 1), t = c/sum c",
    title="Tsallis entropy",
    meaning="at order 2, the chance that two draws from the total belong to different coefficients",
    reference="Tsallis (1988), Possible generalization of Boltzmann-Gibbs statistics, J. Stat. Phys. 52, 479-487",
    parameters=[Parameter("q", 2.0, low=0, low_included=True, meaning="The order: 0 counts, 1 is Shannon's entropy.")],
    sparser="smaller",
    proofs=_without_spike,
    exact=_tsallis,
    aliases=["tsallis_entropy", "gini_simpson"],
    bounds=(0.0, math.inf),
    no_standard_error=_no_standard_error,
)
def tsallis(row: Rows, q: float) -> Array:
    r"""Return the Tsallis entropy of order q, :math:`(1 - \sum t_i^q) / (q - 1), t_i = c_i/\sum c`.

    SMALLER is sparser. Order 1 is Shannon's entropy, order 2 the Gini-Simpson index.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.tsallis([1, 1])
    0.5
    """
    return _row_tsallis(row, q)


def _row_tsallis(row: Rows, q: float) -> Array:
    """Return the entropy as a sum of terms of one sign, so that nothing cancels for what is nearly a spike.

    With r = c/max c and 1 + R = sum r, sum t^q = (sum r^q)/(1 + R)^q, and r^q = r + r expm1((q - 1) log r).
    """
    if q == 0:
        return row.n - 1.0
    if q == 1:
        R, terms = row.relative_to_top(1.0)
        return np.log1p(R) - terms / (1.0 + R)
    R, terms = row.relative_to_top(q)
    log = np.log1p(R)
    return (np.expm1((q - 1.0) * log) - terms / (1.0 + R)) * np.exp((1.0 - q) * log) / (q - 1.0)


def _participation_ratio(k: Arithmetic, c: Pairs) -> Any:
    return power_sum(k, c, 2) ** 2 / power_sum(k, c, 4)


@metric(
    formula="(sum c^2)^2 / sum c^4",
    title="participation ratio",
    meaning="the effective number of coefficients that share the energy: 1 for a single one, N for equal ones",
    reference="Bell and Dean (1970), Atomic vibrations in vitreous silica, Discuss. Faraday Soc. 50, 55-61",
    sparser="smaller",
    proofs=INVARIANT,
    exact=_participation_ratio,
    bounds=(1.0, math.inf),
)
def participation_ratio(row: Rows) -> Array:
    r"""Return the participation ratio, :math:`(\sum c_i^2)^2 / \sum c_i^4`; SMALLER is sparser. It is 1 over `kappa4`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.participation_ratio([1, 1, 1, 0])
    3.0
    """
    return row.squares**2 / row.fourths


def _herfindahl(k: Arithmetic, c: Pairs) -> Any:
    return _power_sum_of_shares(k, c, 2)


@metric(
    formula="sum t^2, t = c/sum c",
    title="Herfindahl index",
    meaning="the concentration of a market: 1 for a single non-zero, 1/N for equal coefficients",
    reference="Herfindahl (1950), Concentration in the steel industry, Columbia University; also Hirschman (1945)",
    proofs=SCHUR,
    exact=_herfindahl,
    aliases=["herfindahl_hirschman", "hhi", "simpson"],
    options=[
        Switch(
            "bias",
            True,
            "``False`` is Simpson's estimate from counts c of individuals, sum c (c - 1) / (n (n - 1)) with n = sum c: "
            "the chance that two different individuals are of one kind. It depends on the unit, so that scaling (P4) "
            "is lost; nan for n = 1.",
        )
    ],
    bounds=(0.0, 1.0),
)
def herfindahl(row: Rows, bias: bool) -> Array:
    r"""Return the Herfindahl-Hirschman index, :math:`\sum t_i^2, t_i = c_i/\sum c`, from 1/N to 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.herfindahl([1, 1, 1, 1])
    0.25
    """
    if bias:
        return row.squares / row.l1**2
    one = 1.0 / row.unscaled(np.ones(len(row.N)))  # in the unit of the scaled sums
    return (row.squares - one * row.l1) / (row.l1 * (row.l1 - one))


def _berger_parker(k: Arithmetic, c: Pairs) -> Any:
    return k.of(c[-1][0]) / k.of(plain_sum(c))


@metric(
    formula="max c / sum c",
    title="Berger-Parker index",
    meaning="the share of the largest coefficient",
    reference="Berger and Parker (1970), Diversity of planktonic foraminifera in deep-sea sediments, Science 168",
    proofs={
        **MAJORISED,
        "P5": "1/S = sum c_i / max c; every ratio below 1 grows with a tide",
        "P7": "1/S = sum c_i / max c; every ratio to the largest falls as it grows",
    },
    exact=_berger_parker,
    bounds=(0.0, 1.0),
    no_standard_error=MAXIMUM,
)
def berger_parker(row: Rows) -> Array:
    r"""Return the Berger-Parker index, :math:`\max c / \sum c`: the share of the largest coefficient.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.berger_parker([1, 1, 2])
    0.5
    """
    return row.top / row.l1
