"""The sums that some metrics need beside those of every piece, each with its own way of joining two pieces.

No join subtracts: where a metric is accurate for one piece, it is so for the whole. The dispersion of two pieces is
that within them and that between their means, and so is their entropy (the decomposition of Shorrocks, 1980).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array, Indices
from .._compiled import measure as kernels
from .._compiled.even import MOMENT_BLOCK, MOMENT_ROOM
from ..rounding import SMALLEST_RATIO
from .double_double import Pair, of
from .moment_sums import MomentSums, zeros_about
from .pieces import Piece, scale_rows
from .statistics import Rows

LOG_OF_SMALLEST_RATIO = -690.0  # that float64 holds
CANCELLING_CHANGE = -0.5  # of a mean from 1: below it, the sum on a logarithmic scale is more accurate
LARGEST_LOG = 600.0
NEARLY_EQUAL = 1e-3  # spread of squares relative to their mean
LOG_2 = math.log(2.0)


@dataclass(frozen=True)
class Additive:
    """A statistic of `Rows` that is a plain sum; `power` is that of the unit in it."""

    name: str
    arguments: tuple[float, ...] = ()
    power: int = 0

    def collect(self, rows: Rows, _: Indices) -> tuple[Any, ...]:
        """Return the sum of each signal."""
        return tuple(of(getattr(rows, self.name)(*self.arguments)))

    def join(self, a: Piece, b: Piece, _: Piece) -> tuple[Any, ...]:
        """Return the sum of both."""
        return tuple(Pair(*a.extras[self]).plus(Pair(*b.extras[self])))

    def rescale(self, sums: tuple[Any, ...], exponents: Indices) -> tuple[Any, ...]:
        """Return the sum in another unit."""
        return tuple(Pair(*sums).scaled(self.power * exponents))

    def value(self, piece: Piece) -> Array:
        """Return the sum."""
        return Pair(*piece.extras[self]).value


@dataclass(frozen=True)
class CentralMoments:
    """The moments up to an even order above 4, and the sum of c^p."""

    p: int

    def collect(self, rows: Rows, exponent: Indices) -> tuple[Any, ...]:
        """Return moments about the mean of each signal."""
        signals = rows._signals
        values, scales = scale_rows(signals, exponent)
        out, room = np.zeros((signals.rows, self.p + 2)), np.empty((MOMENT_ROOM, MOMENT_BLOCK))
        stored = np.diff(signals.starts)
        with np.errstate(invalid="ignore"):
            shift = np.where(stored > 0, rows.l1 / stored, 0.0)
        for r in range(signals.rows):
            span = int(signals.starts[r]), int(signals.starts[r + 1])
            kernels.chunk_moments(values, *span, scales[r], shift[r], self.p, room, out[r])
        sums = MomentSums(stored.astype(np.float64), shift, tuple(of(out[:, k]) for k in range(1, self.p + 1)))
        not_stored = (signals.lengths - stored).astype(np.float64)
        if not_stored.any():
            sums = sums.plus(zeros_about(not_stored, shift, self.p))
        return sums, of(out[:, self.p + 1])

    def join(self, a: Piece, b: Piece, _: Piece) -> tuple[Any, ...]:
        """Return the moments of both."""
        (x, x_powers), (y, y_powers) = a.extras[self], b.extras[self]
        return x.plus(y), x_powers.plus(y_powers)

    def rescale(self, sums: tuple[Any, ...], exponents: Indices) -> tuple[Any, ...]:
        """Return the moments in another unit."""
        return sums[0].scaled(exponents), sums[1].scaled(self.p * exponents)

    def value(self, piece: Piece) -> Array:
        """Return the generalised differential sparsity of order p."""
        sums, powers = piece.extras[self]
        return sparsity(sums, powers, self.p)


def sparsity(sums: MomentSums, powers: Pair, p: int) -> Array:
    """Return the generalised differential sparsity from moments and the sum of c^p."""
    limited: Array = np.minimum(sums.pair_powers(p) / (sums.N * powers.value), (sums.N - 1.0) / sums.N)
    return limited


@dataclass(frozen=True)
class Dispersion:
    """Phi_p of the non-zeros about their mean (`_compiled/dispersion.py`), log (mean z^p)^(1/p), and log mean."""

    p: float
    squared: bool

    def collect(self, rows: Rows, exponent: Indices) -> tuple[Any, ...]:
        """Return all three of each signal."""
        both = rows.dispersion(self.p, self.squared)
        total, power = (rows.squares, 2.0) if self.squared else (rows.l1, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # rows of zeros alone
            return both[:, 0], both[:, 1], np.log(total / rows.n) + power * LOG_2 * exponent

    def join(self, a: Piece, b: Piece, whole: Piece) -> tuple[Any, ...]:
        """Return the dispersion within the pieces and that between them."""
        power = 2.0 if self.squared else 1.0
        log_mean = np.log(self._mean(whole).high) + power * LOG_2 * whole.exponent
        parts = [self._about(piece, whole, log_mean) for piece in (a, b)]
        spread = sum(np.where(share > 0.0, share * within, 0.0) for share, within, _ in parts)
        levels = np.array([np.where(share > 0.0, np.log(share) + level, -math.inf) for share, _, level in parts])
        return spread, np.logaddexp(*levels) / (self.p or 1.0), log_mean

    def _about(self, piece: Piece, whole: Piece, log_mean: Array) -> tuple[Array, Array, Array]:
        """Return the share of a piece in the non-zeros; its Phi_p and p times its level about the mean of the whole."""
        spread, level, own_mean = piece.extras[self]
        ratio = self._mean(piece).over(self._mean(whole))
        off = ratio.plus(of(-1.0)).value
        far = np.where(ratio.high > SMALLEST_RATIO, np.log(ratio.high), own_mean - log_mean)
        log = np.where(np.abs(off) < 0.5, np.log1p(np.maximum(off, -0.5)), far)
        z = np.exp(np.maximum(log, LOG_OF_SMALLEST_RATIO))
        between = np.array([kernels.phi(*map(float, each), self.p) for each in zip(z, off, log, strict=True)])
        share = piece.n / whole.n
        return share, np.exp(self.p * log) * spread + between, self.p * (level + log)

    def _mean(self, piece: Piece) -> Pair:
        """Return the mean of the non-zeros, or of their squares."""
        n = of(np.where(piece.n > 0.0, piece.n, 1.0))
        if not self.squared:
            return piece.sums.total.over(n)
        close = piece.sums.moments[1].high < NEARLY_EQUAL * piece.squares.high
        exact, plain = piece.sums.power_total(2), piece.squares
        return Pair(np.where(close, exact.high, plain.high), np.where(close, exact.low, plain.low)).over(n)

    def rescale(self, sums: tuple[Any, ...], _: Indices) -> tuple[Any, ...]:
        """Return the same: no unit matters."""
        return sums

    def spread(self, piece: Piece) -> Array:
        """Return Phi_p."""
        phi: Array = piece.extras[self][0]
        return phi

    def log_mean(self, piece: Piece) -> Array:
        """Return log (mean z^p)^(1/p); at p = 0 that of the geometric mean."""
        spread, level, _ = piece.extras[self]
        if self.p == 0:
            geometric: Array = -spread
            return geometric
        change = self.p * (self.p - 1.0) * spread
        close = (change > CANCELLING_CHANGE) & (self.p * level + np.log(np.maximum(piece.n, 1.0)) < LARGEST_LOG)
        logs: Array = np.where(close, np.log1p(np.where(close, change, 0.0)) / self.p, level)
        return logs


@dataclass(frozen=True)
class EnergyEntropy:
    """Shannon's entropy of c^2/sum c^2."""

    def collect(self, rows: Rows, _: Indices) -> tuple[Any, ...]:
        """Return the entropy of each signal."""
        return (rows.entropy_of_squares(),)

    def join(self, a: Piece, b: Piece, whole: Piece) -> tuple[Any, ...]:
        """Return the entropies within the pieces, by their shares of the energy, and that of the shares."""
        total = whole.squares.value
        terms = []
        for piece, other in ((a, b), (b, a)):
            share, rest = piece.squares.value / total, other.squares.value / total
            log = np.where(share < 0.5, np.log(share), np.log1p(-np.minimum(rest, 0.5)))
            terms.append(np.where(share > 0.0, share * (piece.extras[self][0] - log), 0.0))
        return (terms[0] + terms[1],)

    def rescale(self, sums: tuple[Any, ...], _: Indices) -> tuple[Any, ...]:
        """Return the same: no unit matters."""
        return sums

    def value(self, piece: Piece) -> Array:
        """Return the entropy."""
        entropy: Array = piece.extras[self][0]
        return entropy


