"""Standard errors and confidence intervals of every metric, against definitions, deletions and the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsegauge as sg
from sparsegauge._arrays import as_signals
from sparsegauge.metrics._slopes import distance_sums
from sparsegauge.metrics.catalogue import METRICS
from sparsegauge.metrics.contributions import ErrorEstimator
from sparsegauge.metrics.perturbed import PerturbedRows
from sparsegauge.metrics.scales import LINEAR, Scale
from sparsegauge.metrics.weight_tables import WeightTable

REFUSED = {"l0", "l0_eps", "d_norm", "crest_factor", "berger_parker", "u_theta"}
SMOOTH = [name for name in METRICS if name not in REFUSED]
WHOLE_RANKS = {"ggi", "fggi"}  # weights that are not whole are refused, unless a = 1
OTHER_PARAMETERS = [
    ("gds", {"order": 1.0}), ("gds", {"order": 1.5}), ("gds", {"order": 3.0}), ("gds", {"order": 4.0}),
    ("gds", {"order": 7.0}), ("gds", {"order": 9.3}), ("ggi", {"a": 1.0}), ("hill", {"q": 0.5}), ("hill", {"q": 2.0}),
    ("renyi", {"q": 1.0}), ("tsallis", {"q": 1.0}), ("tsallis", {"q": 3.5}), ("atkinson", {"epsilon": 1.7}),
    ("generalised_entropy", {"alpha": 1.0}), ("generalised_entropy", {"alpha": -0.5}), ("box_cox", {"l": 0.0}),
    ("s_gini", {"v": 1.3}), ("pq_mean", {"p": 0.5, "q": 3.0}), ("neg_tanh", {"a": 2.0, "b": 0.5}),
]  # fmt: skip
EVERY = [(name, {}) for name in SMOOTH] + OTHER_PARAMETERS


def influence_by_weights(x, name, parameters, step=1e-4):
    """Return the derivative with respect to each weight at a fixed total, by central differences of the metric."""
    n = len(x)
    found = np.empty(n)
    for k in range(n):
        change = -np.full(n, step / n)
        change[k] += step
        above, below = (sg.measure(x, name, weights=1.0 + side * change, **parameters) for side in (1, -1))
        found[k] = (above - below) / (2 * step)
    return found


def influence(x, name, **parameters):
    """Return the contributions of the coefficients as the library has them, which add up to zero."""
    signals = as_signals(x, axis=-1)
    (one,) = ErrorEstimator(name, "infinitesimal", None, None, None, parameters).contributions(signals, LINEAR)
    return one.terms


def signal(n=23, seed=0, zeros=True):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    x[3:6] = 1.5  # ties
    if zeros:
        x[10:14] = 0.0
    return x


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


# ---- shapes, types and what is missing


def test_shapes_are_those_of_every_metric():
    x = np.random.default_rng(1).standard_normal((3, 4, 20))
    one = sg.standard_error(x[1, 2], "gds", order=3)
    assert isinstance(one, float)
    errors = sg.standard_error(x, "gds", order=3)
    assert errors.shape == (3, 4)
    assert errors[1, 2] == one
    assert sg.standard_error(x, "gini", axis=(1, 2)).shape == (3,)
    assert sg.standard_error(x, "gini", axis=0, keepdims=True).shape == (1, 4, 20)
    assert sg.standard_error(x, "gini", axis=None) == sg.standard_error(x.ravel(), "gini")
    low, high = sg.confidence_interval(x, sg.gds, order=3, axis=1, keepdims=True)
    assert low.shape == high.shape == (3, 1, 20)
    assert (low < sg.gds(x, 3, axis=1, keepdims=True)).all()
    assert (sg.gds(x, 3, axis=1, keepdims=True) < high).all()
    assert sg.confidence_interval(x, METRICS["gini"]).low.shape == (3, 4)
    assert sg.standard_error(np.empty((0, 5)), "gini").shape == (0,)
    assert sg.confidence_interval(np.empty((0, 5)), "gini").high.shape == (0,)


def test_nan_policies_and_masks():
    x = np.abs(signal(30))
    holed = x.copy()
    holed[4] = math.nan
    without = sg.standard_error(np.delete(x, 4), "gini")
    assert math.isnan(sg.standard_error(holed, "gini"))
    assert math.isnan(sg.confidence_interval(holed, "gini").high)
    assert sg.standard_error(holed, "gini", nan_policy="omit") == pytest.approx(without, rel=1e-14)
    assert sg.standard_error(np.ma.masked_invalid(holed), "gini") == pytest.approx(without, rel=1e-14)
    with pytest.raises(sg.InvalidInput, match="1 NaN"):
        sg.standard_error(holed, "gini", nan_policy="raise")
    table = sg.standard_error([holed, x, np.full(30, math.nan)], "gini", nan_policy="omit")
    np.testing.assert_allclose(table, [without, sg.standard_error(x, "gini"), math.nan], rtol=1e-14)


@pytest.mark.parametrize(("name", "parameters"), EVERY)
def test_sparse_arrays_equal_dense_ones(name, parameters):
    matrix = scipy.sparse.random_array((4, 50), density=0.3, rng=np.random.default_rng(5), format="csr")
    for method in ("infinitesimal", "jackknife"):
        found = sg.standard_error(matrix, name, method=method, **parameters)
        expected = sg.standard_error(matrix.toarray(), name, method=method, **parameters)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(
        sg.confidence_interval(matrix, name, **parameters),
        sg.confidence_interval(matrix.toarray(), name, **parameters),
        rtol=1e-8,
    )


def test_float32_and_integers_give_float64():
    x = np.random.default_rng(2).standard_normal((3, 40)).astype(np.float32)
    errors = sg.standard_error(x, "gds")
    assert errors.dtype == np.float64
    np.testing.assert_array_equal(errors, sg.standard_error(x.astype(np.float64), "gds"))
    assert sg.standard_error([1, 2, 4], "gini") == sg.standard_error([1.0, 2.0, 4.0], "gini")


@pytest.mark.parametrize("name", SMOOTH)
def test_constant_zero_and_short_signals(name):
    one = sg.measure([3.0, 3.0, 3.0], name)
    assert sg.standard_error([3.0, -3.0, 3.0], name) == 0.0
    assert sg.confidence_interval([3.0, 3.0, 3.0], name) == pytest.approx((one, one), rel=1e-9, abs=1e-12)
    assert math.isnan(sg.standard_error([3.0], name))
    assert math.isnan(sg.confidence_interval([3.0], name).low)
    assert math.isnan(sg.standard_error([0.0, 0.0, 0.0], name))
    assert math.isnan(sg.confidence_interval([0.0, 0.0], name).high)
    assert sg.standard_error([1.0, 2.0], name) >= 0.0
    low, high = sg.confidence_interval([1.0, 2.0], name)
    assert low <= high


def test_a_batch_equals_its_signals():
    x = np.random.default_rng(8).standard_normal((300, 700))  # of several tables
    one_by_one = [sg.standard_error(row, "gds", order=1) for row in x]
    np.testing.assert_allclose(sg.standard_error(x, "gds", order=1), one_by_one, rtol=1e-13)


# ---- the mean that is subtracted


def test_centring_counts_the_error_of_the_mean():
    rng = np.random.default_rng(3)
    x = (rng.random(400) < 0.1) + 0.1 * rng.standard_normal(400)
    resampled = x[rng.integers(0, 400, (4000, 400))]
    bootstrap = sg.gds(resampled, 2, center="mean").std()
    found = sg.standard_error(x, "gds", center="mean")
    assert found == pytest.approx(bootstrap, rel=0.06)
    assert abs(sg.standard_error(x - x.mean(), "gds") - bootstrap) > 0.1 * bootstrap  # a known mean is another matter
    shifted = [sg.gds(np.delete(x, k), 2, center="mean") for k in range(400)]
    jackknife = math.sqrt(399 / 400 * ((shifted - np.mean(shifted)) ** 2).sum())
    assert found == pytest.approx(jackknife, rel=0.02)
    assert sg.standard_error(x, "gds", center="mean", method="jackknife") == pytest.approx(jackknife, rel=0.02)


# ---- blocks


def autoregressive(n, correlation, rows, seed):
    """Return signals of which neighbours are correlated, from the stationary start on."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((rows, n))
    x = np.empty((rows, n))
    x[:, 0] = noise[:, 0]
    for k in range(1, n):
        x[:, k] = correlation * x[:, k - 1] + math.sqrt(1 - correlation**2) * noise[:, k]
    return x


