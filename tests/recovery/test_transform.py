"""Signals that are sparse after a transform: the signal comes back, and what does not fit gets a sentence."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import sparsegauge as sg
from sparsegauge.recovery.system import System
from sparsegauge.recovery.transform import basis_of
from sparsegauge.signals import wavelet


def steps(n=100, jumps=4, seed=0):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(np.arange(1, n), jumps, replace=False))
    return np.repeat(rng.standard_normal(jumps + 1), np.diff([0, *places, n]))


@pytest.mark.parametrize("name", ["haar", "db4", "sym5"])
@pytest.mark.parametrize("shape", [(64,), (24,), (16, 16), (8, 12)])
def test_wavelets_are_those_of_the_library(name, shape):
    n = int(np.prod(shape))
    basis = basis_of((name, shape), None, System(np.eye(n)))
    x = np.random.default_rng(0).standard_normal(n)
    np.testing.assert_allclose(basis.adjoint(x), wavelet(x.reshape(shape), name), atol=1e-12)
    np.testing.assert_allclose(basis.synthesise(basis.adjoint(x)), x, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_a_signal_that_is_sparse_in_wavelets(seed):
    n, rng = 64, np.random.default_rng(seed)
    basis = basis_of("db4", None, System(np.eye(n)))
    x = basis.synthesise(sg.sparse_signal(n, 5, "normal", rng=rng))
    A = rng.standard_normal((30, n))
    found = sg.recover(A, A @ x, transform="db4")
    np.testing.assert_allclose(found.x, x, atol=1e-10)
    assert found.certified
    assert found.nonzeros == np.count_nonzero(np.abs(found.coefficients) > 1e-9) == 5


@pytest.mark.parametrize("kind", ["exact", "noisy", "complex"])
def test_a_piecewise_constant_signal(kind):
    for seed in range(3):
        x, rng = steps(seed=seed) + 7.0, np.random.default_rng(seed)
        A = rng.standard_normal((40, 100))
        if kind == "complex":
            A, x = A + 1j * rng.standard_normal(A.shape), x * (1 + 2j)
        noise = 0.01 if kind == "noisy" else 0.0
        found = sg.recover(A, A @ x + noise * rng.standard_normal(40), transform="tv", noise=noise)
        assert np.abs(found.x - x).max() < (0.1 if kind == "noisy" else 1e-8)
        assert found.residual == pytest.approx(np.linalg.norm(A @ found.x - (A @ x)), abs=0.2)


def test_a_constant_that_nothing_measures_is_left_at_the_first_sample():
    x, rng = steps(), np.random.default_rng(0)
    A = rng.standard_normal((40, 100))
    A -= A.mean(axis=1, keepdims=True)
    found = sg.recover(A, A @ x, transform="tv")
    np.testing.assert_allclose(found.x, x - x[0], atol=1e-8)


def test_many_signals_and_one_support_keep_their_shape():
    rng = np.random.default_rng(1)
    A, X = rng.standard_normal((40, 100)), np.column_stack([steps(seed=k) for k in range(3)])
    found = sg.recover(A, A @ X, transform="tv")
    np.testing.assert_allclose(found.x, X, atol=1e-8)
    assert found.coefficients.shape == (99, 3)
    joint = sg.recover(A[:20], A[:20] @ (X[:, :1] * [1.0, 2.0, -1.0]), transform="tv", joint=True)
    np.testing.assert_allclose(joint.x, X[:, :1] * [1.0, 2.0, -1.0], atol=1e-8)


def test_operators_of_pictures_bring_their_shape():
    rng = np.random.default_rng(0)
    basis = basis_of(("haar", (16, 16)), None, System(np.eye(256)))
    x = basis.synthesise(sg.sparse_signal(256, 10, "normal", rng=rng))
    A = rng.standard_normal((100, 256))
    operator = aslinearoperator(A)
    operator.dims = (16, 16)
    for found in (sg.recover(operator, A @ x, transform="haar"), sg.recover(A, A @ x, transform=("haar", (16, 16)))):
        np.testing.assert_allclose(found.x, x, atol=1e-8)
    large = LinearOperator((3000, 4096), matvec=lambda x: x[:3000], rmatvec=lambda r: np.append(r, np.zeros(1096)))
    inner = basis_of("haar", None, System(large)).compose(System(large))
    u, v = rng.standard_normal(4096), rng.standard_normal(3000)
    assert v @ inner.forward(u) == pytest.approx(inner.adjoint(v) @ u)


def test_an_orthonormal_operator():
    rng = np.random.default_rng(2)
    W = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    x = W.T @ sg.sparse_signal(60, 4, "normal", rng=rng)
    A = rng.standard_normal((30, 60))
    for transform in (aslinearoperator(W), W, scipy.sparse.csr_array(W)):
        np.testing.assert_allclose(sg.recover(A, A @ x, transform=transform).x, x, atol=1e-10)


def test_the_callback_sees_signals():
    A, seen = np.random.default_rng(0).standard_normal((40, 100)), []
    sg.recover(A, A @ steps(), transform="tv", callback=lambda k, x: seen.append(x.shape))
    assert set(seen) == {(100,)}


@pytest.mark.parametrize(
    ("words", "transform", "options"),
    [
        ("transform must be", 7, {}),
        ("wavelet", "bior4.4", {}),
        ("wavelet", "nonsense", {}),
        ("orthonormal", "dmey", {}),
        ("orthonormal", aslinearoperator(2 * np.eye(64)), {}),
        ("64 samples", aslinearoperator(np.eye(60)), {}),
        ("64 samples", ("haar", (8, 9)), {}),
        ("whole numbers", ("haar", "square"), {}),
        ("even lengths", ("haar", (64, 1)), {}),
        ("solver cannot be combined", ("tv", (8, 8)), {"solver": sg.OMP()}),
        ("bounds cannot be combined with transform", "haar", {"bounds": (0, None)}),
        ("groups cannot be combined with transform", "haar", {"groups": np.zeros(64)}),
        ("x0 cannot be combined with transform", "haar", {"x0": np.zeros(64)}),
    ],
)
def test_what_does_not_fit_gets_a_sentence(words, transform, options):
    with pytest.raises(sg.InvalidInput, match=words):
        sg.recover(np.random.default_rng(0).standard_normal((20, 64)), np.ones(20), transform=transform, **options)