@dataclass(frozen=True)
class BesideTop:
    """R = sum r - 1 and sum r f_q(log r), r = c/max c, as `Rows.relative_to_top` has them."""

    q: float

    def collect(self, rows: Rows, _: Indices) -> tuple[Any, ...]:
        """Return both of each signal."""
        return rows.relative_to_top(self.q)

    def join(self, a: Piece, b: Piece, whole: Piece) -> tuple[Any, ...]:
        """Return both relative to the larger top."""
        first_is_larger = a.top >= b.top
        parts = []
        for piece in (a, b):
            beside, terms = piece.extras[self]
            ratio = piece.top / whole.top
            log = np.where(ratio > 0.0, np.log(np.where(ratio > 0.0, ratio, 1.0)), LOG_OF_SMALLEST_RATIO)
            if self.q == 1:
                moved = ratio * (terms + log * (1.0 + beside))
            else:
                power = (self.q - 1.0) * log
                moved = ratio * (np.exp(power) * terms + np.expm1(power) * (1.0 + beside))
            empty = piece.n == 0
            parts.append((np.where(empty, 0.0, ratio * (1.0 + beside)), np.where(empty, 0.0, moved), beside))
        (x, x_terms, x_beside), (y, y_terms, y_beside) = parts
        joined = np.where(first_is_larger, x_beside + y, y_beside + x)
        return np.where(whole.n > 0, joined, 0.0), x_terms + y_terms

    def rescale(self, sums: tuple[Any, ...], _: Indices) -> tuple[Any, ...]:
        """Return the same: no unit matters."""
        return sums

    def value(self, piece: Piece) -> tuple[Array, Array]:
        """Return both."""
        beside, terms = piece.extras[self]
        return beside, terms


@dataclass(frozen=True)
class NegativePowers:
    """The smallest non-zero b, in its own unit, and sum (c/b)^p, p < 0, over the non-zeros."""

    p: float

    def collect(self, rows: Rows, _: Indices) -> tuple[Any, ...]:
        """Return both of each signal."""
        return rows.negative_powers(self.p)

    def join(self, a: Piece, b: Piece, _: Piece) -> tuple[Any, ...]:
        """Return both relative to the smaller one."""
        bottom = np.minimum(a.extras[self][0], b.extras[self][0])
        total = np.zeros_like(bottom)
        for piece in (a, b):
            own, powers = piece.extras[self]
            total = total + np.where(piece.n > 0, np.power(own / bottom, self.p) * powers, 0.0)
        return bottom, total

    def rescale(self, sums: tuple[Any, ...], _: Indices) -> tuple[Any, ...]:
        """Return the same: b has its own unit."""
        return sums

    def value(self, piece: Piece) -> Array:
        """Return sum c^p."""
        bottom, total = piece.extras[self]
        powers: Array = np.power(bottom, self.p) * total
        return powers
