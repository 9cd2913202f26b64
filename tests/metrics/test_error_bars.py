"""Error bars: the influence of each coefficient, the jackknife, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from error_bar_cases import EVERY, SMOOTH, WHOLE_RANKS, influence, influence_by_weights, signal
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsegauge as sg
from sparsegauge._arrays import as_signals
from sparsegauge.metrics._slopes import distance_sums
from sparsegauge.metrics.catalogue import METRICS
from sparsegauge.metrics.perturbed import PerturbedRows
from sparsegauge.metrics.scales import Scale
from sparsegauge.metrics.weight_tables import WeightTable

# ---- the influence of each coefficient


@pytest.mark.parametrize(("name", "parameters"), EVERY)
@pytest.mark.parametrize("zeros", [False, True])
def test_the_influence_is_the_derivative_with_respect_to_weights(name, parameters, zeros):
    x = signal(zeros=zeros)
    if name in WHOLE_RANKS and not parameters:
        pytest.skip("takes whole weights alone")
    expected = influence_by_weights(x, name, parameters)
    if not math.isfinite(sg.measure(x, name, **parameters)):
        assert np.isnan(influence(x, name, **parameters)).all()
        return
    np.testing.assert_allclose(influence(x, name, **parameters), expected, atol=2e-7 * np.abs(expected).max())


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 2.7, 3.0, 4.0, 5.0])
def test_the_influence_on_the_sparsity_is_its_formula(p):
    """IF_k = h_k/den - S - N S c_k^p/den with h_k = sum_j |c_k - c_j|^p, N times the derivative by a weight."""
    x = signal()
    c, n = np.abs(x), len(x)
    h = (np.abs(c[:, None] - c) ** p).sum(axis=1)
    den = (c**p).sum()
    s = h.sum() / (2 * n * den)
    formula = h / den - s - n * s * c**p / den
    np.testing.assert_allclose(n * influence(x, "gds", order=p), formula, atol=1e-13 * np.abs(formula).max())
    expected = math.sqrt((formula**2).sum() / (n * (n - 1)))
    assert sg.standard_error(x, "gds", order=p) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("p", [1.5, 2.7, 3.0, 5.0, 8.0, 31.0, 129.0, 200.5])
@pytest.mark.parametrize("n", [2, 7, 300, 3000])
def test_sums_of_distances_equal_all_pairs(p, n):
    rng = np.random.default_rng(n)
    c = np.sort(np.ldexp(rng.random(n), -rng.integers(0, 3, n)))
    c[n // 2 : n // 2 + 3] = c[n // 2]
    expected = np.concatenate([(np.abs(part[:, None] - c) ** p).sum(axis=1) for part in np.array_split(c, 20)])
    np.testing.assert_allclose(distance_sums(c, p), expected, rtol=1e-9, atol=2e-13 * expected.max())


# ---- the jackknife


@pytest.mark.parametrize(("name", "parameters"), EVERY)
@pytest.mark.parametrize("zeros", [False, True])
def test_deletions_are_exact(name, parameters, zeros):
    x = signal(zeros=zeros)
    n = len(x)
    metric = METRICS[name]
    arguments = metric.check(parameters) | {key: option.default for key, option in metric.options.items()}
    with np.errstate(all="ignore"):
        rows = PerturbedRows(WeightTable(as_signals(x, axis=-1), 0, 1), delete=True)
        found = metric.kernel(rows, **arguments)
    if name in WHOLE_RANKS and not parameters:
        expected = [sg.measure(np.delete(x, k), name) for k in range(n)]
    else:
        w = np.full(n - 1, n / (n - 1))  # so that the length stays
        expected = [sg.measure(np.delete(x, k), name, weights=w, **parameters) for k in range(n)]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_the_jackknife_is_its_definition():
    x = signal()
    n = len(x)
    left = np.array([sg.gds(np.delete(x, k), 2) for k in range(n)])
    expected = math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    assert sg.standard_error(x, "gds", method="jackknife") == pytest.approx(expected, rel=1e-12)


def test_the_interval_is_its_definition():
    """Jackknife, bias and Satterthwaite's degrees of freedom on the complementary log-log scale, one by one."""
    x = np.abs(signal(60, seed=4))
    n = len(x)
    forward = lambda s: math.log(-math.log(1 - s))  # noqa: E731
    value = forward(sg.gini(x))
    left = np.array([forward(sg.gini(np.delete(x, k))) for k in range(n)])
    error = math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    kurtosis = ((left - left.mean()) ** 4).mean() / ((left - left.mean()) ** 2).mean() ** 2
    reach = scipy.stats.t.ppf(0.95, min(n - 1, 2 * n / (kurtosis - 1))) * error
    middle = value - (n - 1) * (left.mean() - value)
    backward = lambda y: 1 - math.exp(-math.exp(y))  # noqa: E731
    found = sg.confidence_interval(x, "gini", level=0.9)
    assert found == pytest.approx((backward(middle - reach), backward(middle + reach)), rel=1e-9)


