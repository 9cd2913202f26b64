"""P1, continuity: a vanishing change of one coefficient changes S by a vanishing amount."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..coefficients import Case, Move, Signal, Step, difference, replace_one, require
from ..criterion import Criterion
from ..judgement import Judgement, judge_limit
from ..numbers import gap
from ..subject import Subject

DISTANCES = [Fraction(1, 10**k) for k in (30, 60, 120, 300)]
SMALLEST_RATIO = Fraction(1, 10**20)
LAST_DISTANCE = Fraction(1, 10**100)
SCREENING_DISTANCE = Fraction(1, 10**9)  # float64 does not see 1e-30 beside 1


class Continuity(Criterion):
    """S(c + dc) -> S(c) as dc -> 0."""

    key = "P1"
    name = "Continuity"
    statement = "S(c + dc) -> S(c) as dc -> 0"
    transformation = "one coefficient moves by d = 1e-30 ... 1e-300"
    relation = "->"
    group_indices = 1

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
        """Require at least three ever smaller changes of the same coefficient."""
        require(len(steps) >= 3, "continuity needs at least three ever smaller changes")
        distance = Fraction(1)
        for before, after in steps:
            require(before == steps[0][0], "every step starts from the same signal")
            removed, added = difference(before, after)
            require(len(removed) == len(added) == 1, "one coefficient moves")
            now = abs(added[0] - removed[0])
            require(0 < now <= distance * SMALLEST_RATIO, "each change is at most 1e-20 of the one before")
            distance = now
        require(distance <= LAST_DISTANCE, "the last change is at most 1e-100")

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether the change of S stays while that of the coefficient vanishes."""
        return judge_limit(subject, steps, gap, Fraction(0))

    def screening_steps(self, case: Case) -> list[Step]:
        """Return one change that float64 can see."""
        i, direction = case.move
        return [(case.start, replace_one(case.start, i, case.start[i][0] + direction * SCREENING_DISTANCE))]
