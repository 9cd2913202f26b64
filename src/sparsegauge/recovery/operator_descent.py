r"""What takes over where message passing is misled: a weighted l1 path by A and A^H.

min |A x - y|^2 / 2 + lam sum w |x|, by accelerated proximal gradients that restart where their momentum
leads uphill (B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes", Foundations of
Computational Mathematics 15, 2015). One measurement in twenty is held out, and lam falls until x explains these no
better. Then come weights w = (c/eps + 1)^(q-1), with c the magnitudes of x or the mean magnitudes of their neighbours
(E. Candès, M. Wakin and S. Boyd, "Enhancing sparsity by reweighted l1 minimization", Journal of Fourier Analysis and
Applications 14, 2008). The held-out measurements choose between these and equal weights. The last steps use all.
`operator_columns.py` goes on from there where few columns are left.

Where many columns are left, and neighbours are alike, as in pictures, the thresholds of `falling_thresholds.py` come
nearer to the signal. Measurements that are held out at random do not always show that: those between others are
predicted well by many small coefficients. So the path has to be clearly better to be preferred.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from .falling_thresholds import NeighbourThresholds, repeat_fall, try_fall
from .quadratic import Quadratic, Vector
from .shrinkage import neighbours

PATH_LEVELS = 16  # of lam, which falls level by level
STEPS_PER_LEVEL = 40
LAST_STEPS = 40  # with all measurements
CHANCE_ERROR_RATIO = 1.03  # of held-out errors that differ by chance: the largest lam among them is taken
FIRST_LEVEL = 0.1  # lam in units of max |A^H y| / |A|^2
LAST_LEVEL = 1e-5
MOST_WORSE_LEVELS = 2  # after the best one: a few very large measurements can mislead
REWEIGHTINGS, STEPS_PER_REWEIGHTING = 3, 25
FALL_ERROR_RATIO = 1.3  # of held-out errors of a fall and of the path, up to which the fall is preferred


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
    return x, least / math.sqrt(max(quadratic.held_out, 1))


def lower_with_neighbours(
    quadratic: Quadratic, x: Vector, prediction: float, jitter: Array | float
) -> Generator[Vector, None, Vector]:
    """Yield the steps of falling thresholds; return their end, or x where neighbours in it are not alike.

    `prediction` is that of `follow_path`, whose end x is.
    """
    unit = float(np.sqrt(np.mean(np.abs(x) ** 2)))
    if unit == 0 or not neighbours(np.abs(x) / unit)[1]:
        return x
    fall = yield from try_fall(quadratic, partial(NeighbourThresholds, jitter))
    if fall.error > FALL_ERROR_RATIO * prediction * math.sqrt(max(quadratic.held_out, 1)):
        return x
    return (yield from repeat_fall(quadratic, fall))


def _lower_weight(
    quadratic: Quadratic, x: Vector, jitter: Array | float
) -> Generator[Vector, None, tuple[Vector, float]]:
    """Yield steps while lam falls; return the first x that explains the held-out measurements well, with its lam."""
    first = float(np.max(np.abs(quadratic.adjoint(quadratic.y)))) / quadratic.size
    good: list[tuple[float, Vector, float]] = []
    worse = 0
    for lam in first * np.geomspace(FIRST_LEVEL, LAST_LEVEL, PATH_LEVELS):
        x = yield from quadratic.descend(x, lam * jitter, STEPS_PER_LEVEL)
        good.append((quadratic.held_out_error(x), x, float(lam)))
        least = min(error for error, _, _ in good)
        good = [level for level in good if level[0] <= CHANCE_ERROR_RATIO * least]
        worse = 0 if good[-1][1] is x else worse + 1
        if worse > MOST_WORSE_LEVELS:
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
