"""P5 and P8: something is added to all coefficients, or a zero is appended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, nonzeros, require, signal
from ..criterion import SIGNALS_PER_MOVE, TWO_NONZEROS, Criterion
from ..lies import add_float_lie, wave
from ..probes import probes
from ..samples import geometric_grid, nearly_flat_signals
from ..sweeps import long_lengths, tides, zeros_appended

TIDE_SCALES = tuple(geometric_grid(-12, 12, per_decade=10))  # at which a function is followed over a tide
FLAT_VALUES = (Fraction(1), Fraction(51, 50), Fraction(21, 20))  # a tide changes the S of such signals by little
TIDES_AT_PROBES = tuple((Fraction(a, 100), Fraction(b, 100)) for a, b in ((97, 2), (97, 4), (90, 8), (90, 12)))
TIDES = (Fraction(1), Fraction(1, 2), Fraction(10), Fraction(1, 100), Fraction(1000))


class RisingTide(Criterion):
    """S(c + a) < S(c) for a > 0."""

    key = "P5"
    name = "Rising tide"
    statement = "S(c + a) < S(c) for a > 0"
    transformation = "a is added to all coefficients"
    relation = "<"
    applies = "signals whose coefficients are not all equal"
    lies = (
        add_float_lie("a wave in the sum of the coefficients", lambda x: wave(float(x.sum()))),
        add_float_lie("more above 1e5", lambda x: int(min(x) > 1e5)),
    )

    def moves(self, c: Signal) -> Iterator[Move]:
        """Return amounts, for signals that are not constant."""
        if len(c) > 1:
            yield from ((a,) for a in TIDES)

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Add slow tides, tides at the numbers in the function's code, and tides to ever more equal coefficients."""
        yield from super().function_cases(subject, rng, count)
        yield from tides()
        for c, (share, rise) in product(probes(subject.constants), TIDES_AT_PROBES):
            if len(c) > 1:
                yield Case(signal((v * share, n) for v, n in c), (c[-1][0] * rise,))
        yield from (Case(c, (tide,)) for c in nearly_flat_signals() for tide in (Fraction(1, 2), Fraction(2)))
        yield from (Case(signal((v * scale, 1) for v in FLAT_VALUES), (scale / 4,)) for scale in TIDE_SCALES)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Add the amount to every coefficient."""
        return [(c, signal((v + move[0], n) for v, n in c))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require the same positive amount for all."""
        require(len(before) == len(after) > 1, "not all coefficients are equal")
        a = after[0][0] - before[0][0]
        require(a > 0, "a > 0")
        require(all(w - v == a and m == n for (v, n), (w, m) in zip(before, after, strict=True)), "the same a for all")


class Babies(Criterion):
    """S(c || 0) > S(c)."""

    key = "P8"
    name = "Babies"
    statement = "S(c || 0) > S(c)"
    transformation = "a zero is appended"
    relation = ">"
    applies = TWO_NONZEROS
    least_nonzeros = 2
    lies = (
        add_float_lie("more where the length is odd", lambda x: len(x) % 2),
        add_float_lie("more where the length is 71", lambda x: int(len(x) == 71)),
    )

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Try more extreme signals than laws with many moves do, and append zeros one by one, then by the hundred."""
        yield from super().function_cases(subject, rng, SIGNALS_PER_MOVE * count)
        yield from (Case(c, ()) for c in zeros_appended())
        yield from (Case(c, ()) for c in _before_falls(subject))

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Append one zero."""
        return [(c, signal([*c, (Fraction(0), 1)]))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require one more zero."""
        require(after == self.steps(before, ())[0][1], "one zero is appended")
        require(nonzeros(before) >= 2, "two non-zeros or more")

    def boundary_cases(self) -> Sequence[Case]:
        """Return signals with one non-zero."""
        return [Case(signal([(0, 1), (1, 1)]), ()), Case(signal([(0, 3), (1, 1)]), ())]


def _before_falls(subject: CallableSubject) -> Iterator[Signal]:
    """Yield signals before the value falls: where it is lower with some zeros more, one of these zeros lowered it."""

    def with_zeros(count: int) -> Signal:
        return signal([(Fraction(0), count), (Fraction(1), 1), (Fraction(3), 1)])

    values = {count: subject.weighted(with_zeros(count)) for count in long_lengths()}
    for low, high in pairwise(values):
        at_low, at_high = values[low], values[high]
        if at_high <= at_low:
            while high - low > 1:
                middle = (low + high) // 2
                at_middle = subject.weighted(with_zeros(middle))
                if at_middle <= at_low:
                    high = middle
                else:
                    low, at_low = middle, at_middle
            yield with_zeros(low)
