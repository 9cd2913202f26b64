"""The eleven criteria as data: what each says, the transformation it speaks of, the relation it asks for.

A criterion turns a signal and a move (which coefficient, how much) into steps (before, after); `legal` recognises such
steps again from the two signals alone, so that a certificate can be checked without trusting whoever made it.
Signals are tuples of (value, count) pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from .formulas import length, zeros

Signal: TypeAlias = tuple[tuple[Fraction, int], ...]
Step: TypeAlias = tuple[Signal, Signal]
Move: TypeAlias = tuple[Any, ...]

HALF = Fraction(1, 2)
SHRINKING = [Fraction(1, 10**k) for k in (30, 60, 120, 300)]  # distances for P1
GROWING = [10**k for k in (1, 2, 3, 6, 12)]  # how far beta is above the other coefficients, for P7
LARGE_ENOUGH = 1000  # the least that the last beta of a certificate must reach
LENGTHS = [10**k for k in (3, 6, 9, 12, 15)]  # for P9
SHORTER_LENGTHS = [10**k for k in (1, 2, 3)]  # for P9 of a metric that needs all coefficients in an array


ANY = "every signal but the zero vector"
TWO = "signals with two non-zeros or more; equalities on one non-zero are reported apart"


class Illegal(ValueError):
    """The second signal does not follow from the first by the criterion's transformation."""


@dataclass(frozen=True)
class Criterion:
    """One law: S(after) `relation` S(before), for every legal step."""

    key: str
    name: str
    statement: str
    transformation: str
    relation: str  # one of < = > >= <=; "->" where a limit is meant
    applies: str
    moves: Callable[[Signal], Iterable[Move]]
    steps: Callable[[Signal, Move], list[Step]]
    legal: Callable[[list[Step]], None]
    source: str = "section III of the paper"

    @property
    def strict(self) -> bool:
        """Whether equality breaks it."""
        return self.relation in "<>"

    @property
    def needs_two(self) -> bool:
        """Whether it is judged on two non-zeros or more."""
        return self.applies == TWO

    def satisfied(self, sign: int) -> bool:
        """Whether S(after) - S(before) of that sign is what the criterion asks for."""
        return sign in {"<": (-1,), "=": (0,), ">": (1,), ">=": (0, 1), "<=": (0, -1)}[self.relation]


def signal(pairs: Iterable[tuple[Any, int]]) -> Signal:
    """Equal values joined, sorted."""
    counts: dict[Fraction, int] = {}
    for value, count in pairs:
        key = value if type(value) is Fraction else Fraction(value)
        counts[key] = counts.get(key, 0) + count
    return tuple(sorted((value, count) for value, count in counts.items() if count))


def nonzeros(c: Signal) -> int:
    """How many coefficients are not zero."""
    return length(c) - zeros(c)


def replaced(c: Signal, index: int, value: Fraction) -> Signal:
    """One coefficient of group `index` changed to `value`."""
    return signal([*((v, n - (k == index)) for k, (v, n) in enumerate(c)), (value, 1)])


def difference(before: Signal, after: Signal) -> tuple[list[Fraction], list[Fraction]]:
    """The values that went and those that came, each as often as that happened (at most a few)."""
    old, new = dict(before), dict(after)
    gone: list[Fraction] = []
    come: list[Fraction] = []
    for value in sorted(old.keys() | new.keys()):
        change = new.get(value, 0) - old.get(value, 0)
        if abs(change) > 2:
            raise Illegal("more than two coefficients changed")
        (come if change > 0 else gone).extend([value] * abs(change))
    return gone, come


def _demand(condition: bool, reason: str) -> None:
    if not condition:
        raise Illegal(reason)


def _one_step(check: Callable[[Signal, Signal], None]) -> Callable[[list[Step]], None]:
    def legal(steps: list[Step]) -> None:
        _demand(len(steps) == 1, "this criterion has exactly one step")
        check(*steps[0])

    return legal


def _indices(c: Signal) -> Iterator[int]:
    return iter(range(len(c)))


# P1: continuity


def _nudges(c: Signal) -> Iterator[Move]:
    for i, (value, _) in enumerate(c):
        yield (i, 1)
        if value > 0:
            yield (i, -1)


def _nudged(c: Signal, move: Move) -> list[Step]:
    i, direction = move
    return [(c, replaced(c, i, c[i][0] + direction * d)) for d in SHRINKING]


def _ever_nearer(steps: list[Step]) -> None:
    _demand(len(steps) >= 3, "continuity needs at least three ever smaller changes")
    distance = Fraction(1)
    for before, after in steps:
        _demand(before == steps[0][0], "every step starts from the same signal")
        gone, come = difference(before, after)
        _demand(len(gone) == len(come) == 1, "one coefficient moves")
        now = abs(come[0] - gone[0])
        _demand(0 < now <= distance * Fraction(1, 10**20), "each change is at most 1e-20 of the one before")
        distance = now
    _demand(distance <= Fraction(1, 10**100), "the last change is at most 1e-100")


# P2: permutation invariance


