"""The bits of numbers: what `bits.h` does in C, in Python.

`rounded` is a whole number n plus 1.5 * 2^52, which leaves n in the lowest bits of the sum.
"""

from __future__ import annotations

import math
import struct

_TO_ONE = 0x00095F619980C433  # the bits of 1 less those of sqrt(1/2)
_ALL = (1 << 64) - 1


def _bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def _number(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits & _ALL))[0])


def log2_part(x: float) -> float:
    """Return k of x = 2^k m with m in [sqrt(1/2), sqrt(2)), for a normal x > 0."""
    return float(((_bits(x) + _TO_ONE) & _ALL) >> 52) - 1023.0


def near_one_part(x: float) -> float:
    """Return m of x = 2^k m with m in [sqrt(1/2), sqrt(2)), for a normal x > 0."""
    return _number(((_bits(x) + _TO_ONE) & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD)


def times_power_of_two(x: float, rounded: float) -> float:
    """Return x 2^n."""
    return _number(_bits(x) + (_bits(rounded) << 52))


def power_of_two(rounded: float) -> float:
    """Return 2^n."""
    return _number((_bits(rounded) + 1023) << 52)


def scale_to_unit(x: float) -> float:
    """Return the power of two that brings x into [1/2, 1), for 1e-300 < x < 1e300."""
    return math.ldexp(1.0, -math.frexp(x)[1])


def exponent(x: float) -> int:
    """Return e of x = 2^e f with f in [1/2, 1)."""
    return math.frexp(x)[1]


def to_nearest(x: float) -> float:
    """Return the nearest whole number, the even one of two."""
    return math.copysign(float(round(x)), x) if math.isfinite(x) else x


def as_word(x: int) -> int:
    """Return the lowest 64 bits of a whole number: what a C word keeps."""
    return int(x) & _ALL


def processor_level() -> int:
    """Return the level of x86-64 whose instructions can be used: here none beyond the first."""
    return 1


def ldexp(x: float, power: int) -> float:
    """Return x 2^power."""
    return math.ldexp(x, int(power))
