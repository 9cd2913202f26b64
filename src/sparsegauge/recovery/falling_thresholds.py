"""Iterate a denoiser between steps towards the measurements, while its threshold falls.

    x <- D_t(x + momentum + A^H (y - A x) / |A|^2)

t falls from step to step. Measurements that are held out choose the t at which the fall ends, and the denoiser where
there are several; then all measurements are used, and the mean of the answers at the last t is taken.

`NeighbourThresholds` denoises coefficients of which nothing is known: x max(1 - t/c, 0), with c halfway between the
magnitude and the mean magnitude of the neighbours, which are learnt (`shrinkage.py`). Small coefficients beside large
ones are lowered less than small ones alone, and these more. Where no neighbours are alike, c is the magnitude and all
are lowered by t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._arrays import Array
from .quadratic import Quadratic, Vector
from .shrinkage import neighbours
from .tolerances import EXACT

STEPS_OF_FALL = 240
FIRST_THRESHOLD = 0.1  # in units of the largest coefficient of A^H y / |A|^2
LAST_THRESHOLD = 3e-5  # in the same unit
MOMENTUM = 0.7
STEPS_BETWEEN_LOOKS = 8  # at the held-out measurements
ANSWERS_AVERAGED = 16  # at the last t
SHARE_OF_NEIGHBOURS = 0.5  # in the magnitude that is compared with the threshold


class Denoiser(Protocol):
    """What knows about the signal; it may remember its last step."""

    def largest(self, x: Vector) -> float:
        """Return the largest of the coefficients that are lowered."""

    def __call__(self, x: Vector, t: float) -> Vector:
        """Return x with its coefficients lowered by t."""


class NeighbourThresholds:
    """Thresholds that are lower beside large coefficients; `factors` are on t."""

    def __init__(self, factors: Array | float = 1.0) -> None:
        self.factors = factors

    def largest(self, x: Vector) -> float:
        """Return the largest magnitude."""
        return float(np.max(np.abs(x), initial=0.0))

    def __call__(self, x: Vector, t: float) -> Vector:
        """Return x lowered by t where its neighbours are like it."""
        magnitudes = np.abs(x)
        beside = neighbours(magnitudes / t)[0] * t
        compared = (1 - SHARE_OF_NEIGHBOURS) * magnitudes + SHARE_OF_NEIGHBOURS * beside
        return np.asarray(x * np.maximum(1 - t * self.factors / np.maximum(compared, np.finfo(float).tiny), 0.0))


class Fall(NamedTuple):
    """How far t falls with which denoiser, and what that leaves of the measurements that are held out."""

    error: float
    kind: Callable[[], Denoiser]
    steps: int
    has_settled: bool  # before the last step


def try_fall(quadratic: Quadratic, kind: Callable[[], Denoiser]) -> Generator[Vector, None, Fall]:
    """Yield the steps of a whole fall; return how far it should go."""
    best = Fall(math.inf, kind, 1, has_settled=False)
    for step, x in enumerate(_fall(quadratic, kind, STEPS_OF_FALL), 1):
        yield x
        if step % STEPS_BETWEEN_LOOKS == 0 and (error := quadratic.held_out_error(x)) < best.error:
            best = Fall(error, kind, step, has_settled=step < STEPS_OF_FALL)
    return best


def repeat_fall(quadratic: Quadratic, chosen: Fall) -> Generator[Vector, None, Vector]:
    """Yield the steps of a fall with all measurements; return the mean of the last."""
    total, count = np.zeros(1), 0
    for step, x in enumerate(_fall(quadratic.with_all(), chosen.kind, chosen.steps + ANSWERS_AVERAGED)):
        if step >= chosen.steps:
            total, count = total + x, count + 1
        yield x
    return np.asarray(total / count)


def _fall(quadratic: Quadratic, kind: Callable[[], Denoiser], steps: int) -> Iterator[Vector]:
    """Yield iterates while t falls; beyond `STEPS_OF_FALL`, or at the end of fewer, t stays."""
    denoise = kind()
    x: Any = quadratic.adjoint(quadratic.y * quadratic.kept) / quadratic.size
    largest = max(denoise.largest(x), EXACT * float(np.max(np.abs(x))))
    levels = largest * np.geomspace(FIRST_THRESHOLD, LAST_THRESHOLD, STEPS_OF_FALL)
    z = x
    for step in range(steps):
        new = denoise(z + quadratic.pull(z), float(levels[min(step, len(levels) - 1)]))
        x, z = new, new + MOMENTUM * (new - x)
        yield x
