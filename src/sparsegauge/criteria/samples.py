"""The signals that a search tries: small and simple ones, random ones, and extreme ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations_with_replacement

import numpy as np

from .coefficients import Signal, nonzeros, signal

SMALL_VALUES = (Fraction(0), Fraction(1, 2), *map(Fraction, (1, 2, 3, 5, 10)))
CONSTANT_LENGTHS = (20, 200, 2000)
DECADES_OF_WIDE_SIGNALS = 12  # between their coefficients
DECADES_OF_SCALE = 5  # by which every other extreme signal is scaled up or down
DECADES_OF_SPREAD = 6  # float64 still has ten digits of what varies
SHARE_OF_SHORT_SIGNALS = 0.6  # among extreme ones
LONGEST_EXTREME_SIGNAL = 160


def small_signals(special: Sequence[Fraction] = ()) -> list[Signal]:
    """Return signals of few and simple numbers, the simplest first; `special` ones are thresholds of the metric."""
    values = sorted({*SMALL_VALUES, *special})
    sizes = chain(
        chain.from_iterable(combinations_with_replacement(values, n) for n in (2, 3)),
        combinations_with_replacement(SMALL_VALUES, 4),
    )
    longer = chain.from_iterable(combinations_with_replacement(map(Fraction, (0, 1, 10)), n) for n in (5, 6, 7))
    found = {signal((v, 1) for v in c) for c in chain(sizes, longer)}
    found |= {signal([(Fraction(1), n)]) for n in CONSTANT_LENGTHS}
    return sorted((c for c in found if nonzeros(c)), key=_size)


def _size(c: Signal) -> tuple[int, int, Fraction]:
    return sum(n for _, n in c), len(c), sum((v * n for v, n in c), start=Fraction(0))


def random_signals(rng: np.random.Generator, count: int) -> list[Signal]:
    """Return signals of 2 to 40 coefficients of six kinds, in thousandths."""
    return [c for c in (_random_signal(rng, k) for k in range(count)) if nonzeros(c)]


def _random_signal(rng: np.random.Generator, kind: int) -> Signal:
    n = int(rng.integers(2, 41))
    values = (
        rng.random(n),
        rng.exponential(size=n),
        rng.lognormal(sigma=2.0, size=n),
        rng.integers(0, 4, n).astype(float),
        np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
        np.append(np.full(n - 1, rng.random()), 10.0 ** rng.uniform(-2, 2)),
    )[kind % 6]
    return signal((Fraction(int(v), 1000), 1) for v in np.rint(1000 * values))


def extreme_signals(rng: np.random.Generator, count: int, wide: bool) -> list[Signal]:
    """Return nearly constant, nearly sparsest, tied, long and padded signals; with `wide` also ratios of 1e4 to 1e12.

    Every other one is of another scale.
    """
    kinds = (_nearly_constant, _nearly_a_spike, _tied, _long, _padded) + (_wide, _spike_over_dust) * wide
    found = []
    for number in range(count):
        c = kinds[number % len(kinds)](rng)
        scale = Fraction(10) ** int(rng.integers(-DECADES_OF_SCALE, DECADES_OF_SCALE + 1)) if number % 2 else 1
        found.append(signal((v * scale, n) for v, n in c))
    return [c for c in found if nonzeros(c)]


def nearly_flat_signals() -> list[Signal]:
    """Return [1, 1 + s, 1 + 3 s] for ever smaller s."""
    spreads = [Fraction(m, 10**k) for k in range(2, DECADES_OF_SPREAD + 1) for m in (5, 2, 1)]
    return [signal([(Fraction(1), 1), (1 + s, 1), (1 + 3 * s, 1)]) for s in spreads]


def geometric_grid(lowest: int, highest: int, per_decade: int) -> list[Fraction]:
    """Return numbers of three digits from 10^lowest to 10^highest, in equal ratios."""
    exponents = range(lowest * per_decade, highest * per_decade + 1)
    return [Fraction(f"{10.0 ** (k / per_decade):.3g}") for k in exponents]


def _some_length(rng: np.random.Generator, longest_short: int) -> int:
    return int(
        rng.integers(2, longest_short)
        if rng.random() < SHARE_OF_SHORT_SIGNALS
        else rng.integers(longest_short, LONGEST_EXTREME_SIGNAL)
    )


def _thousandths(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Signal:
    return signal((Fraction(int(v), 1000), 1) for v in np.rint(1000 * values))


def _nearly_constant(rng: np.random.Generator) -> Signal:
    return _thousandths(1 + 0.15 * rng.random(_some_length(rng, 20)))


def _nearly_a_spike(rng: np.random.Generator) -> Signal:
    return _thousandths(np.append(0.02 * rng.random(_some_length(rng, 12) - 1), 10.0))


def _spike_over_dust(rng: np.random.Generator) -> Signal:
    others = _some_length(rng, 12) - 1
    return _thousandths(np.append(2 * rng.random(others) / others, rng.choice([100.0, 10_000.0])))


def _padded(rng: np.random.Generator) -> Signal:
    return _thousandths(np.append(np.zeros(_some_length(rng, 20)), 1 + 4 * rng.random(int(rng.integers(1, 5)))))


def _tied(rng: np.random.Generator) -> Signal:
    return _thousandths(rng.integers(0, 3, int(rng.integers(3, 12))).astype(float))


def _long(rng: np.random.Generator) -> Signal:
    return _thousandths(rng.exponential(size=int(rng.integers(60, 200))))


def _wide(rng: np.random.Generator) -> Signal:
    exponents = rng.integers(-DECADES_OF_WIDE_SIGNALS // 2, DECADES_OF_WIDE_SIGNALS // 2 + 1, int(rng.integers(2, 8)))
    return signal((int(rng.integers(1, 10)) * Fraction(10) ** int(e), 1) for e in exponents)
