"""Two real signals compressed and recovered: what `sparsegauge recover --demo` shows.

Neither is exactly sparse, as real signals never are: most of their wavelet coefficients are small, but not zero. So
what is recovered is close and never certified, and the demos say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pywt
import scipy.fft
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .._arrays import Array, as_rng
from ..signals import demo, wavelet
from .portfolio import recover
from .problem import Recovery
from .quality import psnr, relative_error, snr
from .reweighted import GDSReweighted

ECG_KEPT, IMAGE_KEPT = 0.25, 0.3  # measurements a sample
WAVELET, LEVELS = "db4", 6
HERTZ = 360  # the ECG's samples a second
WHITE = 255.0


@dataclass(frozen=True)
class Demonstration:
    """A signal, and what least squares and what a sparse solver make of a few random sums of it."""

    name: str
    truth: Array
    least_norm: Array
    recovered: Array
    measurements: int
    recovery: Recovery

    def quality(self, x: Array) -> dict[str, float]:
        """How near x comes: PRD (100 |error| / |signal|) and SNR of a signal, PSNR of a picture."""
        if self.truth.ndim == 2:
            return {"psnr_db": psnr(x, self.truth, peak=WHITE)}
        return {"prd_percent": 100 * relative_error(x, self.truth), "snr_db": snr(x, self.truth)}


def ecg(rng: Any = 0) -> Demonstration:
    """1,024 samples of an electrocardiogram from 256 random sums of them."""
    truth = demo("ecg")
    n, m = len(truth), int(ECG_KEPT * len(truth))
    sums = as_rng(rng).standard_normal((m, n)) / np.sqrt(m)
    analysis = np.stack([wavelet(unit, WAVELET) for unit in np.eye(n)], axis=1)  # orthonormal
    y = sums @ truth
    A = aslinearoperator(sums @ analysis.T)  # as an operator, large systems are solved by products alone
    found = recover(A, y, solver=GDSReweighted(assume_generic=True), rng=0)  # normal sums are generic
    least_norm = np.linalg.pinv(sums) @ y
    return Demonstration("ecg", truth, least_norm, analysis.T @ found.x, m, found)


def image(rng: Any = 0) -> Demonstration:
    """A photograph of 512 x 512 pixels from 30 % as many sums: random signs, the DCT, and a random part of that."""
    truth = demo("camera")
    generator = as_rng(rng)
    signs = generator.choice([-1.0, 1.0], truth.shape)
    kept = np.sort(generator.choice(truth.size, int(IMAGE_KEPT * truth.size), replace=False))
    places = pywt.coeffs_to_array(_bands(truth))[1]

    def pixels(x: Array) -> Array:
        parts = pywt.array_to_coeffs(x.reshape(truth.shape), places, "wavedec2")
        return np.asarray(pywt.waverec2(parts, WAVELET, "periodization"))

    def measured(picture: Array) -> Array:
        return np.asarray(scipy.fft.dctn(picture * signs, norm="ortho").ravel()[kept])

    def spread(y: Array) -> Array:
        whole = np.zeros(truth.size)
        whole[kept] = y.ravel()
        return np.asarray(scipy.fft.idctn(whole.reshape(truth.shape), norm="ortho") * signs)

    A = LinearOperator(
        (len(kept), truth.size),
        matvec=lambda x: measured(pixels(x)),
        rmatvec=lambda y: pywt.coeffs_to_array(_bands(spread(y)))[0].ravel(),
        dtype=np.float64,
    )
    y = measured(truth)
    found = recover(A, y, solver=GDSReweighted(), rng=0)
    return Demonstration("image", truth, spread(y), pixels(found.x), len(kept), found)


def _bands(picture: Array) -> Any:
    return pywt.wavedec2(picture, WAVELET, "periodization", level=LEVELS)


DEMONSTRATIONS: dict[str, Callable[[Any], Demonstration]] = {"ecg": ecg, "image": image}
