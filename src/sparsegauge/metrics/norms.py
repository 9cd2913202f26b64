"""Metrics that compare two norms, or two power means, of the coefficients.

Throughout, c = |x| and N is the number of coefficients. Larger is sparser.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, Parameter, Switch
from ..errors import InvalidInput
from .catalogue import metric
from .exact import Arithmetic, Pairs, length, plain_sum, power_sum
from .lemmas import ENERGY, INVARIANT, LENGTH, MAJORISED, MEANS, ROBIN_HOOD, SCHUR, Laws
from .metric import MAXIMUM
from .references import HURLEY
from .statistics import Rows


def _l2_l1(k: Arithmetic, c: Pairs) -> Any:
    return k.sqrt(power_sum(k, c, 2)) / k.of(plain_sum(c))


@metric(
    formula="|c|_2 / |c|_1",
    title="l2 norm over l1 norm",
    meaning="the ratio of two norms: 1 for a single non-zero, 1/sqrt(N) for equal coefficients",
    reference=HURLEY,
    proofs=SCHUR,
    exact=_l2_l1,
    bounds=(0.0, 1.0),
)
def l2_l1(row: Rows) -> Array:
    r"""Return the ratio of the norms of orders 2 and 1, :math:`\|c\|_2 / \|c\|_1`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.l2_l1([0, 3, 4, 0]) == 5 / 7
    True
    """
    return np.sqrt(row.squares) / row.l1


def _kappa4(k: Arithmetic, c: Pairs) -> Any:
    return power_sum(k, c, 4) / power_sum(k, c, 2) ** 2


@metric(
    formula="sum c^4 / (sum c^2)^2",
    title="kappa-4 (sum of squared energy shares)",
    meaning="the sum of the squared shares of energy: 1 for a single non-zero, 1/N for equal coefficients",
    reference=HURLEY,
    proofs={**MAJORISED, **ENERGY},
    exact=_kappa4,
    aliases=["κ4"],
    bounds=(0.0, 1.0),
)
def kappa4(row: Rows) -> Array:
    r"""Return the fourth moment over the squared energy, :math:`\sum c_i^4 / (\sum c_i^2)^2`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.kappa4([1, 1, 1, 1])
    0.25
    """
    return row.fourths / row.squares**2


def _kurtosis(k: Arithmetic, c: Pairs) -> Any:
    return length(c) * _kappa4(k, c) - 3


@metric(
    formula="N sum c^4 / (sum c^2)^2 - 3",
    title="excess kurtosis",
    meaning="how much heavier than a Gaussian's the tails are: 0 for Gaussian noise, large for isolated shocks",
    reference=HURLEY,
    proofs={**MAJORISED, **MEANS, **LENGTH, **ENERGY},
    exact=_kurtosis,
    aliases=["excess_kurtosis"],
    bounds=(-2.0, math.inf),
    error_growth=3.0,
    options=[
        Switch(
            "bias",
            True,
            "``False`` divides an unbiased estimate of the fourth moment by one of the squared second moment, "
            "(N - 1) k/(1 - k) - 3 with k = sum c^4/(sum c^2)^2; the mean is known to be 0. It is infinite for a "
            "single non-zero, nan for N = 1, and not cloning-invariant (P6).",
        )
    ],
)
def kurtosis(row: Rows, bias: bool) -> Array:
    r"""Return the excess kurtosis about zero, :math:`N \sum c_i^4 / (\sum c_i^2)^2 - 3`.

    Signs do not matter; for a signal of mean zero it is ``scipy.stats.kurtosis``.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.kurtosis([1, -1, 1, -1])
    -2.0
    """
    share = row.fourths / row.squares**2
    return (row.N * share if bias else (row.N - 1.0) * share / (1.0 - share)) - 3.0


def _hoyer(k: Arithmetic, c: Pairs) -> Any:
    root = k.sqrt(length(c))
    if length(c) == 1:
        return k.of(0)
    return (root - 1 / _l2_l1(k, c)) / (root - 1)


@metric(
    formula="(sqrt N - |c|_1/|c|_2) / (sqrt N - 1)",
    title="Hoyer's sparsity",
    meaning="the ratio of two norms, scaled to 0 for equal coefficients and 1 for a single non-zero",
    reference="Hoyer (2004), J. Mach. Learn. Res. 5, 1457-1469",
    proofs={**SCHUR, **LENGTH},
    exact=_hoyer,
    aliases=["hoyer_index"],
    bounds=(0.0, 1.0),
    error_growth=1.0,
)
def hoyer(row: Rows) -> Array:
    r"""Return Hoyer's sparseness, :math:`(\sqrt N - \|c\|_1 / \|c\|_2) / (\sqrt N - 1)`, from 0 to 1; 0 for N = 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.hoyer([0, 0, 0, 5])
    1.0
    """
    root = np.sqrt(row.N)
    return np.where(row.N > 1, np.minimum(_one_less_cosine(row) * root / (root - 1.0), 1.0), 0.0)


def _pastor(k: Arithmetic, c: Pairs) -> Any:
    return 1 - 1 / (k.sqrt(length(c)) * _l2_l1(k, c))


@metric(
    formula="1 - |c|_1 / (sqrt N |c|_2)",
    title="Pastor's sparsity",
    meaning="one less the cosine of the angle between the magnitudes and equal magnitudes",
    reference="Pastor et al. (2013), reconstructed: the source could not be read",
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_pastor,
    bounds=(0.0, 1.0),
    error_growth=1.0,
)
def pastor(row: Rows) -> Array:
    r"""Return one less the cosine between c and equal coefficients, :math:`1 - \|c\|_1 / (\sqrt N \|c\|_2)`.

    Reconstructed from descriptions of the inner-product sparsity of Pastor et al. (2013); the source could not be read.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.pastor([0, 0, 0, 5])
    0.5
    """
    return _one_less_cosine(row)


def _pastor_entropy(k: Arithmetic, c: Pairs) -> Any:
    return 1 - _pastor(k, c)


@metric(
    formula="|c|_1 / (sqrt N |c|_2)",
    title="Pastor's entropy",
    meaning="the cosine of the angle between the magnitudes and equal magnitudes: 1 for equal coefficients",
    reference="Pastor et al. (2013), reconstructed: the source could not be read",
    sparser="smaller",
    proofs={**INVARIANT, **MEANS},
    exact=_pastor_entropy,
    bounds=(0.0, 1.0),
)
def pastor_entropy(row: Rows) -> Array:
    r"""Return the cosine between c and equal coefficients, :math:`\|c\|_1 / (\sqrt N \|c\|_2)`; SMALLER is sparser.

    Reconstructed from the description in the paper's related work: Pastor et al. (2013) define a sparsity and an
    entropy by the inner product of a signal and the least sparse one. It is 1 less `pastor`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.pastor_entropy([0, 0, 0, 5])
    0.5
    """
    return np.minimum(row.l1 / np.sqrt(row.N * row.squares), 1.0)


def _one_less_cosine(row: Rows) -> Array:
    """Return 1 - |c|_1/(sqrt N |c|_2) from S_2 = 1 - |c|_1^2/(N |c|_2^2): nothing cancels for nearly equal data."""
    s = row.gds(2)
    return s / (1.0 + np.sqrt(1.0 - s))


def _treves_rolls(k: Arithmetic, c: Pairs) -> Any:
    n = length(c)
    return k.of(0) if n == 1 else (n + _neg_numerical_sparsity(k, c)) / (n - 1)


@metric(
    formula="(1 - (mean c)^2/mean c^2) / (1 - 1/N)",
    title="Treves-Rolls sparseness",
    meaning="the lifetime or population sparseness of neurons, from 0 to 1",
    reference="Treves and Rolls (1991), Network 2; normalised as in Vinje and Gallant (2000), Science 287",
    proofs={**SCHUR, **LENGTH},
    exact=_treves_rolls,
    aliases=["vinje_gallant"],
    bounds=(0.0, 1.0),
)
def treves_rolls(row: Rows) -> Array:
    r"""Return the lifetime sparseness, :math:`(1 - (\sum c_i / N)^2 / (\sum c_i^2 / N)) / (1 - 1/N)`.

    It runs from 0 to 1 and is 0 for N = 1: `gds` of order 2 over its largest value.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.treves_rolls([0, 0, 0, 5])
    1.0
    """
    return np.where(row.N > 1, np.minimum(row.gds(2) * row.N / (row.N - 1.0), 1.0), 0.0)


def _neg_numerical_sparsity(k: Arithmetic, c: Pairs) -> Any:
    return -(k.of(plain_sum(c)) ** 2) / power_sum(k, c, 2)


@metric(
    formula="-|c|_1^2 / |c|_2^2",
    title="minus the numerical sparsity",
    meaning="minus an effective number of non-zeros, which small changes of the signal change little",
    reference="Lopes (2013), Estimating unknown sparsity in compressed sensing, ICML",
    proofs=SCHUR,
    exact=_neg_numerical_sparsity,
    aliases=["numerical_sparsity"],
    bounds=(-math.inf, 0.0),
)
def neg_numerical_sparsity(row: Rows) -> Array:
    r"""Return minus the numerical sparsity, :math:`-\|c\|_1^2 / \|c\|_2^2`: an effective number of non-zeros.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.neg_numerical_sparsity([0, 1, 1, 1])
    -3.0
    """
    return -(row.l1**2) / row.squares


def _d_norm(k: Arithmetic, c: Pairs) -> Any:
    return k.of(c[-1][0]) / k.sqrt(power_sum(k, c, 2))


@metric(
    formula="max c / |c|_2",
    title="l-infinity norm over l2 norm",
    meaning="the largest coefficient over the norm: 1 for a single non-zero, 1/sqrt(N) for equal coefficients",
    reference="the ratio of the norms of orders inf and 2",
    proofs={**MAJORISED, "P5": "to the largest", "P7": "to the largest"},
    exact=_d_norm,
    bounds=(0.0, 1.0),
    no_standard_error=MAXIMUM,
)
def d_norm(row: Rows) -> Array:
    r"""Return the largest coefficient over the norm, :math:`\max c / \|c\|_2`, from :math:`1/\sqrt N` to 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.d_norm([3, 4])
    0.8
    """
    return row.top / np.sqrt(row.squares)


def _crest_factor(k: Arithmetic, c: Pairs) -> Any:
    return k.sqrt(length(c)) * _d_norm(k, c)


@metric(
    formula="max c / sqrt(mean c^2)",
    title="crest factor",
    meaning="the peak of a signal over its root mean square: 1 for equal magnitudes, sqrt(N) for a single non-zero",
    reference="the peak over the root mean square, standard in vibration analysis and electrical engineering",
    proofs={**MAJORISED, **MEANS, **LENGTH, "P5": "to the largest", "P7": "to the largest"},
    exact=_crest_factor,
    aliases=["peak_to_average"],
    bounds=(1.0, math.inf),
    no_standard_error=MAXIMUM,
)
def crest_factor(row: Rows) -> Array:
    r"""Return the crest factor, :math:`\max c / \sqrt{\overline{c^2}}`, from 1 to :math:`\sqrt N`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.crest_factor([0, 0, 0, 5])
    2.0
    """
    return row.top * np.sqrt(row.N / row.squares)


def _pq_mean(k: Arithmetic, c: Pairs, p: Any, q: Any) -> Any:
    n = length(c)
    return -k.power(power_sum(k, c, p) / n, 1 / p) / k.power(power_sum(k, c, q) / n, 1 / q)


@metric(
    formula="-(mean c^p)^(1/p) (mean c^q)^(-1/q)",
    title="ratio of power means (pq-mean)",
    meaning="minus the ratio of a low power mean to a high one: -1 for equal coefficients, towards 0 for sparse ones",
    reference=HURLEY,
    parameters=[
        Parameter("p", 1.0, low=0, high=1, high_included=True, meaning="The order of the first mean, 0 < p <= 1."),
        Parameter("q", 2.0, low=1, meaning="The order of the second mean, q > 1."),
    ],
    proofs={**SCHUR, **MEANS, **LENGTH},
    exact=_pq_mean,
    bounds=(-1.0, 0.0),
    error_growth=1.0,
)
def pq_mean(row: Rows, p: float, q: float) -> Array:
    r"""Return minus a ratio of power means, :math:`-(\frac1N \sum c_i^p)^{1/p} (\frac1N \sum c_i^q)^{-1/q}`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.pq_mean([0, 0, 0, 5])
    -0.5
    """
    return -np.exp(_log_ratio_of_means(row, p, q))


def _pq_index(k: Arithmetic, c: Pairs, p: Any, q: Any) -> Any:
    norm_p = k.power(power_sum(k, c, p), 1 / p)
    norm_q = k.power(power_sum(k, c, q), 1 / q)
    return 1 - k.power(length(c), 1 / q - 1 / p) * norm_p / norm_q


def _pq_index_laws(p: float, q: float) -> Laws:
    found = {**MAJORISED, **MEANS, **LENGTH}
    return {**found, **ROBIN_HOOD} if p <= 1 <= q else found


def _check_pq(p: float, q: float) -> None:
    if not p < q:
        raise InvalidInput(f"p must be less than q, got p={p!r} and q={q!r}; the defaults are p=0.5 and q=1")


@metric(
    formula="1 - N^(1/q - 1/p) |c|_p/|c|_q",
    title="PQ index",
    meaning="which share of the coefficients could be left out: at the defaults, the fraction of zeros if the others "
    "are equal",
    reference="Diao et al. (2023), Pruning deep neural networks from a sparsity perspective, ICLR",
    parameters=[
        Parameter("p", 0.5, low=0, meaning="The order of the first norm, 0 < p < q."),
        Parameter("q", 1.0, low=0, meaning="The order of the second norm."),
    ],
    proofs=_pq_index_laws,
    exact=_pq_index,
    constraint=_check_pq,
    bounds=(0.0, 1.0),
)
def pq_index(row: Rows, p: float, q: float) -> Array:
    r"""Return the PQ index, :math:`1 - N^{1/q - 1/p} \|c\|_p / \|c\|_q`, 0 < p < q, from 0 to 1.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.pq_index([0, 0, 0, 5])
    0.75
    """
    return -np.expm1(_log_ratio_of_means(row, p, q))


def _log_ratio_of_means(row: Rows, p: float, q: float) -> Array:
    """Return log of (mean c^p)^(1/p) / (mean c^q)^(1/q): never positive, and exactly 0 for equal data."""
    return (1 / p - 1 / q) * row.log_density + (row.log_power_mean(p) - row.log_power_mean(q))
