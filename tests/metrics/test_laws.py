"""The laws of S_p, on whatever signals Hypothesis thinks of.

Each is an identity of the exact metric, so both of its sides may differ by their rounding errors only: by nothing at
all where the same numbers go through the same operations, else by the promised 1e-12.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import sparsegauge as sg
from strategies import (
    batches,
    extreme_signals,
    integer_orders,
    integer_signals,
    law,
    low_orders,
    moderate_signals,
    orders,
    positive_signals,
    separated_signals,
    signals,
)

TOLERANCE = 1e-12
GRADIENT_TOLERANCE = 1e-10
GRAIN = 2 * 5e-324  # a gradient below 1e-308 is rounded to a multiple of 5e-324, once or twice
NEGLIGIBLE = 1e-289  # S_p is not promised any digits below 1e-290


def assert_close(got: float, want: float, tolerance: float = TOLERANCE) -> None:
    assert got >= 0.0
    assert abs(got - want) <= tolerance * max(got, want) or max(got, want) < NEGLIGIBLE, f"{got!r} is not {want!r}"


# Invariances


@law
@given(signals, orders, st.integers(-600, 600))
def test_scaling_by_a_power_of_two_changes_nothing(x, p, exponent):
    assert sg.gds(np.ldexp(x, exponent), p) == sg.gds(x, p)


@law
@given(integer_signals, orders, st.integers(2, 2**30))
def test_scaling_by_an_integer(x, p, factor):
    """Integers, so that the products are exact: else the factor would round the signal itself."""
    assert_close(sg.gds(factor * x, p), sg.gds(x, p))


@law
@given(signals, orders, st.randoms(use_true_random=False))
def test_permutation(x, p, random):
    order = random.sample(range(len(x)), len(x))
    assert_close(sg.gds(x[order], p), sg.gds(x, p))


@law
@given(signals, orders)
def test_signs_do_not_matter(x, p):
    assert sg.gds(-x, p) == sg.gds(np.abs(x), p) == sg.gds(x, p)


@law
@given(signals, orders, st.integers(2, 5))
def test_cloning(x, p, copies):
    assert_close(sg.gds(np.tile(x, copies), p), sg.gds(x, p))


# Zeros


@law
@given(signals, orders)
def test_one_more_zero(x, p):
    n = len(x)
    assert_close(sg.gds([*x, 0.0], p), (n * sg.gds(x, p) + 1) / (n + 1))


@law
@given(positive_signals, orders, st.integers(1, 200))
def test_zeros_factor_out(x, p, zeros):
    share = zeros / (zeros + len(x))
    assert_close(sg.gds(np.concatenate([np.zeros(zeros), x]), p), share + (1 - share) * sg.gds(x, p))


@law
@given(signals, orders, st.sampled_from(["csr", "csc", "coo"]))
def test_a_sparse_array_is_its_dense_self(x, p, layout):
    sparse = scipy.sparse.coo_array(x[np.newaxis]).asformat(layout)
    assert_close(sg.gds(sparse, p)[0], sg.gds(x, p))


@law
@given(signals)
def test_infinite_order_is_the_fraction_of_zeros(x):
    assert sg.gds(x, math.inf) == np.count_nonzero(x == 0.0) / len(x)


@law
@given(st.integers(1, 300), orders, st.sampled_from([0.0, 1.0, math.inf]))
def test_only_zeros_give_what_the_caller_said(n, p, zero):
    assert sg.gds(np.zeros(n), p, zero=zero) == zero
    assert math.isnan(sg.gds(np.zeros(n), p))


# Range


@law
@given(signals, orders)
def test_range(x, p):
    assert 0.0 <= sg.gds(x, p) <= (len(x) - 1) / len(x)


@law
@given(st.floats(5e-324, 1.7e308), st.integers(1, 700), orders)
@example(0.1, 700, 2)
@example(5e-324, 257, 64)
@example(1.7e308, 300, 3)
def test_equal_magnitudes_give_exactly_zero(value, n, p):
    assert sg.gds(value * np.resize([1.0, -1.0], n), p) == 0.0


@law
@given(st.floats(5e-324, 1.7e308), st.integers(0, 300), orders)
def test_one_spike_is_the_sparsest(value, zeros, p):
    assert_close(sg.gds([*np.zeros(zeros), value], p), zeros / (zeros + 1))


# What it is


@law
@given(signals)
def test_order_one_is_the_gini_index(x):
    assert_close(sg.gds(x, 1), float(naive.gini(x)))


@law
@given(signals)
def test_order_two_is_one_less_a_ratio_of_norms(x):
    c = naive.magnitudes(x)
    assert_close(sg.gds(x, 2), float(1 - sum(c) ** 2 / (len(c) * sum(v * v for v in c))))


@law
@given(signals, integer_orders)
def test_any_integer_order_is_the_definition(x, p):
    assert_close(sg.gds(x, p), float(naive.gds_exact(x, p)))


@law
@given(st.one_of(signals, extreme_signals), orders)
def test_any_order_is_the_definition(x, p):
    assert_close(sg.gds(x, p), float(naive.LongPairs(x).sparsity([p])[0]), 1e-11)


@law
@given(signals, orders)
def test_method_definition(x, p):
    assert_close(sg.gds(x, p, method="definition"), sg.gds(x, p))


@law
@given(integer_signals.filter(lambda x: len(x) > 1), st.integers(1, 6))
def test_method_paper(x, p):
    """Its formulas cancel, the more the higher the order: so few digits, low orders and an absolute tolerance."""
    assert abs(sg.gds(x, p, method="paper") - sg.gds(x, p)) <= 1e-10


# Many signals, many orders


@law
@given(batches(), orders, st.data())
def test_a_batch_equals_its_signals_one_by_one(x, p, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    rows = np.moveaxis(x, axis, -1)
    singly = [sg.gds(rows[k], p) for k in np.ndindex(rows.shape[:-1])]
    assert np.array_equal(sg.gds(x, p, axis=axis), np.reshape(singly, rows.shape[:-1]), equal_nan=True)


@law
@given(batches(), orders, st.data())
def test_the_gradient_of_a_batch_equals_those_of_its_signals(x, p, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    rows = np.moveaxis(x, axis, -1)
    got = np.moveaxis(sg.gds_gradient(x, p, axis=axis), axis, -1)
    for k in np.ndindex(rows.shape[:-1]):
        assert np.array_equal(got[k], sg.gds_gradient(rows[k], p), equal_nan=True)


@law
@given(batches(), st.lists(st.one_of(orders, st.just(math.inf)), max_size=5))
def test_a_profile_equals_its_orders_one_by_one(x, several):
    singly = [sg.gds(x, p) for p in several]
    got = sg.gds_profile(x, several)
    assert got.shape == (len(several), *x.shape[:-1])
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(got, singly, strict=True))


@law
@given(batches(), orders)
def test_the_whole_array_is_its_flat_self(x, p):
    assert sg.gds(x, p, axis=None) == sg.gds(x.ravel(), p) or not x.any()


@pytest.mark.parametrize("order", [1, 2, 3, 30, 1.5, math.inf])
def test_long_rows_in_a_batch_equal_themselves_alone(order):
    """Rows that are worth several threads take another way."""
    x = np.random.default_rng(0).standard_normal((3, 140_000))
    x[:, ::7] = 0.0
    assert np.array_equal(sg.gds(x, order), [sg.gds(row, order) for row in x])
    if order < math.inf:
        assert np.array_equal(sg.gds_gradient(x, order), [sg.gds_gradient(row, order) for row in x])


# The gradient


@law
@given(moderate_signals, st.one_of(orders, low_orders))
def test_gradient_is_orthogonal_to_the_signal(x, p):
    """S_p(t x) = S_p(x), so S_p does not change along x."""
    terms = x * sg.gds_gradient(x, p)
    assert abs(math.fsum(terms)) <= GRADIENT_TOLERANCE * math.fsum(np.abs(terms)) + GRAIN * math.fsum(np.abs(x))


def assert_quotient_rule(x: np.ndarray, p: float) -> None:
    want = naive.LongPairs(x).gradient(p)
    largest = np.max(np.abs(want))
    if largest < np.finfo(np.float64).max:
        error = np.max(np.abs(sg.gds_gradient(x, p) - want))
        assert error <= GRADIENT_TOLERANCE * largest + GRAIN


@law
@given(signals, st.one_of(orders, low_orders))
def test_gradient_is_the_quotient_rule(x, p):
    assert_quotient_rule(x, p)


@law
@given(extreme_signals, orders.filter(lambda p: p == 1 or p >= 1.1))
@example(np.array([1e300, 1e-30]), 1)
def test_gradient_is_the_quotient_rule_over_600_decades(x, p):
    """Not at orders next to 1, where d^(p-1) still counts although d / max d is below float64's range."""
    assert_quotient_rule(x, p)


