"""Two real signals compressed and recovered: what `sparsegauge recover --demo` shows.

Neither is exactly sparse, as real signals never are: most of their wavelet coefficients are small, but not zero. So
what is recovered, with `transform=`, is close and never certified, and the demos say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.fft
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .._arrays import Array, as_rng
from ..signals import demo
from .entry import recover
from .quality import psnr, relative_error, snr
from .result import Recovery
from .solver import Solver

ECG_SUMS_PER_SAMPLE = 0.25
IMAGE_SUMS_PER_SAMPLE = 0.3
WAVELET = "db4"
WHITE = 255.0


@dataclass(frozen=True)
class Demonstration:
    """A signal, and its estimates by least squares and by a sparse solver from a few random sums."""

    name: str
    truth: Array
    least_norm: Array
    recovered: Array
    measurements: int
    recovery: Recovery

    def quality(self, x: Array) -> dict[str, float]:
        """Return how near x comes: PRD (100 |error| / |signal|) and SNR of a signal, PSNR of a picture."""
        if self.truth.ndim == 2:
            return {"psnr_db": psnr(x, self.truth, peak=WHITE)}
        return {"prd_percent": 100 * relative_error(x, self.truth), "snr_db": snr(x, self.truth)}


class Sums(NamedTuple):
    """A signal, random sums of it, the matrix of these sums, and the transform in which the signal is nearly sparse."""

    truth: Array
    y: Array
    A: Array
    transform: Any

    def least_norm(self) -> Array:
        """Return the smallest signal that explains the sums."""
        return np.asarray(np.linalg.lstsq(self.A, self.y)[0])

    def recover(self, solver: Solver | None = None) -> Recovery:
        """Recover the signal from the sums, which are exact."""
        # as an operator, large systems are solved by products alone
        return recover_one(aslinearoperator(self.A), self.y, self.transform, solver)


def recover_one(A: Any, y: Array, transform: Any, solver: Solver | None = None) -> Recovery:
    """Recover one signal that is nearly sparse after a transform from exact measurements."""
    return cast(Recovery, recover(A, y, transform=transform, solver=solver, noise=0, rng=0))


def random_sums(truth: Array, kept: float, transform: Any, rng: Any = 0) -> Sums:
    """Return random sums of a signal, `kept` times as many as samples."""
    n, m = len(truth), int(kept * len(truth))
    A = as_rng(rng).standard_normal((m, n)) / np.sqrt(m)
    return Sums(truth, A @ truth, A, transform)


def ecg_sums(rng: Any = 0) -> Sums:
    """Measure 1,024 samples of an electrocardiogram by 256 random sums."""
    return random_sums(demo("ecg"), ECG_SUMS_PER_SAMPLE, WAVELET, rng)


def ecg(rng: Any = 0) -> Demonstration:
    """Recover an electrocardiogram from a quarter as many random sums."""
    sums = ecg_sums(rng)
    found = sums.recover()
    return Demonstration("ecg", sums.truth, sums.least_norm(), found.x, len(sums.y), found)


def image(rng: Any = 0) -> Demonstration:
    """Recover a photograph of 512 x 512 pixels from 30 % as many sums."""
    return recover_picture("image", demo("camera"), IMAGE_SUMS_PER_SAMPLE, rng)


def recover_picture(name: str, truth: Array, kept_share: float, rng: Any = 0) -> Demonstration:
    """Recover a picture from random sums of its pixels: random signs, the DCT, and a random part of that."""
    generator = as_rng(rng)
    signs = generator.choice([-1.0, 1.0], truth.shape)
    kept = np.sort(generator.choice(truth.size, int(kept_share * truth.size), replace=False))

    def measured(x: Array) -> Array:
        return np.asarray(scipy.fft.dctn(x.reshape(truth.shape) * signs, norm="ortho").ravel()[kept])

    def spread(y: Array) -> Array:
        whole = np.zeros(truth.size)
        whole[kept] = y.ravel()
        return np.asarray(scipy.fft.idctn(whole.reshape(truth.shape), norm="ortho") * signs).ravel()

    A = LinearOperator((len(kept), truth.size), matvec=measured, rmatvec=spread, dtype=np.float64)
    y = measured(truth)
    found = recover_one(A, y, (WAVELET, truth.shape))
    least_norm, recovered = spread(y).reshape(truth.shape), found.x.reshape(truth.shape)
    return Demonstration(name, truth, least_norm, recovered, len(kept), found)


DEMONSTRATIONS: dict[str, Callable[[Any], Demonstration]] = {"ecg": ecg, "image": image}
