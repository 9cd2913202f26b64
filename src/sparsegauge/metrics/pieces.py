"""The sums of one piece of several signals, and how the sums of two pieces become those of both.

What every piece has costs one pass: counts, the largest coefficient, power sums, and moments about a shift. Metrics
that need more name an `Ingredient` (`ingredients.py`), which knows how to collect and to join its own sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices, Signals
from .._compiled import measure as kernels
from .._compiled.even import MOMENT_BLOCK
from .._compiled.streaming import STREAMED
from .double_double import Pair
from .moment_sums import MomentSums, zeros_about
from .statistics import Rows

HIGHEST_MOMENT = 4
LARGEST_SINGLE_EXPONENT = 900  # by which one factor can scale a signal
ONE_DEVIATION = 0.5  # M_1^2 / (N M_2) of a piece whose mean lies one standard deviation from the shift
SMALLEST_SQUARE = 2.0**-200  # a sum whose terms kept their digits
LARGEST_FOURTH = 2.0**400


class Ingredient(Protocol):
    """A statistic that some metrics need, as arrays with one number per signal."""

    def collect(self, rows: Rows, exponent: Indices) -> tuple[Any, ...]:
        """Return the sums of one piece, in units of 2^exponent where they have a unit."""

    def join(self, a: Piece, b: Piece, whole: Piece) -> tuple[Any, ...]:
        """Return the sums of two pieces that together are the whole; `a` and `b` are in its unit already."""

    def rescale(self, sums: tuple[Any, ...], exponents: Indices) -> tuple[Any, ...]:
        """Return the sums after all coefficients were multiplied by powers of two, as the change of a unit does."""


@dataclass(frozen=True)
class Piece:
    """The sums of one piece of several signals, in units of a power of two per signal.

    `n`, the number of non-zeros, and `top` are nan where no metric needs them; then not all coefficients are zero.
    """

    sums: MomentSums
    squares: Pair
    fourths: Pair
    n: Array
    top: Array
    exponent: Indices
    missing: NDArray[np.bool_]
    extras: Mapping[Ingredient, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def N(self) -> Array:  # noqa: N802 (the formulas' name)
        """The number of coefficients."""
        return self.sums.N

    def in_unit(self, exponent: Indices) -> Piece:
        """Return the same in another unit."""
        change = self.exponent - exponent
        if not change.any():
            return self
        return Piece(
            self.sums.scaled(change),
            self.squares.scaled(2 * change),
            self.fourths.scaled(4 * change),
            self.n,
            np.ldexp(self.top, change),
            exponent,
            self.missing,
            {ingredient: ingredient.rescale(sums, change) for ingredient, sums in self.extras.items()},
        )


def join(a: Piece, b: Piece) -> Piece:
    """Return the sums of both pieces."""
    larger = np.maximum(a.exponent, b.exponent)
    exponent = np.where(a.n == 0, b.exponent, np.where(b.n == 0, a.exponent, larger))
    with np.errstate(all="ignore"):  # signals without data, or of zeros alone
        x, y = a.in_unit(exponent), b.in_unit(exponent)
        whole = Piece(
            x.sums.plus(y.sums),
            x.squares.plus(y.squares),
            x.fourths.plus(y.fourths),
            x.n + y.n,
            np.maximum(x.top, y.top),
            exponent,
            x.missing | y.missing,
        )
        extras = {ingredient: ingredient.join(x, y, whole) for ingredient in a.extras}
    return Piece(**{**vars(whole), "extras": extras})


def join_all(pieces: list[Piece]) -> Piece:
    """Return the sums of all pieces, joined in pairs, so that roundings do not add up."""
    while len(pieces) > 1:
        joined = [join(a, b) for a, b in zip(pieces[::2], pieces[1::2], strict=False)]
        pieces = joined + ([pieces[-1]] if len(pieces) % 2 else [])
    return pieces[0]


def collect(signals: Signals, ingredients: Iterable[Ingredient]) -> Piece:
    """Return the sums of clean signals, each in a unit and about a shift of its own."""
    rows = Rows(signals)
    stored = np.diff(signals.starts).astype(np.float64)
    exponent = rows._powers[:, 0].astype(np.int64)
    with np.errstate(invalid="ignore"):
        shift = np.where(stored > 0, rows.l1 / stored, 0.0)
    values, scales = scale_rows(signals, exponent)
    out = np.empty((signals.rows, STREAMED))
    kernels.streamed_rows(values, signals.starts, scales, shift, 0, signals.rows, out)
    not_stored = signals.lengths - stored
    sums = _moments(out, stored, shift)
    if not_stored.any():  # zeros that a sparse array leaves out
        sums = sums.plus(zeros_about(not_stored, sums.shift, HIGHEST_MOMENT))
    missing = np.zeros(signals.rows, bool) if signals.missing is None else signals.missing
    n = out[:, 13] if values is signals.values else rows.n  # scaling may have made zeros of tiny coefficients
    with np.errstate(all="ignore"):  # rows of zeros alone
        extras = {ingredient: ingredient.collect(rows, exponent) for ingredient in ingredients}
    return Piece(sums, _pair(out, 4), _pair(out, 5), n, out[:, 12], exponent, missing, extras)


def scale_rows(signals: Signals, exponent: Indices) -> tuple[Array, Array]:
    """Return the values and one factor per row that brings them into units of 2^exponent."""
    if np.abs(exponent).max() < LARGEST_SINGLE_EXPONENT:
        return signals.values, np.ldexp(1.0, -exponent)
    values = np.ldexp(signals.values, -np.repeat(exponent, np.diff(signals.starts)))
    return values, np.ones(signals.rows)


def collect_quickly(row: NDArray[Any], shift: float, out: Array) -> None:
    """Write the moments of one row of float32 or float64 numbers into `out`, in a single pass."""
    if row.dtype == np.float32:
        kernels.streamed_moments_of_floats(row, shift, np.empty(MOMENT_BLOCK), out[None])
    else:
        kernels.streamed_moments(row, shift, out[None])


def are_trusted(out: Array, N: Array) -> NDArray[np.bool_]:
    """Return which rows of quick moments have a shift near the mean, and powers within the range of float64."""
    first, second, fourth = out[:, 0], out[:, 2], out[:, 6]
    with np.errstate(all="ignore"):  # what is not finite is not trusted
        near = first * first <= ONE_DEVIATION * N * second
    return np.asarray((second > SMALLEST_SQUARE) & (fourth < LARGEST_FOURTH) & near)


def add_up_quickly(out: Array, N: float, shift: float) -> Piece:
    """Return one piece of the rows of quick moments, which all have one shift; without counts and the top."""
    columns = out[:, : 2 * HIGHEST_MOMENT].T.reshape(HIGHEST_MOMENT, -1)
    high = [math.fsum(column) for column in columns]
    low = [math.fsum((*column, -total)) for column, total in zip(columns, high, strict=True)]
    moments = tuple(Pair(np.array([h]), np.array([rest])) for h, rest in zip(high, low, strict=True))
    sums = MomentSums(np.array([N]), np.array([shift]), moments)
    unknown, none = np.array([math.nan]), np.zeros(1, np.int64)
    return Piece(sums, sums.power_total(2), sums.power_total(4), unknown, unknown, none, np.zeros(1, bool))


def _moments(out: Array, N: Array, shift: Array) -> MomentSums:
    return MomentSums(N, shift, tuple(_pair(out, k) for k in range(HIGHEST_MOMENT)))


def _pair(out: Array, k: int) -> Pair:
    return Pair(out[:, 2 * k].copy(), out[:, 2 * k + 1].copy())
