"""Noise that nobody told, where A is an operator: its size, the answer beside that with the noise told, the message."""

import numpy as np
import pytest
import pywt
import scipy.fft
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.stats import norm

import sparsegauge as sg
from sparsegauge.recovery.operator_noise import estimate_variance, noise_outside_range
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import snr

LOUDEST_LOSS = 1.0  # dB by which x may be worse where the noise is not told


def partial(kind, n, seed):
    """A quarter of the DCT, or of the FFT, at random, and n/32 normal spikes."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n, n // 4, replace=False))
    x = np.zeros(n, complex if kind == "fft" else float)
    x[rng.choice(n, n // 32, replace=False)] = rng.standard_normal(n // 32)
    there, back = getattr(scipy.fft, kind), getattr(scipy.fft, "i" + kind)

    def adjoint(r):
        whole = np.zeros(n, x.dtype)
        whole[rows] = r.ravel()
        return back(whole, norm="ortho")

    A = LinearOperator(
        (n // 4, n), matvec=lambda z: there(z.ravel(), norm="ortho")[rows], rmatvec=adjoint, dtype=x.dtype
    )
    return A, x


def low_frequencies(side, seed):
    """Samples of the 2-D spectrum of a real picture, denser near the centre, and pixels that are few."""
    rng = np.random.default_rng(seed)
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    rows = np.flatnonzero(rng.random((side, side)) < np.minimum(1.2 * (1 - frequency * np.sqrt(2)) ** 3, 1))
    x = np.zeros(side * side)
    x[rng.choice(side * side, 12, replace=False)] = rng.standard_normal(12)

    def adjoint(r):
        whole = np.zeros(side * side, complex)
        whole[rows] = r.ravel()
        return scipy.fft.ifft2(whole.reshape(side, side), norm="ortho").real.ravel()

    def forward(z):
        return scipy.fft.fft2(z.reshape(side, side), norm="ortho").ravel()[rows]

    return LinearOperator((len(rows), side * side), matvec=forward, rmatvec=adjoint, dtype=complex), x


def with_noise(y, level, rng):
    sigma = level * np.linalg.norm(y) / np.sqrt(y.size)
    white = rng.standard_normal(y.shape)
    if np.iscomplexobj(y):
        white = (white + 1j * rng.standard_normal(y.shape)) / np.sqrt(2)
    return y + sigma * white, sigma


@pytest.mark.parametrize("level", [1e-3, 1e-2, 5e-2])
@pytest.mark.parametrize("kind", ["dct", "fft", "low frequencies"])
def test_noise_costs_little_more_where_it_is_not_told(kind, level):
    A, x = low_frequencies(32, 31) if kind == "low frequencies" else partial(kind, 4_096, 31)
    y, sigma = with_noise(A.matvec(x), level, np.random.default_rng(32))
    system = sg.System(A).as_operator()
    found, told = sg.recover(system, y), sg.recover(system, y, noise=sigma)
    assert found.success
    assert found.noise == pytest.approx(sigma, rel=0.15)
    assert snr(found.x, x) > snr(told.x, x) - LOUDEST_LOSS
    assert f"about {found.noise:.2g} per measurement (estimated)" in found.message


@pytest.mark.parametrize(("name", "level", "seed"), [("camera", 0.05, 102), ("aero", 0.03, 103)])
def test_noise_is_noticed_beside_errors_that_are_as_large(name, level, seed):
    """Wavelet coefficients of a picture, a fifth as many as measurements: errors in x are as large as noise."""
    side, rng = 64, np.random.default_rng(seed)
    pixels = getattr(pywt.data, name)().astype(float).reshape(side, 8, side, 8).mean(axis=(1, 3))
    whole, _ = pywt.coeffs_to_array(pywt.wavedec2(pixels, "db4", "periodization", level=3))
    signs = rng.choice([-1.0, 1.0], side * side)
    rows = np.sort(rng.choice(side * side, 3 * side * side // 10, replace=False))
    x = whole.ravel()
    x[np.argsort(-np.abs(x))[len(rows) // 5 :]] = 0

    def adjoint(r):
        spectrum = np.zeros(side * side)
        spectrum[rows] = r.ravel()
        return scipy.fft.idct(spectrum, norm="ortho") * signs

    A = LinearOperator(
        (len(rows), side * side),
        matvec=lambda z: scipy.fft.dct(z.ravel() * signs, norm="ortho")[rows],
        rmatvec=adjoint,
        dtype=float,
    )
    y, _ = with_noise(A.matvec(x), level, rng)
    found, as_exact = sg.recover(A, y), sg.recover(A, y, noise=0)
    assert found.noise > 0
    assert snr(found.x, x) > snr(as_exact.x, x) + 0.5


@pytest.mark.parametrize("kind", ["dct", "fft", "low frequencies"])
def test_exact_measurements_have_no_noise(kind):
    A, x = low_frequencies(32, 33) if kind == "low frequencies" else partial(kind, 4_096, 33)
    found = sg.recover(sg.System(A).as_operator(), A.matvec(x))
    assert found.noise == 0
    assert snr(found.x, x) > 150


def test_noise_zero_insists_on_exact_measurements():
    A, x = partial("dct", 4_096, 34)
    y, _ = with_noise(A.matvec(x), 0.01, np.random.default_rng(35))
    found = sg.recover(sg.System(A).as_operator(), y, noise=0)
    assert found.noise == 0
    assert found.residual <= 1e-6 * np.linalg.norm(y)


def test_scales_of_a_and_y_do_not_matter():
    A, x = partial("dct", 4_096, 36)
    y, sigma = with_noise(A.matvec(x), 0.01, np.random.default_rng(37))
    small = LinearOperator(
        A.shape, matvec=lambda z: 1e-7 * A.matvec(z), rmatvec=lambda r: 1e-7 * A.rmatvec(r), dtype=float
    )
    found = sg.recover(sg.System(small).as_operator(), 1e5 * y)
    assert found.noise == pytest.approx(1e5 * sigma, rel=0.15)
    assert snr(found.x / 1e12, x) > 40


@pytest.mark.parametrize("is_complex", [False, True])
def test_the_variance_of_normal_noise_around_few_spikes(is_complex):
    rng = np.random.default_rng(38)
    r = rng.standard_normal((20_000, 2)) @ ((1, 1j) if is_complex else (1, 0))
    r = r / np.sqrt(2) if is_complex else r.real
    r[rng.choice(len(r), 600, replace=False)] += 30 * rng.standard_normal(600)
    variance = estimate_variance(r, 0.8, 1.2)
    assert variance.likely == pytest.approx(1.0, abs=0.05)
    assert variance.likely < variance.largest < 1.1
    assert estimate_variance(r, 0.5, 0.8) == (0.8, 0.8)


def test_small_coefficients_are_told_from_noise():
    rng = np.random.default_rng(39)
    r = rng.standard_normal(100_000) + 0.8 * rng.standard_normal(100_000) * rng.standard_normal(100_000) ** 2
    variance = estimate_variance(r, 0.9, float(np.var(r)))
    assert 0.9 <= variance.likely <= variance.largest < 1.3
    assert np.var(r) > 2.5


def test_the_likelihood_falls_where_that_of_a_general_optimiser_does():
    """The same mixture, from the values themselves and not a histogram, by BFGS and not EM."""
    rng = np.random.default_rng(40)
    r = rng.standard_normal(1_500)
    r[:100] *= 8
    low, high = 0.7, 1.4
    scales = np.concatenate([[0.0], high * 4.0 ** np.arange(-1, 6)])

    def likelihood(v):
        densities = norm.pdf(r[:, None], scale=np.sqrt(v + scales))

        def loss(z):
            weights = np.exp(z - z.max())
            return -np.sum(np.log(densities @ (weights / weights.sum())))

        return -minimize(loss, np.zeros(len(scales)), method="BFGS", options={"maxiter": 2000}).fun

    grid = np.linspace(low, high, 6)
    values = np.array([likelihood(v) for v in grid])
    values -= values.max() - 1
    last = np.flatnonzero(values >= 0)[-1]
    expected = grid[last] + values[last] / (values[last] - values[last + 1]) * (grid[1] - grid[0])
    assert estimate_variance(r, low, high).likely == pytest.approx(expected, abs=0.02)


def test_noise_that_no_signal_explains():
    rng = np.random.default_rng(41)
    A = rng.standard_normal((300, 100)) / 10
    y = A @ rng.standard_normal(100) + 0.2 * rng.standard_normal(300)
    problem = Problem.of(sg.System(aslinearoperator(A)).as_operator(), y)
    assert noise_outside_range(problem, np.zeros(100)) == pytest.approx(0.2, rel=0.1)
    exact = Problem.of(sg.System(aslinearoperator(A)).as_operator(), A @ np.ones(100))
    assert noise_outside_range(exact, np.zeros(100)) == 0
