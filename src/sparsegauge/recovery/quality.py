"""How good a recovery is when the truth is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from .tolerances import NOT_ZERO


def mse(x: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the mean of |x - truth|^2, the paper's measure (section VIII)."""
    return float(np.mean(np.abs(np.asarray(x) - truth) ** 2))


def relative_error(x: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return |x - truth| / |truth|."""
    return float(np.linalg.norm(np.asarray(x) - truth) / np.linalg.norm(truth))


def snr(x: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the signal-to-noise ratio in decibels."""
    error = relative_error(x, truth)
    return math.inf if error == 0 else -20 * math.log10(error)


def psnr(x: NDArray[Any], truth: NDArray[Any], *, peak: float | None = None) -> float:
    """Return the peak signal-to-noise ratio in decibels; the peak is the truth's range by default."""
    error = mse(x, truth)
    top = float(np.ptp(np.asarray(truth))) if peak is None else peak
    return math.inf if error == 0 else 10 * math.log10(top**2 / error)


def support(x: NDArray[Any], *, threshold: float = NOT_ZERO) -> Indices:
    """Return where |x| exceeds `threshold` times its maximum."""
    c = np.abs(np.asarray(x))
    return np.flatnonzero(c > threshold * c.max())