def _reversals(c: Signal) -> Iterator[Move]:
    if len(c) > 1:
        yield ("reversed",)
        yield ("largest first",)


def _permuted(c: Signal, move: Move) -> list[Step]:
    return [(c, c[::-1] if move[0] == "reversed" else (c[-1], *c[:-1]))]


def _is_permutation(before: Signal, after: Signal) -> None:
    _demand(signal(before) == signal(after), "the same coefficients in another order")


# P3: Robin Hood


def _transfers(c: Signal) -> Iterator[Move]:
    for i, j in combinations(range(len(c)), 2):
        for share in (Fraction(1, 4), Fraction(1, 8), Fraction(3, 8), Fraction(1, 100), Fraction(49, 100)):
            yield (i, j, share)


def _transferred(c: Signal, move: Move) -> list[Step]:
    i, j, share = move
    low, high = c[i][0], c[j][0]
    a = share * (high - low)
    if not 0 < share < HALF:
        return []
    return [(c, replaced(replaced(c, j, high - a), i, low + a))]


def _is_transfer(before: Signal, after: Signal) -> None:
    gone, come = difference(before, after)
    _demand(len(gone) == len(come) == 2, "exactly two coefficients change")
    (low, high), (raised, lowered) = gone, come
    a = raised - low
    _demand(high - lowered == a, "what one gives the other gets")
    _demand(0 < a < (high - low) / 2, "0 < a < (c_j - c_i)/2")


# P4: scaling


def _factors(c: Signal) -> Iterator[Move]:
    return iter([(Fraction(2),), (Fraction(10),), (HALF,), (Fraction(1, 1000),), (Fraction(1000),)])


def _scaled(c: Signal, move: Move) -> list[Step]:
    return [(c, signal((v * move[0], n) for v, n in c))]


def _is_scaled(before: Signal, after: Signal) -> None:
    _demand(len(before) == len(after), "the same number of different values")
    _demand([n for _, n in before] == [n for _, n in after], "the same counts")
    factor = after[-1][0] / before[-1][0]
    _demand(factor > 0 and factor != 1, "a factor a > 0 other than 1")
    _demand(all(v * factor == w for (v, _), (w, _) in zip(before, after, strict=True)), "one factor for all")


# P5: rising tide


def _tides(c: Signal) -> Iterator[Move]:
    if len(c) > 1:
        yield from ((a,) for a in (Fraction(1), HALF, Fraction(10), Fraction(1, 100), Fraction(1000)))


def _raised(c: Signal, move: Move) -> list[Step]:
    return [(c, signal((v + move[0], n) for v, n in c))]


def _is_raised(before: Signal, after: Signal) -> None:
    _demand(len(before) == len(after) > 1, "not all coefficients are equal")
    a = after[0][0] - before[0][0]
    _demand(a > 0, "a > 0")
    _demand(all(w - v == a and m == n for (v, n), (w, m) in zip(before, after, strict=True)), "the same a for all")


# P6: cloning


def _copies(c: Signal) -> Iterator[Move]:
    return iter([(2,), (3,)])


def _cloned(c: Signal, move: Move) -> list[Step]:
    return [(c, signal((v, n * move[0]) for v, n in c))]


def _is_cloned(before: Signal, after: Signal) -> None:
    copies = Fraction(length(after), length(before))
    _demand(copies.denominator == 1 and copies > 1, "a whole number of copies")
    _demand(after == _cloned(before, (int(copies),))[0][1], "every coefficient equally often")


# P7: Bill Gates


def _growing(c: Signal, move: Move) -> list[Step]:
    (i,) = move
    scale = max((v for v, _ in c), default=Fraction(1)) or Fraction(1)
    betas = [scale * k for k in GROWING]
    return [(replaced(c, i, beta), replaced(c, i, 2 * beta)) for beta in betas]


def _ever_richer(steps: list[Step]) -> None:
    _demand(len(steps) >= 3, "Bill Gates needs at least three betas, each ten times the one before")
    largest = Fraction(0)
    rest = None
    for before, after in steps:
        gone, come = difference(before, after)
        _demand(len(gone) == len(come) == 1 and come[0] > gone[0], "one coefficient grows")
        others = signal([*before, (gone[0], -1)])
        _demand(rest in (None, others), "all other coefficients stay the same")
        _demand(nonzeros(before) >= 2, "two non-zeros or more")
        _demand(gone[0] >= 10 * largest and gone[0] > others[-1][0], "each beta at least ten times the one before")
        rest, largest = others, gone[0]
    _demand(rest is not None and largest >= LARGE_ENOUGH * rest[-1][0], "the last is 1,000 times all the others")


def _literal_raises(c: Signal) -> Iterator[Move]:
    top = c[-1][0]
    for i, (value, _) in enumerate(c):
        if value < top:
            yield (i, top - value)
        yield from ((i, a) for a in (Fraction(1), HALF, Fraction(1, 100), Fraction(100)))


def _enriched(c: Signal, move: Move) -> list[Step]:
    i, a = move
    return [(c, replaced(c, i, c[i][0] + a))]


