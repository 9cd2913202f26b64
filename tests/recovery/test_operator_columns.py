"""Columns of operators that are written out, and the choice among them."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import sparsegauge as sg
from sparsegauge.recovery.operator_columns import Chosen, ColumnChoice, LocalRows, write_out
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error


def banded(m, n, kind=float, seed=0):
    """A matrix whose columns have seven rows each, near their own places."""
    rng = np.random.default_rng(seed)
    A = np.zeros((m, n), kind)
    for column in range(n):
        for row in range(max(column * m // n - 3, 0), min(column * m // n + 4, m)):
            A[row, column] = rng.standard_normal() + (1j * rng.standard_normal() if kind is complex else 0)
    return A


def as_system(A):
    return sg.System(aslinearoperator(A)).as_operator()


@pytest.mark.parametrize("shape", [(200, 200), (200, 400), (300, 200)])
@pytest.mark.parametrize("kind", [float, complex])
def test_columns_of_a_local_operator_are_read_off_few_products(shape, kind):
    A = banded(*shape, kind)
    products = []
    counting = LinearOperator(
        A.shape, matvec=lambda x: products.append(1) or A @ x, rmatvec=lambda r: A.conj().T @ r, dtype=A.dtype
    )
    band = LocalRows.of(sg.System(counting).as_operator())
    products.clear()
    columns = np.sort(np.random.default_rng(1).choice(shape[1], 90, replace=False))
    np.testing.assert_allclose(band.write_out(columns).toarray(), A[:, columns], atol=1e-12)
    assert len(products) < 30
    np.testing.assert_allclose(write_out(as_system(A), columns), A[:, columns], atol=1e-12)


def test_an_operator_that_is_not_local_has_no_band():
    assert LocalRows.of(as_system(np.random.default_rng(0).standard_normal((200, 300)))) is None


def test_columns_with_rows_outside_the_band_are_noticed():
    A = banded(200, 200)
    band = LocalRows.of(as_system(A))
    A[0, 117] = 1.0
    assert LocalRows(as_system(A), band.reach).write_out(np.arange(100, 130)) is None


def test_a_band_that_is_broken_later_does_not_spoil_the_answer():
    A = np.eye(600) + 0.5 * np.eye(600, k=1)
    A[:, 301] += np.random.default_rng(0).standard_normal(600) / 20
    x = np.zeros(600)
    x[[20, 301, 400]] = 1.0, -2.0, 3.0
    found = sg.recover(as_system(A), A @ x, solver=sg.GDSReweighted())
    np.testing.assert_allclose(found.x, x, atol=1e-8)


def test_a_description_is_shorter_by_what_a_nonzero_explains():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((100, 300))
    x = np.zeros(300)
    x[[3, 70]] = 5.0, -4.0
    y = A @ x + 0.1 * rng.standard_normal(100)
    one_more, one_less = x.copy(), x.copy()
    one_more[10], one_less[70] = 1e-3, 0.0
    for noise in ("auto", 0.1):
        choice = ColumnChoice(Problem.of(as_system(A), y, noise=noise), lambda problem: pytest.fail("nothing to solve"))
        lengths = [choice.description_length(Chosen.of(z)) for z in (x, one_more, one_less)]
        assert lengths[0] == min(lengths)
        assert choice.noise_left(Chosen.of(x)) == pytest.approx(0.1, rel=0.3)


def ricker(n, noise, seed):
    pylops = pytest.importorskip("pylops")
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    x[rng.choice(n, n // 40, replace=False)] = rng.standard_normal(n // 40)
    time = np.pi * 25 * 0.002 * np.arange(-40, 41)
    A = pylops.signalprocessing.Convolve1D(n, h=(1 - 2 * time**2) * np.exp(-(time**2)), offset=40)
    y = A @ x
    sigma = noise * np.linalg.norm(y) / np.sqrt(n)
    return A, y + sigma * rng.standard_normal(n), x, sigma


@pytest.mark.parametrize("seed", [21, 22])
def test_spikes_after_a_convolution_with_noise_that_is_not_told(seed):
    A, y, x, sigma = ricker(2_400, 0.01, seed)  # too large to be written out
    found = sg.recover(A, y)
    assert found.success
    assert relative_error(found.x, x) < 0.08
    assert found.noise == pytest.approx(sigma, rel=0.1)


def test_spikes_after_an_exact_convolution_in_many_blocks():
    A, y, x, _ = ricker(4_000, 0.0, 23)
    found = sg.recover(A, y)
    assert relative_error(found.x, x) < 1e-9
    assert found.noise == 0
