"""Signals that are only nearly sparse: wavelets at all shifts and total variation, against their slow twins and l1."""

import functools

import numpy as np
import pytest
import pywt
import scipy.fft
import scipy.optimize
from scipy.sparse.linalg import LinearOperator

import sparsegauge as sg
from sparsegauge.recovery import analysis
from sparsegauge.recovery.quality import psnr, relative_error

SIDE = 64


def discs(side=SIDE):
    """A picture of three levels."""
    u, v = np.mgrid[:side, :side] / side
    picture = np.zeros((side, side))
    picture[(u - 0.4) ** 2 + (v - 0.5) ** 2 < 0.1] = 1.0
    picture[(u - 0.6) ** 2 + (v - 0.6) ** 2 < 0.02] = -0.5
    return picture + 2.0


def sampled_spectrum(side, part, seed, *, is_complex=False):
    """Fourier samples that are denser near the centre; of real pictures unless told."""
    frequency = np.minimum(np.arange(side), side - np.arange(side)) / side
    nearness = 1 - np.hypot(frequency[:, None], frequency) * np.sqrt(2)
    rows = np.flatnonzero(np.random.default_rng(seed).random((side, side)) < part * nearness**3)

    def adjoint(r):
        whole = np.zeros(side * side, complex)
        whole[rows] = r.ravel()
        pixels = scipy.fft.ifft2(whole.reshape(side, side), norm="ortho").ravel()
        return pixels if is_complex else pixels.real

    return LinearOperator(
        (len(rows), side * side),
        matvec=lambda x: scipy.fft.fft2(x.reshape(side, side), norm="ortho").ravel()[rows],
        rmatvec=adjoint,
        dtype=complex,
    )


@functools.cache
def from_noise():
    """A photograph from a part of its noisy spectrum, by wavelets."""
    picture = pywt.data.camera().reshape(SIDE, 8, SIDE, 8).mean(axis=(1, 3))
    A, rng = sampled_spectrum(SIDE, 1.5, 1), np.random.default_rng(2)
    y = A.matvec(picture.ravel())
    sigma = 0.01 * np.linalg.norm(y) / np.sqrt(len(y))
    y = y + sigma * (rng.standard_normal((len(y), 2)) @ (1, 1j)) / np.sqrt(2)
    return picture, A, y, sigma, sg.recover(A, y, transform=("haar", picture.shape))


@pytest.mark.parametrize("shape", [(7,), (5, 6)])
def test_differences_and_their_adjoint_are_a_matrix_and_its_transpose(shape):
    n = int(np.prod(shape))
    D = np.column_stack([analysis.differences(unit.reshape(shape)).ravel() for unit in np.eye(n)])
    for row in D:
        assert sorted(row[row != 0]) in ([], [-1, 1])
    p = np.random.default_rng(0).standard_normal((len(shape), *shape))
    np.testing.assert_allclose(analysis.sum_of_differences(p).ravel(), D.T @ p.ravel(), atol=1e-12)


def test_total_variation_is_lowered_as_a_slow_minimiser_lowers_it():
    x, t = np.random.default_rng(1).standard_normal(12).cumsum(), 0.4
    denoise = analysis.TotalVariation((12,), reweighted=False)
    for _ in range(200):  # every call goes on where the last one ended
        found = denoise(x, t)
    dual = scipy.optimize.minimize(  # the dual problem, by a solver that knows nothing of it
        lambda p: np.sum((x - analysis.sum_of_differences(p[None])) ** 2),
        np.zeros(12),
        bounds=[(-t, t)] * 12,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxfun": 10**5},
    )
    np.testing.assert_allclose(found, x - analysis.sum_of_differences(dual.x[None]), atol=1e-4)


def test_neighbours_lower_a_coefficient_by_their_mean_square():
    band = np.random.default_rng(2).standard_normal((6, 5))
    slow = np.empty_like(band)
    for i in range(6):
        for j in range(5):
            around = [band[(i + k) % 6, (j + m) % 5] ** 2 for k in (-1, 0, 1) for m in (-1, 0, 1)]
            slow[i, j] = band[i, j] * max(1 - 0.7**2 / np.mean(around), 0)
    np.testing.assert_allclose(analysis.lower_by_neighbours(band, 0.7), slow, atol=1e-12)


@pytest.mark.parametrize("shape", [(64,), (16, 24)])
@pytest.mark.parametrize("by_neighbours", [False, True])
def test_wavelets_at_threshold_zero_change_nothing(shape, by_neighbours):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    spun = analysis.SpunWavelets(pywt.Wavelet("db2"), shape, rng, by_neighbours=by_neighbours)
    np.testing.assert_allclose(spun(x, 0.0), x, atol=1e-10)
    assert np.ptp(spun(np.full(shape, 3.0), 1.0)) < 1e-10


def test_a_piecewise_constant_picture_from_a_part_of_its_spectrum():
    picture, A = discs(), sampled_spectrum(SIDE, 0.7, 0)
    assert A.shape[0] < 0.15 * picture.size
    found = sg.recover(A, A.matvec(picture.ravel()), transform=("tv", picture.shape), noise=0)
    assert found.success
    assert found.noise == 0
    assert relative_error(found.x, picture.ravel()) < 0.01
    np.testing.assert_allclose(found.coefficients, analysis.differences(found.x.reshape(picture.shape)).ravel())