def _is_enriched(before: Signal, after: Signal) -> None:
    gone, come = difference(before, after)
    _demand(len(gone) == len(come) == 1 and come[0] > gone[0], "one coefficient grows")
    _demand(nonzeros(before) >= 2, "two non-zeros or more")


# P8: babies


def _no_choice(c: Signal) -> Iterator[Move]:
    return iter([()])


def _with_baby(c: Signal, move: Move) -> list[Step]:
    return [(c, signal([*c, (Fraction(0), 1)]))]


def _is_baby(before: Signal, after: Signal) -> None:
    _demand(after == _with_baby(before, ())[0][1], "one zero is appended")
    _demand(nonzeros(before) >= 2, "two non-zeros or more")


# P9: saturation


def spike(n: int) -> Signal:
    """0_{n-1} || 1."""
    return signal([(Fraction(0), n - 1), (Fraction(1), 1)])


def _spikes(c: Signal, move: Move) -> list[Step]:
    return [(spike(n), spike(n + 1)) for n in (SHORTER_LENGTHS if move else LENGTHS)]


def _are_spikes(steps: list[Step]) -> None:
    _demand(len(steps) >= 3, "saturation needs at least three lengths")
    n = 0
    for before, after in steps:
        _demand(before == spike(length(before)) and after == spike(length(before) + 1), "0_{N-1}||1 and 0_N||1")
        _demand(length(before) >= 10 * n, "each length at least ten times the one before")
        n = length(before)
    _demand(n >= SHORTER_LENGTHS[-1], "the last length is at least 1,000")


# P10 and P11: bounds


def ones(n: int) -> Signal:
    """1_n."""
    return signal([(Fraction(1), n)])


def _against_ones(c: Signal, move: Move) -> list[Step]:
    return [(ones(length(c)), c)]


def _from_ones(before: Signal, after: Signal) -> None:
    _demand(before == ones(length(after)), "1_N, and a signal of the same length")


def _against_spike(c: Signal, move: Move) -> list[Step]:
    return [(spike(length(c)), c)] if length(c) > 1 else []


def _from_spike(before: Signal, after: Signal) -> None:
    _demand(before == spike(length(after)), "0_{N-1}||1, and a signal of the same length")


CRITERIA: dict[str, Criterion] = {
    c.key: c
    for c in (
        Criterion("P1", "Continuity", "S(c + dc) -> S(c) as dc -> 0", "one coefficient moves by d = 1e-30 ... 1e-300",
                  "->", ANY, _nudges, _nudged, _ever_nearer),
        Criterion("P2", "Permutation invariance", "S(t(c)) = S(c) for every permutation t", "another order",
                  "=", ANY, _reversals, _permuted, _one_step(_is_permutation)),
        Criterion("P3", "Robin Hood", "S(c with c_i + a and c_j - a) < S(c) for c_j > c_i, 0 < a < (c_j - c_i)/2",
                  "a goes from a larger coefficient to a smaller one", "<", ANY, _transfers, _transferred,
                  _one_step(_is_transfer)),
        Criterion("P4", "Scaling", "S(a c) = S(c) for a > 0", "all coefficients times a", "=", ANY, _factors, _scaled,
                  _one_step(_is_scaled)),
        Criterion("P5", "Rising tide", "S(c + a) < S(c) for a > 0", "a is added to all coefficients", "<",
                  "signals whose coefficients are not all equal", _tides, _raised, _one_step(_is_raised)),
        Criterion("P6", "Cloning", "S(c || c || ... || c) = S(c)", "every coefficient k times", "=", ANY, _copies,
                  _cloned, _one_step(_is_cloned)),
        Criterion("P7", "Bill Gates",
                  "for every i there is a beta_i such that S(c with c_i + beta_i + a) > S(c with c_i + beta_i), a > 0",
                  "one coefficient, already far above the others, grows", ">", TWO,
                  lambda c: ((i,) for i in _indices(c)), _growing, _ever_richer,
                  "Hurley and Rickard (2009), their P1"),
        Criterion("P7_literal", "Bill Gates, as printed", "S(c with c_i + a) > S(c) for every i and every a > 0",
                  "one coefficient grows", ">", TWO, _literal_raises, _enriched, _one_step(_is_enriched)),
        Criterion("P8", "Babies", "S(c || 0) > S(c)", "a zero is appended", ">", TWO, _no_choice, _with_baby,
                  _one_step(_is_baby)),
        Criterion("P9", "Saturation", "S(0_N || 1) / S(0_{N-1} || 1) -> 1 as N -> infinity", "a zero more beside a one",
                  "->", "metrics that are not zero on 0_N || 1", _no_choice, _spikes, _are_spikes),
        Criterion("P10", "Lower bound", "S(c) >= S(1_N)", "any signal, beside 1_N", ">=", ANY, _no_choice,
                  _against_ones, _one_step(_from_ones)),
        Criterion("P11", "Upper bound", "S(c) <= S(0_{N-1} || 1)", "any signal, beside 0_{N-1} || 1", "<=", ANY,
                  _no_choice, _against_spike, _one_step(_from_spike)),
    )
}  # fmt: skip
