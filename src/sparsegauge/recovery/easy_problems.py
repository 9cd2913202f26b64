"""Easy problems first: orthogonal least squares, or message passing where A is large, and a certificate at little cost.

Where few of many measurements would do, a greedy choice of columns explains y exactly, and the same steps tell how far
every other column is from those chosen (`_compiled/pursuit.py`). That is what the certificate asks for first. Whatever
is not plain here is left to the other solvers of the portfolio, and to the full search of `uniqueness.py`: more than
two fifths as many non-zeros as measurements, columns that look dependent, magnitudes of a simple ratio.

A. Maleki and D. L. Donoho, "Optimally tuned iterative reconstruction algorithms for compressed sensing", IEEE Journal
of Selected Topics in Signal Processing 4(2), 2010; D. L. Donoho, A. Maleki and A. Montanari, "Message-passing
algorithms for compressed sensing", PNAS 106(45), 2009.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from . import dependence
from .complex_pursuit import pursue_complex
from .dependence import PROJECTION_SLACK
from .exact_search import is_within_bounds
from .explanation import is_coincidence
from .plain_solutions import (
    MOST_GRAM_COLUMNS,
    MOST_NONZEROS_PER_EQUATION,
    STEPS_PER_COLUMN,
    Pursued,
    are_too_many,
    is_doubtful,
    may_be_easy,
)
from .problem import Problem
from .system import System
from .tolerances import CLEAR_SQUARE, DEPENDENT_PROJECTION, EXACT, HIDDEN, NEGLIGIBLE, SMALLEST_SQUARED_RESIDUAL
from .uniqueness import MANY_COLUMNS, ROUNDING, doubt_of_structure, greedy_relation, is_special, work_for_relations

SKETCHES = 9  # three groups of three coordinates, see `_compiled/coplanar.py`
THRESHOLD_IN_NOISE = 1.4  # in units of the noise that message passing sees
PASSES = 80
SMALLEST_PASSED_NOISE = 1e-5  # in units of the rms of y: the support is read off there
SUPPORT_IN_NOISE = 6.0  # coefficients above so many units of that noise belong to the support
SLOWEST_GAIN = 0.5 / STEPS_PER_COLUMN  # average per step: half of what one of equal terms explains
STALLED_RATIO = 0.98  # of the noise after and before ten passes
PASSES_PER_LOOK = 10


class Dictionary:
    """The columns of a real A, scaled to length 1, with what pursuit needs of them."""

    def __init__(self, system: System) -> None:
        self.A: Array = system.matrix  # type: ignore[assignment]
        self.lengths = system.column_lengths
        self.square = (self.lengths > 0).astype(float)  # a column of zeros is never chosen
        self.units = np.where(self.lengths > 0, self.lengths, 1.0)
        self._relation: dependence.Relation | None = None
        self.is_unrelated = np.zeros(system.n, np.bool_)  # known to be no sum of a few others
        self.sketch = (np.random.default_rng(0).standard_normal((SKETCHES, system.m)) @ self.A) / self.units

    @classmethod
    def of(cls, system: System) -> Dictionary:
        """Return the dictionary of a system, made once."""
        if "dictionary" not in system.notes:
            system.notes["dictionary"] = cls(system)
        dictionary: Dictionary = system.notes["dictionary"]
        return dictionary

    def along(self, z: Array) -> Array:
        """Return the inner products of all columns with z."""
        return np.asarray(self.A.T @ z) / self.units

    def combine(self, x: Array) -> Array:
        """Return the sum of all columns times x."""
        return np.asarray(self.A @ (x / self.units))

    def columns(self, support: Indices) -> Array:
        """Return some columns, one per row."""
        rows = np.empty((len(support), len(self.A)))
        for row, column in zip(rows, support, strict=True):  # one by one: A[:, support] would be another copy
            np.divide(self.A[:, column], self.units[column], out=row)
        return rows

    @functools.cached_property
    def gram(self) -> Array:
        """The inner products of all columns."""
        gram = self.A.T @ self.A
        gram /= self.units
        gram /= self.units[:, None]
        return np.asarray(gram)

    def relation(self, problem: Problem) -> dependence.Relation:
        """Return the shortest relation between columns that a greedy search finds, made once."""
        if self._relation is None:
            self._relation = greedy_relation(problem, self.A, work_for_relations(problem, self.A))
        return self._relation

    def gram_rows(self, support: Indices) -> Array:
        """Return the inner products of some columns with all."""
        if "gram" in self.__dict__:
            return np.ascontiguousarray(self.gram[support])
        return np.asarray(self.columns(support) @ self.A) / self.units


def is_easy(problem: Problem) -> bool:
    """Return whether an exact solution is easy to find, and plain; it is kept for the solver."""
    problem = problem.in_safe_units()[0]
    if problem.system.matrix is None or (problem.is_large and problem.system.structured):
        return False
    pursued = keep_pursued(problem)
    return pursued is not None and pursued.is_plain


def keep_pursued(problem: Problem) -> Pursued | None:
    """Return an exact solution that is easy to find, and keep it in the notes of the problem."""
    if "pursued" not in problem.notes:
        pursued = pursue(problem)
        if pursued is not None:
            problem.notes["pursued"] = pursued
        return pursued
    known: Pursued = problem.notes["pursued"]
    return known


def pursue(problem: Problem) -> Pursued | None:
    """Return an exact solution with few non-zeros, if it is easy to find; A is written out."""
    if not may_be_easy(problem):
        return None
    if problem.is_complex:
        return pursue_complex(problem)
    pursuit = Pursuit(Dictionary.of(problem.system), problem)
    count = pursuit.search()
    return None if count is None else pursuit.conclude(count)


def prepare(problem: Problem) -> None:
    """Compute what all signals that are measured by the same A share, before threads need it."""
    problem = problem.in_safe_units()[0]
    if may_be_easy(problem) and not problem.is_complex:
        dictionary = Dictionary.of(problem.system)
        if problem.n <= MOST_GRAM_COLUMNS:
            dictionary.gram  # noqa: B018 (a cached property)
        doubt_of_structure(problem.system)


class Room(NamedTuple):
    """The arrays that the kernels write into: see `_compiled/pursuit.py`."""

    chosen: Indices
    x: Array
    distance: Array
    square: Array
    sketch: Array
    kernel: Any

    @classmethod
    def of(cls, problem: Problem, most: int, sketches: int = SKETCHES) -> Room:
        """Return working memory for at most the given number of columns."""
        chosen, (x, distance) = np.empty(most, np.int64), np.empty((2, most))
        square, sketch = np.empty(problem.n), np.empty((sketches, problem.n))
        kernel = kernels.PursuitRoom(problem.m, chosen, x, distance, square, sketch)
        return cls(chosen, x, distance, square, sketch, kernel)


class Pursuit:
    """One search for the columns that explain y."""

    def __init__(self, dictionary: Dictionary, problem: Problem) -> None:
        self.dictionary, self.problem = dictionary, problem
        self.along = dictionary.along(problem.y)
        self.most = max(int(MOST_NONZEROS_PER_EQUATION * problem.m), 1)
        self.steps = 0

    def search(self) -> int | None:
        """Choose columns that explain y up to rounding; return how many."""
        support = self._by_least_squares() if self.problem.n <= MOST_GRAM_COLUMNS else self._by_passing_messages()
        return None if support is None or are_too_many(self.problem, support) else self._fit(support)

    def _by_least_squares(self) -> Indices | None:
        dictionary, problem = self.dictionary, self.problem
        self.room = Room.of(problem, self.most)
        energy = problem.scale**2
        start = self.along, dictionary.square, dictionary.sketch
        self.steps = kernels.pursue(
            dictionary.gram, *start, energy, SMALLEST_SQUARED_RESIDUAL * energy, 0.0, self.room.kernel
        )
        return np.array(self.room.chosen[: self.steps]) if self.steps > 0 else None

    def _by_passing_messages(self) -> Indices | None:
        """Pass messages: soft thresholds with Onsager's term, each set by the noise that the residual tells."""
        dictionary, y, m = self.dictionary, self.problem.y, self.problem.m
        x, z, before = np.zeros(self.problem.n), y.copy(), math.inf
        for self.steps in range(1, PASSES + 1):
            noise = float(np.linalg.norm(z)) / math.sqrt(m)
            if not noise < before * STALLED_RATIO and self.steps % PASSES_PER_LOOK == 0:
                return None
            if noise <= SMALLEST_PASSED_NOISE * self.problem.scale / math.sqrt(m):
                break
            before = noise if self.steps % PASSES_PER_LOOK == 0 else before
            r = x + dictionary.along(z)
            x = np.sign(r) * np.maximum(np.abs(r) - THRESHOLD_IN_NOISE * noise, 0.0)
            z = y - dictionary.combine(x) + z * (np.count_nonzero(x) / m)
        support = np.flatnonzero(np.abs(x) > SUPPORT_IN_NOISE * noise)
        return support[np.argsort(-np.abs(x[support]))] if 0 < len(support) <= self.most else None

    def _fit(self, support: Indices) -> int | None:
        """Fit y on the support, without columns whose coefficients are rounding; return how many remain."""
        if not hasattr(self, "room"):
            self._follow(support)
        for _ in range(2):
            count, columns = len(support), self.dictionary.columns(support)
            self.residual = kernels.fit_chosen(columns, self.problem.y, self.room.kernel)
            size = np.abs(self.room.x[:count])
            kept = size > NEGLIGIBLE * size.max()
            if not self.residual <= EXACT * self.problem.scale:
                return None
            if kept.all():
                return count
            support = np.array(self.room.chosen[:count])[kept]
            if self._follow(support) < len(support):
                return None
        return None

    def _follow(self, support: Indices) -> int:
        """Start again with a given support; return how many of its columns are independent."""
        dictionary, problem = self.dictionary, self.problem
        rows = dictionary.gram_rows(support)
        self.room = Room.of(problem, len(support))
        start = self.along, dictionary.square, dictionary.sketch
        return int(kernels.follow(rows, support, *start, self.room.kernel))

    def conclude(self, count: int) -> Pursued | None:
        """Return the solution in the units of x, if it is within the bounds and no coincidence."""
        problem, room = self.problem, self.room
        support = np.array(room.chosen[:count])
        lengths = self.dictionary.lengths[support]
        x = np.zeros(problem.n)
        x[support] = room.x[:count] / lengths
        kernels.write_distances(np.empty((count, count)), room.kernel)
        distances = room.distance[:count] * lengths
        visible = float((distances * np.abs(x[support])).min()) / problem.scale
        if not is_within_bounds(problem, x) or (is_doubtful(problem.m, count, visible) and is_coincidence(problem, x)):
            return None
        terms = float(lengths @ np.abs(x[support]))
        error = max(float(self.residual), ROUNDING * terms)
        limit = error / (HIDDEN * float(np.abs(x).max()))
        outside = np.flatnonzero(x == 0)
        squares = room.square[outside]
        sides = np.sqrt(np.maximum(squares, 0.0)) * self.dictionary.lengths[outside]
        spread = math.sqrt(problem.m / (problem.m - count))
        is_plain = (
            bool(squares.min() > CLEAR_SQUARE and sides.min() > limit and distances.min() > limit * spread)
            and not is_special(x[support])
            and not self._seem_dependent(outside, limit / float(np.median(sides)))
            and not self._stands_in(support, limit)
        )
        return Pursued(x, np.sort(support), self.steps, error, limit, float(sides.min()), is_plain)

    def _seem_dependent(self, outside: Indices, relative: float) -> bool:
        """Return whether two or three columns outside the support may depend on each other and on it."""
        near = PROJECTION_SLACK * max(relative, DEPENDENT_PROJECTION)
        room = kernels.CoplanarRoom(len(outside), SKETCHES)
        return bool(kernels.find_dependent(self.room.sketch, outside, near, near, room))

    def _stands_in(self, support: Indices, limit: float) -> bool:
        """Return whether a column of the support may be the sum of others, so that it stands in for them in x.

        In small systems relations between all columns are looked for, once; in larger ones a pursuit represents each
        column of the support by others.
        """
        problem, dictionary = self.problem, self.dictionary
        if problem.n <= MANY_COLUMNS:
            return dictionary.relation(problem).hides(limit)
        if problem.n > MOST_GRAM_COLUMNS:
            return False
        if any((limit / dictionary.lengths[support]) ** 2 > SMALLEST_SQUARED_RESIDUAL):
            return True
        new = support[~dictionary.is_unrelated[support]]
        room = Room.of(problem, STEPS_PER_COLUMN, sketches=0)
        for column in new:
            square = dictionary.square.copy()
            square[column] = 0.0
            start = dictionary.gram, dictionary.gram[column], square, room.sketch
            if kernels.pursue(*start, 1.0, SMALLEST_SQUARED_RESIDUAL, SLOWEST_GAIN, room.kernel) > 0:
                return True
        dictionary.is_unrelated[new] = True
        return False
