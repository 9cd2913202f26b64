"""The kernels of SPSA, expectation propagation and thresholds: all variants alike, and equal to their slow twins."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest

import naive_walks as naive
from naive import LongPairs
from sparsegauge import _compiled
from sparsegauge._compiled.thresholds import SLOPE_NODES, SLOPE_ROOM
from sparsegauge.recovery.ep import legendre_rule
from sparsegauge.recovery.spsa_workspace import SpsaWorkspace

COMPILED = [import_module(f"sparsegauge._compiled.recover_{name}") for name in _compiled.available_variants()[:-1]]
VARIANTS = [*COMPILED, _compiled._uncompiled()]
ORDERS = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0]
GAINS = (0.5, 0.602, 10.0, 0.02, 0.101)
FREE, ONE_SIDED, BOXED = (-math.inf, math.inf), (0.0, math.inf), (-1.0, 2.0)
NOTHING = np.empty(0)


def alike(results):
    """Whether all arrays of each variant's result have the same bits."""
    first, *others = [[np.asarray(part).tobytes() for part in result] for result in results]
    return all(other == first for other in others)


def orthonormal(m, n, seed=0):
    return np.ascontiguousarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((n, m)))[0].T)


def walked(kernels, B, x, order, iterations, bounds=None):
    work = SpsaWorkspace(B, B @ x, bounds, order)
    x, state, history = x.copy(), np.array([7], np.uint64), np.empty(2)
    reports = np.array([iterations // 2, iterations])
    reached = kernels.walk_on(work.walk_of(kernels), x, state, np.array(GAINS), 0, reports, 1e6, history)
    return x, state, history, reached


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [2, 5, 16, 23])
def test_walks_of_all_variants_are_the_same_and_follow_the_formula(order, n):
    B, x = orthonormal(max(n // 3, 1), n), np.random.default_rng(n).standard_normal(n)
    results = [walked(kernels, B, x, order, 6) for kernels in VARIANTS]
    assert alike(results)
    np.testing.assert_allclose(results[0][0], naive.walk(B, x, order, GAINS, 7, 6), rtol=1e-9, atol=1e-11)
    assert results[0][2][1] == pytest.approx(float(LongPairs(results[0][0]).sparsity([order])[0]), rel=1e-12)


def test_walks_within_bounds_are_the_same():
    B, x = orthonormal(4, 13), np.abs(np.random.default_rng(1).standard_normal(13))
    assert alike([walked(kernels, B, x, 2.0, 20, (np.zeros(13), np.full(13, 2.0))) for kernels in VARIANTS])


@pytest.mark.parametrize("shape", [(100, 320), (250, 320), (5, 61), (50, 100)])
def test_directions_of_all_variants_are_the_same(shape):
    work = SpsaWorkspace(orthonormal(*shape), np.zeros(shape[0]), None, 2.0)
    results = []
    for kernels in VARIANTS:
        state = np.array([3], np.uint64)
        kernels.draw_direction(work.walk_of(kernels), state)
        results.append((work.direction.copy(), state))
    assert alike(results)
    _, s = naive.signs(3, shape[1])
    B = orthonormal(*shape)
    np.testing.assert_allclose(results[0][0], s - B.T @ (B @ s), atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 31, 100])
def test_pairs_are_the_definition(order, n):
    rng = np.random.default_rng(n)
    room = np.empty(2 * n)
    for x in (
        rng.standard_normal(n),
        1e150 * rng.exponential(size=n),
        1e-250 * rng.random(n),
        1 + 1e-9 * rng.random(n),
    ):
        results = [[kernels.sparsity_by_pairs(x, order, room)] for kernels in VARIANTS]
        assert alike(results)
        expected = float(LongPairs(x).sparsity([order])[0]) if n > 1 else 0.0
        assert results[0][0] == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("order", ORDERS)
def test_hostile_signals_come_back(order):
    room = np.empty(18)
    assert all(math.isnan(kernels.sparsity_by_pairs(np.zeros(9), order, room)) for kernels in VARIANTS)
    one = np.eye(9)[0]
    for x in (one, 5e-324 * one, 1.7e308 * one):
        assert all(kernels.sparsity_by_pairs(x, order, room) in (pytest.approx(8 / 9), math.inf) or x.max() < 1e-300
                   for kernels in VARIANTS)  # fmt: skip
    for kernels in COMPILED:
        x = np.full(9, math.nan)
        reached = walked(kernels, orthonormal(3, 9), x, order, 4)[3]
        assert reached == 0


def propagated(kernels, kind, interval, m=7, n=12, sweeps=4, scale=1.0):
    rng = np.random.default_rng(5)
    B = orthonormal(m, n, 2)
    b = scale * (B @ (rng.standard_normal(n) * (rng.random(n) < 0.3)))
    slabs = np.array([[0.4, 1.0, 0.5]] if interval == ONE_SIDED else [[0.4, 1.0, 0.5], [0.6, -1.0, 0.7]])
    state, sites = np.array([0.3, 1e-2, 1e-8, 0.8]), np.zeros((4, n))
    sites[0], bias = 1.0, rng.standard_normal(n)
    system = (B, b, np.full(n, interval[0]), np.full(n, interval[1]))
    run = (bias, state, sites, np.array([0.5, 0.05, 1e-3, 1e-10, float(n), 0.9]))
    work = kernels.Propagation(system, (kind, kind == 0, slabs), run, kernels.Quadrature(*legendre_rule()))
    change = kernels.propagate(work, sweeps)
    return change, slabs, state, sites, bias


@pytest.mark.parametrize("interval", [FREE, ONE_SIDED, BOXED])
@pytest.mark.parametrize("kind", [0, 1])
def test_sweeps_of_all_variants_are_the_same(kind, interval):
    results = [propagated(kernels, kind, interval) for kernels in VARIANTS]
    assert alike(results)
    assert all(np.isfinite(part).all() for part in results[0])


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 2), (3, 9), (5, 8), (8, 17), (13, 40)])
def test_elimination_gives_the_posterior(m, n):
    rng = np.random.default_rng(m)
    B, b, noise = rng.standard_normal((m, n)), rng.standard_normal(m), 0.1
    precision, shift = rng.exponential(size=n) + 0.1, rng.standard_normal(n)
    mean, told = naive.posterior(B, b, noise, precision, shift)
    D = 1 / precision
    results = []
    for kernels in VARIANTS:
        table = np.zeros((m, m + n + 1))
        kernels.weighted_gram(B, D, noise, np.empty(n), table)
        np.testing.assert_allclose(np.triu(table[:, :m]), np.triu(noise * np.eye(m) + (B * D) @ B.T), atol=1e-12)
        table[:, m : m + n], table[:, m + n] = B, b - B @ (shift * D)
        kernels.eliminate(table, noise)
        results.append([np.triu(table[:, :m]), table[:, m:].copy()])
    assert alike(results)
    pivots, right = np.diag(results[0][0]), results[0][1]
    np.testing.assert_allclose(shift * D + D * (right[:, :n].T @ (right[:, n] / pivots)), mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(D * ((right[:, :n] ** 2).T @ (1 / pivots)), told, rtol=1e-9)


def test_sweeps_of_hostile_measurements_end():
    for kernels in COMPILED:
        for scale in (0.0, 1e-200, 1e200, math.nan):
            propagated(kernels, 0, FREE, scale=scale)
            propagated(kernels, 1, BOXED, scale=scale)


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_tables_of_slopes_are_the_same_and_the_slopes(order):
    top = 3.0
    nodes = top * (np.arange(SLOPE_NODES + 1) / SLOPE_NODES) ** 4
    counts = np.zeros(SLOPE_NODES + 1)
    counts[[10, 100, 180, 256]] = 5, 3, 2, 1
    c = np.repeat(nodes, counts.astype(int))
    results = []
    for kernels in VARIANTS:
        table, room = np.empty(SLOPE_NODES + 1), np.empty((SLOPE_ROOM, SLOPE_NODES + 1))
        results.append([table, *kernels.tabulate_slopes(c, order, table, room)])
    assert alike(results)
    table, found, level = results[0]
    assert found == top
    np.testing.assert_allclose(table, naive.slopes_at(nodes, counts, order), atol=1e-9)
    assert level == pytest.approx(np.sum(c**order) / np.sum(c ** (order - 1)))


def test_a_table_of_nothing_is_flat():
    for kernels in VARIANTS:
        table = np.empty(SLOPE_NODES + 1)
        assert kernels.tabulate_slopes(np.zeros(3), 2.0, table, np.empty((SLOPE_ROOM, SLOPE_NODES + 1))) == (1.0, 0.0)
        assert (table == 1).all()


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(0.0, 0.0, 3.0, 1.0, 0.0), (0.0, 1.0, 6.0, 0.03, 0.3), (0.5, -1.0, 2.0, 0.2, 0.0)])
def test_thresholds_of_all_variants_are_the_same(shape, is_complex):
    rng = np.random.default_rng(0)
    a = np.concatenate([rng.exponential(3.0, 200), [0.0, 1e-300, 1e6, 1.0]])
    s = rng.exponential(3.0, len(a))
    table = np.linspace(1.0, -0.5, SLOPE_NODES + 1)
    results = []
    for kernels in VARIANTS:
        for charge, low, high in ((NOTHING, NOTHING, NOTHING), (1 + 0 * a, np.full(len(a), 0.5), np.full(len(a), 9.0))):
            m = np.empty(len(a))
            thresholds = kernels.ThresholdShape(np.array([*shape, 6.0]), table, 20.0, 6.0, is_complex)
            means = kernels.shrink(a, s, thresholds, charge, low, high, m)
            results.append([*means, m])
    assert alike(results[::2])
    assert alike(results[1::2])
    if shape[4] == 0.0:
        nodes = 20.0 * (np.arange(SLOPE_NODES + 1) / SLOPE_NODES) ** 4
        c = np.maximum((1 - shape[0]) * a + shape[0] * s, 1e-6)
        w = np.interp(np.maximum(c - 1, 0), nodes, table)
        share, q, scale, floor, _ = shape
        expected = [naive.shrunken(u, share, v, q, scale, z, floor) for u, v, z in zip(a, s, w, strict=True)]
        np.testing.assert_allclose(results[0][2], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(0.0, 0.5, 3.0, 0.1, 0.0), (0.0, 1.0, 6.0, 0.03, 0.3), (0.5, 0.0, 2.0, 0.2, 0.0)])
def test_the_divergence_is_the_derivative(shape):
    a, s, h = np.random.default_rng(1).exponential(5.0, 2000), np.full(2000, 4.0), 1e-7
    table = np.linspace(1.0, -0.5, SLOPE_NODES + 1)
    plus, minus = np.empty(2000), np.empty(2000)
    kernels = _compiled.recover
    thresholds = kernels.ThresholdShape(np.array([*shape, 6.0]), table, 20.0, 6.0, False)
    options = (thresholds, NOTHING, NOTHING, NOTHING)
    kernels.shrink(a + h, s, *options, plus)
    kernels.shrink(a - h, s, *options, minus)
    _, divergence = kernels.shrink(a, s, *options, np.empty(2000))
    assert divergence == pytest.approx(np.mean((plus - minus) / (2 * h)), rel=1e-4)
