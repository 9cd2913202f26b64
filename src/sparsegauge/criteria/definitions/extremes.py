"""P9, P10 and P11: what S is on the sparsest and on the least sparse signal."""

from __future__ import annotations

from fractions import Fraction

from ...errors import Undefined
from ...metrics.exact import length
from ..coefficients import Case, Move, Signal, Step, ones, require, spike
from ..criterion import Criterion
from ..judgement import Judgement, judge_limit
from ..numbers import Bounds, gap
from ..subject import Subject

LENGTHS = [10**k for k in (3, 6, 9, 12, 15)]
SHORT_LENGTHS = [10**k for k in (1, 2, 3)]  # for a metric that needs all coefficients in an array
SATURATED = Fraction(1, 10**6)  # a relative change at most this large counts as none


class Saturation(Criterion):
    """S(0_N || 1) / S(0_{N-1} || 1) -> 1 as N -> infinity."""

    key = "P9"
    name = "Saturation"
    statement = "S(0_N || 1) / S(0_{N-1} || 1) -> 1 as N -> infinity"
    transformation = "one more zero beside a one"
    relation = "->"
    applies = "metrics that are not zero on 0_N || 1"

    def fixed_cases(self, subject: Subject) -> list[Case]:
        """Return lengths up to 1e15, or those that fit into an array."""
        short = Case(ones(1), ("short",))
        return [short] if subject.arrays_only else [Case(ones(1), ()), short]

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Append one zero to longer and longer spikes."""
        return [(spike(n), spike(n + 1)) for n in (SHORT_LENGTHS if move else LENGTHS)]

    def check(self, steps: list[Step]) -> None:
        """Require at least three lengths, each ten times the one before, up to 1,000 or more."""
        require(len(steps) >= 3, "saturation needs at least three lengths")
        n = 0
        for before, after in steps:
            require(before == spike(length(before)) and after == spike(length(before) + 1), "0_{N-1}||1 and 0_N||1")
            require(length(before) >= 10 * n, "each length at least ten times the one before")
            n = length(before)
        require(n >= SHORT_LENGTHS[-1], "the last length is at least 1,000")

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether the ratio stays away from 1."""
        return judge_limit(subject, steps, relative_gap, SATURATED)


def relative_gap(before: Bounds, after: Bounds) -> Fraction:
    """Return how far apart two values are at least, in units of the first."""
    if before.low <= 0 <= before.high:
        raise Undefined
    return gap(before, after) / max(abs(before.low), abs(before.high))


class LowerBound(Criterion):
    """S(c) >= S(1_N)."""

    key = "P10"
    name = "Lower bound"
    statement = "S(c) >= S(1_N)"
    transformation = "any signal, beside 1_N"
    relation = ">="

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Compare with equal coefficients."""
        return [(ones(length(c)), c)]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require 1_N of the same length."""
        require(before == ones(length(after)), "1_N, and a signal of the same length")


class UpperBound(Criterion):
    """S(c) <= S(0_{N-1} || 1)."""

    key = "P11"
    name = "Upper bound"
    statement = "S(c) <= S(0_{N-1} || 1)"
    transformation = "any signal, beside 0_{N-1} || 1"
    relation = "<="

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Compare with a single one among zeros."""
        return [(spike(length(c)), c)] if length(c) > 1 else []

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require 0_{N-1} || 1 of the same length."""
        require(before == spike(length(after)), "0_{N-1}||1, and a signal of the same length")
