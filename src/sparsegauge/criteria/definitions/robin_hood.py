"""P3, Robin Hood: a transfer from a larger coefficient to a smaller one lowers S.

At order 3 of GDS a violation needs about ten coefficients of a special shape, and near order 2 a million. Random
signals never show it, so two families of hard cases are searched as well. Counts are numbers: length costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, difference, replace_one, require, signal
from ..criterion import Criterion
from ..lies import add_float_lie, wave
from ..samples import nearly_flat_signals
from ..sweeps import transfers

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
SHARES = (QUARTER, Fraction(1, 8), Fraction(3, 8), Fraction(1, 100), Fraction(49, 100))
HALF_ANGLE_TANGENTS = tuple(Fraction(1, k) for k in (3, 5, 10, 100))
SIMPLE_SHARES = (QUARTER, Fraction(1, 3), Fraction(1, 5), Fraction(1, 10))


class RobinHood(Criterion):
    """S(c with c_i + a and c_j - a) < S(c) for c_j > c_i, 0 < a < (c_j - c_i)/2."""

    key = "P3"
    name = "Robin Hood"
    statement = "S(c with c_i + a and c_j - a) < S(c) for c_j > c_i, 0 < a < (c_j - c_i)/2"
    transformation = "a goes from a larger coefficient to a smaller one"
    relation = "<"
    group_indices = 2
    optimiser_starts = 2
    lies = (add_float_lie("a wave in the energy at a fixed sum", lambda x: wave(float((x**2).sum() / x.sum() ** 2))),)

    def moves(self, c: Signal) -> Iterator[Move]:
        """Transfer a share of the difference, for each pair of values."""
        for i, j in combinations(range(len(c)), 2):
            yield from ((i, j, share) for share in SHARES)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Move a share of the difference from the larger of two values to the smaller."""
        i, j, share = move
        low, high = c[i][0], c[j][0]
        a = share * (high - low)
        if not 0 < share < HALF:
            return []
        return [(c, replace_one(replace_one(c, j, high - a), i, low + a))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require that two coefficients come closer by equal amounts, without changing places."""
        removed, added = difference(before, after)
        require(len(removed) == len(added) == 2, "exactly two coefficients change")
        (low, high), (raised, lowered) = removed, added
        a = raised - low
        require(high - lowered == a, "what one gives the other gets")
        require(0 < a < (high - low) / 2, "0 < a < (c_j - c_i)/2")

    def hard_cases(self, longest: int) -> Iterable[Case]:
        """Return transfers to a zero, and transfers between the floor's neighbours below a spike."""
        yield from almost_zero()
        yield from floor_and_spike(longest)

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Add walks of small transfers, transfers that make coefficients equal or end an equality, and flat signals."""
        yield from super().function_cases(subject, rng, count)
        yield from transfers()
        yield from (Case(c, (0, 2, share)) for c in nearly_flat_signals() for share in SHARES[:3])
        for value, rich, twins in product((1, 2, 5), (10, 30), (1, 2, 5)):
            gap = Fraction(value, 100)
            share = gap / (rich - value + gap)
            yield Case(signal([(value - gap, 1), (value, twins), (rich, 1)]), (0, 2, share))
            yield Case(signal([(value, twins + 1), (rich, 1)]), (0, 1, share))

    def simpler_moves(self, move: Move) -> Iterator[Move]:
        """Return simpler shares."""
        yield from ((*move[:2], share) for share in SIMPLE_SHARES)

    def written_numbers(self, case: Case) -> list[Fraction]:
        """Return the values after the transfer too: they are the ones that get long."""
        after = [v for step in self.steps(*case) for v, _ in step[1]]
        return super().written_numbers(case) + after


class RobinHoodInEnergy(RobinHood):
    """Robin Hood for transfers of energy c^2 instead of magnitude c: S must fall.

    Kurtosis, negentropy and the Box-Cox measures obey it: Wang, Zhong, Li and Peng (2021) prove it for envelopes.
    It is a second reading and not among the criteria by default; ``CRITERIA.add(RobinHoodInEnergy())`` registers it.
    """

    key = "P3_energy"
    name = "Robin Hood, in energy"
    statement = "S(c with c_i^2 + a and c_j^2 - a) < S(c) for c_j > c_i, 0 < a < (c_j^2 - c_i^2)/2"
    transformation = "energy a goes from a larger coefficient to a smaller one"
    source = "Wang, Zhong, Li and Peng (2021)"
    variant_of = "P3"

    def moves(self, c: Signal) -> Iterator[Move]:
        """Rotate each pair of values by rational angles, which keeps the sum of their squares rational."""
        for i, j in combinations(range(len(c)), 2):
            yield from ((i, j, tangent) for tangent in HALF_ANGLE_TANGENTS)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Rotate (c_i, c_j) by the angle whose half has this tangent, as far as the two do not change places."""
        i, j, t = move
        low, high = c[i][0], c[j][0]
        cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        raised, lowered = cosine * low + sine * high, cosine * high - sine * low
        if not low < raised < lowered < high:
            return []
        return [(c, replace_one(replace_one(c, j, lowered), i, raised))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require that two coefficients come closer and keep the sum of their squares."""
        removed, added = difference(before, after)
        require(len(removed) == len(added) == 2, "exactly two coefficients change")
        (low, high), (raised, lowered) = removed, added
        require(low < raised < lowered < high, "the two come closer and do not change places")
        require(low**2 + high**2 == raised**2 + lowered**2, "what energy one gives the other gets")

    def hard_cases(self, longest: int) -> Iterable[Case]:
        """Return none: the families of P3 are made of transfers of magnitude."""
        return ()

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Return extreme signals only."""
        return Criterion.function_cases(self, subject, rng, count)

    def simpler_moves(self, move: Move) -> Iterator[Move]:
        """Return simpler angles."""
        yield from ((*move[:2], tangent) for tangent in HALF_ANGLE_TANGENTS)


def floor_and_spike(longest: int) -> Iterator[Case]:
    """Yield n copies of f, one f - 2, one f + 2 and a spike: 1 goes from f + 2 to f - 2, the spike sets the norm."""
    for ratio in (3, 4, Fraction(5, 2), 6, Fraction(9, 4), Fraction(21, 10), 10, Fraction(51, 25), Fraction(3, 2)):
        count = 3
        while count <= longest:
            yield _over_a_floor(10, count, ratio)
            count *= 4
    for exponent in (2, 3, 4, 5, 6):  # so high a spike that the order may be as close to 2 as 1e-6
        yield _over_a_floor(10**12, min(10**6, longest), 2 * 10**exponent)


def _over_a_floor(floor: int, count: int, ratio: int | Fraction) -> Case:
    c = signal([(floor - 2, 1), (floor, count), (floor + 2, 1), (ratio * floor, 1)])
    return Case(c, (0, 2, QUARTER))


def almost_zero() -> Iterator[Case]:
    """Yield [0, e, 1, 3], or many ones and a high top: a share of a tiny e goes to the zero."""
    for share in (QUARTER, Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**30)):
        for exponent in (1, 2, 3, 4, 6, 9, 15, 30, 60, 120, 240):
            c = signal([(0, 1), (Fraction(1, 10**exponent), 1), (1, 1), (3, 1)])
            yield Case(c, (0, 1, share))
    for exponent in (3, 6, 10, 20, 40):
        c = signal([(0, 1), (Fraction(1, 10**exponent), 1), (1, 10**7), (10**exponent, 1)])
        yield Case(c, (0, 1, Fraction(1, 10)))
