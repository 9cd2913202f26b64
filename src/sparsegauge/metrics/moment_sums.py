"""Moments of magnitudes about a shift, as sums that pieces of a signal add up.

The sum over pairs of (c_i - c_j)^p does not depend on the shift, so pieces may be summed about shifts of their own and
be brought to a common one later. That cancels, which is why all of it is in numbers of twice the usual digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._arrays import Array, Indices
from ..rounding import NO_SPREAD
from .double_double import Pair, difference, of


class MomentSums(NamedTuple):
    """Per signal: the number of coefficients, the shift s, and sums of (c - s)^k for k = 1, 2, ..., p."""

    N: Array
    shift: Array
    moments: tuple[Pair, ...]

    def scaled(self, exponents: Indices) -> MomentSums:
        """Return the same in another unit: all c times powers of two."""
        moments = tuple(moment.scaled(k * exponents) for k, moment in enumerate(self.moments, 1))
        return MomentSums(self.N, np.ldexp(self.shift, exponents), moments)

    def about(self, shift: Array) -> MomentSums:
        """Return the same about another shift: sum (u + d)^k is a sum of binomials, d the distance of the shifts."""
        d = difference(self.shift, shift)
        if not (d.high.any() or d.low.any()):
            return self
        powers = [of(np.ones_like(shift))]
        for _ in self.moments:
            powers.append(powers[-1].times(d))
        known = [of(self.N), *self.moments]
        moved = []
        for k in range(1, len(known)):
            total = known[k]
            for j in range(k):
                total = total.plus(known[j].times(powers[k - j]).times(of(math.comb(k, j))))
            moved.append(total)
        return MomentSums(self.N, shift, tuple(moved))

    def plus(self, other: MomentSums) -> MomentSums:
        """Return the sums over both pieces, about the shift of this one, or of the other where this one is empty."""
        shift = np.where(self.N > 0, self.shift, other.shift)
        a, b = self.about(shift), other.about(shift)
        moments = tuple(x.plus(y) for x, y in zip(a.moments, b.moments, strict=True))
        return MomentSums(self.N + other.N, shift, moments)

    @property
    def total(self) -> Pair:
        """The sum of c."""
        return of(self.N).times(of(self.shift)).plus(self.moments[0])

    def power_total(self, p: int) -> Pair:
        """Return the sum of c^p from the moments: accurate where the shift is no larger than most coefficients."""
        total = of(np.zeros_like(self.shift))
        shift, power = of(self.shift), of(np.ones_like(self.shift))
        for k in range(p, -1, -1):
            moment = self.moments[k - 1] if k else of(self.N)
            total = total.plus(moment.times(power).times(of(math.comb(p, k))))
            power = power.times(shift)
        return total

    def pair_powers(self, p: int) -> Array:
        """Return the sum over pairs i < j of (c_i - c_j)^p, p even and not above the highest moment."""
        known = [of(self.N), *self.moments]
        if p > 2:
            return np.where(self.pair_powers(2) > 0.0, _alternating(known, p), 0.0)
        sums = _alternating(known, 2)
        return np.where(sums > NO_SPREAD * self.N * self.moments[1].high, sums, 0.0)


def _alternating(known: Sequence[Pair], p: int) -> Array:
    """Return half the sum of (-1)^k C(p, k) M_k M_(p-k)."""
    total = known[0].times(known[p])
    for k in range(1, p // 2 + 1):
        factor = (-1) ** k * math.comb(p, k) * (0.5 if 2 * k == p else 1.0)
        total = total.plus(known[k].times(known[p - k]).times(of(factor)))
    return np.maximum(total.value, 0.0)


def zeros_about(N: Array, shift: Array, p: int) -> MomentSums:
    """Return the moments of zeros alone about a shift, up to the power p."""
    zeros = MomentSums(N, np.zeros_like(shift), (of(np.zeros_like(shift)),) * p)
    return zeros.about(shift)
