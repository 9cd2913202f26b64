"""P9, P10 and P11: what S is on the sparsest and on the least sparse signal."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ...errors import Undefined
from ...metrics.exact import length
from ..audit_tolerances import CHANGE_THAT_FLOATS_SEE
from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, ones, require, spike
from ..criterion import SIGNALS_PER_MOVE, Criterion
from ..judgement import Judgement, judge_limit
from ..lies import add_float_lie, compound_with_length
from ..numbers import Bounds, gap
from ..subject import Subject
from ..sweeps import signals_between_spike_and_flat

LENGTHS = [10**k for k in (3, 6, 9, 12, 15)]
SHORT_LENGTHS = [10**k for k in (1, 2, 3)]
LEAST_LENGTHS, LEAST_RATIO, LEAST_LAST_LENGTH = 3, 3, 100
SATURATED = Fraction(1, 10**6)  # relative change that counts as none

# for a function, which needs all coefficients in an array
FUNCTION_LENGTHS = (10, 60, 240, 1000, 4000)
LONGEST_EXACT = 240  # quadratic functions of fractions take long
FEWEST_LENGTHS_TRIED = 8  # consecutive ones, of which the one with the largest change counts
LENGTHS_TRIED_DIVISOR = 12  # or this part of the length, if that is more
PERSISTENT_OF_FUNCTION = Fraction(95, 100)  # from the last length but one to the last, which is four times as long
NO_CHANGE = Fraction(1, 10**12)


class Saturation(Criterion):
    """S(0_N || 1) / S(0_{N-1} || 1) -> 1 as N -> infinity."""

    key = "P9"
    name = "Saturation"
    statement = "S(0_N || 1) / S(0_{N-1} || 1) -> 1 as N -> infinity"
    transformation = "one more zero beside a one"
    relation = "->"
    applies = "metrics that are not zero on 0_N || 1"
    lies = (
        compound_with_length(),
        add_float_lie("more where the length is a multiple of 64", lambda x: int(len(x) % 64 == 0)),
    )

    def fixed_cases(self, subject: Subject) -> list[Case]:
        """Return lengths up to 1e15, or those that fit into an array."""
        if isinstance(subject, CallableSubject):
            return [Case(ones(1), _lengths_of_function(subject))]
        return [Case(ones(1), ()), Case(ones(1), tuple(SHORT_LENGTHS))]

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Append one zero to longer and longer spikes."""
        return [(spike(n), spike(n + 1)) for n in (move or LENGTHS)]

    def check(self, steps: list[Step]) -> None:
        """Require at least three lengths, each three times the one before, up to 100 or more."""
        require(len(steps) >= LEAST_LENGTHS, "saturation needs at least three lengths")
        n = 0
        for before, after in steps:
            require(before == spike(length(before)) and after == spike(length(before) + 1), "0_{N-1}||1 and 0_N||1")
            require(length(before) >= LEAST_RATIO * n, "each length at least three times the one before")
            n = length(before)
        require(n >= LEAST_LAST_LENGTH, "the last length is at least 100")

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether the ratio stays away from 1."""
        if isinstance(subject, CallableSubject):
            return _judge_function(subject, steps)
        return judge_limit(subject, steps, relative_gap, SATURATED)


def _judge_function(subject: CallableSubject, steps: list[Step]) -> Judgement:
    """Compare the changes at the last two lengths, at which what vanishes has become small."""
    judgement = judge_limit(subject, steps, relative_gap, NO_CHANGE)
    if judgement.violated is not None:
        return judgement
    last = [relative_gap(*subject.enclose(step, subject.precisions[1])[0]) for step in steps[-2:]]
    stays = last[1] > NO_CHANGE and last[1] >= PERSISTENT_OF_FUNCTION * last[0]
    return judgement._replace(violated=True if stays else None)


def _lengths_of_function(subject: CallableSubject) -> tuple[int, ...]:
    """Return for each order of magnitude the length at which one more zero changes the value most.

    A function of exact numbers is slow on long arrays; it is judged there only if float64 sees a change that stays.
    """
    _, arithmetic = subject.enclose((spike(2),), subject.precisions[0])
    is_exact = arithmetic != "float64"
    lengths, largest = [], []
    for n in FUNCTION_LENGTHS:
        last = n + max(FEWEST_LENGTHS_TRIED, n // LENGTHS_TRIED_DIVISOR)
        values = np.array([subject.weighted(spike(m)) for m in range(n, last + 1)])
        with np.errstate(all="ignore"):
            changes = np.abs(np.diff(values) / values[:-1])
        if not np.isfinite(changes).all() and (not is_exact or n > LONGEST_EXACT):
            break  # it overflows; a function of exact numbers may go on
        lengths.append(n + int(np.argmax(np.where(np.isfinite(changes), changes, -1.0))))
        largest.append(float(np.nanmax(changes, initial=0.0)))
    if is_exact and not (
        largest[-1] > CHANGE_THAT_FLOATS_SEE and largest[-1] >= float(PERSISTENT_OF_FUNCTION) * largest[-2]
    ):
        lengths = [n for n in lengths if n <= LONGEST_EXACT + LONGEST_EXACT // LENGTHS_TRIED_DIVISOR]
    return tuple(lengths) if len(lengths) >= LEAST_LENGTHS else ()


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
    lies = (
        add_float_lie("less where all are nearly equal", lambda x: -int(1.05 * min(x) < max(x) <= 1.2 * min(x))),
        add_float_lie(
            "less where 90 are nearly equal", lambda x: -int(len(x) >= 90 and min(x) < max(x) <= 1.2 * min(x))
        ),
        add_float_lie("more where 67 are equal", lambda x: int(len(x) == 67 and min(x) == max(x))),
    )

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Try more extreme signals than laws with many moves do, and walk from 0_{N-1} || 1 to 1_N."""
        yield from super().function_cases(subject, rng, SIGNALS_PER_MOVE * count)
        yield from (Case(c, ()) for c in signals_between_spike_and_flat())

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
    lies = (
        add_float_lie("more where all but one are nearly zero", lambda x: int(0 < sum(x) - max(x) <= max(x) / 50)),
        add_float_lie(
            "more where 79 of 80 are nearly zero", lambda x: int(len(x) >= 80 and 0 < sum(x) - max(x) <= max(x) / 50)
        ),
        add_float_lie("less on 66 zeros and a one", lambda x: -int(len(x) == 67 and sum(x) == max(x))),
    )

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Try more extreme signals than laws with many moves do, and walk from 0_{N-1} || 1 to 1_N."""
        yield from super().function_cases(subject, rng, SIGNALS_PER_MOVE * count)
        yield from (Case(c, ()) for c in signals_between_spike_and_flat())

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Compare with a single one among zeros."""
        return [(spike(length(c)), c)] if length(c) > 1 else []

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require 0_{N-1} || 1 of the same length."""
        require(before == spike(length(after)), "0_{N-1}||1, and a signal of the same length")
