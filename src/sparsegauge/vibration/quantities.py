"""What is measured in a band: the envelope, its spectrum or the samples, by a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from .._arrays import Array
from .._platform.threads import run
from .band_tree import Band
from .cascade import cascade
from .filters import Bank, envelope_spectra, filter_bank
from .whitening import noise_floor

QUANTITIES = ("envelope spectrum", "envelope", "squared envelope", "samples")
SMOOTH, KURTOGRAM = FILTERS = ("smooth", "fast kurtogram")
USABLE_WIDTH_SHARE = 0.9  # of a band: its envelope spectrum has almost no noise to compare with beyond
LEAST_SHARE_OF_RANGE = 1 / 3  # of the envelope spectrum that a band must show to be measured
FEWEST_SPECTRUM_LINES = 16  # of an envelope spectrum that is measured
LINES_BESIDE_SHAFT_HARMONIC = 2  # that are left out


@dataclass(frozen=True)
class BandSetting:
    """What is measured in each band: the quantity, its metric, and the range of the envelope spectrum.

    `shaft` is the frequency in hertz at whose multiples lines are left out. With `relative`, an envelope spectrum is
    divided by its own floor: what falls smoothly with the frequency, as with random knocks, is then no sparsity.
    `filters` are those that the values are measured with.
    """

    on: str
    metric: str
    parameters: dict[str, Any]
    function: Callable[[Array], Array] = field(repr=False)
    sparser: str
    frequencies: tuple[float, float]
    shaft: float | None
    relative: bool = False
    filters: str = SMOOTH

    def measure(self, bank: Bank) -> Array:
        """Return the metric's value in each band of a bank; NaN where it is too narrow."""
        if self.on == "envelope spectrum":
            return self._measure_spectra(bank)
        return self.measure_samples(bank.values)

    def measure_samples(self, values: NDArray[np.complex128]) -> Array:
        """Return the metric's value of each row of complex samples."""
        if self.on == "samples":
            return self.function(np.ascontiguousarray(values.real))
        squares = values.real**2 + values.imag**2
        return self.function(np.sqrt(squares) if self.on == "envelope" else squares)

    def _measure_spectra(self, bank: Bank) -> Array:
        low, high = self.usable_range(bank.width)
        if high < LEAST_SHARE_OF_RANGE * self.frequencies[1]:
            return np.full(len(bank.values), np.nan)
        spectra = envelope_spectra(bank, low, high)
        lines = spectra.values / noise_floor(spectra.values) if self.relative else spectra.values
        rows = lines[:, self.kept_lines(spectra.frequencies)]
        return self.function(rows) if rows.shape[-1] >= FEWEST_SPECTRUM_LINES else np.full(len(rows), np.nan)

    def usable_range(self, width: float) -> tuple[float, float]:
        """Return the part of the range of the envelope spectrum that bands of this width show."""
        low, high = self.frequencies
        return low, min(high, USABLE_WIDTH_SHARE * width)

    def kept_lines(self, frequencies: Array) -> NDArray[np.bool_]:
        """Tell which lines of an envelope spectrum are no harmonics of the shaft."""
        if self.shaft is None or len(frequencies) < 2:
            return np.ones(len(frequencies), dtype=bool)
        resolution = frequencies[1] - frequencies[0]
        nearest = np.maximum(1.0, np.round(frequencies / self.shaft)) * self.shaft
        kept: NDArray[np.bool_] = np.abs(frequencies - nearest) > (LINES_BESIDE_SHAFT_HARMONIC + 0.5) * resolution
        return kept


def measure_bands(
    spectrum: NDArray[np.complex128],
    samples: int,
    rate: float,
    groups: list[list[Band]],
    settings: Sequence[BandSetting],
) -> Array:
    """Return values[setting, band], for all bands of all groups."""
    if settings[0].filters == KURTOGRAM:
        return _measure_cascade(scipy.fft.irfft(spectrum, samples), groups, settings)

    def measure_group(group: list[Band]) -> Array:
        bank = filter_bank(spectrum, samples, rate, group)
        return np.stack([setting.measure(bank) for setting in settings])

    return np.concatenate(run(measure_group, groups), axis=-1)


def _measure_cascade(x: Array, groups: list[list[Band]], settings: Sequence[BandSetting]) -> Array:
    """Return the same of the tree of the fast kurtogram by its own filters; NaN for the undivided record."""
    values = np.full((len(settings), sum(map(len, groups))), np.nan)
    first = {len(group): sum(map(len, groups[:k])) for k, group in enumerate(groups)}
    for node in cascade(x, len(groups) // 2):
        rows = [setting.measure_samples(node.values[None]) for setting in settings]
        values[:, first[node.parts] + node.place] = np.concatenate(rows)
    return values
