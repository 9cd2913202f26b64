"""Flatten the spectrum of a record, and limit the tones in it: what repeats over many frequencies is left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..rounding import EMPTY_SPECTRUM

FLOOR_BINS = 100  # of the spectrum behind each value of its floor, and half as many on either side
TONE_LIMIT = 8.0  # in units of the floor: Gaussian noise exceeds it with a probability of 2**-64 per bin


def noise_floor(magnitudes: Array, block: int = FLOOR_BINS) -> Array:
    """Return the local median of magnitudes along the last axis: by blocks that overlap, joined by straight lines."""
    count = magnitudes.shape[-1]
    block = min(block, count)
    blocks = count // block
    edges = np.arange(blocks) * block
    medians = np.stack(
        [
            np.median(magnitudes[..., max(0, edge - block // 2) : edge + block + block // 2], axis=-1)
            for edge in edges.tolist()
        ],
        axis=-1,
    )
    return _interpolate(medians, (edges + 0.5 * block), count)


def _interpolate(values: Array, places: Array, count: int) -> Array:
    """Draw straight lines through values[..., k] at places[k], level beyond the first and the last."""
    if values.shape[-1] == 1:
        return np.repeat(values, count, axis=-1)
    at = np.clip((np.arange(count) - places[0]) / (places[1] - places[0]), 0, len(places) - 1)
    left = np.minimum(at.astype(np.int64), len(places) - 2)
    share = at - left
    joined: Array = values[..., left] * (1 - share) + values[..., left + 1] * share
    return joined


def whiten(spectrum: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Divide a record's spectrum by its floor, and limit what stands out of it.

    Tones, such as harmonics of the shaft, gears and hum, keep their phase but little of their power. Bins without any
    power around them, such as those above an anti-alias filter of a resampled record, become zero.
    """
    magnitudes = np.abs(spectrum)
    floor = noise_floor(magnitudes)
    least = EMPTY_SPECTRUM * float(floor.max())
    gain = np.where(floor > least, 1.0 / np.maximum(floor, max(least, np.finfo(float).tiny)), 0.0)
    gain *= np.minimum(1.0, TONE_LIMIT / np.maximum(magnitudes * gain, TONE_LIMIT))
    flattened: NDArray[np.complex128] = spectrum * gain
    return flattened
