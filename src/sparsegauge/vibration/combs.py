"""Families of lines in envelope spectra: the harmonics of a fault's frequency, and how far they stand out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .band_tree import Band
from .filters import Bank, envelope_spectra
from .whitening import noise_floor

HARMONICS = 4
FLOOR_LINES = 60  # of an envelope spectrum behind each value of its floor
LINES_BESIDE_HARMONIC = 1  # where its peak may be
LINES_BESIDE_KNOWN = 2.5  # on either side of a line that belongs to no fault
STEPS_PER_LINE = 2


class Known(NamedTuple):
    """A frequency whose multiples are no fault's, and how well it is known, relative to it."""

    frequency: float
    share: float


class Comb(NamedTuple):
    """A family of lines in one band: the harmonics of `frequency`, and how far each stands out of the floor."""

    score: float
    frequency: float
    prominences: Array
    band: Band


class Lines(NamedTuple):
    """Envelope spectra relative to their floors, of bands of equal width: prominences[band, line]."""

    bands: list[Band]
    resolution: float
    prominences: Array

    def peaks(self, frequencies: Array) -> Array:
        """Return the largest prominence at, or next to, each of these frequencies, in each band; 1 beyond the last."""
        last = self.prominences.shape[-1] - 1
        nearest = np.rint(frequencies / self.resolution).astype(np.int64)
        found = np.ones((len(self.bands), *nearest.shape))
        for shift in range(-LINES_BESIDE_HARMONIC, LINES_BESIDE_HARMONIC + 1):
            at = nearest + shift
            inside = (at >= 0) & (at <= last)
            values = np.where(inside, self.prominences[:, np.clip(at, 0, last)], 1.0)
            np.maximum(found, values, out=found)
        return found


def find_lines(bank: Bank, bands: list[Band], highest: float, known: list[Known]) -> Lines:
    """Return the lines of a bank's envelope spectra up to a frequency, without the multiples of known frequencies."""
    spectra = envelope_spectra(bank, 0.0, highest)
    prominences = spectra.values / np.maximum(noise_floor(spectra.values, FLOOR_LINES), np.finfo(float).tiny)
    resolution = float(spectra.frequencies[1])
    for line in known:
        prominences[:, _near_multiples(spectra.frequencies, line, resolution)] = 1.0
    prominences[:, 0] = 1.0
    return Lines(bands, resolution, prominences)


def _near_multiples(frequencies: Array, known: Known, resolution: float) -> NDArray[np.bool_]:
    nearest = np.maximum(1.0, np.round(frequencies / known.frequency)) * known.frequency
    reach = np.maximum(LINES_BESIDE_KNOWN * resolution, known.share * nearest)
    near: NDArray[np.bool_] = np.abs(frequencies - nearest) <= reach
    return near


def surprise(prominences: Array) -> Array:
    """Return how surprising lines are: log(1 + u), where noise has lines beyond u with probability exp(-u).

    Magnitudes of noise follow Rayleigh's distribution, whose median is the square root of log 2: the square of a
    prominence, times log 2, is u. The logarithm keeps one strong line from counting as a family.
    """
    surprises: Array = np.log1p(math.log(2.0) * prominences**2)
    return surprises


class Families(NamedTuple):
    """The strongest family of lines near one frequency in each band: prominences[band, harmonic]."""

    scores: Array
    fundamentals: Array
    prominences: Array


def find_families(lines: Lines, frequency: float, tolerance: float) -> Families | None:
    """Return the family of lines near a frequency and at its multiples that stands out most in each band.

    All harmonics share one fundamental, which may differ from `frequency` by `tolerance` of it. None if the spectra end
    before the first harmonic.
    """
    end = lines.resolution * (lines.prominences.shape[-1] - 1)
    harmonics = np.arange(1, min(HARMONICS, int(end / (frequency * (1 + tolerance)))) + 1)
    if not len(harmonics):
        return None
    reach = tolerance * frequency
    steps = max(1, math.ceil(reach * len(harmonics) * STEPS_PER_LINE / lines.resolution))
    fundamentals = frequency + reach * np.linspace(-1, 1, 2 * steps + 1)
    peaks = lines.peaks(harmonics[:, None] * fundamentals)
    scores = surprise(peaks).sum(axis=1)
    at = scores.argmax(axis=1)
    rows = np.arange(len(at))
    return Families(scores[rows, at], fundamentals[at], peaks[rows, :, at])


def find_comb(lines: Lines, frequency: float, tolerance: float) -> Comb | None:
    """Return the family of lines near a frequency that stands out most among all bands; None if no band shows it."""
    families = find_families(lines, frequency, tolerance)
    if families is None:
        return None
    band = int(families.scores.argmax())
    return Comb(
        float(families.scores[band]),
        float(families.fundamentals[band]),
        families.prominences[band],
        lines.bands[band],
    )