EXACT, ROUNDED = {"rtol": 1e-12, "atol": 1e-14}, {"rtol": 1e-8, "atol": 1e-10}


@pytest.mark.parametrize("top", [30.0, 1e5, 1e9, 1e40])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [*(("gds", {"order": order}) for order in (1, 2, 2.5, 3, 4, 8)), ("kurtosis", {}), ("theil", {}), ("hoyer", {})],
)
def test_a_coefficient_that_rules_the_sums_is_deleted_as_exactly_as_others(name, parameters, top):
    x = np.append(np.random.default_rng(8).standard_exponential(30), top)
    n = len(x)
    left = np.array([sg.measure(np.delete(x, k), name, **parameters) for k in range(n)])
    if name == "hoyer":  # at the length of the signal
        left = (math.sqrt(n) - (math.sqrt(n - 1) - left * (math.sqrt(n - 1) - 1)) * math.sqrt(n / (n - 1))) / (
            math.sqrt(n) - 1
        )
    error = math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    assert sg.standard_error(x, name, method="jackknife", **parameters) == pytest.approx(error, rel=1e-8)


PLAIN = [(0, 1), (-1, 0), (0, 0.5), (1, math.inf), (-math.inf, 0), (-math.inf, math.inf)]
GROWING = [(0, 1, 0.5), (-1, 0, 1.0), (0, 1, 3.0), (0, 1, 63.0), (-2, math.inf, 3.0), (0, math.inf, 1.0)]


@pytest.mark.parametrize("bounds", PLAIN + GROWING)
def test_scales_go_there_and_back(bounds):
    scale = Scale(*bounds)
    low, high = max(bounds[0], -5.0), min(bounds[1], 5.0)
    values = np.linspace(low, high, 41)[1:-1]
    places = scale.forward(values)
    assert (np.diff(places) > 0).all()
    # near the end of a scale that has one, places are close together, and their rounding errors count
    np.testing.assert_allclose(scale.backward(places), values, **(EXACT if len(bounds) == 2 else ROUNDED))
    step = 1e-6
    slopes = (scale.forward(values + step) - scale.forward(values - step)) / (2 * step)
    np.testing.assert_allclose(scale.slope(values), slopes, rtol=1e-5)


def test_a_scale_with_growth_ends_at_the_bound_of_the_metric():
    for low, high in ((0.0, 1.0), (-2.0, math.inf)):
        scale = Scale(low, high, 3.0)
        np.testing.assert_array_equal(scale.backward(np.array([-math.log(3.0), 0.0, 9.0])), [high] * 3)
        assert scale.backward(np.array(-800.0)) == low


def test_small_values_have_the_scale_of_errors_in_proportion():
    near_equals = 10.0 + np.random.default_rng(4).random((20, 50))
    for name, parameters in (("gds", {"order": 4}), ("coefficient_of_variation", {}), ("hoyer", {})):
        low, high = sg.confidence_interval(near_equals, name, **parameters)
        values = sg.measure(near_equals, name, **parameters)
        assert (high / values < 2.5).all()
        assert (low / values > 0.4).all()


