"""Bands of a record: analytic signals by the FFT, sampled as slowly as each band allows.

A band of width B is cut out of the record's spectrum with soft edges (the squared responses of neighbouring bands add
up to 1), moved to 0 Hz and transformed back at about 2.5 B samples per second, so that neither the analytic signal nor
its squared magnitude aliases, and the cost falls with the width. The FFT takes the record for one period of a periodic
signal: what the jump from its end to its beginning excites is cut off at both ends of each band.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from .._arrays import Array
from ..rounding import WHOLE
from .band_tree import Band

SOFT_EDGE_SHARE = 0.125  # of the width of the band, on either side of each of its limits
SETTLING_PERIODS = 4.0  # cut off at both ends, in units of 1 / width
LARGEST_CUT_SHARE = 0.125  # of the record, at each end


class Bank(NamedTuple):
    """Analytic signals of bands of equal width: values[band, sample], at `rate` samples per second from `start` on.

    `width` is that of the bands in hertz. `noise_shape[k]` is the power spectrum of the squared envelope of white noise
    at k times `resolution` hertz, relative to that at 0.
    """

    values: NDArray[np.complex128]
    width: float
    rate: float
    start: float
    resolution: float
    noise_shape: Array

    @property
    def squared_envelopes(self) -> Array:
        """The squared magnitudes."""
        squares: Array = self.values.real**2 + self.values.imag**2
        return squares


def record_spectrum(x: Array) -> NDArray[np.complex128]:
    """Return the spectrum of a real record at its non-negative frequencies, without the mean."""
    spectrum: NDArray[np.complex128] = scipy.fft.rfft(x)
    spectrum[0] = 0.0
    return spectrum


def filter_bank(spectrum: NDArray[np.complex128], samples: int, rate: float, bands: list[Band]) -> Bank:
    """Return the analytic signals of bands of equal width."""
    resolution = rate / samples
    bins = max(1, round(bands[0].width / resolution))
    response = _response(bins)
    edge = (len(response) - bins) // 2
    starts = np.array([round(band.low / resolution) for band in bands])
    padded = np.zeros(max(int(starts[-1]) + bins + 2 * edge, len(spectrum) + edge), dtype=np.complex128)
    padded[edge : edge + len(spectrum)] = spectrum
    size = scipy.fft.next_fast_len(2 * len(response))
    pieces = np.empty((len(bands), len(response)), dtype=np.complex128)
    for piece, start in zip(pieces, starts, strict=True):
        np.multiply(padded[start : start + len(response)], response, out=piece)
    values = scipy.fft.ifft(pieces, size, axis=-1, overwrite_x=True)
    values *= 2.0 * size / samples  # twice the positive frequencies: the real part has the samples of the band
    cut, kept = _kept(size, bins)
    kept_values = values[:, cut : cut + kept]
    slow = size * resolution
    return Bank(kept_values, bands[0].width, slow, cut / slow, resolution, _noise_shape(response, size))


def _response(bins: int) -> Array:
    """Return the band's response, bin by bin: cosine edges, centred on the band's limits, around ones."""
    edge = max(1, round(SOFT_EDGE_SHARE * bins)) if bins > 1 else 0
    if edge == 0:
        return np.ones(1)
    rise = np.sin(0.25 * np.pi * (np.arange(2 * edge) + 0.5) / edge)
    return np.concatenate([rise, np.ones(bins - 2 * edge), rise[::-1]])


def _kept(size: int, bins: int) -> tuple[int, int]:
    """Return how many samples are cut off at the front, and how many are kept: a number with a fast transform."""
    cut = min(math.ceil(SETTLING_PERIODS * size / bins), int(LARGEST_CUT_SHARE * size))
    kept = size - 2 * cut
    while kept > 1 and scipy.fft.next_fast_len(kept, real=True) != kept:
        kept -= 1
    return cut, kept


def _noise_shape(response: Array, size: int) -> Array:
    """Return the power spectrum of white noise's squared envelope: the response's power, correlated with itself."""
    power = scipy.fft.rfft(response**2, size)
    correlation: Array = scipy.fft.irfft(power.real**2 + power.imag**2, size)[: len(response)]
    shape: Array = correlation / correlation[0]
    return shape


class Spectra(NamedTuple):
    """Magnitudes of the spectra of squared envelopes: values[band, line] at `frequencies` in hertz."""

    frequencies: Array
    values: Array


def envelope_spectra(bank: Bank, low: float, high: float) -> Spectra:
    """Return the spectra of the bank's squared envelopes between two frequencies.

    They are divided by the shape that white noise has there, which falls from the frequency 0 to the band's width, so
    that spectra of bands of different width can be compared. The result is in units of the squared samples.
    """
    squares = bank.squared_envelopes
    kept = squares.shape[-1]
    resolution = bank.rate / kept
    first, last = math.ceil(low / resolution - WHOLE), math.floor(high / resolution + WHOLE)
    squares -= squares.mean(axis=-1, keepdims=True)
    lines = scipy.fft.rfft(squares, axis=-1)[:, first : last + 1]
    frequencies = resolution * np.arange(first, first + lines.shape[-1])
    shape = np.sqrt(np.interp(frequencies / bank.resolution, np.arange(len(bank.noise_shape)), bank.noise_shape))
    magnitudes = np.abs(lines)
    magnitudes *= 2.0 / kept / shape
    return Spectra(frequencies, magnitudes)
