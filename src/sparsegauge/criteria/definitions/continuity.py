"""P1, continuity: a vanishing change of one coefficient changes S by a vanishing amount.

Exact arithmetic follows changes of 1e-30 ... 1e-300. float64 follows a coefficient to the neighbouring float: a
function jumps there if its value changes between neighbours, and hardly changes on either side. Bisection finds jumps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...errors import Undefined
from ..audit_tolerances import FLOAT_DISTANCES, PERSISTENT_SHARE, SCREENING_DISTANCE, SMALLEST_JUMP, TIMES_SCATTER
from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, difference, nonzeros, replace_one, require
from ..criterion import Criterion
from ..judgement import Judgement, judge_limit
from ..jumps import find_jumps
from ..lies import add_lie, count_above
from ..numbers import exactly, gap
from ..samples import extreme_signals, small_signals
from ..subject import Subject

DISTANCES = [Fraction(1, 10**k) for k in (30, 60, 120, 300)]
SMALLEST_RATIO = Fraction(1, 10**20)
LAST_DISTANCE = Fraction(1, 10**100)

NEIGHBOURING = Fraction(1, 10**15)  # largest relative distance of the neighbouring float
POINTS_PER_PATH = 24
POINTS_PER_DECADE, DECADES_BEYOND = 4, 4
PATHS_PER_SIGNAL = 2
PLANTED_STEP = 1.375  # a number that is the same in every arithmetic
EVALUATIONS_PER_PATH = 400
EXACT_BISECTIONS = 100


class Continuity(Criterion):
    """S(c + dc) -> S(c) as dc -> 0."""

    key = "P1"
    name = "Continuity"
    statement = "S(c + dc) -> S(c) as dc -> 0"
    transformation = "one coefficient moves by d = 1e-30 ... 1e-300"
    relation = "->"
    group_indices = 1
    lies = (
        add_lie("a step where a coefficient passes 1.375", lambda x: Fraction(count_above(x, PLANTED_STEP), len(x))),
    )

    def moves(self, c: Signal) -> Iterator[Move]:
        """Move each value up, and down where it is not zero."""
        for i, (value, _) in enumerate(c):
            yield (i, 1)
            if value > 0:
                yield (i, -1)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Return ever smaller changes of one coefficient."""
        i, direction = move
        return [(c, replace_one(c, i, c[i][0] + direction * d)) for d in DISTANCES]

    def check(self, steps: list[Step]) -> None:
        """Require ever smaller changes of one coefficient, down to 1e-100 or to the neighbouring float."""
        require(len(steps) >= 3, "continuity needs at least three ever smaller changes")
        require(all(before == steps[0][0] for before, _ in steps), "every step starts from the same signal")
        value, distances = _distances(steps)
        require(all(b <= a / 100 for a, b in pairwise(distances)), "ever smaller changes")
        require(
            _vanish(distances) or distances[-1] <= NEIGHBOURING * value,
            "the last change is at most 1e-100, each 1e-20 of the one before; or it goes to the neighbouring float",
        )

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether the change of S stays while that of the coefficient vanishes."""
        if isinstance(subject, CallableSubject):
            judgement = _judge_floats(subject, steps)
            _, arithmetic = subject.enclose(steps[0], subject.precisions[0])
            if arithmetic == "float64" or (judgement.violated and _stays_exactly(subject, judgement.steps[-1])):
                return judgement
        if not _vanish(_distances(steps)[1]):
            _, arithmetic = subject.enclose(steps[0], subject.precisions[0])
            return Judgement(None, steps, exactly(0), exactly(0), arithmetic)
        return judge_limit(subject, steps, gap, Fraction(0))

    def screening_steps(self, case: Case) -> list[Step]:
        """Return one change that float64 can see."""
        i, direction = case.move
        return [(case.start, replace_one(case.start, i, case.start[i][0] + direction * SCREENING_DISTANCE))]

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Follow single coefficients of some signals, and bisect to where the value jumps."""
        small = small_signals()
        chosen = [small[k] for k in rng.choice(len(small), min(count, len(small)) // 2, replace=False)]
        for c in [*chosen, *extreme_signals(rng, count // 2, wide=False)]:
            for i in rng.choice(len(c), min(PATHS_PER_SIGNAL, len(c)), replace=False):
                yield from _jumps_along(subject, c, int(i))


def _distances(steps: list[Step]) -> tuple[Fraction, list[Fraction]]:
    """Return the value that moves, and how far it moves in each step."""
    moved = [difference(before, after) for before, after in steps]
    require(all(len(removed) == len(added) == 1 for removed, added in moved), "one coefficient moves")
    value = moved[0][0][0]
    require(all(removed == [value] for removed, _ in moved), "the same coefficient moves in every step")
    distances = [abs(added[0] - value) for _, added in moved]
    require(min(distances) > 0, "the coefficient moves")
    return value, distances


def _vanish(distances: list[Fraction]) -> bool:
    """Tell whether the changes vanish as fast as exact arithmetic asks for."""
    pairs = zip([Fraction(1), *distances], distances, strict=False)
    return all(b <= a * SMALLEST_RATIO for a, b in pairs) and distances[-1] <= LAST_DISTANCE


def _judge_floats(subject: CallableSubject, steps: list[Step]) -> Judgement:
    """Compare the value with that at the neighbouring float, and with how much it scatters on both sides."""
    start = steps[0][0]
    (value,), (moved,) = difference(*steps[0])
    index = [v for v, _ in start].index(value)
    direction = 1 if moved > value else -1
    sides = [_values_beside(subject, start, index, side) for side in ((direction, -direction) if value else (1,))]
    here = _value(subject, start)
    there = sides[0][0][-1]
    jump, size = abs(there - here), max(abs(here), abs(there), subject.scale)
    violated: bool | None = False
    if jump > SMALLEST_JUMP * size:
        generic = replace_one(start, index, value * Fraction(1001, 1000) + (0 if value else Fraction(1, 1000)))
        scatter = sum(max(values) - min(values) for values, _ in sides) + subject.noise(generic)
        violated = True if jump > TIMES_SCATTER * scatter else None
    return Judgement(violated, sides[0][1], exactly(here), exactly(there), "float64")


def _stays_exactly(subject: CallableSubject, step: Step) -> bool:
    """Tell whether the jump between neighbouring floats stays when exact arithmetic bisects the gap between them."""
    start, end = step
    (low,), (high,) = difference(start, end)
    index = [v for v, _ in start].index(low)

    def at(value: Fraction) -> Fraction:
        (bounds,), _ = subject.enclose((replace_one(start, index, value),), subject.precisions[0])
        return (bounds.low + bounds.high) / 2

    at_low, at_high = at(low), at(high)
    jump = abs(at_high - at_low)
    for _ in range(EXACT_BISECTIONS):
        middle = (low + high) / 2
        at_middle = at(middle)
        if abs(at_middle - at_low) > abs(at_high - at_middle):
            high, at_high = middle, at_middle
        else:
            low, at_low = middle, at_middle
    return abs(at_high - at_low) >= PERSISTENT_SHARE * jump > 0


def _values_beside(subject: CallableSubject, c: Signal, index: int, direction: int) -> tuple[list[float], list[Step]]:
    """Return values at ever nearer floats on one side, and the steps to them."""
    value = float(c[index][0])
    if value:
        near = [value * (1 + direction * d) for d in FLOAT_DISTANCES] + [math.nextafter(value, direction * math.inf)]
    else:
        near = [float(d) for d in DISTANCES[1:]]
    steps = [(c, replace_one(c, index, Fraction(w))) for w in near]
    return [_value(subject, after) for _, after in steps[-3:]], steps


def _value(subject: CallableSubject, c: Signal) -> float:
    value = subject.weighted(c)
    if not math.isfinite(value):
        raise Undefined
    return value


def _jumps_along(subject: CallableSubject, c: Signal, i: int) -> Iterator[Case]:
    """Yield where the value changes most as one coefficient grows from zero to twice the largest, and far beyond."""
    top = float(c[-1][0])
    others = [(float(v), n - (k == i)) for k, (v, n) in enumerate(c)]

    def at(t: float) -> float:
        return subject.weighted([*others, (t, 1)])

    first = 0 if nonzeros(c) > 1 or not c[i][0] else 1  # the zero vector has no value
    grid = [2 * top * k / POINTS_PER_PATH for k in range(first, POINTS_PER_PATH + 1)]
    grid += [2 * top * 10.0 ** (k / POINTS_PER_DECADE) for k in range(1, DECADES_BEYOND * POINTS_PER_DECADE + 1)]
    for jump in find_jumps(at, grid, smallest=SMALLEST_JUMP, evaluations=EVALUATIONS_PER_PATH):
        yield from _cases_at(c, i, jump.low, 1)
        yield from _cases_at(c, i, jump.high, -1)


def _cases_at(c: Signal, i: int, value: float, direction: int) -> Iterator[Case]:
    start = replace_one(c, i, Fraction(value))
    if nonzeros(start) and (value or direction > 0):
        yield Case(start, ([v for v, _ in start].index(Fraction(value)), direction))
