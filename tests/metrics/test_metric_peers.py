"""The metrics against one large coefficient, the packages of others, and their own laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from math import inf, log, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.distance
import scipy.special
import scipy.stats
from concentrationMetrics import Index
from hypothesis import example, given
from hypothesis import strategies as st
from metric_cases import (
    CANCELLING,
    CLONE_INVARIANT,
    FEW_ULPS,
    NOT_SCALE_INVARIANT,
    SCALE_INVARIANT,
    Parameters,
    assert_twin,
    error,
    families,
    metrics,
    parameters_of,
)

import sparsegauge as sg
from families import FAMILIES
from naive_metrics import TWINS
from strategies import batches, extreme_signals, law, signals

MILLION = 10**6

# One coefficient among a million
LONE_SPIKE = {
    "gds": 1 - 1 / MILLION,
    "l0": MILLION - 1,
    "l2_l1": 1,
    "kappa4": 1,
    "u_theta": 1,
    "neg_h_s": 0,
    "h_s": 0,
    "hoyer": 1,
    "pq_mean": -(MILLION**-0.5),
    "gini": 1 - 1 / MILLION,
    "kurtosis": MILLION - 3,
    "pastor": 1 - MILLION**-0.5,
    "pastor_entropy": MILLION**-0.5,
    "gi2": (2 - 2 / MILLION) / (2 - 1 / MILLION),
    "gi3": (1 - 1 / MILLION) / (2 - 1 / MILLION),
    "ggi": 1 - 3 / (4 * MILLION**2 - 1),  # 1^2 + 3^2 + ... + (2N-1)^2 = N (4 N^2 - 1)/3
    "fggi": 1 - sqrt(3 / (4 * MILLION**2 - 1)),
    "pfgi1": 1 - MILLION**-0.5,
    "pfgi2": 1 - (2 * MILLION - 1) ** -0.5,
    "pfgi3": 1 - (2 - 1 / MILLION) ** -0.5,
    "s_gini": 1 - MILLION**-2,
    "negentropy": log(MILLION),
    "box_cox": 2 * (MILLION**0.5 - 1),
    "gm_am": 1,
    "d_norm": 1,
    "pq_index": 1 - 1 / MILLION,
    "neg_numerical_sparsity": -1,
    "treves_rolls": 1,
    "hoover": 1 - 1 / MILLION,
    "atkinson": 1 - 1 / MILLION,
    "theil": log(MILLION),
    "generalised_entropy": (MILLION - 1) / 2,
    "mean_log_deviation": math.inf,
    "coefficient_of_variation": math.sqrt(MILLION - 1),
    "spectral_flatness": 0,
    "crest_factor": math.sqrt(MILLION),
    "hill": 1,
    "renyi": 0,
    "tsallis": 0,
    "participation_ratio": 1,
    "herfindahl": 1,
    "berger_parker": 1,
}


@pytest.mark.parametrize("name", LONE_SPIKE)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_lone_spike_in_a_million(name, layout):
    x = np.zeros(MILLION)
    x[12345] = -0.7
    got = getattr(sg, name)(x) if layout == "dense" else getattr(sg, name)(scipy.sparse.coo_array(x[np.newaxis]))[0]
    assert error(name, x, float(got), mpmath.mpf(LONE_SPIKE[name])) <= 1


def test_the_lone_spike_is_tried_on_every_scale_invariant_metric():
    assert list(LONE_SPIKE) == SCALE_INVARIANT


@pytest.mark.slow
@metrics
@families
def test_longer_rows(name, family):
    for parameters in parameters_of(name)[: 2 if name == "gds" else None]:
        assert_twin(name, FAMILIES[family](1000, 5), parameters)


# Other people's packages, on positive data, which all of them can measure


def shannon(values: np.ndarray) -> float:
    return float(scipy.stats.entropy(values))


def box_cox(c: np.ndarray, power: float) -> float:
    z = c**2 / np.mean(c**2)
    return float(np.mean(z * scipy.special.boxcox(z, power)))


def quotient_of_means(c: np.ndarray, p: float, q: float) -> float:
    return float(scipy.stats.pmean(c, p) / scipy.stats.pmean(c, q))


def squared_variation(c: np.ndarray) -> float:
    return float(scipy.stats.variation(c) ** 2)


def angle(c: np.ndarray) -> float:
    """One less the cosine between c and a constant signal."""
    return float(scipy.spatial.distance.cosine(c, np.ones(len(c))))


norm = np.linalg.norm
index = Index()

PEERS: dict[str, tuple[str, Parameters, Callable[[np.ndarray], float]]] = {
    "concentrationMetrics Gini": ("gini", {}, index.gini),
    "concentrationMetrics Gini, rescaled": ("gi2", {}, lambda c: 2 - 2 / (1 + index.gini(c))),
    "concentrationMetrics Hoover": ("hoover", {}, index.hoover),
    "concentrationMetrics Theil": ("theil", {}, index.theil),
    "concentrationMetrics Theil of squares": ("negentropy", {}, lambda c: index.theil(c**2)),
    "concentrationMetrics Atkinson 1/2": ("atkinson", {}, lambda c: index.atkinson(c, 0.5)),
    "concentrationMetrics Atkinson 1": ("atkinson", {"epsilon": 1.0}, lambda c: index.atkinson(c, 1)),
    "concentrationMetrics Atkinson 2": ("atkinson", {"epsilon": 2.0}, lambda c: index.atkinson(c, 2)),
    "concentrationMetrics inverse Simpson": ("neg_numerical_sparsity", {}, lambda c: -index.invsimpson(c)),
    "concentrationMetrics Herfindahl": ("kappa4", {}, lambda c: index.hhi(c**2, normalized=False)),
    "concentrationMetrics Berger-Parker": ("d_norm", {}, lambda c: sqrt(index.berger_parker(c**2))),
    "concentrationMetrics Hannah-Kay": ("l2_l1", {}, lambda c: sqrt(index.hk(c, 2))),
    "concentrationMetrics generalised entropy": ("box_cox", {"l": 2.0}, lambda c: 3 * index.gei(c**2, 3)),
    "SciPy kurtosis": ("kurtosis", {}, lambda c: scipy.stats.kurtosis([*c, *-c])),
    "SciPy entropy": ("theil", {}, lambda c: log(len(c)) - shannon(c)),
    "SciPy entropy of squares": ("negentropy", {}, lambda c: log(len(c)) - shannon(c**2)),
    "SciPy entropy, doubled": ("h_s", {}, lambda c: 2 * shannon(c**2)),
    "SciPy entropy, negated": ("neg_h_s", {}, lambda c: -2 * shannon(c**2)),
    "SciPy entr": ("h_s_prime", {}, lambda c: 2 * np.sum(scipy.special.entr(c))),
    "SciPy entr, negated": ("neg_h_s_prime", {}, lambda c: -2 * np.sum(scipy.special.entr(c))),
    "SciPy boxcox 1/2": ("box_cox", {}, lambda c: box_cox(c, 0.5)),
    "SciPy boxcox 0": ("box_cox", {"l": 0.0}, lambda c: box_cox(c, 0.0)),
    "SciPy boxcox -1/2": ("box_cox", {"l": -0.5}, lambda c: box_cox(c, -0.5)),
    "SciPy gmean": ("gm_am", {}, lambda c: 1 - scipy.stats.gmean(c) / np.mean(c)),
    "SciPy gmean, logarithm": ("h_g", {}, lambda c: -2 * len(c) * log(scipy.stats.gmean(c))),
    "SciPy gmean, Atkinson 1": ("atkinson", {"epsilon": 1.0}, lambda c: 1 - scipy.stats.gmean(c) / np.mean(c)),
    "SciPy hmean": ("neg_lp_neg", {}, lambda c: -len(c) / scipy.stats.hmean(c)),
    "SciPy pmean": ("pq_mean", {"p": 0.3, "q": 3.0}, lambda c: -quotient_of_means(c, 0.3, 3)),
    "SciPy pmean, PQ": ("pq_index", {"p": 0.3, "q": 3.0}, lambda c: 1 - quotient_of_means(c, 0.3, 3)),
    "SciPy cosine": ("pastor", {}, angle),
    "SciPy cosine, its complement": ("pastor_entropy", {}, lambda c: 1 - angle(c)),
    "SciPy cosine, rescaled": ("hoyer", {}, lambda c: angle(c) / (1 - 1 / sqrt(len(c)))),
    "SciPy variation": ("gds", {}, lambda c: 1 - 1 / (1 + squared_variation(c))),
    "SciPy variation, rescaled": (
        "treves_rolls",
        {},
        lambda c: (1 - 1 / (1 + squared_variation(c))) / (1 - 1 / len(c)),
    ),
    "NumPy norm 1": ("neg_l1", {}, lambda c: -norm(c, 1)),
    "NumPy norm 1/2": ("neg_lp", {}, lambda c: -norm(c, 0.5)),
    "NumPy norm 3": ("neg_lp", {"p": 3.0}, lambda c: -norm(c, 3)),
    "NumPy norms 2, 1": ("l2_l1", {}, lambda c: norm(c) / norm(c, 1)),
    "NumPy norms inf, 2": ("d_norm", {}, lambda c: norm(c, inf) / norm(c)),
    "NumPy norms 1, 2": ("neg_numerical_sparsity", {}, lambda c: -((norm(c, 1) / norm(c)) ** 2)),
    "NumPy norms 4, 2": ("kappa4", {}, lambda c: (norm(c, 4) / norm(c)) ** 4),
    "NumPy norm 0": ("l0", {}, lambda c: len(c) - norm(c, 0)),
}


@pytest.mark.parametrize("peer", PEERS)
def test_peers(peer):
    name, parameters, function = PEERS[peer]
    rng = np.random.default_rng(4)
    for c in (rng.random(7) + 0.01, rng.exponential(size=100), rng.lognormal(3.0, 1.0, 1000)):
        got, want = getattr(sg, name)(c, **parameters), float(function(c))
        assert abs(got - want) <= 1e-12 * max(1.0, abs(want))


def test_where_a_peer_is_wrong():
    """concentrationMetrics 0.6.0 forgets that zeros count: its Theil and Atkinson indices jump when one vanishes."""
    assert index.theil(np.array([1e-12, 1.0])) == pytest.approx(log(2), abs=1e-9)
    assert index.theil(np.array([0.0, 1.0])) == 0.0
    assert sg.theil([0.0, 1.0]) == pytest.approx(log(2), abs=1e-15)
    assert index.atkinson(np.array([1e-30, 1.0]), 1) == pytest.approx(1.0, abs=1e-14)
    assert index.atkinson(np.array([0.0, 1.0]), 1) == 0.0
    assert sg.atkinson([0.0, 1.0], epsilon=1.0) == 1.0


# Laws. One signal for the whole catalogue at a time, each metric at the k-th of its parameters


def several(names: Iterable[str], k: int) -> Iterator[tuple[str, Callable[..., Any], Parameters]]:
    for name in names:
        choices = parameters_of(name)
        yield name, getattr(sg, name), choices[k % len(choices)]


def apart(name: str, x: np.ndarray, a: float, b: float) -> bool:
    """Whether a and b differ by more than the promise."""
    return error(name, x, float(a), mpmath.mpf(float(b))) > 1


choices = st.integers(0, 6)


@law
@given(signals, choices)
def test_signs_do_not_matter(x, k):
    wrong = [name for name, f, par in several(TWINS, k) if not f(-x, **par) == f(np.abs(x), **par) == f(x, **par)]
    assert not wrong


@law
@given(signals, choices, st.randoms(use_true_random=False))
def test_permutation(x, k, random):
    shuffled = x[random.sample(range(len(x)), len(x))]
    wrong = [name for name, f, par in several(TWINS, k) if apart(name, x, f(shuffled, **par), f(x, **par))]
    assert not wrong


@law
@given(extreme_signals, choices)
@example(np.array([5e-324]), 0)
@example(np.array([1.7e308] * 60), 0)
@example(np.array([1.7e308, 5e-324]), 0)
def test_scale_invariant_metrics_measure_all_that_float64_has(x, k):
    """No overflow, no warning (they are errors in these tests), and the digits that are promised."""
    chosen = list(several(SCALE_INVARIANT[1:], k))  # gds has laws of its own
    wrong = {name: f(x, **par) for name, f, par in chosen if error(name, x, f(x, **par), TWINS[name](x, **par)) > 1}
    assert not wrong, f"{x.tolist()} at the {k}-th parameters"


@law
@given(extreme_signals, choices)
def test_the_other_metrics_measure_all_that_float64_has(x, k):
    """Infinite only where the metric is, or is beyond float64."""
    chosen = list(several(NOT_SCALE_INVARIANT, k))
    wrong = {name: f(x, **par) for name, f, par in chosen if error(name, x, f(x, **par), TWINS[name](x, **par)) > 1}
    assert not wrong, f"{x.tolist()} at the {k}-th parameters"


@law
@given(signals, choices, st.integers(-600, 600))
def test_scaling_by_a_power_of_two(x, k, exponent):
    scaled = np.ldexp(x, exponent)
    wrong = {}
    for name, f, par in several(SCALE_INVARIANT, k):
        a, b = f(scaled, **par), f(x, **par)
        if a != b and not abs(a - b) <= FEW_ULPS * max(abs(b), name in CANCELLING):  # both may be infinite
            wrong[name] = (a, b)
    assert not wrong


@law
@given(signals, choices, st.integers(-400, 400))
def test_norms_scale_with_the_signal(x, k, exponent):
    scaled = np.ldexp(x, exponent)
    for name, f, par in several(["neg_l1", "neg_lp"], k):
        assert not apart(name, scaled, f(scaled, **par), math.ldexp(f(x, **par), exponent)), name


@law
@given(signals, choices, st.integers(2, 5))
def test_cloning(x, k, copies):
    clones = np.tile(x, copies)
    wrong = [name for name, f, par in several(CLONE_INVARIANT, k) if apart(name, x, f(clones, **par), f(x, **par))]
    assert not wrong


@law
@given(signals, st.integers(1, 7), st.integers(2, 5))
def test_cloning_of_u_theta_whether_theta_n_is_whole_or_not(x, eighths, copies):
    assert not apart("u_theta", x, sg.u_theta(np.tile(x, copies), theta=eighths / 8), sg.u_theta(x, theta=eighths / 8))


@law
@given(signals, choices, st.sampled_from(["csr", "csc", "coo"]))
def test_a_sparse_array_is_its_dense_self(x, k, layout):
    sparse = scipy.sparse.coo_array(x[np.newaxis]).asformat(layout)
    wrong = [name for name, f, par in several(TWINS, k) if apart(name, x, f(sparse, **par)[0], f(x, **par))]
    assert not wrong


@law
@given(batches(), choices)
def test_a_batch_equals_its_signals_one_by_one(x, k):
    rows = x.reshape(-1, x.shape[-1])
    wrong = [
        name
        for name, f, par in several(TWINS, k)
        if not np.array_equal(f(x, **par).ravel(), [f(row, **par) for row in rows], equal_nan=True)
    ]
    assert not wrong


@metrics
def test_only_zeros_give_what_the_caller_said(name):
    f = getattr(sg, name)
    for parameters in parameters_of(name):
        assert math.isnan(f([0.0, 0.0], **parameters))
        assert f([0.0, 0.0], **parameters, zero=1.0) == 1.0
        assert f(scipy.sparse.csr_array((1, 5)), **parameters, zero=-inf)[0] == -inf


@metrics
def test_claims_of_scaling_and_cloning(name):
    """At the default parameters."""
    claims = sg.METRICS[name].claims
    assert ("P4" in claims) == (name in SCALE_INVARIANT)
    assert ("P6" in claims) == (name in CLONE_INVARIANT)
