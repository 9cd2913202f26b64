"""The values of every metric in the catalogue: by hand, by slow twins at 50 digits (`naive_metrics`), by other people's
packages, and by laws.

The promise: within 1e-11 of the metric's natural magnitude, which is its value (digits survive a 1 - ratio too), or
where its terms have both signs the sum of their magnitudes, and for the kurtosis its value about 0 rather than 3. An
absolute 1e-13 instead for u_theta, which does subtract from 1, and where a parameter is next to a limit at which the
metric itself vanishes or its formula is 0/0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from math import inf, log, sqrt
from types import SimpleNamespace
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

import naive
import sparsegauge as sg
from families import FAMILIES, SCALED
from naive_metrics import BY_HAND, TWINS
from strategies import batches, extreme_signals, law, signals

RELATIVE = 1e-11
ABSOLUTE = 1e-13
TWIN_NOISE = 1e-40  # a twin's own rounding, where it subtracts
GRAIN = 10 * 5e-324  # below 1e-308 numbers are multiples of 5e-324
FEW_ULPS = 8 * 2.0**-53

Parameters = dict[str, float]

NOT_SCALE_INVARIANT = ["l0_eps", "neg_l1", "neg_lp", "neg_tanh", "neg_log", "neg_lp_neg", "h_g"]
NOT_SCALE_INVARIANT += ["neg_h_s_prime", "h_s_prime"]
SCALE_INVARIANT = [name for name in TWINS if name not in NOT_SCALE_INVARIANT]

# ggi and fggi are at a = 1
NOT_CLONE_INVARIANT = {"l0", "l2_l1", "kappa4", "neg_h_s", "h_s", "hoyer", "ggi", "fggi", "d_norm"}
NOT_CLONE_INVARIANT |= {"neg_numerical_sparsity", "treves_rolls"}
NOT_CLONE_INVARIANT |= {"hill", "renyi", "tsallis", "participation_ratio", "herfindahl", "berger_parker"}
CLONE_INVARIANT = [name for name in SCALE_INVARIANT if name not in NOT_CLONE_INVARIANT]

# The other scale-invariant metrics are of order 1, by subtraction
NOT_CANCELLING = {"gds", "l0", "l2_l1", "kappa4", "pq_mean", "gini", "gi2", "gi3", "d_norm", "treves_rolls"}
NOT_CANCELLING |= {"neg_numerical_sparsity", "hill", "participation_ratio", "herfindahl", "berger_parker"}
NOT_CANCELLING |= {"crest_factor", "spectral_flatness", "pastor_entropy"}
CANCELLING = {name for name in SCALE_INVARIANT if name not in NOT_CANCELLING}

# Across each range, the ends that belong to it and the values at which a formula changes
PARAMETERS: dict[str, list[Parameters]] = {
    "gds": [{"order": p} for p in (2, 1, 1.5, 3, 7.3, 20)],
    "l0_eps": [{"eps": e} for e in (1e-3, 0.0, 0.3, 2.0)],
    "neg_lp": [{"p": p} for p in (0.5, 0.02, 0.1, 0.9, 1.0, 2.0, 7.5, 300.0)],
    "neg_tanh": [{"a": a, "b": b} for a, b in [(1.0, 1.0), (0.1, 0.5), (3.0, 2.0)]],
    "u_theta": [{"theta": t} for t in (0.5, 0.01, 0.25, 0.75, 0.9, 0.99)],
    "neg_lp_neg": [{"p": p} for p in (-1.0, -0.01, -0.1, -2.5)],
    "pq_mean": [{"p": p, "q": q} for p, q in [(1.0, 2.0), (0.1, 1.1), (0.5, 4.0), (1.0, 50.0)]],
    "ggi": [{"a": a} for a in (2.0, 0.1, 1.0, 10.0)],
    "fggi": [{"a": a, "p": p} for a, p in [(2.0, 2.0), (2.0, 1.0), (1.0, 0.5), (0.3, 10.0)]],
    "pfgi1": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "pfgi2": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "pfgi3": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "s_gini": [{"v": v} for v in (3.0, 1.01, 1.5, 2.0, 20.0)],
    "box_cox": [{"l": power} for power in (0.5, -0.9, -0.5, 0.0, 1.0, 2.0, 10.0)],
    "pq_index": [{"p": p, "q": q} for p, q in [(0.5, 1.0), (1.0, 2.0), (0.1, 0.2), (2.0, 10.0), (0.1, 50.0)]],
    "atkinson": [{"epsilon": e} for e in (0.5, 0.1, 1.0, 2.0, 10.0)],
    "generalised_entropy": [{"alpha": a} for a in (2.0, 0.0, 0.5, 1.0, -1.0, 5.0)],
    "hill": [{"q": q} for q in (1.0, 0.0, 0.5, 2.0, 10.0, inf)],
    "renyi": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0, inf)],
    "tsallis": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0)],
}

# Where a formula as it stands loses digits, (mean c^p)^(1/p) say
NEXT_TO_A_LIMIT: list[tuple[str, Parameters]] = [
    *(("atkinson", {"epsilon": e}) for e in (1 - 1e-9, 1 + 1e-9, 1e-9)),
    *(("box_cox", {"l": power}) for power in (-1e-9, 1e-9, 1e-20, -1 + 1e-9)),
    ("pq_mean", {"p": 1e-6, "q": 1 + 1e-9}),
    ("pq_index", {"p": 1e-6, "q": 1.0}),
    ("pq_index", {"p": 1e-6, "q": 2e-6}),
    ("pq_index", {"p": 1 - 1e-9, "q": 1.0}),
    ("fggi", {"a": 2.0, "p": 1e-6}),
    *((name, {"p": 1e-6}) for name in ("pfgi1", "pfgi2", "pfgi3")),
    ("ggi", {"a": 1e-9}),
    ("s_gini", {"v": 1 + 1e-9}),
]

# Where powers leave float64's range although the metric does not
LARGE: list[tuple[str, Parameters]] = [
    ("neg_tanh", {"a": 3.0, "b": 40.0}),
    ("pq_mean", {"p": 1.0, "q": 300.0}),
    ("pq_index", {"p": 200.0, "q": 300.0}),
    ("ggi", {"a": 300.0}),
    ("fggi", {"a": 10.0, "p": 10.0}),
    ("fggi", {"a": 300.0, "p": 300.0}),
    *((name, {"p": 300.0}) for name in ("pfgi1", "pfgi2", "pfgi3")),
    ("s_gini", {"v": 1000.0}),
    ("box_cox", {"l": 100.0}),
    ("atkinson", {"epsilon": 100.0}),
]

HAND_SIZE = [
    *([-2.5], [1.0], [1.0, 1.0], [0.0, 5.0], [3.0, -1.0], [0.3, 0.3, 0.3], [2.0, 2.0, -7.0], [0.0, 0.0, 3.0, 4.0]),
    *([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 5.0], [0.0, 0.0, 0.0, -1e-3], [1e-3, 1e3], [0.1, 0.2, 0.3, 0.4, 100.0]),
]

metrics = pytest.mark.parametrize("name", TWINS)
families = pytest.mark.parametrize("family", FAMILIES)


def some(cases: list[tuple[str, Parameters]]) -> pytest.MarkDecorator:
    ids = [f"{name}({', '.join(f'{k}={v}' for k, v in parameters.items())})" for name, parameters in cases]
    return pytest.mark.parametrize(("name", "parameters"), cases, ids=ids)


def parameters_of(name: str) -> list[Parameters]:
    return PARAMETERS.get(name, [{}])


def magnitude(name: str, x: Any, want: float) -> float:
    """What an error is relative to."""
    c = np.abs(x)[np.nonzero(x)]
    if name == "h_g" and len(c) == len(x):
        return float(np.sum(np.abs(2 * np.log(c))))
    if name in ("h_s_prime", "neg_h_s_prime"):
        return min(math.fsum(np.abs(2 * (c / 2**20) * np.log(c))), 2.0**1000) * 2**20  # no overflow near 1e308
    return abs(want + 3) if name == "kurtosis" else abs(want)


def error(name: str, x: Any, got: float, want: Any, absolute: float = 0.0) -> float:
    """In units of what is allowed: more than 1 is too much."""
    if not mpmath.isfinite(want) or abs(want) > sys.float_info.max:
        return 0.0 if got == float(want) else inf
    floor = ABSOLUTE if name == "u_theta" else TWIN_NOISE if name in CANCELLING else GRAIN
    limit = RELATIVE * magnitude(name, x, float(want)) + absolute + floor
    distance = float(abs(mpmath.mpf(got) - want))
    return distance / limit if math.isfinite(got) else inf


def assert_twin(name: str, x: Any, parameters: Parameters, absolute: float = 0.0) -> None:
    got, want = getattr(sg, name)(x, **parameters), TWINS[name](x, **parameters)
    assert type(got) is float
    message = f"{name}(**{parameters}), N={len(x)}: {got!r} is not {mpmath.nstr(want, 17)}"
    assert error(name, x, got, want, absolute) <= 1, message


# By hand


@pytest.mark.parametrize(("name", "parameters", "x", "want"), BY_HAND)
def test_by_hand(name, parameters, x, want):
    x, want = [float(v) for v in x], float(want)
    got = getattr(sg, name)(x, **parameters)
    assert got == want or abs(got - want) <= 1e-14 * max(1.0, abs(want))
    assert sg.measure(x, name, **parameters) == got


def test_every_metric_is_done_by_hand():
    done = [name for name, *_ in BY_HAND]
    assert {name for name in TWINS if done.count(name) < 3} == set()


# The twins


@pytest.mark.parametrize(("name", "parameters", "x", "want"), BY_HAND)
def test_twins_agree_with_the_hand(name, parameters, x, want):
    got = TWINS[name](x, **parameters)
    assert got == float(want) or abs(got - float(want)) <= 1e-15 * max(1.0, abs(float(want)))


@families
def test_twins_agree_with_each_other(family):
    x = FAMILIES[family](30, 3)
    t = SimpleNamespace(**TWINS)
    squares = [mpmath.mpf(v) for v in x]
    with mpmath.workdps(50):
        energy = sum(v**2 for v in squares)
        pairs = {
            "gds 1 is Gini's": (t.gds(x, order=1), t.gini(x)),
            "Gini's over Fractions": (t.gini(x), mpmath.mpf(naive.gini(x).numerator) / naive.gini(x).denominator),
            "gds 2 is Treves and Rolls's": (t.gds(x), t.treves_rolls(x) * (1 - mpmath.mpf(1) / len(x))),
            "gds 1.5": (t.gds(x, order=1.5), naive.gds_mpmath(x, 1.5)),
            "S-Gini 2 is Gini's": (t.s_gini(x, v=2), t.gini(x)),
            "GGI 1 is Gini's": (t.ggi(x, a=1), t.gini(x)),
            "FGGI 1 is GGI": (t.fggi(x, a=3, p=1), t.ggi(x, a=3)),
            "PFGI1 is FGGI": (t.pfgi1(x, p=3), t.fggi(x, a=1, p=3)),
            "PFGI2 1 is GI2": (t.pfgi2(x, p=1), t.gi2(x)),
            "PFGI3 1 is GI3": (t.pfgi3(x, p=1), t.gi3(x)),
            "PFGI2 from PFGI1, PFGI3": (1 - t.pfgi2(x), (1 - t.pfgi1(x)) * (1 - t.pfgi3(x))),
            "PFGI1 from PFGI3": (1 - t.pfgi1(x), mpmath.sqrt(2 - (1 - t.pfgi3(x)) ** -2)),
            "Box-Cox 1 is the kurtosis": (t.box_cox(x, l=1), t.kurtosis(x) + 2),
            "kappa4 is the kurtosis": (t.kappa4(x) * len(x), t.kurtosis(x) + 3),
            "Pastor is the PQ index": (t.pastor(x), t.pq_index(x, p=1, q=2)),
            "pq-mean is the PQ index": (1 + t.pq_mean(x), t.pastor(x)),
            "Hoyer is Pastor": (t.hoyer(x) * (1 - 1 / mpmath.sqrt(30)), t.pastor(x)),
            "Atkinson is the PQ index": (t.atkinson(x, epsilon=0.25), t.pq_index(x, p=0.75, q=1)),
            "H_S is the negentropy": (t.neg_h_s(x) / 2, t.negentropy(x) - mpmath.log(30)),
            "l2/l1 is the numerical sparsity": (t.l2_l1(x) ** -2, -t.neg_numerical_sparsity(x)),
            "D-norm": (t.d_norm(x) ** 2, max(v**2 for v in squares) / energy),
        }
    wrong = [name for name, (a, b) in pairs.items() if abs(a - b) > 1e-28]
    assert not wrong


# The metrics


def test_the_catalogue_is_what_the_twins_cover():
    assert set(sg.METRICS) == set(TWINS)
    assert {name for name, metric in sg.METRICS.items() if metric.parameters} == set(PARAMETERS)
    for name, choices in PARAMETERS.items():
        assert all(list(sg.METRICS[name].parameters) == list(choice) for choice in choices)
        assert {k: p.default for k, p in sg.METRICS[name].parameters.items()} == choices[0]


@metrics
def test_default_parameters(name):
    x = [0.5, -1.25, 3.0, 0.75]
    assert getattr(sg, name)(x) == getattr(sg, name)(x, **parameters_of(name)[0])
    assert error(name, x, getattr(sg, name)(x), TWINS[name](x)) <= 1


@metrics
def test_hand_size(name):
    for x in HAND_SIZE:
        for parameters in parameters_of(name):
            assert_twin(name, x, parameters)


@metrics
@families
def test_families(name, family):
    for n in (1, 2, 3, 10, 100):
        for parameters in parameters_of(name):
            assert_twin(name, FAMILIES[family](n, n), parameters)


@metrics
@pytest.mark.parametrize("family", SCALED)
def test_families_near_the_ends_of_the_range(name, family):
    for n in (1, 3, 20):
        for parameters in parameters_of(name)[:2]:
            assert_twin(name, SCALED[family](n, n), parameters)


@some(NEXT_TO_A_LIMIT)
@families
def test_parameters_next_to_a_limit(name, parameters, family):
    for n in (2, 10, 100):
        assert_twin(name, FAMILIES[family](n, n), parameters, ABSOLUTE)


@some(LARGE)
@families
def test_large_parameters(name, parameters, family):
    for n in (2, 10, 100):
        assert_twin(name, FAMILIES[family](n, n), parameters)


@pytest.mark.parametrize(
    ("name", "parameters", "x"),
    [
        ("neg_lp_neg", {"p": -0.01}, [1e-250, 1.0, 1e100]),
        ("neg_lp_neg", {"p": -0.01}, [5e-324, 1.0]),
        ("neg_lp", {"p": 0.1}, [1e-316, 3e-317, 5e-317]),
        ("neg_tanh", {"a": 1.0, "b": 2.0}, [1e-200]),
        ("neg_log", {}, [1e-160, 1e200]),
        ("pfgi1", {"p": 0.1}, [1.0, 1.0, 1.7e308]),
        ("l2_l1", {}, [5e-324, 5e-324]),
    ],
)
def test_more_decades_than_float64_has_in_one_direction(name, parameters, x):
    assert_twin(name, x, parameters)


@metrics
def test_a_few_ulps_apart(name):
    for ulps in ([0, 1], [39, 40], [0, 0, 1], [0, 1, 3, 4, 7], [2**20, 2**20 + 1]):
        for parameters in parameters_of(name):
            assert_twin(name, 1.0 + 2.0**-52 * np.array(ulps), parameters)


@metrics
def test_a_single_coefficient(name):
    """Nothing to compare it with: 0, and not -0, for every metric that vanishes where all are equal."""
    for parameters in parameters_of(name):
        got = getattr(sg, name)([-2.5], **parameters)
        want = TWINS[name]([-2.5], **parameters)
        assert str(got) == "0.0" if abs(want) < TWIN_NOISE else error(name, [-2.5], got, want) <= 1


@pytest.mark.parametrize(("theta", "n"), [(0.55, 100), (0.07, 100), (0.9, 10), (0.28, 25), (0.29, 100)])
def test_theta_is_what_is_written(theta, n):
    """0.55 of 100 coefficients are 55, although 0.55 * 100 is 55.00000000000001 in floating point."""
    assert_twin("u_theta", np.arange(n) ** 1.5, {"theta": theta})


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
