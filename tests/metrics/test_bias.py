"""`bias=False`: the estimates without bias that fields use, and what they cost."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

import sparsegauge as sg

UNBIASED = ("gini", "kurtosis", "coefficient_of_variation", "herfindahl")
RNG = np.random.default_rng(12)
X = np.abs(RNG.standard_normal(17)) + 0.1


def test_the_gini_index_without_bias_is_over_pairs_of_different_coefficients():
    pairs = np.mean([abs(a - b) for a, b in combinations(X, 2)])
    assert sg.gini(X, bias=False) == pytest.approx(pairs / (2 * X.mean()), rel=1e-13)
    assert sg.gini([0, 0, 7], bias=False) == 1.0
    assert sg.gini([3], bias=False) == 0.0


def test_the_coefficient_of_variation_without_bias_is_that_of_scipy():
    assert sg.coefficient_of_variation(X, bias=False) == pytest.approx(scipy.stats.variation(X, ddof=1), rel=1e-13)
    assert sg.coefficient_of_variation(X) == pytest.approx(scipy.stats.variation(X), rel=1e-13)


def test_the_kurtosis_without_bias_is_a_ratio_of_unbiased_moments():
    squares = np.mean([a**2 * b**2 for a, b in combinations(X, 2)])
    assert sg.kurtosis(X, bias=False) == pytest.approx(np.mean(X**4) / squares - 3, rel=1e-12)
    assert sg.kurtosis([0, 5, 0], bias=False) == math.inf
    noise = RNG.standard_normal((20_000, 30))
    plain, unbiased = (sg.kurtosis(noise, bias=bias).mean() for bias in (True, False))
    assert abs(unbiased) < 0.03 < abs(plain)


def test_simpsons_estimate_from_counts_is_without_bias():
    shares = np.array([0.5, 0.2, 0.2, 0.1])
    counts = RNG.multinomial(12, shares, size=40_000)
    n = counts[0].sum()
    one = counts[0]
    assert sg.herfindahl(one, bias=False) == pytest.approx((one * (one - 1)).sum() / (n * (n - 1)), rel=1e-12)
    found = sg.herfindahl(counts, bias=False)
    assert found.mean() == pytest.approx((shares**2).sum(), abs=4 * found.std() / math.sqrt(len(found)))
    assert sg.herfindahl(counts).mean() > found.mean() + 0.03
    assert math.isnan(sg.herfindahl([1, 0], bias=False))


@pytest.mark.parametrize("name", UNBIASED)
def test_which_laws_are_left(name):
    metric = sg.METRICS[name].function
    x = np.array([0.0, 1.0, 2.0, 5.0])
    value = metric(x, bias=False)
    assert metric(x[::-1], bias=False) == pytest.approx(value, rel=1e-13)
    assert metric(np.tile(x, 3), bias=False) != pytest.approx(value, rel=1e-3)  # cloning is lost
    same_scale = metric(3 * x, bias=False) == pytest.approx(value, rel=1e-12)
    assert same_scale == (name != "herfindahl")
    assert metric(x) == metric(x, bias=True)
    assert metric(x, weights=[2, 1, 1, 3], bias=False) == pytest.approx(
        metric([0, 0, 1, 2, 5, 5, 5], bias=False), rel=1e-13
    )
    assert metric(x, weights=[2.5, 1, 1, 3], bias=False) > 0 or name == "kurtosis"
    np.testing.assert_allclose(metric([x, 2 * x], bias=False)[0], value)


@pytest.mark.parametrize("name", UNBIASED)
def test_tensors_and_error_bars_take_it(name):
    strict = pytest.importorskip("array_api_strict")
    found = sg.METRICS[name].function(strict.asarray(X), bias=False)
    assert float(found) == pytest.approx(sg.METRICS[name].function(X, bias=False), rel=1e-11)
    assert sg.standard_error(X, name, bias=False) > 0
    if name in ("gini", "coefficient_of_variation"):
        factor = sg.METRICS[name].function(X, bias=False) / sg.METRICS[name].function(X)
        assert sg.standard_error(X, name, bias=False) == pytest.approx(factor * sg.standard_error(X, name), rel=1e-9)


@pytest.mark.parametrize("bias", [0, "no", None])
def test_other_values_are_refused(bias):
    with pytest.raises(sg.InvalidInput, match="bias must be True or False"):
        sg.gini(X, bias=bias)