def test_blocks_are_their_definition():
    x = autoregressive(60, 0.7, 1, 1)[0]
    n, b = len(x), 7
    u = influence(x, "gini")
    sums = [u[k : k + b].sum() for k in range(n - b + 1)]
    expected = math.sqrt(n**2 / (b * (n - b) * (n - b + 1)) * np.sum(np.square(sums)))
    assert sg.standard_error(x, "gini", blocks=b) == pytest.approx(expected, rel=1e-12)
    assert sg.standard_error(x, "gini", blocks=1) == pytest.approx(sg.standard_error(x, "gini"), rel=1e-12)


def test_blocks_see_the_dependence():
    x = autoregressive(2000, 0.9, 200, 2)
    truth = sg.gini(x).std()
    alone, blocked = (sg.standard_error(x, "gini", blocks=blocks).mean() for blocks in (None, "auto"))
    assert alone < 0.65 * truth
    assert blocked == pytest.approx(truth, rel=0.15)
    independent = np.random.default_rng(4).standard_normal((50, 500))
    found = sg.standard_error(independent, "gini", blocks="auto").mean()
    assert found == pytest.approx(sg.standard_error(independent, "gini").mean(), rel=0.05)


# ---- the bootstrap, and how often intervals are right


@pytest.mark.parametrize(("name", "parameters"), [("gds", {"order": 1.5}), ("hoyer", {}), ("theil", {}), ("ggi", {})])
def test_the_error_is_that_of_the_bootstrap(name, parameters):
    rng = np.random.default_rng(6)
    x = rng.exponential(size=500)
    values = sg.measure(x[rng.integers(0, 500, (3000, 500))], name, **parameters)
    for method in ("infinitesimal", "jackknife"):
        assert sg.standard_error(x, name, method=method, **parameters) == pytest.approx(values.std(), rel=0.08)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential", "sparse"])