@pytest.mark.parametrize(
    ("name", "parameters"), [("gds", {"order": 4}), ("kurtosis", {}), ("coefficient_of_variation", {})]
)
def test_intervals_of_high_moments_hold_the_truth_about_as_often_as_they_say(name, parameters):
    rng = np.random.default_rng(1750)  # a seed and a distribution that nothing was chosen on
    quantiles = scipy.stats.weibull_min.ppf((np.arange(200_000) + 0.5) / 200_000, 1.3)
    truth = sg.measure(quantiles, name, **parameters)
    low, high = sg.confidence_interval(rng.weibull(1.3, (600, 50)), name, **parameters)
    assert np.mean((low <= truth) & (truth <= high)) > 0.91


# ---- laws


magnitudes = st.one_of(st.just(0.0), st.sampled_from([1.0, 2.0, 3.0]), st.floats(0.01, 100.0))
SIGNALS = st.lists(magnitudes, min_size=2, max_size=40).map(np.array).filter(lambda x: np.count_nonzero(x) > 1)
SCALE_FREE = [name for name in SMOOTH if "P4" in METRICS[name].claims]


@given(SIGNALS, st.sampled_from(SCALE_FREE), st.sampled_from([2.0**-40, 2.0**30, 1e-250, 1e250]))
@settings(max_examples=150, deadline=None)
def test_the_error_of_a_scale_free_metric_is_scale_free(x, name, unit):
    for method in ("infinitesimal", "jackknife"):
        plain, scaled = (sg.standard_error(values, name, method=method) for values in (x, x * unit))
        assert scaled == pytest.approx(plain, rel=1e-7, abs=1e-9, nan_ok=True)


@given(SIGNALS, st.sampled_from(SMOOTH), st.randoms())
@settings(max_examples=150, deadline=None)
def test_whole_weights_are_copies(x, name, random):
    w = np.array([random.choice([0, 1, 1, 2, 3]) for _ in x], dtype=float)
    w[0] += 1
    copies = np.repeat(x, w.astype(int))
    for method in ("infinitesimal", "jackknife"):
        found = sg.standard_error(x, name, weights=w, method=method)
        assert found == pytest.approx(sg.standard_error(copies, name, method=method), rel=1e-12, nan_ok=True)
    if name not in WHOLE_RANKS and len(copies) > 1:  # and so do weights that are taken for real numbers
        found = sg.standard_error(x, name, weights=w * (1.0 + 1e-13))
        expected = sg.standard_error(copies, name)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7 * np.abs(copies).max(), nan_ok=True)


def test_rounding_errors_of_weights_make_no_zeros_and_leave_kinks_where_they_are():
    for w in ([3, 1, 2], [5, 7, 11], [1, 1, 1]):
        assert sg.standard_error([1, 1, 1], "mean_log_deviation", weights=np.array(w) * (1 + 1e-13)) == 0.0
    w = np.array([1, 1, 1, 2])  # two coefficients equal the mean
    exact, rounded = (sg.standard_error([0, 2, 2, 3], "hoover", weights=w * unit) for unit in (1, 1 + 1e-13))
    assert rounded == pytest.approx(exact, rel=1e-9)


@given(SIGNALS, st.sampled_from(SMOOTH))
@settings(max_examples=150, deadline=None)
def test_intervals_are_ordered_inside_the_bounds_and_nested(x, name):
    low, high = METRICS[name].bounds
    wide, narrow = (sg.confidence_interval(x, name, level=level) for level in (0.99, 0.5))
    if not math.isnan(wide.low):
        assert low <= wide.low <= narrow.low <= narrow.high <= wide.high <= high


@given(SIGNALS)
@settings(max_examples=50, deadline=None)
def test_signs_and_order_do_not_matter(x):
    signed = x * np.where(np.arange(len(x)) % 2, -1.0, 1.0)
    for other in (signed, x[::-1], x + 0j):
        assert sg.standard_error(other, "gini") == pytest.approx(sg.standard_error(x, "gini"), rel=1e-9, abs=1e-14)