@pytest.mark.parametrize("seed", range(4))
def test_a_complex_picture_from_its_noisy_spectrum(seed):
    picture = discs() * np.exp(0.5j)
    A, rng = sampled_spectrum(SIDE, 1.2, seed, is_complex=True), np.random.default_rng(seed)
    y = A.matvec(picture.ravel())
    noise = 0.01 * np.linalg.norm(y) / np.sqrt(len(y))
    found = sg.recover(
        A, y + noise * (rng.standard_normal((len(y), 2)) @ (1, 1j)) / np.sqrt(2), transform=("tv", picture.shape)
    )
    assert found.success
    assert np.iscomplexobj(found.x)
    assert relative_error(found.x, picture.ravel()) < 0.013


def test_a_photograph_comes_nearer_than_by_coefficients_alone():
    picture, A, y, _, found = from_noise()
    alone = sg.recover(A, y, transform=("haar", picture.shape), solver=sg.GDSReweighted())
    assert psnr(found.x, picture.ravel(), peak=255) > psnr(alone.x, picture.ravel(), peak=255) + 1


def test_noise_that_is_not_told_is_reported():
    _, _, _, sigma, found = from_noise()
    assert found.success
    assert not found.certified
    assert 0.3 * sigma < found.noise < 2 * sigma


def test_noise_that_is_told_bounds_the_residual():
    picture, A, y, sigma, _ = from_noise()
    found = sg.recover(A, y, transform=("tv", picture.shape), noise=sigma)
    assert found.success
    assert found.noise == pytest.approx(sigma)


def test_coefficients_that_are_sparse_are_found_exactly():
    side = 64
    A, rng = sampled_spectrum(side, 1.5, 3), np.random.default_rng(3)
    coefficients = np.zeros((side, side))
    coefficients[rng.integers(0, 16, 12), rng.integers(0, 16, 12)] = rng.standard_normal(12) * 10
    levels = pywt.wavedec2(coefficients, "haar", "periodization", level=3)
    picture = pywt.waverec2(
        [coefficients[:8, :8], *[tuple(0 * band for band in level) for level in levels[1:]]], "haar"
    )
    found = sg.recover(A, A.matvec(picture.ravel()), transform=("haar", picture.shape))
    assert relative_error(found.x, picture.ravel()) < 1e-6


def test_scales_do_not_matter():
    picture, A = discs(32), sampled_spectrum(32, 1.0, 0)
    y = A.matvec(picture.ravel())
    found = [sg.recover(A, scale * y, transform=("tv", (32, 32))).x / scale for scale in (1.0, 1e-200, 1e200)]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-6)


@pytest.mark.parametrize("transform", ["tv", "haar"])
def test_a_constant_and_nothing_at_all(transform):
    A = sampled_spectrum(32, 1.0, 0)
    constant = sg.recover(A, A.matvec(np.full(1024, 5.0)), transform=(transform, (32, 32)))
    np.testing.assert_allclose(constant.x, 5.0, atol=1e-6)
    nothing = sg.recover(A, np.zeros(A.shape[0]), transform=(transform, (32, 32)))
    assert nothing.status == sg.Status.NO_SIGNAL
    assert not nothing.x.any()


def test_a_long_signal_that_is_piecewise_constant():
    rng, n = np.random.default_rng(4), 8192
    x = np.repeat(rng.standard_normal(16), n // 16)
    rows = np.sort(rng.choice(n, n // 4, replace=False))
    signs = rng.choice([-1.0, 1.0], n)

    def adjoint(r):
        whole = np.zeros(n)
        whole[rows] = r.ravel()
        return scipy.fft.idct(whole, norm="ortho") * signs

    A = LinearOperator(
        (len(rows), n),
        matvec=lambda z: scipy.fft.dct(z.ravel() * signs, norm="ortho")[rows],
        rmatvec=adjoint,
        dtype=float,
    )
    assert relative_error(sg.recover(A, A.matvec(x), transform="tv").x, x) < 0.02


def test_many_pictures_progress_and_callback():
    A, seen, done = sampled_spectrum(32, 1.0, 0), [], []
    Y = np.column_stack([A.matvec(discs(32).ravel()), A.matvec(-discs(32).ravel())])
    found = sg.recover(A, Y, transform=("tv", (32, 32)), progress=lambda k, n: done.append((k, n)))
    assert found.x.shape == (1024, 2)
    assert done == [(1, 2), (2, 2)]
    np.testing.assert_allclose(found.x[:, 0], -found.x[:, 1], atol=1e-8)
    stopped = sg.recover(
        A, Y[:, 0], transform=("tv", (32, 32)), callback=lambda k, x: seen.append(x.shape) or len(seen) == 3
    )
    assert seen == [(1024,)] * 3
    assert stopped.status == sg.Status.STOPPED_BY_CALLBACK


@pytest.mark.parametrize("option", [{"solver": sg.OMP()}, {"joint": True}])
def test_what_total_variation_of_pictures_cannot_do_gets_a_sentence(option):
    A = sampled_spectrum(32, 1.0, 0)
    with pytest.raises(sg.InvalidInput, match="leave it out"):
        sg.recover(A, A.matvec(discs(32).ravel()), transform=("tv", (32, 32)), **option)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_large_coefficient_of_the_spectrum_does_not_choose_the_threshold(seed):
    """Where one of the lowest frequencies was held out, it decided where the fall ended: 10 dB were lost."""
    picture = pywt.data.aero().reshape(SIDE, 8, SIDE, 8).mean(axis=(1, 3))
    A = sampled_spectrum(SIDE, 1.2, seed)
    y = A.matvec(picture.ravel())
    plain = psnr(A.rmatvec(y).reshape(picture.shape), picture, peak=255)
    found = sg.recover(A, y, transform=("db4", picture.shape)).x.reshape(picture.shape)
    assert psnr(found, picture, peak=255) > plain + 3
