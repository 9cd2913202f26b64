"""|A x - y|^2 / 2 by products with A and A^H, with some measurements held out; and steps that lower it."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

HELD_OUT_SHARE = 0.05  # of the measurements, which choose parameters
LARGE = 4.0  # in units of the median magnitude of y
MOST_LARGE = 0.05  # of the measurements
POWER_ITERATIONS = 30
SETTLED_STEP = 1e-4  # relative change of x after which a descent ends

Vector = NDArray[Any]
Product = Callable[[Vector], Vector]
Walk = Generator[Vector, None, Vector]


class Quadratic(NamedTuple):
    """|A x - y|^2 / 2 over the measurements that are `kept`, by products, with `size` = |A|^2."""

    forward: Product
    adjoint: Product
    y: Vector
    size: float
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, is_complex: bool) -> Quadratic:
        """Return the problem's, for complex x or real x, without the measurements that are held out."""

        def adjoint(r: Vector) -> Vector:
            back = problem.system.adjoint(r)
            return back if is_complex else np.asarray(back.real)

        return cls.with_products(problem.system.forward, adjoint, problem.y)

    @classmethod
    def with_products(cls, forward: Product, adjoint: Product, y: Vector) -> Quadratic:
        """Return that of A and A^H, given as functions."""
        size = largest_square(forward, adjoint, adjoint(y))
        kept = np.random.default_rng(0).random(len(y)) >= HELD_OUT_SHARE
        return cls(forward, adjoint, y, size, kept | _are_large(y))

    def with_all(self) -> Quadratic:
        """Return the same over all measurements."""
        return self._replace(kept=np.ones_like(self.kept))

    def held_out_error(self, x: Vector) -> float:
        """Return |A x - y| over the measurements that are held out."""
        return float(np.linalg.norm((self.y - self.forward(x))[~self.kept]))

    @property
    def held_out(self) -> int:
        """The number of measurements that are held out."""
        return int(np.sum(~self.kept))

    def pull(self, x: Vector) -> Vector:
        """Return A^H (y - A x) / |A|^2 over the measurements that are kept."""
        return self.adjoint((self.y - self.forward(x)) * self.kept) / self.size

    def descend(self, x: Vector, thresholds: Any, steps: int) -> Walk:
        """Yield accelerated proximal steps from x; return the last, once they are short."""
        z, momentum = x, 1.0
        for _ in range(steps):
            r = z + self.pull(z)
            new = soft_threshold(r, thresholds)
            if np.vdot(z - new, new - x).real > 0:  # the momentum leads uphill
                momentum = 1.0
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            z = new + (momentum - 1) / following * (new - x)
            moved = np.linalg.norm(new - x)
            x, momentum = new, following
            yield x
            if moved <= SETTLED_STEP * np.linalg.norm(x):
                break
        return x


def _are_large(y: Vector) -> NDArray[np.bool_]:
    """Return the few measurements that are far larger than most, as those of the low frequencies of a picture are.

    They are never held out: without them x is another signal, and what it says of them would decide everything.
    """
    magnitudes = np.abs(y)
    return magnitudes > max(LARGE * float(np.median(magnitudes)), float(np.quantile(magnitudes, 1 - MOST_LARGE)))


def largest_square(forward: Product, adjoint: Product, like: Vector) -> float:
    """Return |A|^2, a little more than power iteration finds."""
    x: Vector = np.random.default_rng(0).standard_normal(len(like)).astype(like.dtype)
    value = 1.0
    for _ in range(POWER_ITERATIONS):
        x = adjoint(forward(x / np.linalg.norm(x)))
        previous, value = value, float(np.linalg.norm(x))
        if abs(value - previous) < 1e-3 * value:
            break
    return value * 1.02


def soft_threshold(r: Vector, thresholds: Any) -> Vector:
    """Return r with every magnitude lowered by its threshold, to zero at most."""
    return np.asarray(r * np.maximum(1 - thresholds / np.maximum(np.abs(r), np.finfo(float).tiny), 0.0))
