"""The variance of a sum whose terms, in their order, depend on each other: by overlapping blocks.

M. S. Meketon and B. Schmeiser, "Overlapping batch means: something for nothing?", Winter Simulation Conference, 1984.
The length of the blocks: D. N. Politis and H. White, "Automatic block-length selection for the dependent bootstrap",
Econometric Reviews 23 (2004), with the correction of A. Patton, D. N. Politis and H. White, ibid. 28 (2009).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array

FEWEST_BLOCKS_PER_SIGNAL = 4  # without overlap
SIGNIFICANT_DEVIATIONS = 2.0  # of an autocorrelation


def block_sums(terms: Array, length: int) -> Array:
    """Return the sums of all runs of `length` neighbouring terms."""
    reached = np.concatenate([[0.0], np.cumsum(terms)])
    return np.asarray(reached[length:] - reached[:-length])


def block_variance(terms: Array, length: int) -> float:
    """Return the variance of the sum of terms that add up to zero; of independent ones with blocks of length 1."""
    N = len(terms)
    if length >= N:
        return math.nan
    sums = block_sums(terms, length)
    return float(N * N / (length * (N - length) * (N - length + 1.0)) * (sums @ sums))


def longest_block(N: int) -> int:
    """Return the length of the longest blocks for a signal of N coefficients."""
    return max(1, N // FEWEST_BLOCKS_PER_SIGNAL)


def choose_block_length(terms: Array) -> int:
    """Return the length of blocks that suits the autocorrelations of the terms, 1 where there are none that count."""
    N = len(terms)
    energy = float(terms @ terms)
    if N < 2 * FEWEST_BLOCKS_PER_SIGNAL or not energy > 0.0:
        return 1
    correlations = _autocorrelations(terms) / energy
    run = max(5, math.ceil(math.sqrt(math.log10(N))))
    limit = SIGNIFICANT_DEVIATIONS * math.sqrt(math.log10(N) / N)
    last = _last_before_quiet(np.abs(correlations[1:]) < limit, run)
    if last == 0:
        return 1
    lags = np.arange(min(2 * last, len(correlations) - 1) + 1)
    window = np.clip(2.0 - lags / last, 0.0, 1.0)  # flat up to `last`, then down to zero
    kept = window * correlations[lags]
    level = 2.0 * float(kept.sum()) - 1.0
    slope = 2.0 * float(lags @ kept)
    if not level > 0.0:
        return longest_block(N)
    length = (1.5 * (slope / level) ** 2 * N) ** (1.0 / 3.0)
    return min(max(1, math.ceil(float(length))), longest_block(N))


def _autocorrelations(terms: Array) -> Array:
    """Return sum_k t_k t_(k+lag) for all lags up to half the length, by a Fourier transform."""
    N = len(terms)
    size = 1 << (2 * N - 1).bit_length()
    spectrum = np.fft.rfft(terms, size)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, size)[: N // 2 + 1])


def _last_before_quiet(quiet: NDArray[np.bool_], run: int) -> int:
    """Return the number of lags before the first `run` quiet ones in a row; all loud ones if there is no such run."""
    counts = np.convolve(quiet, np.ones(run), mode="valid") if len(quiet) >= run else np.empty(0)
    found = np.flatnonzero(counts > run - 0.5)
    if len(found):
        return int(found[0])
    loud = np.flatnonzero(~quiet)
    return int(loud[-1]) + 1 if len(loud) else 0
