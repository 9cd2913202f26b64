"""Signals at the numbers that are written in a function's own code: where a length, a size or a ratio passes one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

from ..metrics.exact import length
from .coefficients import Signal, signal
from .sweeps import ONE, SHAPES, ZERO, levels

LONGEST = 3000  # coefficients
BESIDE = (Fraction(99, 100), ONE, Fraction(101, 100))  # shares of a number
WINDOW = Fraction(5, 4)  # between neighbouring numbers that are closer than this, their mean is tried too
BASES = tuple(
    signal((Fraction(v), n) for v, n in pairs)
    for pairs in (
        ((1, 1), ("51/50", 1), ("21/20", 1)), ((1, 1), (2, 1), (5, 1)), ((0, 1), (1, 1), (3, 1)), ((1, 60), (3, 20)),
    )
)  # fmt: skip
MOST_LENGTHS = 8  # that are combined with every size, and with each other
SHARED_BY = 40  # coefficients of a signal of which a share is zero


def probes(constants: Sequence[Fraction]) -> Iterator[Signal]:
    """Yield signals whose size, length, counts or ratios are at, just below and just above one of the numbers."""
    numbers = _with_means(constants)
    lengths = [int(t) for t in numbers if t.denominator == 1 and 2 <= t <= LONGEST]
    for t in numbers:
        yield from _of_size(t)
        yield from _of_share(t) if t < 1 else _of_ratio(t)
    for n in lengths:
        yield from _of_length(n)
        yield from (c for m in (n, n + 1) for c in levels(m))
        yield from _with_counts(n)
    for n, t in product(lengths[:MOST_LENGTHS], numbers):
        for shape in SHAPES[:3]:
            c = shape(max(n, 3))
            yield from (signal((v * t * q / c[-1][0], m) for v, m in c) for q in (BESIDE[0], BESIDE[2]))
    for few, many in product(lengths[:MOST_LENGTHS], repeat=2):
        for total in (many - 1, many, many + 1):
            if few < total:
                yield signal([(ZERO, total - few), (ONE, few - 1), (Fraction(3), 1)])


def _with_means(constants: Sequence[Fraction]) -> list[Fraction]:
    found = sorted(constants)
    return sorted({*found, *((a + b) / 2 for a, b in pairwise(found) if b <= WINDOW * a)})


def _of_size(t: Fraction) -> Iterator[Signal]:
    """Yield signals of which the largest, the least, the sum, the mean, the norm or the energy is near t."""
    for c in BASES:
        floats = [(float(v), n) for v, n in c]
        total, energy = sum(v * n for v, n in floats), sum(v * v * n for v, n in floats)
        sizes = {floats[-1][0], floats[0][0], total, total / length(c), math.sqrt(energy)} - {0.0}
        scales = [float(t) / size for size in sorted(sizes)] + [math.sqrt(float(t) / energy)]
        for scale, q in product(scales, BESIDE):
            yield signal((v * q * Fraction(f"{scale:.9g}"), n) for v, n in c)


def _of_share(t: Fraction) -> Iterator[Signal]:
    """Yield signals of which the largest has a share t of the sum or of the energy, or t of them are zero."""
    for q in BESIDE:
        share = t * q
        if share < 1:
            yield signal([((1 - share) / 3, 3), (share, 1)])
            yield signal([(Fraction(f"{math.sqrt((1 - share) / 3):.9g}"), 3), (Fraction(f"{math.sqrt(share):.9g}"), 1)])
            yield signal([(share, 1), (ONE, 2)])
            yield signal([(share / 2, 2), (ONE, 1)])
            yield signal([(share, 2), (share * Fraction(9, 10), 5), (ONE, 1), (Fraction(3), 1)])
    for zeros in {int(SHARED_BY * t), math.ceil(SHARED_BY * t)}:
        yield signal([(ZERO, zeros), (ONE, SHARED_BY - zeros), (Fraction(3), 1)])


def _of_ratio(t: Fraction) -> Iterator[Signal]:
    """Yield signals whose largest coefficient is about t times the second, or t times the least."""
    for q in BESIDE:
        yield signal([(ONE, 1), (t * q, 1)])
        yield signal([(ZERO, 1), (ONE, 2), (t * q, 1)])
        yield signal([(ONE, 1), (2 * ONE, 1), (2 * t * q, 1)])
        yield signal([(ONE, 1), (t * q / 2, 1), (t * q, 1)])
        yield signal([(ONE, 3), (t * q, 1), (t * t * q, 1)])


def _of_length(n: int) -> Iterator[Signal]:
    for m in (n - 1, n, n + 1):
        if m >= 2:
            yield from (shape(m) for shape in SHAPES)


def _with_counts(n: int) -> Iterator[Signal]:
    """Yield signals with n - 1 or n zeros, n non-zeros, or n equal coefficients on top."""
    yield from (signal([(ZERO, zeros), (ONE, 1), (Fraction(3), 1)]) for zeros in (n - 1, n))
    yield from (signal([(ZERO, zeros), (ONE, n - 1), (Fraction(3), 1)]) for zeros in (1, 5, n))
    yield signal([(ONE, 3), (Fraction(3), n)])
    yield signal([(ONE, 3), (Fraction(3), n - 1), (Fraction(4), 1)])
