"""Kernels on small data: these tests also run uncompiled, to show which lines they reach (`make coverage`)."""

from fractions import Fraction

import numpy as np
import pytest

import sparsegauge as sg
from naive import gds_mpmath, gradient_pairs
from sparsegauge._compiled import measure as kernels
from sparsegauge._compiled.even import MOMENT_BLOCK
from sparsegauge._compiled.streaming import STREAMED

ORDERS = (1, 1.5, 2, 2.5, 3, 4, 7, 7.3, 10, 23, 40)


def signals(length, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "exponential": rng.exponential(size=length),
        "signed": rng.normal(size=length),
        "with zeros": np.where(rng.random(length) < 0.4, 0.0, rng.exponential(size=length)),
        "clustered": np.concatenate([1.0 + 1e-7 * rng.random(length // 2), rng.random(length - length // 2)]),
        "extreme": rng.exponential(size=length) * 10.0 ** rng.uniform(-150, 150, length),
    }


@pytest.mark.parametrize("length", [3, 12, 60])
@pytest.mark.parametrize("order", ORDERS)
def test_sparsity(order, length):
    for name, x in signals(length).items():
        assert sg.gds(x, order) == pytest.approx(float(gds_mpmath(x, order)), rel=1e-12), name


@pytest.mark.parametrize("order", [1.5, 3])
def test_sparsity_of_a_row_that_is_cut_into_cells(order):
    x = np.random.default_rng(1).exponential(size=700)
    assert sg.gds(x, order) == pytest.approx(sg.gds(x, order, method="definition"), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_gradient(order):
    x = np.random.default_rng(2).exponential(size=15)
    np.testing.assert_allclose(
        sg.gds_gradient(x, order), np.array(gradient_pairs(x, order), float), rtol=1e-10, atol=1e-13
    )


@pytest.mark.parametrize("length", [15, 300])
def test_gradient_at_real_orders_is_a_derivative(length):
    x, step = np.random.default_rng(3).exponential(size=length), 1e-6
    slope = sg.gds_gradient(x, 2.5)[7]
    up, down = (sg.gds(x + sign * step * (np.arange(length) == 7), 2.5) for sign in (1, -1))
    assert (up - down) / (2 * step) == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("name", list(sg.METRICS))
def test_a_batch_is_its_rows(name):
    X = np.stack(list(signals(20).values())[:4])
    np.testing.assert_array_equal(sg.measure(X, name), [sg.measure(row, name) for row in X])


@pytest.mark.parametrize("length", [1, 7, 8, 300])
def test_sums_of_streams(length):
    """The slow and obvious twin: exact fractions."""
    for name, x in signals(max(length, 4)).items():
        x = x[:length] if name != "extreme" else x[:length] / np.abs(x[:length]).max()
        shift = float(np.abs(x).mean())
        c = [Fraction(abs(float(value))) for value in x]
        powers = [sum((value - Fraction(shift)) ** k for value in c) for k in (1, 2, 3, 4)]
        twins = [*powers, sum(value**2 for value in c), sum(value**4 for value in c)]
        sizes = [sum(abs(value - Fraction(shift)) ** k for value in c) for k in (1, 2, 3, 4)] + twins[4:]
        full, quick, single = np.empty((3, 1, STREAMED))
        starts = np.array([0, length])
        kernels.streamed_rows(x.copy(), starts, np.ones(1), np.array([shift]), 0, 1, full)
        kernels.streamed_moments(x.copy(), shift, quick)
        for k, (twin, size) in enumerate(zip(twins, sizes, strict=True)):
            for out in (full, quick) if k < 4 else (full,):
                value = Fraction(out[0, 2 * k]) + Fraction(out[0, 2 * k + 1])
                assert abs(value - twin) <= 2e-15 * float(size), (name, k)
        assert full[0, 12] == np.abs(x).max()
        assert full[0, 13] == np.count_nonzero(x)
        with np.errstate(under="ignore"):
            floats = x.astype(np.float32)
        kernels.streamed_moments_of_floats(floats, shift, np.empty(MOMENT_BLOCK), single)
        kernels.streamed_moments(floats.astype(np.float64), shift, quick)
        np.testing.assert_array_equal(single[:, :8], quick[:, :8])


SOLVERS = [sg.Portfolio(), sg.GDSReweighted(), sg.GDSAscent(), sg.EP(), sg.SPSA(), sg.Lasso()]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_recovery(solver):
    x = sg.sparse_signal(16, 3, "uniform", signs="random", rng=0)
    A = sg.gaussian_matrix(10, 16, rng=1)
    found = sg.recover(A, A @ x, solver=solver, rng=0)
    np.testing.assert_allclose(found.x, x, atol=1e-9)


@pytest.mark.parametrize("bounds", [None, (0.0, np.inf)])
def test_recovery_from_noise(bounds):
    x = sg.sparse_signal(16, 3, "uniform", rng=0)
    A = sg.gaussian_matrix(10, 16, rng=1)
    y = A @ x + 1e-3 * np.random.default_rng(2).normal(size=10)
    np.testing.assert_allclose(sg.recover(A, y, noise=1e-3, bounds=bounds, rng=0).x, x, atol=0.02)


def test_recovery_of_whole_numbers():
    x = np.zeros(16)
    x[[1, 4, 5, 9, 12, 13]] = [1, -1, 1, 1, -1, 1]
    A = sg.gaussian_matrix(6, 16, rng=1)
    np.testing.assert_allclose(sg.recover(A, A @ x, rng=0).x, x, atol=1e-9)
