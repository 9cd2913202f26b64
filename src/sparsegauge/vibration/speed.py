"""Does the shaft turn at the speed that is given, and at the same speed throughout?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.fft

from .._arrays import Array
from .whitening import noise_floor

TURNS_PER_PIECE = 40
MOST_PIECES = 12
FEWEST_PIECES = 4
SEARCH_SHARE = 0.12  # of the given speed, on both sides of it
REFINED_SEARCH_SHARE = 0.02  # the same in the whole record; `check_speed` reports larger differences
LARGEST_REFINED_STEP = 1e-4  # relative to the speed
NEIGHBOURHOOD_SHARE = 0.004  # of the best speed: the harmonics of speeds within it share lines
SHAFT_HARMONICS = 10
CLEAR_SCORE = 14.0  # of the harmonics in one piece, from which its speed counts as known
CLEAR_SCORE_RATIO = 1.25  # over the best score at other speeds
REFINED_SCORE_RATIO = 1.35  # the same in the whole record
PLAIN_VARIATION = 0.02
PLAIN_DIFFERENCE = 0.02


class SpeedEstimate(NamedTuple):
    """A shaft's turns per second by its own harmonics, and whether these leave no other speed."""

    frequency: float
    clear: bool


def check_speed(x: Array, rate: float, shaft: float) -> str | None:
    """Return a sentence if the record's own harmonics say that the speed varies, or is not the one given."""
    speeds = _track(x, rate, shaft)
    if len(speeds) < FEWEST_PIECES:
        return None
    low, middle, high = float(speeds.min()), float(np.median(speeds)), float(speeds.max())
    if _drifts(speeds) and high - low > PLAIN_VARIATION * middle:
        return (
            f"the speed varies from {60 * low:.0f} to {60 * high:.0f} rpm during the record; the lines of a fault are "
            "smeared: take a part of constant speed, or resample by the angle of the shaft"
        )
    if high - low <= PLAIN_VARIATION * middle and abs(middle - shaft) > PLAIN_DIFFERENCE * shaft:
        return f"the record's harmonics say {60 * middle:.0f} rpm, and {60 * shaft:.0f} rpm is given; check the speed"
    return None


def refine_speed(x: Array, rate: float, shaft: float) -> SpeedEstimate:
    """Return the speed near the given one whose harmonics stand out most in the whole record."""
    size = scipy.fft.next_fast_len(2 * len(x))
    magnitudes = np.abs(scipy.fft.rfft(x * np.hanning(len(x)), size))
    by_resolution = int(np.ceil(2 * REFINED_SEARCH_SHARE * shaft * SHAFT_HARMONICS * size / rate))
    steps = max(by_resolution, round(REFINED_SEARCH_SHARE / LARGEST_REFINED_STEP))
    speeds = shaft * np.linspace(1 - REFINED_SEARCH_SHARE, 1 + REFINED_SEARCH_SHARE, 2 * steps + 1)
    scores = _harmonic_scores(magnitudes, rate / size, speeds)
    best = int(scores.argmax())
    others = scores[np.abs(speeds - speeds[best]) > NEIGHBOURHOOD_SHARE * shaft].max()
    clear = scores[best] >= CLEAR_SCORE and scores[best] >= REFINED_SCORE_RATIO * others
    return SpeedEstimate(float(speeds[best]), bool(clear))


def _track(x: Array, rate: float, shaft: float) -> Array:
    """Return the speeds in pieces of the record, where their harmonics are clear."""
    length = int(TURNS_PER_PIECE * rate / shaft)
    pieces = min(MOST_PIECES, 2 * (len(x) // length) - 1)
    if pieces < FEWEST_PIECES:
        return np.empty(0)
    starts = np.linspace(0, len(x) - length, pieces).astype(int)
    estimates = [_estimate(x[start : start + length], rate, shaft) for start in starts]
    return np.array([estimate.frequency for estimate in estimates if estimate.clear])


def _drifts(speeds: Array) -> bool:
    """Return whether neighbouring pieces differ less than distant ones: a speed that varies does so smoothly."""
    steps = np.abs(np.diff(speeds)).sum()
    return bool(steps < 2.5 * (speeds.max() - speeds.min()))


def _estimate(piece: Array, rate: float, shaft: float) -> SpeedEstimate:
    """Return the speed whose harmonics stand out most in the spectrum of a piece."""
    size = scipy.fft.next_fast_len(2 * len(piece))
    magnitudes = np.abs(scipy.fft.rfft(piece * np.hanning(len(piece)), size))
    resolution = rate / size
    speeds = shaft * np.linspace(1 - SEARCH_SHARE, 1 + SEARCH_SHARE, 481)
    scores = _harmonic_scores(magnitudes, resolution, speeds)
    best = int(scores.argmax())
    elsewhere = np.abs(speeds - speeds[best]) > 0.015 * shaft
    clear = scores[best] >= CLEAR_SCORE and scores[best] >= CLEAR_SCORE_RATIO * scores[elsewhere].max()
    return SpeedEstimate(float(speeds[best]), bool(clear))


def _harmonic_scores(magnitudes: Array, resolution: float, speeds: Array) -> Array:
    """Return how far the first harmonics of each speed stand out of a spectrum."""
    count = min(len(magnitudes), int((SHAFT_HARMONICS + 2) * float(speeds.max()) / resolution))
    prominences = magnitudes[:count] / np.maximum(noise_floor(magnitudes[:count], 120), np.finfo(float).tiny)
    at = np.rint(np.arange(1, SHAFT_HARMONICS + 1)[:, None] * speeds / resolution).astype(int)
    scores: Array = np.log1p(prominences[np.minimum(at, count - 1)] ** 2 * np.log(2)).sum(axis=0)
    return scores
