"""SciPy's conventions of reductions, for every metric: several axes, keepdims, weights, and centred signals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

import sparsegauge as sg
from sparsegauge._arrays import reductions

RNG = np.random.default_rng(11)
X = RNG.standard_normal((3, 4, 5)).round(2)
X[0, 0] = 0.0
METRICS = pytest.mark.parametrize("name", list(sg.METRICS))
WHOLE_RANKS = {"ggi", "fggi"}  # at their defaults these weigh by whole ranks


def near(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


@METRICS
@pytest.mark.parametrize("axis", [0, -1, (0, 1), (1, 2), (2, 0), (-1, 1), (0, 1, 2), None, (1,)])
def test_axes_and_keepdims_are_those_of_numpy(name, axis):
    got = sg.measure(X, name, axis=axis)
    axes = range(3) if axis is None else [k % 3 for k in np.atleast_1d(axis)]
    others = [k for k in range(3) if k not in axes]
    rows = X.transpose([*others, *sorted(axes)]).reshape([X.shape[k] for k in others] + [-1])
    np.testing.assert_array_equal(got, sg.measure(rows, name))
    kept = sg.measure(X, name, axis=axis, keepdims=True)
    assert kept.shape == np.sum(X, axis=axis, keepdims=True).shape
    np.testing.assert_array_equal(np.squeeze(kept), got)
    assert isinstance(got, float) == (len(others) == 0)


@METRICS
def test_float64_comes_back_whatever_came(name):
    for dtype in (np.float32, np.float16, np.int8, np.complex64):
        values = sg.measure((10 * X).astype(dtype), name, axis=(0, 1), zero=0.0)
        assert values.dtype == np.float64


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ((0, 0), "each dimension once"),
        ((0, -3), "each dimension once"),
        ((), "at least one"),
        ((0, 3), "axis 3 is out of range"),
        ((0, 1.0), "axis must be an integer"),
        ((0, None), "each dimension once"),
        ([0, 1], "axis must be an integer.*name several dimensions in a tuple"),
        (True, "axis must be an integer"),
    ],
)
def test_bad_axes(axis, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.gini(X, axis=axis, keepdims=True)


def test_bad_options():
    with pytest.raises(sg.InvalidInput, match="keepdims must be True or False, got 1"):
        sg.gini(X, keepdims=1)
    with pytest.raises(sg.InvalidInput, match="center must be one of 'mean', 'median', got 'mode'"):
        sg.gini(X, center="mode")
    with pytest.raises(sg.InvalidInput, match="nan_policy must be one of"):
        sg.gini(X, center="mean", nan_policy="drop")
    with pytest.raises(sg.InvalidInput, match="center='median' needs real numbers"):
        sg.gini(X + 1j, center="median")


def test_masks_nan_and_sparse_arrays_go_along():
    x = X.copy()
    x[1, 2, 3] = math.nan
    masked = np.ma.masked_invalid(x)
    expected = [sg.gini(row[~np.isnan(row)]) for row in x.reshape(3, -1)]
    np.testing.assert_array_equal(sg.gini(masked, axis=(1, 2)), expected)
    np.testing.assert_array_equal(sg.gini(x, axis=(1, 2), nan_policy="omit"), expected)
    assert np.isnan(sg.gini(x, axis=(1, 2))).tolist() == [False, True, False]
    with pytest.raises(sg.InvalidInput, match="1 NaN"):
        sg.gini(x, axis=(1, 2), nan_policy="raise")
    sparse = scipy.sparse.csr_array(X[0])
    near(sg.gini(sparse, axis=(0, 1)), sg.gini(X[0], axis=None))
    near(sg.gini(sparse, axis=(1,), keepdims=True), sg.gini(X[0], axis=1, keepdims=True))
    large = RNG.standard_normal((40, 50, 100)).astype(np.float32)
    np.testing.assert_array_equal(sg.gds(large, axis=(1, 2)), sg.gds(large.reshape(40, -1)))


def test_profiles_take_the_same_options():
    orders = [1, 2, 2.5]
    w = RNG.random(X.shape)
    for options in ({"axis": (0, 2), "keepdims": True}, {"weights": w}, {"center": "mean", "axis": None}):
        expected = [sg.gds(X, order, **options) for order in orders]
        np.testing.assert_array_equal(sg.gds_profile(X, orders, **options), expected)
    assert sg.gds_profile(X, [], axis=(0, 1), keepdims=True).shape == (0, 1, 1, 5)


# ---- weights


def signals_with_weights():
    for size in (1, 2, 7, 30):
        x = RNG.standard_normal(size).round(1) * 10.0 ** RNG.integers(-3, 3)
        x[RNG.random(size) < 0.3] = 0.0
        if not x.any():
            x[0] = 1.0
        yield x, RNG.integers(0, 5, size).astype(float) + (np.arange(size) == np.argmax(np.abs(x)))


@METRICS
def test_whole_weights_are_copies_bit_for_bit(name):
    for x, w in signals_with_weights():
        assert sg.measure(x, name, weights=w) == sg.measure(np.repeat(x, w.astype(int)), name)


@METRICS
def test_the_statistics_with_weights_agree_with_copies(name, monkeypatch):
    monkeypatch.setattr(reductions, "LARGEST_REPETITION", -1)
    for x, w in signals_with_weights():
        copies = np.repeat(x, w.astype(int))
        if name in WHOLE_RANKS:
            with pytest.raises(sg.InvalidInput, match="cannot take weights that are not whole"):
                sg.measure(x, name, weights=w)
            x_a1 = sg.measure(x, name, weights=w, a=1.0)
            near(x_a1, sg.measure(copies, name, a=1.0))
        else:
            near(sg.measure(x, name, weights=w), sg.measure(copies, name))


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 4, 7, 2.5, 30, math.inf])
@pytest.mark.parametrize("method", ["auto", "definition"])
def test_orders_with_weights(order, method, monkeypatch):
    monkeypatch.setattr(reductions, "LARGEST_REPETITION", -1)
    for x, w in signals_with_weights():
        near(sg.gds(x, order, weights=w, method=method), sg.gds(np.repeat(x, w.astype(int)), order))


@pytest.mark.parametrize("name", [name for name, metric in sg.METRICS.items() if "P6" in metric.claims])
def test_the_scale_of_the_weights_does_not_matter_where_copies_do_not(name):
    for x, w in signals_with_weights():
        for scale in (0.5, 1 / 3, 1e-3 * math.pi):
            near(sg.measure(x, name, weights=w * scale), sg.measure(x, name, weights=w))


@METRICS
def test_a_weight_of_zero_is_absence(name):
    x, w = np.array([3.0, math.nan, 1.0, 5.0, 0.0]), np.array([2.0, 0.0, 1.0, 0.0, 1.0])
    assert sg.measure(x, name, weights=w) == sg.measure([3.0, 3.0, 1.0, 0.0], name)
    assert math.isnan(sg.measure([1.0, 2.0], name, weights=[0, 0]))
    assert sg.measure([0.0, 2.0], name, weights=[2, 0], zero=7.0) == 7.0
    if name not in WHOLE_RANKS:
        assert sg.measure([0.0, 2.0], name, weights=[0.5, 0], zero=7.0) == 7.0
        near(sg.measure(x, name, weights=w / 4), sg.measure([3.0, 1.0, 0.0], name, weights=[0.5, 0.25, 0.25]))


def test_weights_of_batches_axes_and_sparse_arrays():
    w = RNG.random((3, 4, 5)).round(1)
    got = sg.gini(X, axis=(0, 2), weights=w, keepdims=True)
    assert got.shape == (1, 4, 1)
    near(got.ravel(), [sg.gini(X[:, k].ravel(), weights=w[:, k].ravel()) for k in range(4)])
    common = np.array([0.5, 1.5, 0.0, 2.0])
    near(
        sg.hoyer(X, axis=1, weights=common),
        [[sg.hoyer(X[i, :, k], weights=common) for k in range(5)] for i in range(3)],
    )
    table = np.where(RNG.random((6, 8)) < 0.6, 0.0, RNG.standard_normal((6, 8)))
    for scale in (1.0, 0.3):
        w8 = scale * RNG.integers(1, 4, 8)
        for name in ("gds", "gini", "hoyer", "theil", "l0", "u_theta", "pq_index"):
            near(
                sg.measure(scipy.sparse.csr_array(table), name, weights=w8, zero=-1.0),
                sg.measure(table, name, weights=w8, zero=-1.0),
            )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], "not negative, got -1.0"),
        ([1.0, math.nan], "weights must be finite"),
        ([1.0, math.inf], "weights must be finite"),
        ([1.0], r"weights must have the shape of x, \(2,\)"),
        ([1j, 1], "weights must be real"),
        (["1", "2"], "weights must hold real or complex numbers"),
        (2.0, "weights must be an array of at least one dimension"),
        ([1e308, 1e308], "the largest weight must be between 1e-100 and 1e\\+100"),
        ([1e-320, 0.0], "the largest weight must be between"),
        (["a", "b"], "numbers"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.gini([1.0, 2.0], weights=weights)


@METRICS
def test_whole_weights_of_sparse_arrays_are_copies(name):
    x = np.array([[0.0, 3.0, 0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0, 4.0, 4.0]])
    w = np.array([2.0, 1.0, 3.0, 0.0, 2.0, 1.0])
    near(sg.measure(scipy.sparse.csr_array(x), name, weights=w), sg.measure(x, name, weights=w))


def test_weights_in_the_shape_of_a_signal_of_several_dimensions():
    w = RNG.random((4, 5))
    near(sg.gini(X, axis=(1, 2), weights=w), [sg.gini(x.ravel(), weights=w.ravel()) for x in X])
    table = np.where(X[0] > 0.3, X[0], 0.0)
    near(sg.gini(scipy.sparse.csr_array(table), axis=None, weights=w), sg.gini(table, axis=None, weights=w))


def test_the_papers_formulas_know_no_weights():
    with pytest.raises(sg.InvalidInput, match="no formulas for weights"):
        sg.gds([1.0, 2.0], 3, weights=[0.5, 1.5], method="paper")


# ---- center


@METRICS
def test_centred_signals(name):
    x = X.reshape(3, -1) + 100.0
    near(sg.measure(x, name, center="median"), sg.measure(x - np.median(x, axis=1, keepdims=True), name))
    exact = x - x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(sg.measure(x, name, center="mean"), sg.measure(exact, name), rtol=1e-9, atol=1e-9)


def test_gravity_hides_what_a_signal_does():
    shocks = np.zeros(1000)
    shocks[::100] = 3.0
    x = shocks - shocks.mean() + 9.81
    assert sg.gds(x) < 0.02
    assert sg.gds(x, center="mean") > 0.5


def test_a_constant_is_zero_when_centred():
    for center in ("mean", "median"):
        assert math.isnan(sg.gds(np.full(10, 0.1), center=center))
        assert sg.gini(np.full(10, 0.1), center=center, zero=5.0) == 5.0


def test_centring_with_nan_masks_weights_complex_and_sparse_values():
    x = np.array([1.0, 2.0, math.nan, 6.0])
    assert sg.gini(x, center="mean", nan_policy="omit") == sg.gini([-2.0, -1.0, 3.0])
    assert math.isnan(sg.gini(x, center="mean"))
    assert sg.gini(np.ma.masked_invalid(x), center="median") == sg.gini([-1.0, 0.0, 4.0])
    w = np.array([2.0, 1.0, 1.0])
    for center in ("mean", "median"):
        near(sg.gds([1.0, 5.0, 9.0], 3, center=center, weights=w), sg.gds([1.0, 1.0, 5.0, 9.0], 3, center=center))
    z = np.array([1 + 1j, 3 - 1j, 5 + 3j])
    near(sg.gini(z, center="mean"), sg.gini(z - z.mean()))
    sparse = scipy.sparse.csr_array([[0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])
    near(sg.hoyer(sparse, center="mean"), sg.hoyer(sparse.toarray(), center="mean"))
