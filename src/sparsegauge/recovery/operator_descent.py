r"""What takes over where message passing is misled: a weighted l1 path by A and A^H.

min |A x - y|^2 / 2 + lam sum w |x|, by accelerated proximal gradients that restart where their momentum
leads uphill (B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes", Foundations of
Computational Mathematics 15, 2015). One measurement in twenty is held out, and lam falls until x explains these no
better. Then come weights w = (c/eps + 1)^(q-1), with c the magnitudes of x or the mean magnitudes of their neighbours
(E. Candès, M. Wakin and S. Boyd, "Enhancing sparsity by reweighted l1 minimization", Journal of Fourier Analysis and
Applications 14, 2008). The held-out measurements choose between these and equal weights. The last steps use all.
`operator_columns.py` goes on from there where few columns are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .problem import Problem
from .shrinkage import neighbours

LEVELS, STEPS_PER_LEVEL, LAST_STEPS = 16, 40, 40  # of the path: lam falls level by level
HELD_OUT = 0.05  # measurements that choose lam and weights
AS_GOOD = 1.03  # held-out errors that do not differ by more than chance: the largest lam among them is taken
FIRST_LEVEL, LAST_LEVEL = 0.1, 1e-5  # lam in units of max |A^H y| / |A|^2
POWER_ITERATIONS = 30
SETTLED_STEP = 1e-4  # the relative change of x after which a level ends
REWEIGHTINGS, STEPS_PER_REWEIGHTING = 3, 25

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
        return cls(forward, adjoint, y, size, np.random.default_rng(0).random(len(y)) >= HELD_OUT)

    def with_all(self) -> Quadratic:
        """Return the same over all measurements."""
        return self._replace(kept=np.ones_like(self.kept))

    def held_out_error(self, x: Vector) -> float:
        """Return |A x - y| over the measurements that are held out."""
        return float(np.linalg.norm((self.y - self.forward(x))[~self.kept]))

    def descend(self, x: Vector, thresholds: Any, steps: int) -> Walk:
        """Yield accelerated proximal steps from x; return the last, once they are short."""
        z, momentum = x, 1.0
        for _ in range(steps):
            r = z + self.adjoint((self.y - self.forward(z)) * self.kept) / self.size
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


def follow_path(
    quadratic: Quadratic, start: Vector, jitter: Array | float
) -> Generator[Vector, None, tuple[Vector, float]]:
    """Yield the steps of the weighted l1 path; return its end, and how well it predicts what is held out.

    The prediction is the root mean square of the error in one measurement.
    """
    x, lam = yield from _lower_weight(quadratic, start, jitter)
    best, least, weights = x, quadratic.held_out_error(x), np.ones(len(x))
    for kind in WEIGHTS:
        reweighted, candidate = x, weights
        for _ in range(REWEIGHTINGS):
            candidate = kind.at(reweighted, lam)
            reweighted = yield from quadratic.descend(reweighted, lam * jitter * candidate, STEPS_PER_REWEIGHTING)
        if (error := quadratic.held_out_error(reweighted)) < kind.convincing * least:
            best, least, weights = reweighted, error, candidate
    x = yield from quadratic.with_all().descend(best, lam * jitter * weights, LAST_STEPS)
    return x, least / math.sqrt(max(int(np.sum(~quadratic.kept)), 1))


def _lower_weight(
    quadratic: Quadratic, x: Vector, jitter: Array | float
) -> Generator[Vector, None, tuple[Vector, float]]:
    """Yield steps while lam falls; return the first x that explains the held-out measurements well, with its lam."""
    first = float(np.max(np.abs(quadratic.adjoint(quadratic.y)))) / quadratic.size
    good: list[tuple[float, Vector, float]] = []
    for lam in first * np.geomspace(FIRST_LEVEL, LAST_LEVEL, LEVELS):
        x = yield from quadratic.descend(x, lam * jitter, STEPS_PER_LEVEL)
        good.append((quadratic.held_out_error(x), x, float(lam)))
        least = min(error for error, _, _ in good)
        good = [level for level in good if level[0] <= AS_GOOD * least]
        if good[-1][1] is not x:
            break
    return good[0][1:]


class Weights(NamedTuple):
    """w = (c / (epsilon lam) + 1)^(q-1), c the magnitudes of x, or the mean magnitudes of their neighbours."""

    q: float
    epsilon: float
    of_neighbours: bool
    convincing: float  # held-out error, in units of that of other weights, at which these are preferred

    def at(self, x: Vector, lam: float) -> Array:
        """Return the weights at x."""
        c = np.abs(x)
        unit = float(np.sqrt(np.mean(c**2)))
        if self.of_neighbours and unit > 0:
            c = neighbours(c / unit)[0] * unit
        return np.asarray((c / (self.epsilon * lam) + 1) ** (self.q - 1))


WEIGHTS = (
    Weights(0.5, 10.0, of_neighbours=True, convincing=1.0),
    Weights(-0.5, 10.0, of_neighbours=True, convincing=0.8),  # these and the next harm signals that are nearly sparse
    Weights(0.0, 10.0, of_neighbours=False, convincing=0.8),
)
