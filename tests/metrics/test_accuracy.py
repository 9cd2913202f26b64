"""How exact S_p and its gradient are, against oracles that do not round (or hardly): `naive`.

The promise: a relative error of at most 1e-12 at integer orders up to 100 and 1e-11 at real orders up to 50, wherever
S_p >= 1e-290; the gradient within 1e-10 of its largest component wherever it is representable.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
import scipy.sparse

import naive
import sparsegauge as sg
from families import FAMILIES, SCALED

INTEGER_TOLERANCE = 1e-12
REAL_TOLERANCE = 1e-11
GRADIENT_TOLERANCE = 1e-10
SMALLEST = 1e-290  # below it S_p may be anything up to 1e-289
GRAIN = 10 * 5e-324  # below 1e-308 numbers are multiples of 5e-324, and every product on the way is rounded to one

SIZES = (2, 3, 17, 100, 257, 1000, 2000)
INTEGER_ORDERS = range(1, 101)
# where the routes change, and a few on either side
SOME_INTEGER_ORDERS = (1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 25, 32, 63, 64, 65, 66, 99, 100)
# next to integers, where a series ends or does not, and in between
REAL_ORDERS = (1 + 1e-9, 1.01, 1.5, 2 - 1e-9, 2.5, math.pi, 7.3, 16.5, 33.3, 49.99)
GRADIENT_INTEGER_ORDERS = (1, 2, 3, 8, 9, 33, 64, 100)
GRADIENT_REAL_ORDERS = (1 + 1e-6, 1.01, 1.1, 1.5, 2 - 1e-9, 2.5, 7.3, 20.5, 49.9)

families = pytest.mark.parametrize("name", FAMILIES)
scaled_families = pytest.mark.parametrize("name", SCALED)


def sizes(*values: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("n", values, ids="N={}".format)


def signal(name: str, n: int) -> np.ndarray:
    return {**FAMILIES, **SCALED}[name](n, n)


def relative_error(got: float, want: float) -> float:
    if want < SMALLEST:
        return 0.0 if 0.0 <= got < 10 * SMALLEST else math.inf
    return abs(got - want) / want


def worst(got: Iterable[float], want: Iterable[float], orders: Iterable[float]) -> tuple[float, float]:
    """The largest relative error, and the order at which it occurs."""
    triples = zip(got, want, orders, strict=True)
    return max((relative_error(float(g), float(w)), p) for g, w, p in triples)


def check(x: np.ndarray, want: Sequence[float], orders: Sequence[float], tolerance: float) -> None:
    error, order = worst([sg.gds(x, p) for p in orders], want, orders)
    assert error <= tolerance, f"relative error {error:.1e} at order {order}"


def check_gradient(x: np.ndarray, want: np.ndarray, order: float) -> None:
    largest = np.max(np.abs(want))
    if largest < np.finfo(np.float64).max:
        error = np.max(np.abs(sg.gds_gradient(x, order) - want))
        limit = GRADIENT_TOLERANCE * largest + GRAIN
        assert error <= limit, f"error {float(error):.1e}, largest component {float(largest):.1e}, order {order}"


# The oracles


@families
def test_exact_oracle_is_the_definition(name):
    x = signal(name, 26)
    orders = [1, 2, 3, 7, 20]
    assert naive.gds_exact_profile(x, orders) == [naive.gds_pairs(x, p) for p in orders]
    assert naive.gds_exact(x, 1) == naive.gini(x)


@pytest.mark.parametrize("name", [*FAMILIES, *SCALED])
def test_long_oracle_agrees_with_mpmath(name):
    x = signal(name, 40)
    orders = [1.01, 1.5, 7.3, 49.99]
    for got, want in zip(naive.LongPairs(x).sparsity(orders), (naive.gds_mpmath(x, p) for p in orders), strict=True):
        assert abs(naive.as_mpmath(got) - want) <= 1e-17 * want


@families
def test_gradient_oracles_are_the_quotient_rule(name):
    x = signal(name, 20)
    for p in (2, 3, 6, 15):
        want = np.array([float(v) for v in naive.gradient_pairs(x, p)])
        limit = 2e-16 * np.max(np.abs(want))
        assert np.max(np.abs(naive.gradient_exact(x, p) - want)) <= limit
        assert np.max(np.abs(naive.LongPairs(x).gradient(p) - want)) <= limit


def test_lattice_oracle_is_the_definition():
    k = np.random.default_rng(0).integers(0, 50, 80)
    for offset in (0, 1000):
        want = float(naive.gds_exact(offset + k, 9))
        assert abs(float(naive.gds_lattice(k, [9], offset)[0]) - want) <= 2e-16 * want
    places = range(0, 80, 7)
    want = naive.gradient_exact(1.0 + k, 9)[places]
    assert np.max(np.abs(naive.gradient_lattice(k, places, 9) - want)) <= 2e-16 * np.max(np.abs(want))


# S_p


@families
@sizes(2, 3, 17, 100, 257)
def test_every_integer_order(name, n):
    x = signal(name, n)
    check(x, naive.gds_exact_profile(x, INTEGER_ORDERS), INTEGER_ORDERS, INTEGER_TOLERANCE)


@families
@sizes(1000, 2000)
def test_integer_orders_of_longer_rows(name, n):
    x = signal(name, n)
    check(x, naive.LongPairs(x).sparsity(SOME_INTEGER_ORDERS), SOME_INTEGER_ORDERS, INTEGER_TOLERANCE)


@scaled_families
@sizes(3, 17, 257)
def test_integer_orders_near_the_ends_of_the_range(name, n):
    x = signal(name, n)
    check(x, naive.LongPairs(x).sparsity(SOME_INTEGER_ORDERS), SOME_INTEGER_ORDERS, INTEGER_TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAMILIES, *SCALED])
@sizes(*SIZES)
def test_every_integer_order_exhaustively(name, n):
    x = signal(name, n)
    check(x, naive.gds_exact_profile(x, INTEGER_ORDERS), INTEGER_ORDERS, INTEGER_TOLERANCE)


@families
@sizes(*SIZES)
def test_real_orders(name, n):
    x = signal(name, n)
    check(x, naive.LongPairs(x).sparsity(REAL_ORDERS), REAL_ORDERS, REAL_TOLERANCE)


@scaled_families
@sizes(3, 17, 257)
def test_real_orders_near_the_ends_of_the_range(name, n):
    x = signal(name, n)
    check(x, naive.LongPairs(x).sparsity(REAL_ORDERS), REAL_ORDERS, REAL_TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAMILIES, *SCALED])
@sizes(*SIZES)
def test_real_orders_exhaustively(name, n):
    orders = (*np.geomspace(1, 50, 40), *np.arange(1.5, 50, 4))
    x = signal(name, n)
    check(x, naive.LongPairs(x).sparsity(orders), orders, REAL_TOLERANCE)


@sizes(2, 3, 17, 257)
@pytest.mark.parametrize("order", [20, 36, 47, 64, 65, 100, 20.5, 49.9])
def test_barely_representable(order, n):
    """S_p around 1e-290, next to where powers of the differences underflow."""
    u = np.random.default_rng(n).random(n)
    decade = float(np.log10(naive.LongPairs(1.0 + 1e-4 * u).sparsity([order])[0]))
    tolerance = INTEGER_TOLERANCE if float(order).is_integer() else REAL_TOLERANCE
    for target in (-300, -291, -289.9, -289, -285, -275):
        x = 1.0 + 10.0 ** (-4 + (target - decade) / order) * u
        check(x, naive.LongPairs(x).sparsity([order]), [order], tolerance)


# The same signals on every way in: one row, many rows, rows of different lengths, sparse arrays


@sizes(12, 200, 400)
@pytest.mark.parametrize("way", ["rows", "columns", "masked", "csr", "csc"])
def test_every_way_in(way, n):
    rows = np.array([family(n, seed) for seed in range(3) for family in FAMILIES.values()])
    rows[2::3, : n // 3] = 0.0
    kept = [row[: n - k % 3] for k, row in enumerate(rows)] if way == "masked" else list(rows)
    ways = {
        "rows": lambda p: sg.gds(rows, p),
        "columns": lambda p: sg.gds(rows.T.copy(), p, axis=0),
        "masked": lambda p: sg.gds(np.ma.array(rows, mask=np.arange(n) >= [[len(row)] for row in kept]), p),
        "csr": lambda p: sg.gds(scipy.sparse.csr_array(rows), p),
        "csc": lambda p: sg.gds(scipy.sparse.csc_array(rows.T), p, axis=0),
    }
    orders = (1, 2, 3, 12, 17, 30, 1.5, 7.3)
    want = np.array([_oracle(row.tobytes(), orders) for row in kept]).T
    for p, truth in zip(orders, want, strict=True):
        error, row = worst(ways[way](p), truth, range(len(rows)))
        assert error <= INTEGER_TOLERANCE, f"relative error {error:.1e} at order {p} in row {row}"


@functools.cache
def _oracle(row: bytes, orders: tuple[float, ...]) -> list[float]:
    return [float(s) for s in naive.LongPairs(np.frombuffer(row)).sparsity(orders)]


def test_a_sparse_array_longer_than_memory():
    """Zeros are counted, not stored: S_p = z/N + (1 - z/N) S_p(the others)."""
    x = FAMILIES["exponential"](100, 0)
    n = 10**12
    long = scipy.sparse.coo_array((x, (np.zeros(100, int), np.arange(100) * 10**9)), shape=(1, n))
    for p in (1, 2, 3, 1.5):
        rest = 1.0 - float(sg.gds(long, p)[0])
        want = 100 / n * (1.0 - float(naive.LongPairs(x).sparsity([p])[0]))
        assert abs(rest - want) <= 2.3e-16


# A million coefficients


MILLION = {
    "uniform": lambda rng: (rng.integers(0, 2**20, 10**6), 0),
    "exponential": lambda rng: (np.minimum(rng.exponential(2.0**16, 10**6), 2**20).astype(np.int64), 0),
    "4096-levels": lambda rng: (rng.integers(0, 2**12, 10**6), 1),
    "nearly-equal": lambda rng: (rng.integers(0, 2**20, 10**6), 2**30),
}


@pytest.mark.parametrize("name", MILLION)
def test_a_million_coefficients(name):
    k, offset = MILLION[name](np.random.default_rng(1))
    x = (offset + k) / 2.0**20
    orders = (1, 2, 3, 4, 9, 1.5, 7.3)
    check(x, naive.gds_lattice(k, orders, offset), orders, INTEGER_TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "30-decades"])
def test_thirty_thousand_coefficients(name):
    x = signal(name, 30_000)
    orders = (1.5, 7.3)
    check(x, naive.LongPairs(x).sparsity(orders), orders, INTEGER_TOLERANCE)


# The gradient


@families
@sizes(2, 3, 17, 100, 257)
def test_gradient_at_integer_orders(name, n):
    x = signal(name, n)
    check_gradient(x, naive.LongPairs(x).gradient(1), 1)
    for p in GRADIENT_INTEGER_ORDERS[1:]:
        check_gradient(x, naive.gradient_exact(x, p), p)


@families
@sizes(2, 3, 17, 100, 257)
def test_gradient_at_real_orders(name, n):
    x = signal(name, n)
    for p in GRADIENT_REAL_ORDERS:
        check_gradient(x, naive.LongPairs(x).gradient(p), p)


@families
@sizes(1000, 2000)
def test_gradient_of_longer_rows(name, n):
    x = signal(name, n)
    for p in (1, 2, 9, 1.01, 1.5, 7.3):
        check_gradient(x, naive.LongPairs(x).gradient(p), p)


@scaled_families
@sizes(2, 17, 257)
def test_gradient_near_the_ends_of_the_range(name, n):
    x = signal(name, n)
    for p in (*GRADIENT_INTEGER_ORDERS, *GRADIENT_REAL_ORDERS):
        check_gradient(x, naive.LongPairs(x).gradient(p), p)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAMILIES, *SCALED])
@sizes(1000, 2000)
def test_gradient_exhaustively(name, n):
    x = signal(name, n)
    for p in (*GRADIENT_INTEGER_ORDERS, *GRADIENT_REAL_ORDERS):
        check_gradient(x, naive.LongPairs(x).gradient(p), p)


@pytest.mark.parametrize("name", ["uniform", "exponential"])
def test_gradient_of_rows_for_several_threads(name):
    """At a few places, the largest and the smallest among them."""
    rng = np.random.default_rng(2)
    k = rng.integers(0, 2**18, 200_000) if name == "uniform" else rng.exponential(2.0**13, 200_000).astype(np.int64)
    places = [int(np.argmin(k)), *range(0, 200_000, 20_011), int(np.argmax(k))]
    for p in (1, 2, 3, 9, 1.01, 1.5, 7.3):
        want = naive.gradient_lattice(k, places, p)
        error = np.max(np.abs(sg.gds_gradient(1.0 + k, p)[places] - want))
        assert error <= GRADIENT_TOLERANCE * np.max(np.abs(want)), f"order {p}"


@pytest.mark.slow
@families
def test_gradient_of_ten_thousand_coefficients(name):
    x = signal(name, 10_000)
    for p in (3, 1.5):
        check_gradient(x, naive.LongPairs(x).gradient(p), p)


@pytest.mark.parametrize(("order", "bound"), [(200.5, 1e-13), (1e3, 1e-12), (1e5, 5e-11), (1e8, 5e-8)])
@pytest.mark.parametrize("n", [10, 40])
def test_very_high_orders_lose_digits_as_documented(order, bound, n):
    rng = np.random.default_rng(n)
    for x in (rng.random(n), 1 + 1e-3 * rng.random(n), 10 ** (-30 * rng.random(n))):
        exact = naive.gds_mpmath(x, order)
        if exact > 1e-300:
            assert abs(sg.gds(x, order) / exact - 1) <= bound
