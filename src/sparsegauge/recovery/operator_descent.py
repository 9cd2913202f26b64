r"""What takes over where message passing is misled: a weighted l1 path by A and A^H, then the few columns it leaves.

**The path.** min |A x - y|^2 / 2 + lam sum w |x|, by accelerated proximal gradients that restart where their momentum
leads uphill (B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes", Foundations of
Computational Mathematics 15, 2015). One measurement in twenty is held out, and lam falls until x explains these no
better. Then come weights w = (c/eps + 1)^(q-1), with c the magnitudes of x or the mean magnitudes of their neighbours
(E. Candès, M. Wakin and S. Boyd, "Enhancing sparsity by reweighted l1 minimization", Journal of Fourier Analysis and
Applications 14, 2008). The held-out measurements choose between these and equal weights. The last steps use all.

**The columns.** Where the path leaves few columns, these are written out, and the reweighting of `descent.py` and the
spike-and-slab model of `noisy.py` choose among them. What they choose is rarely off by more than a place or two where
columns next to each other are alike, as those of a convolution are. So the columns beside the chosen ones are let in,
with those that correlate most with the residual, and the choice is made anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .problem import EXACT, Problem
from .result import Recovery
from .shrinkage import neighbours

LEVELS, STEPS_PER_LEVEL, LAST_STEPS = 16, 40, 40  # of the path: lam falls level by level
HELD_OUT = 0.05  # measurements that choose lam and weights
AS_GOOD = 1.03  # held-out errors that do not differ by more than chance: the largest lam among them is taken
FIRST_LEVEL, LAST_LEVEL = 0.1, 1e-5  # lam in units of max |A^H y| / |A|^2
POWER_ITERATIONS = 30
SETTLED_STEP = 1e-4  # the relative change of x after which a level ends
REWEIGHTINGS, STEPS_PER_REWEIGHTING = 3, 25
FIRST_COLUMNS, MOST_COLUMNS, MOST_ENTRIES = 600, 800, 10_000_000  # that are written out
NEGLIGIBLE_ENERGY = 1e-3  # of the columns that are left out at first
RUNAWAY = 10.0  # in units of the path's end: columns that are alike fit noise by large differences
ROUNDS = 6  # of choosing columns, at most
REACH = 2  # how far columns beside the chosen ones are let in
NEWCOMERS = 40  # columns that correlate with the residual
SIGNIFICANT = 1e-3  # a coefficient in units of the largest

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


def follow_path(quadratic: Quadratic, start: Vector, jitter: Array | float) -> Walk:
    """Yield the steps of the weighted l1 path; return its end."""
    x, lam = yield from _lower_weight(quadratic, start, jitter)
    best, least, weights = x, quadratic.held_out_error(x), np.ones(len(x))
    for kind in WEIGHTS:
        reweighted, candidate = x, weights
        for _ in range(REWEIGHTINGS):
            candidate = kind.at(reweighted, lam)
            reweighted = yield from quadratic.descend(reweighted, lam * jitter * candidate, STEPS_PER_REWEIGHTING)
        if (error := quadratic.held_out_error(reweighted)) < least:
            best, least, weights = reweighted, error, candidate
    return (yield from quadratic.with_all().descend(best, lam * jitter * weights, LAST_STEPS))


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

    def at(self, x: Vector, lam: float) -> Array:
        """Return the weights at x."""
        c = np.abs(x)
        unit = float(np.sqrt(np.mean(c**2)))
        if self.of_neighbours and unit > 0:
            c = neighbours(c / unit)[0] * unit
        return np.asarray((c / (self.epsilon * lam) + 1) ** (self.q - 1))


WEIGHTS = (Weights(-0.5, 10.0, of_neighbours=True), Weights(0.0, 10.0, of_neighbours=False))


def choose_columns(
    problem: Problem, x: Vector, solve: Callable[[Problem], Recovery]
) -> Generator[Vector, None, tuple[Vector, float]]:
    """Yield the answers of rounds that choose among few columns; return the best, and the noise that it leaves.

    The noise is the standard deviation that `solve` estimated; what it was told where the problem says so.
    """
    most = min(MOST_COLUMNS, problem.m // 4, MOST_ENTRIES // problem.m)
    columns = _leading(x, min(most, FIRST_COLUMNS))
    best, least, noise = x, math.inf, problem.sigma
    for _ in range(ROUNDS):
        if not 0 < len(columns) <= most:
            break
        found = solve(_restrict(problem, columns))
        answer = np.zeros(problem.n, np.result_type(x, found.x))
        answer[columns] = found.x
        yield answer
        rest = problem.y - problem.system.forward(answer)
        size = float(np.linalg.norm(rest))
        excess = max(size - problem.noise, 0.0) + float(np.count_nonzero(answer)) * EXACT * problem.scale
        if excess >= least or np.linalg.norm(answer) > RUNAWAY * np.linalg.norm(x):
            break
        best, least, noise = answer, excess, found.noise
        columns = _widen(problem, answer, rest, most)
    return best, noise


def _leading(x: Vector, most: int) -> NDArray[np.intp]:
    """Return the columns of x, as far as they are few, or few of them have nearly all of its energy; else none."""
    squares = np.abs(x) ** 2
    largest = np.argsort(-squares)[:most]
    if np.sum(squares[largest]) < (1 - NEGLIGIBLE_ENERGY) * np.sum(squares):
        return np.zeros(0, np.intp)
    return np.sort(largest[squares[largest] > 0])


def _restrict(problem: Problem, columns: NDArray[np.intp]) -> Problem:
    """Return the problem with the given columns alone, written out, and no more rows than columns."""
    unit = np.zeros(problem.n)
    parts = []
    for column in columns:
        unit[column] = 1.0
        parts.append(problem.system.forward(unit))
        unit[column] = 0.0
    A, y = np.column_stack(parts), problem.y
    if len(columns) < problem.m:
        Q, A = np.linalg.qr(A)
        y = Q.conj().T @ y
    restricted = Problem.of(A, y)
    if problem.noise > 0:
        return restricted.with_sigma(problem.sigma)
    return replace(restricted, estimate_noise=True)  # columns that are missing still act as noise


def _widen(problem: Problem, x: Vector, rest: Vector, most: int) -> NDArray[np.intp]:
    """Return the significant columns of x, those that correlate with the residual, and those beside, as room allows."""
    magnitudes = np.abs(x)
    chosen = np.flatnonzero(magnitudes > SIGNIFICANT * magnitudes.max(initial=0.0))
    pull = np.abs(problem.system.adjoint(rest))
    newcomers = np.argpartition(-pull, min(NEWCOMERS, problem.n - 1))[:NEWCOMERS]
    columns = np.union1d(chosen, newcomers)
    for distance in range(1, REACH + 1):
        beside = np.concatenate([chosen - distance, chosen + distance])
        wider = np.union1d(columns, beside[(beside >= 0) & (beside < problem.n)])
        if len(wider) > most:
            break
        columns = wider
    return columns