@law
@given(signals, st.one_of(orders, low_orders))
def test_equal_magnitudes_have_equal_slopes(x, p):
    gradient = np.sign(x) * sg.gds_gradient(x, p)
    first = [int(np.flatnonzero(np.abs(x) == abs(v))[0]) for v in x]
    assert np.max(np.abs(gradient - gradient[first])) <= GRADIENT_TOLERANCE * np.max(np.abs(gradient))


@law
@given(separated_signals, st.integers(1, 30))
def test_gradient_is_the_limit_of_differences(x, p):
    """Central differences without rounding, whose error is that of the step alone: h^2."""
    step = 2.0**-20
    gradient = sg.gds_gradient(x, p)
    for k in range(len(x)):
        h = np.where(np.arange(len(x)) == k, step, 0.0)
        slope = float((naive.gds_exact(x + h, p) - naive.gds_exact(x - h, p)) / 2) / step
        assert abs(gradient[k] - slope) <= 1e-8 * np.max(np.abs(gradient))


@law
@given(signals, orders)
def test_gradient_has_the_sign_and_the_zeros_of_the_signal(x, p):
    gradient = sg.gds_gradient(x, p)
    assert np.all(gradient[x == 0.0] == 0.0)
    assert np.array_equal(np.sign(x) * gradient, sg.gds_gradient(np.abs(x), p))


@law
@given(signals, orders, st.integers(-600, 600))
def test_gradient_scales_inversely(x, p, exponent):
    scaled = np.ldexp(sg.gds_gradient(np.ldexp(x, exponent), p), exponent)
    want = sg.gds_gradient(x, p)
    normal = np.abs(want) > 1e-100  # smaller ones may have been rounded below 1e-308
    assert np.array_equal(scaled[normal], want[normal])


# Good manners


@law
@given(batches(), orders)
def test_the_array_of_the_caller_stays_as_it_is(x, p):
    before = x.copy()
    sparse = scipy.sparse.csr_array(x.reshape(-1, x.shape[-1]))
    stored = sparse.data.copy()
    for method in ("auto", "definition"):
        sg.gds(x, p, method=method)
    for y in (x, sparse):
        sg.gds(y, p)
        sg.gds(y, p, axis=0)
        sg.gds_profile(y, [1, p, math.inf])
        sg.gds_gradient(y, p)
    assert before.tobytes() == x.tobytes()
    assert stored.tobytes() == sparse.data.tobytes()
