"""P2, P4 and P6: permutations, factors and copies leave S unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ...metrics.exact import length
from ..coefficients import Move, Signal, Step, require, signal
from ..criterion import Criterion

FACTORS = (Fraction(2), Fraction(10), Fraction(1, 2), Fraction(1, 1000), Fraction(1000))
COPIES = (2, 3)


class PermutationInvariance(Criterion):
    """S(t(c)) = S(c) for every permutation t."""

    key = "P2"
    name = "Permutation invariance"
    statement = "S(t(c)) = S(c) for every permutation t"
    transformation = "another order"
    relation = "="
    keeps_positions = True

    def moves(self, c: Signal) -> Iterator[Move]:
        """Reverse the signal; take the largest value first."""
        if len(c) > 1:
            yield ("reversed",)
            yield ("largest first",)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Return the signal in another order."""
        return [(c, c[::-1] if move[0] == "reversed" else (c[-1], *c[:-1]))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require the same coefficients."""
        require(signal(before) == signal(after), "the same coefficients in another order")


class Scaling(Criterion):
    """S(a c) = S(c) for a > 0."""

    key = "P4"
    name = "Scaling"
    statement = "S(a c) = S(c) for a > 0"
    transformation = "all coefficients times a"
    relation = "="

    def moves(self, c: Signal) -> Iterator[Move]:
        """Return simple factors."""
        return iter([(factor,) for factor in FACTORS])

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

    def moves(self, c: Signal) -> Iterator[Move]:
        """Return numbers of copies."""
        return iter([(k,) for k in COPIES])

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Repeat every coefficient."""
        return [(c, signal((v, n * move[0]) for v, n in c))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require a whole number of copies."""
        copies = Fraction(length(after), length(before))
        require(copies.denominator == 1 and copies > 1, "a whole number of copies")
        require(after == self.steps(before, (int(copies),))[0][1], "every coefficient equally often")