def test_intervals_hold_the_truth_often_enough(order, draw):
    rng = np.random.default_rng(7)
    size = (1500, 50)
    x = {
        "normal": rng.standard_normal,
        "uniform": rng.random,
        "exponential": rng.standard_exponential,
        "sparse": lambda size: rng.standard_normal(size) * (rng.random(size) < 0.4),
    }[draw](size)
    half = math.sqrt(2) - 1
    gini = {"normal": half, "uniform": 1 / 3, "exponential": 1 / 2, "sparse": 0.6 + 0.4 * half}
    second = {"normal": 1 - 2 / math.pi, "uniform": 1 / 4, "exponential": 1 / 2, "sparse": 1 - 0.8 / math.pi}
    truth = (gini if order == 1 else second)[draw]
    low, high = sg.confidence_interval(x, "gds", order=order)
    assert 0.91 < np.mean((low <= truth) & (truth <= high)) < 0.98  # 92 to 97 % with the error of 1500 signals


# ---- what is refused


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_metrics_without_an_error_say_why(name):
    with pytest.raises(sg.InvalidInput, match=f"{name} has no standard error: it (counts|depends)"):
        sg.standard_error([1, 2, 3], name)
    with pytest.raises(sg.InvalidInput, match="no standard error"):
        sg.confidence_interval([1, 2, 3], name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "gds", "order": math.inf}, "counts"),
        ({"metric": "hill", "q": 0}, "counts"),
        ({"metric": "renyi", "q": math.inf}, "largest"),
        ({"metric": "ginni"}, "did you mean"),
        ({"metric": "gds", "ordr": 2}, "did you mean 'order'"),
        ({"metric": "gini", "method": "bootstrap"}, "infinitesimal"),
        ({"metric": "gini", "blocks": 0}, "at least 1"),
        ({"metric": "gini", "blocks": "automatic"}, "'auto'"),
        ({"metric": "gini", "blocks": 5}, "a quarter"),
        ({"metric": "gini", "blocks": 1, "weights": [1] * 8}, "cannot have weights"),
        ({"metric": "gini", "center": "median"}, "median"),
        ({"metric": "ggi", "weights": [0.5] * 8}, "whole"),
        ({"metric": "gini", "axis": 4}, "axis"),
        ({"metric": "gini", "keepdims": 1}, "keepdims"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(arguments, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.standard_error(np.arange(8.0), **arguments)


def test_more_bad_arguments():
    x = np.arange(24.0).reshape(2, 12)
    for level in (0, 1, 95, "high", True):
        with pytest.raises(sg.InvalidInput, match="level"):
            sg.confidence_interval(x, "gini", level=level)
    with pytest.raises(sg.InvalidInput, match="toarray"):
        sg.standard_error(scipy.sparse.csr_array(x), "gini", blocks=2)
    with pytest.raises(sg.InvalidInput, match="one dimension"):
        sg.standard_error(x, "gini", blocks=2, axis=None)
    with pytest.raises(sg.InvalidInput, match="complex"):
        sg.standard_error(x + 1j, "gini", center="mean")


def test_a_metric_of_your_own_has_an_error():
    @sg.metric(formula="l1^2/l2^2", meaning="an effective number", reference="none")
    def effective(row):
        return row.l1**2 / row.squares

    @sg.metric(formula="median/mean", meaning="how far the median is below the mean", reference="none")
    def median_ratio(row):
        return row.each(lambda c: float(np.median(c) / c.mean()))

    @sg.metric(formula="sinh", meaning="none", reference="none")
    def strange(row):
        return np.sinh(row.l1 / row.N)

    try:
        x = np.abs(signal(30))
        expected = sg.standard_error(x, "neg_numerical_sparsity")
        assert sg.standard_error(x, effective) == pytest.approx(expected, rel=1e-12)
        left = np.array([np.median(np.delete(x, k)) / np.delete(x, k).mean() for k in range(30)])
        jackknife = math.sqrt(29 / 30 * ((left - left.mean()) ** 2).sum())
        for method in ("infinitesimal", "jackknife"):
            assert sg.standard_error(x, median_ratio, method=method) == pytest.approx(jackknife, rel=1e-12)
        with pytest.raises(sg.InvalidInput, match="sinh, whose derivative is not known"):
            sg.standard_error(x, strange)
    finally:
        for name in ("effective", "median_ratio", "strange"):
            METRICS.unregister(name)
