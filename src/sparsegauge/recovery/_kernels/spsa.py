"""SPSA on S_p, compiled: an iteration draws a direction, measures two points, takes a step, and allocates nothing big.

The iterate is feasible and stays so: only the direction d = P s has to be projected, P = I - B^T B being the projection
onto the null space of A and s the signs of a Bernoulli +-1 perturbation. P s is a sum of columns of P with signs, so
the sums of every group of 6 columns with each of the 64 patterns of their signs are tabulated once; a direction is
then the sum of n/6 rows of that table, n^2/6 additions instead of the 2 m n of a product with B. Where the table
would not fit a cache, s is multiplied with orthonormal rows of the row space or of the null space, the fewer.

Even orders are measured by the moments of the metric's own kernels. For odd and real orders of short signals a sort
costs more than all pairs do: these are added up here, offset by offset around a circle, which needs no order and meets
each pair once.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...metrics._kernels import even
from ...metrics._kernels.jit import exact, summing
from .pairs import by_pairs

GROUP = 6  # signs a row of the table stands for
PATTERNS = 1 << GROUP
GROUPS_A_WORD = 64 // GROUP
LARGEST_TABLE = 1 << 20  # numbers; signals of up to about 310 coefficients
SHORT = 256  # coefficients up to which adding up all pairs beats a sort and what comes after it

MASK, SHIFT, ONE = np.uint64(PATTERNS - 1), np.uint64(GROUP), np.uint64(1)
# Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators: SplitMix64
GOLDEN, MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)

State = NDArray[np.uint64]
Reports = NDArray[np.int64]


class Workspace(NamedTuple):
    """What the iterations of one problem share: how to project, the order, and room."""

    table: Array  # (groups, patterns, n), or empty
    factors: Array  # orthonormal rows, where there is no table
    factors_span_null_space: bool
    B: Array  # B x = b
    b: Array
    low: Array  # the bounds, empty where there are none
    high: Array
    order: float
    binomials: Array  # C(p, k) of an even order, else empty
    direction: Array
    signs: Array
    plus: Array
    minus: Array
    circle: Array
    room: Array
    moments: Array


def by_moments(order: float) -> bool:
    """Whether S_p needs neither a sort nor the pairs."""
    return order % 2 == 0 and order <= even.LARGEST_ORDER


def worth_compiling(n: int, order: float) -> bool:
    """Whether these kernels are the quick way; else the metric's own are, which sort."""
    return by_moments(order) or (n <= SHORT and order < math.inf)


class Projector(NamedTuple):
    """How to project signs onto the null space of B: what of a workspace depends on B alone."""

    table: Array
    factors: Array
    factors_span_null_space: bool


def projector(B: Array) -> Projector:
    """By the table, or by the fewer of the rows that span the row space and those that span the null space."""
    rank, n = B.shape
    groups = _groups(n)
    nothing = np.empty((0, n))
    if groups * PATTERNS * n <= LARGEST_TABLE:
        projection = np.zeros((groups * GROUP, n))  # the columns that fill up the last group are zero
        projection[:n] = np.eye(n) - B.T @ B
        patterns = np.arange(PATTERNS)[:, None] >> np.arange(GROUP) & 1
        table = np.asarray((2.0 * patterns - 1.0) @ projection.reshape(groups, GROUP, n), np.float64)
        return Projector(table, nothing, False)
    no_table: Array = np.empty((0, 0, 0))
    if 2 * rank <= n:
        return Projector(no_table, B, False)
    return Projector(no_table, np.ascontiguousarray(np.linalg.qr(B.T, mode="complete")[0][:, rank:].T), True)


def workspace(
    B: Array, b: Array, bounds: tuple[Array, Array] | None, order: float, projection: Projector | None = None
) -> Workspace:
    """For a problem B x = b with orthonormal rows; `projection` is that of B, if it is there already."""
    n = B.shape[1]
    low, high = (np.empty(0), np.empty(0)) if bounds is None else bounds
    p = int(order) if by_moments(order) else -1
    binomials = np.array([math.comb(p, k) for k in range(p + 1)], np.float64)
    return Workspace(
        *(projection or projector(B)), B, b, low, high, order, binomials,
        np.empty(n), np.empty(_groups(n) * GROUP), np.empty(n), np.empty(n), np.zeros(3 * n),
        np.empty((even.ROOM, even.BLOCK)), np.empty(p + 2),
    )  # fmt: skip


