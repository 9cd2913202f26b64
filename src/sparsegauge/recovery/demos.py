"""Two real signals compressed and recovered: what `sparsegauge recover --demo` shows.

Neither is exactly sparse, as real signals never are: most of their wavelet coefficients are small, but not zero. So
what is recovered is close and never certified, and the demos say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pywt
import scipy.fft
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .._arrays import Array, as_rng
from ..signals import demo, wavelet
from .entry import recover_signal
from .quality import psnr, relative_error, snr
from .result import Recovery
from .reweighted import GDSReweighted

ECG_KEPT, IMAGE_KEPT = 0.25, 0.3  # measurements a sample
WAVELET, LEVELS = "db4", 6
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
        """Return how near x comes: PRD (100 |error| / |signal|) and SNR of a signal, PSNR of a picture."""
        if self.truth.ndim == 2:
            return {"psnr_db": psnr(x, self.truth, peak=WHITE)}
        return {"prd_percent": 100 * relative_error(x, self.truth), "snr_db": snr(x, self.truth)}


class Sums(NamedTuple):
    """A signal, random sums of it, and the sums' matrix in an orthonormal basis; `synthesis` leads back from there."""

    truth: Array
    y: Array
    A: Array
    synthesis: Array

    def least_norm(self) -> Array:
        """Return the smallest signal that explains the sums."""
        return np.asarray(self.synthesis @ np.linalg.lstsq(self.A, self.y)[0])

    def sparsest(self) -> Recovery:
        """Recover by the slopes of S_p, in the basis."""
        # as an operator, large systems are solved by products alone; normal sums are generic
        return recover_signal(aslinearoperator(self.A), self.y, solver=GDSReweighted(assume_generic=True), rng=0)


def random_sums(truth: Array, kept: float, analyse: Callable[[Array], Array], rng: Any = 0) -> Sums:
    """Return random sums of a signal, `kept` times as many as samples, in the basis of an orthonormal transform."""
    n, m = len(truth), int(kept * len(truth))
    sums = as_rng(rng).standard_normal((m, n)) / np.sqrt(m)
    synthesis = np.stack([analyse(unit) for unit in np.eye(n)])
    return Sums(truth, sums @ truth, sums @ synthesis, synthesis)


def ecg_sums(rng: Any = 0) -> Sums:
    """Measure 1,024 samples of an electrocardiogram by 256 random sums, in wavelets."""
    return random_sums(demo("ecg"), ECG_KEPT, lambda unit: wavelet(unit, WAVELET), rng)


def ecg(rng: Any = 0) -> Demonstration:
    """Recover an electrocardiogram from a quarter as many random sums."""
    sums = ecg_sums(rng)
    found = sums.sparsest()
    return Demonstration("ecg", sums.truth, sums.least_norm(), sums.synthesis @ found.x, len(sums.y), found)


def image(rng: Any = 0) -> Demonstration:
    """Recover a photograph of 512 x 512 pixels from 30 % as many sums."""
    return recover_picture("image", demo("camera"), IMAGE_KEPT, rng)


def recover_picture(name: str, truth: Array, kept_share: float, rng: Any = 0) -> Demonstration:
    """Recover a picture from random sums of its pixels: random signs, the DCT, and a random part of that."""
    generator = as_rng(rng)
    signs = generator.choice([-1.0, 1.0], truth.shape)
    kept = np.sort(generator.choice(truth.size, int(kept_share * truth.size), replace=False))
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
    found = recover_signal(A, y, solver=GDSReweighted(), rng=0)
    return Demonstration(name, truth, spread(y), pixels(found.x), len(kept), found)


def _bands(picture: Array) -> Any:
    halvings = (min((side & -side).bit_length() - 1, pywt.dwt_max_level(side, WAVELET)) for side in picture.shape)
    levels = min(LEVELS, *halvings)
    return pywt.wavedec2(picture, WAVELET, "periodization", level=levels)


DEMONSTRATIONS: dict[str, Callable[[Any], Demonstration]] = {"ecg": ecg, "image": image}
