"""Problems with operators: pictures, convolutions, sampled sounds, tones, and partial transforms of spikes."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pywt
import scipy.fft
from scipy.sparse.linalg import LinearOperator

import sparsegauge as sg
from sparsegauge.recovery.quality import psnr, relative_error

PICTURES = ("camera", "ascent", "aero")
MASKS = ("random modulation", "variable density", "Cartesian lines")
WAVELET, LEVELS = "db4", 4
NOISES = (0.0, 0.01)  # of y, in units of its root mean square
LENGTHS = (1_000, 4_000, 100_000)  # of convolutions
SIZES = (1_000, 10_000, 100_000, 1_000_000)  # of partial DCT and FFT
TONES, TONE_SAMPLES, TONE_LENGTH, TONE_GRID = 5, 64, 256, 1024

Vector = np.ndarray


class Case(NamedTuple):
    """Measurements y of a known x; `score` judges an answer, and `show` turns coefficients into the signal."""

    name: str
    A: LinearOperator
    y: Vector
    x: Vector
    size: float  # |A|^2
    show: Callable[[Vector], Vector] = lambda z: z
    unit: str = "error"
    of_pixels: LinearOperator | None = None  # A without the wavelets

    def score(self, x: Vector) -> float:
        """Return the PSNR in dB, the number of tones found, or the relative error, from coefficients."""
        return self.score_signal(x if self.unit == "tones" else self.show(x))

    def score_signal(self, signal: Vector) -> float:
        """Return the same from the signal itself."""
        if self.unit == "tones":
            return float(count_tones(signal, self.x))
        truth = self.show(self.x)
        return psnr(signal, truth, peak=255) if self.unit == "dB" else relative_error(signal, truth)

    def better(self, scores: list[float]) -> float:
        """Return the best of several scores."""
        return min(scores) if self.unit == "error" else max(scores)


def with_noise(y: Vector, noise: float, rng: np.random.Generator) -> Vector:
    """Return y with white noise, complex where y is."""
    white = rng.standard_normal(y.shape)
    if np.iscomplexobj(y):
        white = (white + 1j * rng.standard_normal(y.shape)) / np.sqrt(2)
    return y + noise * np.linalg.norm(y) / np.sqrt(y.size) * white


def picture(name: str, mask: str, noise: float, seed: int, side: int) -> Case:
    """Wavelet coefficients of a picture: 30 % of the DCT after random signs, or 22 % or 30 % of its spectrum."""
    step = 512 // side
    pixels = getattr(pywt.data, name)().astype(float)
    pixels = pixels.reshape(side, step, side, step).mean(axis=(1, 3))
    rng = np.random.default_rng(seed)
    x, places = pywt.coeffs_to_array(pywt.wavedec2(pixels, WAVELET, "periodization", level=LEVELS))
    measure, back, rows = MODULATIONS[mask](side, rng)

    def show(z: Vector) -> Vector:
        parts = pywt.array_to_coeffs(z.reshape(side, side), places, "wavedec2")
        return pywt.waverec2(parts, WAVELET, "periodization")

    def spread(r: Vector) -> Vector:
        whole = np.zeros(side * side, kind)
        whole[rows] = r.ravel()
        return back(whole.reshape(side, side)).real

    def analyse(image: Vector) -> Vector:
        return pywt.coeffs_to_array(pywt.wavedec2(image, WAVELET, "periodization", level=LEVELS))[0].ravel()

    def forward(image: Vector) -> Vector:
        return measure(image.reshape(side, side)).ravel()[rows]

    kind, shape = measure(pixels).dtype, (len(rows), side * side)
    A = LinearOperator(shape, lambda z: forward(show(z)), rmatvec=lambda r: analyse(spread(r)), dtype=kind)
    of_pixels = LinearOperator(shape, forward, rmatvec=lambda r: spread(r).ravel(), dtype=kind)
    y = with_noise(forward(pixels), noise, rng)
    return Case(f"{name}, {mask}, {noise:.0%} noise", A, y, x.ravel(), 1.0, show, "dB", of_pixels)


def modulate(side: int, rng: np.random.Generator) -> tuple[Any, Any, Vector]:
    """Return random signs with the DCT, its inverse, and 30 % of the places."""
    signs = rng.choice([-1.0, 1.0], (side, side))
    rows = np.sort(rng.choice(side * side, int(0.3 * side * side), replace=False))
    return (
        lambda image: scipy.fft.dctn(image * signs, norm="ortho"),
        lambda whole: scipy.fft.idctn(whole, norm="ortho") * signs,
        rows,
    )


def fourier(kept: Callable[[Vector, np.random.Generator], Vector]) -> Callable[..., tuple[Any, Any, Vector]]:
    """Return the Fourier transform, its inverse, and the places that `kept` chooses from the frequencies."""

    def make(side: int, rng: np.random.Generator) -> tuple[Any, Any, Vector]:
        frequency = np.minimum(np.arange(side), side - np.arange(side)) / side
        rows = np.flatnonzero(kept(frequency, rng))
        return (
            lambda image: scipy.fft.fft2(image, norm="ortho"),
            lambda whole: scipy.fft.ifft2(whole, norm="ortho"),
            rows,
        )

    return make


def variable_density(frequency: Vector, rng: np.random.Generator) -> Vector:
    """Return places that are denser near the centre, 22 % of all."""
    nearness = 1 - np.hypot(frequency[:, None], frequency) * np.sqrt(2)
    return rng.random(nearness.shape) < np.minimum(1.2 * nearness**3, 1)


def cartesian_lines(frequency: Vector, rng: np.random.Generator) -> Vector:
    """Return whole lines: the 8 % at the centre, and others at random, 30 % of all."""
    side = len(frequency)
    chosen = frequency <= 0.04
    rest = np.flatnonzero(~chosen)
    chance = (1 - 2 * frequency[rest]) ** 2 + 1e-3
    more = rng.choice(rest, int(0.3 * side) - chosen.sum(), replace=False, p=chance / chance.sum())
    chosen[more] = True
    return np.repeat(chosen[:, None], side, axis=1)


MODULATIONS = dict(zip(MASKS, (modulate, fourier(variable_density), fourier(cartesian_lines)), strict=True))


def convolution(n: int, noise: float, seed: int) -> Case:
    """n/40 normal spikes after PyLops' Convolve1D with a Ricker wavelet of 25 Hz, sampled every 2 ms."""
    import pylops

    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    x[rng.choice(n, n // 40, replace=False)] = rng.standard_normal(n // 40)
    moments = np.pi * 25 * 0.002 * np.arange(-40, 41)
    ricker = (1 - 2 * moments**2) * np.exp(-(moments**2))
    A = pylops.signalprocessing.Convolve1D(n, h=ricker, offset=40)
    size = float(np.abs(np.fft.fft(ricker, 4 * n)).max()) ** 2
    return Case(f"deconvolution, n = {n:,}, {noise:.0%} noise", A, with_noise(A @ x, noise, rng), x, size)


def sampled(name: str, signal: Vector, seed: int) -> Case:
    """DCT coefficients of a signal, of which 30 % of the samples are known."""
    n = len(signal)
    rows = np.sort(np.random.default_rng(seed).choice(n, 3 * n // 10, replace=False))

    def adjoint(r: Vector) -> Vector:
        whole = np.zeros(n)
        whole[rows] = r.ravel()
        return scipy.fft.dct(whole, norm="ortho")

    def show(z: Vector) -> Vector:
        return scipy.fft.idct(z.ravel(), norm="ortho")

    A = LinearOperator((len(rows), n), matvec=lambda z: show(z)[rows], rmatvec=adjoint, dtype=float)
    return Case(f"{name}, 30 % of its samples", A, signal[rows], scipy.fft.dct(signal, norm="ortho"), 1.0, show)


def voiced_sound(n: int = 4096, rate: float = 16_000.0) -> Vector:
    """Return a vowel: pulses of 120 Hz that glide by 2 %, through resonances at 700, 1,200 and 2,600 Hz."""
    import scipy.signal

    phase = np.cumsum(120 * (1 + 0.02 * np.sin(2 * np.pi * 3 * np.arange(n) / rate))) / rate
    sound = np.diff(np.floor(phase), prepend=0.0)
    for centre, width in ((700, 80), (1_200, 90), (2_600, 120)):
        radius = np.exp(-np.pi * width / rate)
        sound = scipy.signal.lfilter([1.0], [1, -2 * radius * np.cos(2 * np.pi * centre / rate), radius**2], sound)
    return np.asarray(sound / np.max(np.abs(sound)))


def tones(seed: int, noise: float) -> Case:
    """Five complex tones between the points of a frequency grid that is four times finer than their length resolves."""
    rng = np.random.default_rng(seed)
    while True:
        places = np.sort(rng.random(TONES))
        if np.min(np.diff([*places, places[0] + 1])) > 3 / TONE_LENGTH:
            break
    amplitudes = rng.uniform(0.5, 1.0, TONES) * np.exp(2j * np.pi * rng.random(TONES))
    rows = np.sort(rng.choice(TONE_LENGTH, TONE_SAMPLES, replace=False))
    y = np.exp(2j * np.pi * np.outer(rows, places)) @ amplitudes
    A = LinearOperator(
        (TONE_SAMPLES, TONE_GRID),
        matvec=lambda z: scipy.fft.ifft(z.ravel(), norm="forward")[rows],
        rmatvec=lambda r: spread(r, rows),
        dtype=complex,
    )
    y = with_noise(y, noise, rng)
    return Case(f"off-grid tones, {noise:.0%} noise", A, y, places, float(TONE_GRID), unit="tones")


def spread(r: Vector, rows: Vector) -> Vector:
    """Return the spectrum of samples at the given places."""
    whole = np.zeros(TONE_GRID, complex)
    whole[rows] = r.ravel()
    return scipy.fft.fft(whole)


def count_tones(x: Vector, places: Vector) -> int:
    """Return how many tones have one of the highest peaks of x within a grid step and a half."""
    magnitudes = np.abs(x)
    smooth = magnitudes + np.roll(magnitudes, 1) + np.roll(magnitudes, -1)  # a tone between two points has two
    peaks, rest = [], smooth.copy()
    for _ in range(TONES):
        peak = int(np.argmax(rest))
        peaks.append(peak / TONE_GRID)
        rest[np.arange(peak - 4, peak + 5) % TONE_GRID] = 0
    gaps = np.abs((np.asarray(peaks)[:, None] - places + 0.5) % 1 - 0.5)
    return int(np.sum(gaps.min(axis=0) <= 1.5 / TONE_GRID))


def partial(kind: str, n: int, seed: int) -> Case:
    """N/32 normal spikes, complex for the FFT, from a quarter of their transform at random."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n, n // 4, replace=False))
    x = np.zeros(n, complex if kind == "FFT" else float)
    x[rng.choice(n, n // 32, replace=False)] = rng.standard_normal(n // 32)
    if kind == "FFT":
        x = x * np.exp(2j * np.pi * rng.random(n))
    there, back = (scipy.fft.fft, scipy.fft.ifft) if kind == "FFT" else (scipy.fft.dct, scipy.fft.idct)

    def adjoint(r: Vector) -> Vector:
        whole = np.zeros(n, x.dtype)
        whole[rows] = r.ravel()
        return back(whole, norm="ortho")

    def forward(z: Vector) -> Vector:
        return there(z.ravel(), norm="ortho")[rows]

    A = LinearOperator((n // 4, n), matvec=forward, rmatvec=adjoint, dtype=x.dtype)
    return Case(f"partial {kind}, N = {n:,}", A, forward(x), x, 1.0)


def cases(seed: int, side: int, quick: bool, largest: int = max(SIZES)) -> Iterator[Case]:
    """Yield all problems of at most `largest` unknowns, or with `quick` some small ones of each kind."""
    for name in PICTURES[:1] if quick else PICTURES:
        for mask in MASKS:
            for noise in NOISES:
                yield picture(name, mask, noise, seed, side)
    for n in LENGTHS[:2] if quick else (n for n in LENGTHS if n <= largest):
        for noise in NOISES:
            yield convolution(n, noise, seed)
    yield sampled("ECG", sg.demo("ecg"), seed)
    yield sampled("voiced sound", voiced_sound(), seed)
    for noise in NOISES:
        yield tones(seed, noise)
    for n in SIZES[:2] if quick else (n for n in SIZES if n <= largest):
        for kind in ("DCT", "FFT"):
            yield partial(kind, n, seed)
