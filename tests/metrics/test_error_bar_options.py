"""Error bars of arrays of every kind, of centred and of dependent signals, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from error_bar_cases import EVERY, REFUSED, SMOOTH, influence, signal

import sparsegauge as sg
from sparsegauge.metrics.catalogue import METRICS

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
