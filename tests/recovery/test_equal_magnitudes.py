"""Whole-number signals: what the lattice must find, and what it must not claim."""

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge._compiled import recover as kernels
from sparsegauge._compiled.lattice import LOVASZ
from sparsegauge.recovery import equal_magnitudes
from sparsegauge.recovery.problem import Problem


def signal(values: list[float], n: int, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    x[rng.choice(n, k, replace=False)] = rng.choice(values, k)
    return x


def test_reduction_keeps_the_lattice_and_shortens_its_basis():
    rng = np.random.default_rng(0)
    n = 12
    basis = np.hstack([np.eye(n), 1e4 * rng.standard_normal((n, 3))])
    V = basis.copy()
    assert kernels.reduce_basis(V, 100_000, kernels.LatticeRoom(3, n)) > 0
    U = V[:, :n]  # how the new basis is made of the old one
    assert np.array_equal(U, np.rint(U))
    assert abs(round(np.linalg.det(U))) == 1
    np.testing.assert_allclose(V, U @ basis, rtol=0, atol=1e-6)
    # Gram-Schmidt by QR, the slow and obvious way: size-reduced, and Lovasz's condition
    R = np.linalg.qr(V.T)[1]
    mu = (R / np.diag(R)[:, None]).T
    assert np.abs(np.tril(mu, -1)).max() <= 0.5 + 1e-9
    d = np.diag(R) ** 2
    assert np.all(d[1:] >= (LOVASZ - np.diag(mu, -1) ** 2) * d[:-1] * (1 - 1e-9))


@pytest.mark.parametrize(("n", "k", "m"), [(100, 60, 70), (100, 60, 30), (60, 40, 20), (60, 12, 14)])
@pytest.mark.parametrize("values", [[1.0], [-1.0, 1.0], [1.0, 2.0, 3.0]])
def test_whole_multiples_are_found_even_with_fewer_measurements_than_non_zeros(n, k, m, values):
    if len(values) == 3 and m < k:
        m += 8  # more values take more bits
    x = 0.37 * signal(values, n, k, seed=m)
    A = np.random.default_rng(1).standard_normal((m, n))
    found = sg.recover(A, A @ x, rng=0, solver=sg.Portfolio(restarts=0, propagations=0))
    np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-8)
    assert found.success
    # the certificate's theorem is for sparse solutions; what speaks for the others is said
    assert found.certified == (k <= m - 2)
    assert found.certified or "whole multiples of one number" in found.certificate_reason


def test_without_the_lattice_such_signals_are_not_found():
    x = signal([-1.0, 1.0], 60, 40, seed=0)
    A = np.random.default_rng(1).standard_normal((20, 60))
    found = sg.recover(A, A @ x, rng=0, solver=sg.Portfolio(restarts=0, propagations=0, lattice=False))
    assert not found.certified
    assert np.linalg.norm(found.x - x) > 0.1 * np.linalg.norm(x)


@pytest.mark.parametrize("seed", range(6))
def test_signals_that_are_not_whole_are_never_taken_for_such(seed):
    rng = np.random.default_rng(seed)
    x = np.zeros(40)
    x[:25] = rng.standard_normal(25)
    A = rng.standard_normal((12, 40))
    problem = Problem.of(A, A @ x)
    found = equal_magnitudes.whole_multiples(problem, np.abs(problem.start()))
    assert found is None or equal_magnitudes.as_whole(problem, found) is None
    assert not sg.recover(A, A @ x, rng=0, solver=sg.Portfolio(restarts=0, propagations=0)).certified


def test_too_few_measurements_for_a_proof_give_no_certificate():
    """Three equations tell 60 bits at most: 30 unknown signs may fit by coincidence."""
    x = signal([-1.0, 1.0], 30, 20, seed=3)
    A = np.random.default_rng(4).standard_normal((3, 30))
    assert equal_magnitudes.as_whole(Problem.of(A, A @ x), x) is None
    assert not sg.recover(A, A @ x, rng=0).certified


def test_whole_numbers_are_recognised_whatever_their_unit():
    x = signal([-2.0, 1.0, 3.0], 50, 20, seed=5)
    A = np.random.default_rng(6).standard_normal((30, 50))
    for unit in (1e-3, 1.0, 7e2):
        problem = Problem.of(A, A @ (unit * x))
        np.testing.assert_allclose(equal_magnitudes.as_whole(problem, unit * x * (1 + 1e-7)), unit * x, rtol=1e-9)
        assert equal_magnitudes.as_whole(problem, unit * (x + 0.01 * np.sign(x) * np.arange(50))) is None


def test_bounds_are_kept():
    x = signal([1.0], 60, 40, seed=7)
    A = np.random.default_rng(8).standard_normal((25, 60))
    found = sg.recover(A, A @ x, rng=0, bounds=(0, 1))
    np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-8)
    assert not sg.recover(A, A @ x, rng=0, bounds=(0, 0.5), solver=sg.Portfolio(propagations=1)).certified
