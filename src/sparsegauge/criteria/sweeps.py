"""Walks in small steps through signals, and shapes at every length: what is tried on a function besides random signals.

A function may break a law in a narrow window only: of the length, of the scale, of its own value. A walk whose steps
are smaller than the window cannot step over it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from .coefficients import Case, Signal, signal

Item = TypeVar("Item")

ZERO, ONE = Fraction(0), Fraction(1)
EVERY_LENGTH_UP_TO, LONGEST = 300, 2000
LENGTHENING = 1.01  # from one length to the next beyond those
STEPS_OF_A_TRANSFER = 200
MOST_ZEROS_APPENDED = 150
FINEST, FINE, COARSE = 1.004, 1.01, 1.05  # ratios from one scale to the next
FINEST_RANGE, FINE_RANGE, COARSE_RANGE = (-3, 3), (-6, 6), (-20, 20)  # decades
LENGTHS_OF_LEVELS = (4, 12, 60, 160, 450, 1500)  # of signals of ones and zeros, with ever more ones
TIDAL_RANGE = (-3, 5)
LONGEST_CLONED = 300
STEPS_OF_LEVELS = 40


def made_once(generate: Callable[[], Iterator[Item]]) -> Callable[[], tuple[Item, ...]]:
    """Return a function that keeps what a generator yields: the same for every function and every planted lie."""

    @functools.cache
    @functools.wraps(generate)
    def items() -> tuple[Item, ...]:
        return tuple(generate())

    return items


def _one_higher(n: int) -> Signal:
    return signal([(ONE, n - 1), (Fraction(3), 1)])


def _one_lower(n: int) -> Signal:
    return signal([(Fraction(1, 2), 1), (ONE, n - 1)])


def _halves(n: int) -> Signal:
    return signal([(ONE, n // 2), (Fraction(2), n - n // 2)])


def _twins(n: int) -> Signal:
    return signal([(ZERO, n - 2), (ONE, 2)])


def _nearly_flat(n: int) -> Signal:
    return signal([(ONE, n - 1), (Fraction(101, 100), 1)])


def _over_dust(n: int) -> Signal:
    return signal([(ZERO, n - 2), (Fraction(1, 1000), 1), (ONE, 1)])


def _peaks(n: int) -> Signal:
    return signal([(ZERO, max(n - 3, 0)), *((Fraction(10**k), 1) for k in range(min(n, 3)))])


def _thirds(n: int) -> Signal:
    return signal([(ZERO, n // 3), (ONE, n // 3), (Fraction(5), n - 2 * (n // 3))])


SHAPES: tuple[Callable[[int], Signal], ...] = (
    _one_higher, _twins, _halves, _over_dust, _one_lower, _peaks, _nearly_flat, _thirds,
)  # fmt: skip


@made_once
def signals_of_every_length() -> Iterator[Signal]:
    """Yield all shapes at short lengths, and beyond them one at each of the lengths one per cent apart."""
    for n in range(2, EVERY_LENGTH_UP_TO + 1):
        yield from (shape(n) for shape in SHAPES)
    for number, n in enumerate(long_lengths()):
        yield SHAPES[number % len(SHAPES)](n)


def long_lengths() -> Iterator[int]:
    """Yield lengths one per cent apart, beyond those that are all tried."""
    n = EVERY_LENGTH_UP_TO + 1
    while n <= LONGEST:
        yield n
        n = max(n + 1, int(n * LENGTHENING))


def scales(ratio: float, lowest: int, highest: int) -> list[Fraction]:
    """Return numbers of six digits from 10^lowest to 10^highest, each `ratio` times the one before."""
    found, value = [], 10.0**lowest
    while value <= 10.0**highest:
        found.append(Fraction(f"{value:.6g}"))
        value *= ratio
    return found


@functools.cache
def all_scales() -> tuple[Fraction, ...]:
    """Return scales 0.4 % apart from 1e-3 to 1e3, 1 % apart from 1e-6 to 1e6, and 5 % apart from 1e-20 to 1e20."""
    return (*scales(FINEST, *FINEST_RANGE), *scales(FINE, *FINE_RANGE), *scales(COARSE, *COARSE_RANGE))


RESTS = tuple(
    signal((Fraction(v), n) for v, n in pairs)
    for pairs in (
        (), ((0, 3),), (("1/2", 2),), (("1/5", 1), ("1/3", 1)), ((0, 20),), (("1/2", 20),), ((1, 1),), ((1, 10),),
        ((5, 1), (10, 1)), ((0, 6), (3, 1)),
    )
)  # fmt: skip


@made_once
def transfers() -> Iterator[Case]:
    """Walk from [0, 1], beside other coefficients, to nearly [1/2, 1/2] by small transfers: moves of Robin Hood."""
    for rest in RESTS:
        for low, next_low in pairwise(_lower_ones()):
            c = signal([*rest, (low, 1), (ONE - low, 1)])
            values = [v for v, _ in c]
            yield Case(c, (values.index(low), values.index(ONE - low), (next_low - low) / (ONE - 2 * low)))


@made_once
def signals_between_spike_and_flat() -> Iterator[Signal]:
    """Yield the signals of that walk, ones among zeros, ones beside a growing one, and one beside a shrinking one."""
    for rest in RESTS:
        yield from (signal([*rest, (low, 1), (ONE - low, 1)]) for low in _lower_ones())
    for n in LENGTHS_OF_LEVELS:
        yield from levels(n)
    for n in (2, 3, 10, 40):
        for value in scales(COARSE, -9, 6):
            yield signal([(ONE, n - 1), (ONE + value, 1)])
            yield signal([(ZERO, n - 2), (value, 1), (ONE, 1)])


def levels(n: int) -> Iterator[Signal]:
    """Yield signals of n zeros, quarters and ones, with ever more ones."""
    for k in sorted({max(1, round(n * share / STEPS_OF_LEVELS)) for share in range(1, STEPS_OF_LEVELS)}):
        yield signal([(ZERO, n - k), (ONE, k)])
        yield signal([(ZERO, (n - k) // 2), (Fraction(1, 4), n - k - (n - k) // 2), (ONE, k)])


def _lower_ones() -> list[Fraction]:
    return [Fraction(k, 2 * STEPS_OF_A_TRANSFER) for k in range(STEPS_OF_A_TRANSFER - 1)]


@made_once
def tides() -> Iterator[Case]:
    """Let coefficients rise in steps of some per cent, and nearly equal ones of every scale by two per cent of it."""
    starts = ((0, 1), (0, 0, 0, 1), (1, 2, 5), (0,) * 20 + (1,), (1,) * 20 + (2,))
    for start in starts:
        for low, high in pairwise(scales(COARSE, -3, 3)):
            yield Case(signal((Fraction(v) + low, 1) for v in start), (high - low,))
    flat = (ONE, Fraction(51, 50), Fraction(21, 20))
    for scale in scales(FINE, *TIDAL_RANGE):
        yield Case(signal((v * scale, 1) for v in flat), (scale / 50,))


@made_once
def zeros_appended() -> Iterator[Signal]:
    """Yield signals with no zero, one zero, and so on."""
    for start in ((1, 1), (1, 3), (1, 2, 5), (1, 1, 1, 1, 1, 3), tuple(range(1, 11))):
        for zeros in range(MOST_ZEROS_APPENDED):
            yield signal([(ZERO, zeros), *((Fraction(v), 1) for v in start)])


@made_once
def clones() -> Iterator[Case]:
    """Yield short signals with numbers of copies that reach every even length and every multiple of three."""
    for start in ((1, 3), (1, 2, 4), (1, 1, 2, 5)):
        c = signal((Fraction(v), 1) for v in start)
        yield from (Case(c, (copies,)) for copies in range(2, LONGEST_CLONED // len(start) + 1))