def _groups(n: int) -> int:
    return 2 * -(-n // (2 * GROUP))  # an even number: two are added at a time


@exact
def _next_word(state: State) -> Any:
    """64 random bits."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> SHIFT_1)) * MIX_1
    z = (z ^ (z >> SHIFT_2)) * MIX_2
    return z ^ (z >> SHIFT_3)


@summing
def _add_two(first: Array, second: Array, out: Array) -> None:
    for i in range(len(out)):
        out[i] += first[i] + second[i]


@summing
def _add_multiple(row: Array, factor: float, out: Array) -> None:
    for i in range(len(out)):
        out[i] += factor * row[i]


@summing
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@exact
def _draw_from_table(table: Array, state: State, out: Array) -> None:
    out[:] = 0.0
    word = _next_word(state)
    for group in range(0, len(table), 2):
        if group > 0 and group % GROUPS_A_WORD == 0:
            word = _next_word(state)
        first = np.int64(word & MASK)
        second = np.int64((word >> SHIFT) & MASK)
        _add_two(table[group, first], table[group + 1, second], out)
        word >>= SHIFT + SHIFT


@exact
def _draw_signs(state: State, out: Array) -> None:
    """The same signs that the table is asked for."""
    word = _next_word(state)
    for i in range(len(out)):
        if i > 0 and i % (GROUP * GROUPS_A_WORD) == 0:
            word = _next_word(state)
        out[i] = 1.0 if word & ONE else -1.0
        word >>= ONE


@exact
def _draw_from_factors(factors: Array, null: bool, state: State, signs: Array, out: Array) -> None:
    _draw_signs(state, signs)
    s = signs[: len(out)]
    out[:] = 0.0
    for k in range(len(factors)):
        _add_multiple(factors[k], _dot(factors[k], s), out)
    if not null:
        for i in range(len(out)):
            out[i] = s[i] - out[i]


@exact
def draw(work: Workspace, state: State) -> None:
    """work.direction = P s for new signs s."""
    if len(work.table) > 0:
        _draw_from_table(work.table, state, work.direction)
    else:
        _draw_from_factors(work.factors, work.factors_span_null_space, state, work.signs, work.direction)


@summing
def _place(x: Array, direction: Array, c: float, plus: Array, minus: Array) -> None:
    for i in range(len(x)):
        shift = c * direction[i]
        plus[i] = x[i] + shift
        minus[i] = x[i] - shift


@exact
def place(work: Workspace, x: Array, c: float) -> None:
    """The points x + c d and x - c d."""
    _place(x, work.direction, c, work.plus, work.minus)


@exact
def _into_bounds(x: Array, low: Array, high: Array, B: Array, b: Array) -> None:
    for i in range(len(x)):
        x[i] = min(max(x[i], low[i]), high[i])
    for k in range(len(B)):  # the rows are orthonormal, so that one after the other is all at once
        _add_multiple(B[k], b[k] - _dot(B[k], x), x)


@exact
def move(work: Workspace, x: Array, length: float) -> None:
    """x + length d; with bounds, clipped to them and projected back onto B x = b."""
    _add_multiple(work.direction, length, x)
    if len(work.low) > 0:
        _into_bounds(x, work.low, work.high, work.B, work.b)


@exact
def _by_moments(x: Array, binomials: Array, room: Array, moments: Array) -> float:
    """S_p of one point at an even order, or HAND_OVER."""
    top, total = even.top_and_sum(x)
    if not even.TINY < top < even.HUGE:
        return even.HAND_OVER
    scale = even.scale_of(top)
    even.chunk_moments(x, scale, total * scale / len(x), len(binomials) - 1, room, moments)
    return even.combine(moments, len(x), binomials)


@exact
def _sparsity(x: Array, p: float, binomials: Array, room: Array, moments: Array, circle: Array) -> float:
    if len(binomials) > 0:
        value = _by_moments(x, binomials, room, moments)
        if value != even.HAND_OVER:
            return value
    return by_pairs(x, p, circle)


@exact
def measure(work: Workspace, x: Array) -> float:
    """S_p of one point."""
    return _sparsity(x, work.order, work.binomials, work.room, work.moments, work.circle)


@exact
def slope(work: Workspace, x: Array, c: float, state: State) -> float:
    """(S_p(x + c d) - S_p(x - c d)) / 2c along a new direction d."""
    draw(work, state)
    place(work, x, c)
    return (measure(work, work.plus) - measure(work, work.minus)) / (2.0 * c)


@exact
def mean_slope(work: Workspace, x: Array, c: float, state: State, count: int) -> float:
    """The mean size of so many slopes, each along a direction of its own."""
    total = 0.0
    for _ in range(count):
        total += abs(slope(work, x, c, state))
    return total / count


@exact
def run(
    work: Workspace,
    x: Array,
    state: State,
    gains: tuple[float, float, float, float, float],
    first: int,
    reports: Reports,
    farthest: float,
    history: Array,
) -> int:
    """From iteration `first` to the last report, in place: x + a_k slope d, a_k = a/(k+1+A)^alpha, c_k = c/(k+1)^gamma.

    At each report the sparsity goes into `history`; if |x| is above `farthest` there, x goes back to the report before
    and the walk ends. Returned is how many reports were reached. A whole walk is one call: threads that run walks side
    by side would else wait for the interpreter between pieces of them.
    """
    a, alpha, A, c, gamma = gains
    table, factors, null, signs, d = work.table, work.factors, work.factors_span_null_space, work.signs, work.direction
    plus, minus, p, binomials = work.plus, work.minus, work.order, work.binomials
    room, moments, circle = work.room, work.moments, work.circle
    low, high, B, b = work.low, work.high, work.B, work.b
    before = np.empty(len(x))
    for report in range(len(reports)):
        before[:] = x
        for k in range(first, reports[report]):
            width = c / (k + 1.0) ** gamma
            if len(table) > 0:
                _draw_from_table(table, state, d)
            else:
                _draw_from_factors(factors, null, state, signs, d)
            _place(x, d, width, plus, minus)
            rise = _sparsity(plus, p, binomials, room, moments, circle)
            rise -= _sparsity(minus, p, binomials, room, moments, circle)
            _add_multiple(d, a / (k + 1.0 + A) ** alpha * (rise / (2.0 * width)), x)
            if len(low) > 0:
                _into_bounds(x, low, high, B, b)
        first = reports[report]
        if not math.sqrt(_dot(x, x)) <= farthest:  # nan too
            x[:] = before
            return report
        history[report] = _sparsity(x, p, binomials, room, moments, circle)
    return len(reports)
