"""What a recovery starts from: a piece of the signal, random sums of it, and a solver; `recovery_run` does the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft

from .._arrays import Array
from ..errors import InvalidInput
from ..recovery.registry import SOLVERS as REGISTERED
from ..recovery.solver import Solver, has_defaults
from ..recovery.transform import wavelet_basis
from ..simulate import gaussian_matrix
from .model import coefficients

LONGEST_PIECE = 256  # samples of a trial
PICTURE_SIDE = 32  # pixels of a trial
SHORTEST = 8
ORDER_DRAWN = 2.0
WAVELET = "db4"  # that of signals.wavelet

NOTES = {
    "GDSReweighted": "GDSReweighted (this library)",
    "Portfolio": "Portfolio (the default of recover)",
    "SPSA": "SPSA (the paper)",
    "BasisPursuit": "BasisPursuit (l1)",
    "MinimumNorm": "MinimumNorm (not sparse)",
}  # shown first, in this order, with what they are


def solvers() -> dict[str, type[Solver]]:
    """Return every registered solver that needs no options, by the name that the page shows."""
    names = dict.fromkeys([*NOTES, *REGISTERED])
    return {NOTES.get(name, name): REGISTERED[name] for name in names if has_defaults(REGISTERED[name])}


SOLVERS = solvers()


@dataclass(frozen=True)
class Trial:
    """What was measured, of what, and who is to find it; the same values give the same trial."""

    truth: Array
    A: Array
    y: Array
    noise: float
    solver: str
    seed: int


@dataclass(frozen=True)
class Frame:
    """One iterate."""

    iteration: int
    x: Array
    error: float
    sparsity: float


@dataclass(frozen=True)
class ScaledPiece:
    """What a trial measures: coefficients scaled to 1 at the largest, and the way back to the samples."""

    coefficients: Array
    scale: float
    shape: tuple[int, ...]
    representation: str

    def rebuild(self, c: Array) -> Array:
        """Return the samples that have these coefficients."""
        values = np.asarray(c) * self.scale
        if self.representation == "DCT":
            return np.asarray(scipy.fft.idctn(values.reshape(self.shape), norm="ortho"))
        if self.representation == "wavelet":
            values = wavelet_basis(WAVELET, self.shape).synthesise(values)
        return values.reshape(self.shape)


def piece(values: Array, representation: str) -> ScaledPiece:
    """Return the beginning of a signal, or a picture reduced to a few pixels, in a representation."""
    cut = _reduce(values) if values.ndim == 2 else values[:LONGEST_PIECE]
    if not cut.any():
        raise InvalidInput("the piece that would be measured is zero; pick another signal or representation")
    c = coefficients(cut, representation)
    if c.size < SHORTEST:
        raise InvalidInput(f"there are {c.size} coefficients, and a trial needs {SHORTEST} or more")
    scale = float(np.abs(c).max())
    whole = representation != "wavelet"  # which needs even lengths
    shape = cut.shape if whole else tuple(length - length % 2 for length in cut.shape)
    return ScaledPiece(np.asarray(c / scale), scale, shape, representation)


def _reduce(values: Array) -> Array:
    """Return the middle of a picture at `PICTURE_SIDE` squared pixels, each the mean of a block."""
    block = max(1, min(values.shape) // PICTURE_SIDE)
    sides = [min(PICTURE_SIDE, length // block) for length in values.shape]
    tops = [(length - block * side) // 2 for length, side in zip(values.shape, sides, strict=True)]
    cut = values[tuple(slice(top, top + block * side) for top, side in zip(tops, sides, strict=True))]
    means: Array = cut.reshape(sides[0], block, sides[1], block).mean(axis=(1, 3))
    return means


def set_up(c: Array, *, kept: int, measurements: int, snr: float | None, solver: str, seed: int) -> Trial:
    """Keep the largest coefficients, take Gaussian measurements of them, and add noise (SNR in dB)."""
    truth = np.zeros(c.size)
    largest = np.argsort(-np.abs(c), kind="stable")[:kept]
    truth[largest] = c[largest]
    rng = np.random.default_rng(seed)
    A = gaussian_matrix(measurements, c.size, rng=rng)
    y = A @ truth
    noise = 0.0
    if snr is not None:
        noise = float(np.sqrt(np.mean(y**2))) * 10 ** (-snr / 20)
        y = y + noise * rng.standard_normal(measurements)
    return Trial(truth, A, y, noise, solver, seed)
