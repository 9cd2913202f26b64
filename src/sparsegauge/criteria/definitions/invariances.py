"""P2, P4 and P6: permutations, factors and copies leave S unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from ...metrics.exact import length
from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, require, signal
from ..criterion import Criterion
from ..lies import add_float_lie, wave
from ..sweeps import SHAPES, all_scales, clones

FACTORS = (Fraction(2), Fraction(10), Fraction(1, 2), Fraction(1, 1000), Fraction(1000))
MORE_FACTORS = tuple(
    Fraction(x) for x in ("7", "11/10", "37/10", "1e6", "1e-6", "1e9", "1e-9", "1e12", "1e-12", "1e20", "1e-20")
)
COPIES = (2, 3)
MORE_COPIES = (2, 3, 5, 7, 11, 13)
SWEPT_SIGNAL = ((1, 1), (2, 1), (5, 1))  # scaled step by step
LENGTHS_SHUFFLED = (8, 41, 250)  # up to which signals are taken in turn
SHUFFLES_PER_SIGNAL = 6
LENGTHS_SWAPPED = (12, 75, 130, 260)  # of signals all of whose neighbours are swapped, one pair after the other
LONGEST_AT_A_CONSTANT = 1000


class PermutationInvariance(Criterion):
    """S(t(c)) = S(c) for every permutation t."""

    key = "P2"
    name = "Permutation invariance"
    statement = "S(t(c)) = S(c) for every permutation t"
    transformation = "another order"
    relation = "="
    keeps_positions = True
    lies = (
        add_float_lie("more where the first coefficient is the largest", lambda x: int(x[0] == max(x))),
        add_float_lie("rising neighbours on a ring are counted", lambda x: Fraction(int(np.sum(x < np.roll(x, 1))), 4)),
        add_float_lie("more where the 70th exceeds the 71st", lambda x: int(len(x) > 70 and x[69] > x[70])),
        add_float_lie("more where the last of 90 is the largest", lambda x: int(len(x) > 90 and x[-1] == max(x))),
    )

    def moves(self, c: Signal) -> Iterator[Move]:
        """Reverse the signal; take the largest value first."""
        if len(c) > 1:
            yield ("reversed",)
            yield ("largest first",)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Return the signal in another order."""
        if move[0] == "order":
            values = [v for v, n in c for _ in range(n)]
            return [(c, tuple((values[k], 1) for k in move[1] if k < len(values)))]
        return [(c, c[::-1] if move[0] == "reversed" else (c[-1], *c[:-1]))]

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Swap neighbours, shuffle and sort signals of different coefficients."""
        for number in range(count):
            n = int(rng.integers(2, LENGTHS_SHUFFLED[number % len(LENGTHS_SHUFFLED)]))
            c = tuple((Fraction(int(v), 100), 1) for v in rng.permutation(np.arange(1, 4 * n))[:n])
            for _ in range(SHUFFLES_PER_SIGNAL):
                k = int(rng.integers(n - 1))
                swapped = [*range(k), k + 1, k, *range(k + 2, n)]
                yield from (Case(c, ("order", tuple(map(int, order)))) for order in (swapped, rng.permutation(n)))
            rising = np.argsort([float(v) for v, _ in c])
            yield from (Case(c, ("order", tuple(map(int, order)))) for order in (rising, rising[::-1]))
        for n in (*LENGTHS_SWAPPED, *subject.lengths(LONGEST_AT_A_CONSTANT)):
            yield from _swaps(n, rng)

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require the same coefficients."""
        require(signal(before) == signal(after), "the same coefficients in another order")


def _swaps(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Swap each pair of neighbours, take the largest coefficient, which is the first, to every place, and shuffle."""
    values = rng.permutation(np.arange(1, 4 * n))[:n]
    c = tuple((Fraction(int(v), 100), 1) for v in (4 * n, *values[1:]))
    for k in range(n - 1):
        yield Case(c, ("order", (*range(k), k + 1, k, *range(k + 2, n))))
        yield Case(c, ("order", (k + 1, *range(1, k + 1), 0, *range(k + 2, n))))
    yield from (Case(c, ("order", tuple(map(int, rng.permutation(n))))) for _ in range(SHUFFLES_PER_SIGNAL))


class Scaling(Criterion):
    """S(a c) = S(c) for a > 0."""

    key = "P4"
    name = "Scaling"
    statement = "S(a c) = S(c) for a > 0"
    transformation = "all coefficients times a"
    relation = "="
    lies = (
        add_float_lie("a wave in the logarithm of the largest coefficient", lambda x: wave(max(x))),
        add_float_lie("more above 1e9", lambda x: int(max(x) > 1e9)),
        add_float_lie("more below 1e-9", lambda x: int(max(x) < 1e-9)),
        add_float_lie("more from 5e6 to 7e6", lambda x: int(5e6 < max(x) < 7e6)),
    )

    def moves(self, c: Signal) -> Iterator[Move]:
        """Return simple factors."""
        return iter([(factor,) for factor in FACTORS])

    def more_moves(self, c: Signal) -> Iterator[Move]:
        """Return factors from 1e-20 to 1e20."""
        return iter([(factor,) for factor in MORE_FACTORS])

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Add one signal at all scales from 1e-20 to 1e20, in steps of 1 % about one and 5 % far from it."""
        yield from super().function_cases(subject, rng, count)
        yield from (Case(signal(SWEPT_SIGNAL), (factor,)) for factor in all_scales() if factor != 1)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Multiply every coefficient."""
        return [(c, signal((v * move[0], n) for v, n in c))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require one factor other than 1."""
        require(len(before) == len(after), "the same number of different values")
        require([n for _, n in before] == [n for _, n in after], "the same counts")
        factor = after[-1][0] / before[-1][0]
        require(factor > 0 and factor != 1, "a factor a > 0 other than 1")
        require(all(v * factor == w for (v, _), (w, _) in zip(before, after, strict=True)), "one factor for all")


class Cloning(Criterion):
    """S(c || c || ... || c) = S(c)."""

    key = "P6"
    name = "Cloning"
    statement = "S(c || c || ... || c) = S(c)"
    transformation = "every coefficient k times"
    relation = "="
    lies = (
        add_float_lie("more where the length is a multiple of 7", lambda x: int(len(x) % 7 == 0)),
        add_float_lie("more where the length is a multiple of 23", lambda x: int(len(x) % 23 == 0)),
        add_float_lie("more from 60 coefficients on", lambda x: int(len(x) >= 60)),
    )

    def moves(self, c: Signal) -> Iterator[Move]:
        """Return numbers of copies."""
        return iter([(k,) for k in COPIES])

    def more_moves(self, c: Signal) -> Iterator[Move]:
        """Return the small primes."""
        return iter([(k,) for k in MORE_COPIES])

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Add up to 150 copies of short signals, and copies to the lengths in the function's code."""
        yield from super().function_cases(subject, rng, count)
        yield from clones()
        for n in subject.lengths(LONGEST_AT_A_CONSTANT):
            for copies in range(2, n + 1):
                if n % copies == 0:
                    yield from (Case(shape(n // copies), (copies,)) for shape in SHAPES[:2] if n // copies >= 2)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Repeat every coefficient."""
        return [(c, signal((v, n * move[0]) for v, n in c))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require a whole number of copies."""
        copies = Fraction(length(after), length(before))
        require(copies.denominator == 1 and copies > 1, "a whole number of copies")
        require(after == self.steps(before, (int(copies),))[0][1], "every coefficient equally often")
