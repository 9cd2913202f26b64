r"""Signals that a denoiser knows more about than one basis does: wavelets at all shifts, and total variation.

A photograph is not sparse in a wavelet basis, only nearly so, and where its edges lie in relation to the wavelets is an
accident. So the signal itself is iterated, by A and A^H alone, as `falling_thresholds.py` says, and the denoiser lowers
what the transform makes of it by the threshold t. Wavelets are moved by a random shift at every step
(R. Coifman and D. Donoho, "Translation-invariant de-noising", 1995; U. Kamilov, E. Bostan and M. Unser, "Variational
justification of cycle spinning for wavelet-based solutions of inverse problems", IEEE Signal Processing Letters 21,
2014), and coefficients are lowered one by one, or by the energy of their neighbours (G. Chen, T. Bui and A. Krzyzak,
"Image denoising with neighbour dependency and customized wavelet and threshold", Pattern Recognition 38, 2005). Total
variation is lowered by its dual (A. Beck and M. Teboulle, "Fast gradient-based algorithms for constrained total
variation image denoising and deblurring problems", IEEE Transactions on Image Processing 18, 2009), with equal weights
or with smaller ones where x jumps.

The noise need not be known: if it is not given, the part of y that the answer does not explain is reported as noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .driver import Iterate, as_iterates
from .falling_thresholds import Denoiser, Fall, repeat_fall, try_fall
from .problem import Problem
from .projection import nearest_matrix_free
from .quadratic import Quadratic, Vector, soft_threshold
from .status import Status

MOST_WAVELET_LEVELS = 5
TV_DUAL_STEPS = 8  # each continues from where the last step ended
LARGE_JUMP = 3.0  # in units of t: larger ones have a smaller weight
LEAST_SQUARES_STEPS = 500  # to make the answer explain y

Shape = tuple[int, ...]


class SpunWavelets:
    """Thresholds on the wavelet coefficients of a signal that is moved by a random shift."""

    def __init__(self, filters: Any, shape: Shape, rng: np.random.Generator, *, by_neighbours: bool) -> None:
        self.filters, self.shape, self.rng, self.by_neighbours = filters, shape, rng, by_neighbours
        self.levels = min(MOST_WAVELET_LEVELS, *(_halvings(length) for length in shape))

    def _analyse(self, x: Vector) -> tuple[Vector, list[dict[str, Vector]]]:
        """Return the approximation and the details, from fine to coarse."""
        import pywt

        details = []
        for _ in range(self.levels):
            bands = pywt.dwtn(x, self.filters, mode="periodization")
            x = bands.pop("a" * x.ndim)
            details.append(bands)
        return x, details

    def _synthesise(self, x: Vector, details: list[dict[str, Vector]]) -> Vector:
        import pywt

        for bands in reversed(details):
            x = pywt.idwtn({"a" * x.ndim: x, **bands}, self.filters, mode="periodization")
        return x

    def largest(self, x: Vector) -> float:
        """Return the largest magnitude of a detail."""
        return max(float(np.max(np.abs(band))) for level in self._analyse(x)[1] for band in level.values())

    def __call__(self, x: Vector, t: float) -> Vector:
        """Return x with its details lowered, at a random shift."""
        axes = tuple(range(x.ndim))
        shift = tuple(int(self.rng.integers(length)) for length in x.shape)
        approximation, details = self._analyse(np.roll(x, shift, axes))
        lower = lower_by_neighbours if self.by_neighbours else soft_threshold
        lowered = [{key: lower(band, t) for key, band in level.items()} for level in details]
        return np.asarray(np.roll(self._synthesise(approximation, lowered), tuple(-s for s in shift), axes))


def _halvings(length: int) -> int:
    """Return how often a length can be halved."""
    return (length & -length).bit_length() - 1


def lower_by_neighbours(band: Vector, t: float) -> Vector:
    """Return b max(1 - t^2/s, 0) for every b of a band, s the mean square of the coefficients around it and its own."""
    from scipy.ndimage import uniform_filter

    square = uniform_filter(np.abs(band) ** 2, 3, mode="wrap")
    return np.asarray(band * np.maximum(1 - t * t / np.maximum(square, np.finfo(float).tiny), 0.0))


class TotalVariation:
    """argmin |z - x|^2 / 2 + t sum w |differences of z|, approximately; w = 1, or smaller where x jumps."""

    def __init__(self, shape: Shape, *, reweighted: bool) -> None:
        self.reweighted = reweighted
        self.dual: Any = np.zeros((len(shape), *shape))
        self.last_t = 0.0

    def largest(self, x: Vector) -> float:
        """Return the largest jump."""
        return float(np.max(_lengths(differences(x)), initial=0.0))

    def __call__(self, x: Vector, t: float) -> Vector:
        """Return x with its jumps lowered."""
        limits = t / (1 + _lengths(differences(x)) / (LARGE_JUMP * t)) if self.reweighted else t
        p = q = self.dual * (t / self.last_t if self.last_t else 0.0)
        momentum = 1.0
        for _ in range(TV_DUAL_STEPS):
            new = q + differences(x - sum_of_differences(q)) / (4 * x.ndim)
            new = new / np.maximum(_lengths(new) / limits, 1.0)
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            q = new + (momentum - 1) / following * (new - p)
            p, momentum = new, following
        self.dual, self.last_t = p, t
        return np.asarray(x - sum_of_differences(p))


def differences(x: Vector) -> Vector:
    """Return x_(j+1) - x_j along each axis, 0 at the end."""
    return np.stack([np.diff(x, axis=axis, append=x.take([-1], axis)) for axis in range(x.ndim)])


def sum_of_differences(p: Vector) -> Vector:
    """Return the adjoint of `differences`."""
    total = np.zeros(p.shape[1:], p.dtype)
    for axis, part in enumerate(p):
        inner = part.copy()
        inner[(slice(None),) * axis + (-1,)] = 0
        total -= np.diff(inner, axis=axis, prepend=np.zeros_like(inner.take([0], axis)))
    return total


def _lengths(p: Vector) -> Any:
    """Return the length of the vector at each place."""
    return np.sqrt(np.sum(np.abs(p) ** 2, axis=0))


class _OfVector:
    """A denoiser of pictures, for signals as vectors."""

    def __init__(self, shape: Shape, kind: Callable[[], Denoiser]) -> None:
        self.shape, self.denoise = shape, kind()

    def largest(self, x: Vector) -> float:
        """Return the largest of the coefficients that are lowered."""
        return self.denoise.largest(x.reshape(self.shape))

    def __call__(self, x: Vector, t: float) -> Vector:
        """Return x with its coefficients lowered by t."""
        return self.denoise(x.reshape(self.shape), t).ravel()


@dataclass(frozen=True)
class Analysis:
    """A solver that iterates the signal itself; `kinds` make the denoisers that the measurements choose among."""

    shape: Shape
    kinds: tuple[Callable[[], Denoiser], ...]
    transform: Callable[[Vector], Vector]  # from a signal to the coefficients that are small

    @property
    def sparsity_order(self) -> float:
        """The order p of the S_p that the result reports."""
        return 2.0

    def check(self, problem: Problem) -> None:
        """Accept any problem that a transform was made for."""

    def postprocess(self, problem: Problem, x: Vector) -> Vector:
        """Return the iterate as it is."""
        del problem
        return x

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the steps with some measurements held out, then those with all, and last the answer."""
        del rng
        quadratic = Quadratic.of(problem, np.iscomplexobj(problem.system.adjoint(problem.y)))
        falls: list[Fall] = []
        for kind in self.kinds:
            falls.append((yield from as_iterates(try_fall(quadratic, partial(_OfVector, self.shape, kind)))))
        best = min(falls, key=lambda fall: fall.error)
        x = yield from as_iterates(repeat_fall(quadratic, best))
        yield self._answer(problem, x, is_noisy=best.has_settled)

    def _answer(self, problem: Problem, x: Vector, *, is_noisy: bool) -> Iterate:
        """Return x as it is where noise is to be estimated and t stopped before its end; else x made to explain y."""
        if problem.estimate_noise and is_noisy:
            noise = problem.residual(x) / math.sqrt(problem.m)
            return Iterate(x, steps=0, status=Status.CONVERGED, noise=noise)
        if problem.residual(x) > problem.tolerance():
            x = nearest_matrix_free(problem, x, LEAST_SQUARES_STEPS)[0]
        return Iterate(x, steps=0, status=Status.CONVERGED)
