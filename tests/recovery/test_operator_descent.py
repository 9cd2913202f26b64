"""Operators that mislead message passing, against l1: convolutions, coherent Fourier samples; and the dot test."""

import numpy as np
import pytest
import pywt
import scipy.fft
from scipy.sparse.linalg import LinearOperator

import sparsegauge as sg
from sparsegauge.recovery.falling_thresholds import NeighbourThresholds
from sparsegauge.recovery.quadratic import HELD_OUT_SHARE, MOST_LARGE, Quadratic
from sparsegauge.recovery.quality import psnr, relative_error

OURS = sg.GDSReweighted()


def fista(A, y, weight, size, steps=500):
    """Beck and Teboulle, as printed."""
    x = z = np.zeros_like(A.rmatvec(y))
    t, threshold = 1.0, weight * np.max(np.abs(A.rmatvec(y))) / size
    for _ in range(steps):
        r = z + A.rmatvec(y - A.matvec(z)) / size
        new = r * np.maximum(1 - threshold / np.maximum(np.abs(r), 1e-300), 0)
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        z = new + (t - 1) / after * (new - x)
        x, t = new, after
    return x


def convolution(n, noise, seed):
    pylops = pytest.importorskip("pylops")
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    x[rng.choice(n, n // 40, replace=False)] = rng.standard_normal(n // 40)
    time = np.pi * 25 * 0.002 * np.arange(-40, 41)
    ricker = (1 - 2 * time**2) * np.exp(-(time**2))
    A = pylops.signalprocessing.Convolve1D(n, h=ricker, offset=40)
    y = A @ x
    sigma = noise * np.linalg.norm(y) / np.sqrt(n)
    return A, y + sigma * rng.standard_normal(n), x, sigma, float(np.abs(np.fft.fft(ricker, 4 * n)).max()) ** 2


@pytest.mark.parametrize("seed", [11, 12])
def test_spikes_come_back_from_an_exact_convolution(seed):
    A, y, x, _, size = convolution(1_000, 0.0, seed)
    found = sg.recover(A, y, solver=OURS, noise=0)
    rivals = [relative_error(fista(A, y, weight, size), x) for weight in (1e-3, 1e-4, 1e-5)]
    assert relative_error(found.x, x) < 0.5 * min(rivals)


def test_spikes_come_back_from_a_noisy_convolution():
    A, y, x, sigma, size = convolution(1_000, 0.01, 13)
    found = sg.recover(A, y, solver=OURS, noise=sigma)
    rivals = [relative_error(fista(A, y, weight, size), x) for weight in (1e-2, 1e-3, 3e-4, 1e-4)]
    assert relative_error(found.x, x) < min(rivals)


def test_an_ecg_from_a_part_of_its_samples():
    signal = sg.demo("ecg")
    n = len(signal)
    rows = np.sort(np.random.default_rng(14).choice(n, 3 * n // 10, replace=False))

    def adjoint(r):
        whole = np.zeros(n)
        whole[rows] = r.ravel()
        return scipy.fft.dct(whole, norm="ortho")

    A = LinearOperator(
        (len(rows), n), matvec=lambda z: scipy.fft.idct(z.ravel(), norm="ortho")[rows], rmatvec=adjoint, dtype=float
    )
    x, y = scipy.fft.dct(signal, norm="ortho"), signal[rows]
    found = sg.recover(A, y, solver=OURS, noise=0)
    rivals = [relative_error(fista(A, y, weight, 1.0), x) for weight in (1e-2, 1e-3, 1e-4, 1e-5)]
    assert relative_error(found.x, x) < 0.8 * min(rivals)


def test_a_real_picture_from_complex_fourier_samples_of_variable_density():
    side, levels = 128, 4
    picture = pywt.data.camera()[::4, ::4].astype(float)
    x, places = pywt.coeffs_to_array(pywt.wavedec2(picture, "db4", "periodization", level=levels))
    frequency = np.minimum(np.arange(side), side - np.arange(side)) / side
    nearness = 1 - np.hypot(frequency[:, None], frequency) * np.sqrt(2)
    rows = np.flatnonzero(np.random.default_rng(15).random((side, side)) < np.minimum(1.2 * nearness**3, 1))

    def show(z):
        parts = pywt.array_to_coeffs(z.reshape(picture.shape), places, "wavedec2")
        return pywt.waverec2(parts, "db4", "periodization")

    def adjoint(r):
        whole = np.zeros(picture.size, complex)
        whole[rows] = r.ravel()
        pixels = scipy.fft.ifft2(whole.reshape(picture.shape), norm="ortho").real
        return pywt.coeffs_to_array(pywt.wavedec2(pixels, "db4", "periodization", level=levels))[0].ravel()

    A = LinearOperator(
        (len(rows), picture.size),
        matvec=lambda z: scipy.fft.fft2(show(z), norm="ortho").ravel()[rows],
        rmatvec=adjoint,
        dtype=complex,
    )
    y = A.matvec(x.ravel())
    found = sg.recover(A, y, solver=OURS, noise=0)
    rivals = [psnr(show(fista(A, y, weight, 1.0, 200)), picture, peak=255) for weight in (1e-3, 3e-4, 1e-4)]
    assert not np.iscomplexobj(found.x)
    assert psnr(show(found.x), picture, peak=255) > max(rivals)


def cartesian_lines(name, side, seed):
    """Wavelet coefficients of a picture, and 30 % of the lines of its spectrum, denser near the centre."""
    step = 512 // side
    picture = getattr(pywt.data, name)().astype(float).reshape(side, step, side, step).mean(axis=(1, 3))
    _, places = pywt.coeffs_to_array(pywt.wavedec2(picture, "db4", "periodization", level=3))
    frequency = np.minimum(np.arange(side), side - np.arange(side)) / side
    chosen = frequency <= 0.04
    rest = np.flatnonzero(~chosen)
    chance = (1 - 2 * frequency[rest]) ** 2 + 1e-3
    more = int(0.3 * side) - chosen.sum()
    chosen[np.random.default_rng(seed).choice(rest, more, replace=False, p=chance / chance.sum())] = True
    rows = np.flatnonzero(np.repeat(chosen, side))

    def show(z):
        return pywt.waverec2(pywt.array_to_coeffs(z.reshape(side, side), places, "wavedec2"), "db4", "periodization")

    def adjoint(r):
        whole = np.zeros(side * side, complex)
        whole[rows] = r.ravel()
        pixels = scipy.fft.ifft2(whole.reshape(side, side), norm="ortho").real
        return pywt.coeffs_to_array(pywt.wavedec2(pixels, "db4", "periodization", level=3))[0].ravel()

    A = LinearOperator(
        (len(rows), side * side),
        matvec=lambda z: scipy.fft.fft2(show(z), norm="ortho").ravel()[rows],
        rmatvec=adjoint,
        dtype=complex,
    )
    return A, scipy.fft.fft2(picture, norm="ortho").ravel()[rows], show, picture


@pytest.mark.parametrize(("name", "gain"), [("ascent", 0.3), ("aero", 0.6)])
def test_neighbours_beat_the_best_l1_answer_on_lines_of_a_spectrum(name, gain):
    A, y, show, picture = cartesian_lines(name, 64, 18)
    found = sg.recover(sg.System(A).as_operator(), y)
    rivals = [psnr(show(fista(A, y, weight, 1.0, 300)), picture, peak=255) for weight in (1e-2, 3e-3, 1e-3, 3e-4)]
    assert psnr(show(found.x), picture, peak=255) > max(rivals) + gain


def test_thresholds_are_lower_beside_large_coefficients():
    rng = np.random.default_rng(19)
    x = np.zeros(4_096)
    starts = rng.choice(300, 40, replace=False) * 10 + rng.integers(0, 4, 40)
    for offset in range(6):
        x[starts + offset] = 5 + rng.standard_normal(40)
    lone, inner = 3_900, starts + 2  # nothing is beyond 3,010
    x[lone] = x[inner] = 1.2
    lowered = NeighbourThresholds()(x, 1.0)
    assert lowered[lone] == 0
    assert np.all(lowered[inner] > 0.4)  # 0.2 if they were lone
    assert np.all(np.abs(lowered) <= np.abs(x))


@pytest.mark.parametrize("factors", [1.0, np.linspace(0.5, 2, 4_096)])
def test_thresholds_are_equal_where_no_neighbours_are_alike(factors):
    rng = np.random.default_rng(20)
    x = rng.standard_normal(4_096) * np.exp(2j * np.pi * rng.random(4_096))
    lowered = x / np.abs(x) * np.maximum(np.abs(x) - 0.7 * factors, 0)
    np.testing.assert_allclose(NeighbourThresholds(factors)(x, 0.7), lowered, atol=1e-12)


@pytest.mark.parametrize("factor", [2.0, -1.0, 1.01])
def test_an_operator_that_fails_the_dot_test_is_refused(factor):
    B = np.random.default_rng(16).standard_normal((30, 80))
    A = LinearOperator(B.shape, matvec=lambda u: B @ u, rmatvec=lambda v: factor * (B.T @ v), dtype=float)
    with pytest.raises(sg.InvalidInput, match="not the adjoint"):
        sg.recover(A, B[:, 3])


def test_an_operator_without_an_adjoint_is_refused():
    B = np.random.default_rng(16).standard_normal((30, 80))
    A = LinearOperator(B.shape, matvec=lambda u: B @ u, dtype=float)
    with pytest.raises(sg.InvalidInput, match="give its operator rmatvec"):
        sg.recover(A, B[:, 3])


@pytest.mark.parametrize("A", [np.cos, (np.cos, np.sin)])
def test_functions_are_refused_with_the_operator_to_make_of_them(A):
    with pytest.raises(sg.InvalidInput, match="LinearOperator"):
        sg.recover(A, np.ones(30))


def test_single_precision_passes_the_dot_test():
    B = np.random.default_rng(17).standard_normal((30, 80)).astype(np.float32)
    A = LinearOperator(
        B.shape,
        matvec=lambda u: B @ u.astype(np.float32),
        rmatvec=lambda v: B.T @ v.astype(np.float32),
        dtype=np.float32,
    )
    assert sg.recover(A, B[:, 3].astype(float)).success


def held_out(y):
    return ~Quadratic.with_products(lambda x: x, lambda r: r, y).kept


def test_measurements_that_are_far_larger_than_most_are_not_held_out():
    rng = np.random.default_rng(5)
    y = rng.standard_normal(4000)
    assert held_out(y).mean() == pytest.approx(HELD_OUT_SHARE, rel=0.2)
    large = rng.random(4000) < 0.8 * MOST_LARGE
    y[large] *= 100 / np.abs(y[large])
    assert not held_out(y)[large].any()
    assert held_out(y).mean() == pytest.approx(HELD_OUT_SHARE, rel=0.2)


def test_where_most_measurements_are_nearly_nothing_the_others_are_held_out_too():
    rng = np.random.default_rng(6)
    y = np.where(rng.random(4000) < 0.2, rng.standard_normal(4000), 0.0)
    assert held_out(y)[y != 0].mean() > HELD_OUT_SHARE / 2
