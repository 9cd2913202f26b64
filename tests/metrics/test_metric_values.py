"""The value of every metric, by hand, by its twin, and at its extremes."""

from __future__ import annotations

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from metric_cases import (
    ABSOLUTE,
    HAND_SIZE,
    LARGE,
    NEXT_TO_A_LIMIT,
    PARAMETERS,
    TWIN_NOISE,
    assert_twin,
    error,
    families,
    metrics,
    parameters_of,
    some,
)

import naive
import sparsegauge as sg
from families import FAMILIES, SCALED
from naive_metrics import BY_HAND, TWINS

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
