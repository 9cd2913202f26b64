"""The iterations of SPSA on S_p: each draws a direction, measures two points and takes a step.

The iterate is feasible and stays so: only the direction d = P s has to be projected, P = I - B^T B being the projection
onto the null space of A and s the signs of a Bernoulli +-1 perturbation. P s is a sum of columns of P with signs, so
the sums of every group of 6 columns with each pattern of their signs are tabulated once; the last sign of a group is
taken as +1, which halves the table, and the row is subtracted where it is -1. A direction is then a sum of n/6 rows of
that table, n^2/6 additions instead of the 2 m n of a product with B. Where the table would not fit a cache, s is
multiplied with orthonormal rows of the row space or of the null space, whichever are fewer.

Even orders are measured by moments, odd and real orders of short signals by all pairs.
"""

from __future__ import annotations

import math

from .bits import as_word
from .even import HAND_OVER, chunk_moments, combine_moments, scale_of, top_and_sum
from .kernel_tolerances import HUGE, TINY
from .lanes import add_row, dot, row_times
from .pairs import sparsity_by_pairs
from .vocabulary import Array, Indices, Matrix, Values, Word, Words, entry, inlined, kernel, record

SIGNS_PER_GROUP = 6
SIGN_PATTERNS = 32  # of a group whose last sign is +1
GROUPS_PER_WORD = 10
ROWS_PER_PASS = 6  # rows of the table that are added in one pass
# Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators: SplitMix64
GOLDEN, FIRST_MIX, SECOND_MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@record
class Walk:
    """What the iterations of one problem share: how to project, the order, and room."""

    table: Matrix  # (groups * SIGN_PATTERNS, n), or no rows
    factors: Matrix  # orthonormal rows, where there is no table
    factors_span_null_space: bool
    B: Matrix  # B x = b
    b: Values
    low: Values  # the bounds, empty where there are none
    high: Values
    order: float
    binomials: Values  # C(p, k) of an even order, else empty
    direction: Array
    signs: Array
    plus: Array
    minus: Array
    rows: Indices  # of the table, one for each group, and some more that fill up the last pass
    turns: Array  # +1 or -1 for each group, 0 for the rows that fill up
    magnitudes: Array
    room: Matrix
    moments: Array
    before: Array

    def __init__(self, projection, system, bounds, measure, points, drawn, room):  # type: ignore[no-untyped-def]
        self.table, self.factors, self.factors_span_null_space = projection
        self.B, self.b = system
        self.low, self.high = bounds
        self.order, self.binomials = measure
        self.direction, self.plus, self.minus = points
        self.signs, self.rows, self.turns = drawn
        self.magnitudes, self.before, self.room, self.moments = room


@inlined
def next_word(state: Words) -> Word:
    """Return 64 random bits."""
    golden: Word = GOLDEN
    first_mix: Word = FIRST_MIX
    second_mix: Word = SECOND_MIX
    z: Word = as_word(as_word(state[0]) + golden)
    state[0] = z
    z = as_word((z ^ (z >> 30)) * first_mix)
    z = as_word((z ^ (z >> 27)) * second_mix)
    return z ^ (z >> 31)


@inlined
def choose_rows(groups: int, rows: Indices, turns: Array, state: Words) -> None:
    """Draw the signs of each group: which row of the table they stand for, and whether it is added or subtracted."""
    word: Word = next_word(state)
    for group in range(groups):
        if group > 0 and group % GROUPS_PER_WORD == 0:
            word = next_word(state)
        last: int = (word >> (SIGNS_PER_GROUP - 1)) & 1
        others: int = word & (SIGN_PATTERNS - 1)
        rows[group] = group * SIGN_PATTERNS + (others ^ ((SIGN_PATTERNS - 1) * (1 - last)))
        turns[group] = 2.0 * last - 1.0
        word >>= SIGNS_PER_GROUP


@inlined
def add_six_rows(table: Matrix, rows: Indices, turns: Values, g: int, n: int, out: Array) -> None:
    """Add rows g..g+5 of a choice of rows to `out`, each with its sign."""
    a, b, c, d, e, f = rows[g], rows[g + 1], rows[g + 2], rows[g + 3], rows[g + 4], rows[g + 5]
    s, t, u, v, w, z = turns[g], turns[g + 1], turns[g + 2], turns[g + 3], turns[g + 4], turns[g + 5]
    for i in range(n):
        one = s * table[a, i] + t * table[b, i]
        two = u * table[c, i] + v * table[d, i]
        three = w * table[e, i] + z * table[f, i]
        out[i] += (one + two) + three


@entry
def draw_signs(state: Words, out: Array) -> None:
    """Write random signs, the same that the table is asked for."""
    word: Word = next_word(state)
    for i in range(len(out)):
        if i > 0 and i % (SIGNS_PER_GROUP * GROUPS_PER_WORD) == 0:
            word = next_word(state)
        bit: int = word & 1
        out[i] = 2.0 * bit - 1.0
        word >>= 1


@kernel
def project_signs(walk: Walk, state: Words) -> None:
    """Draw signs and project them by the orthonormal rows."""
    n = len(walk.direction)
    draw_signs(state, walk.signs)
    for i in range(n):
        walk.direction[i] = 0.0
    for k in range(len(walk.factors)):
        add_row(walk.factors, k, row_times(walk.factors, k, walk.signs, n), n, walk.direction)
    if not walk.factors_span_null_space:
        for i in range(n):
            walk.direction[i] = walk.signs[i] - walk.direction[i]


@entry
def draw_direction(walk: Walk, state: Words) -> None:
    """Write the direction P s for new signs s."""
    if len(walk.table) == 0:
        project_signs(walk, state)
        return
    choose_rows(len(walk.table) // SIGN_PATTERNS, walk.rows, walk.turns, state)
    for i in range(len(walk.direction)):
        walk.direction[i] = 0.0
    for group in range(0, len(walk.rows), ROWS_PER_PASS):
        add_six_rows(walk.table, walk.rows, walk.turns, group, len(walk.direction), walk.direction)


@inlined
def place_points(x: Values, direction: Values, c: float, plus: Array, minus: Array) -> None:
    """Write x + c d and x - c d."""
    for i in range(len(x)):
        shift = c * direction[i]
        plus[i] = x[i] + shift
        minus[i] = x[i] - shift


@entry
def perturb(walk: Walk, x: Values, c: float) -> None:
    """Write the two points around x that are to be measured."""
    place_points(x, walk.direction, c, walk.plus, walk.minus)


@kernel
def return_to_bounds(walk: Walk, x: Array) -> None:
    """Clip x to the bounds and project it back onto B x = b."""
    n = len(x)
    for i in range(n):
        x[i] = min(max(x[i], walk.low[i]), walk.high[i])
    for k in range(len(walk.B)):  # the rows are orthonormal, so that one after the other is all at once
        add_row(walk.B, k, walk.b[k] - row_times(walk.B, k, x, n), n, x)


@entry
def take_step(walk: Walk, x: Array, length: float) -> None:
    """Add length * d to x; with bounds, clip it to them and project it back onto B x = b."""
    for i in range(len(x)):
        x[i] += length * walk.direction[i]
    if len(walk.low) > 0:
        return_to_bounds(walk, x)


@kernel
def sparsity_by_moments(walk: Walk, x: Values) -> float:
    """Return S_p of one point at an even order, or HAND_OVER."""
    n = len(x)
    top, total = top_and_sum(x, 0, n)
    if not (TINY < top < HUGE):
        return HAND_OVER
    scale = scale_of(top)
    chunk_moments(x, 0, n, scale, total * scale / n, len(walk.binomials) - 1, walk.room, walk.moments)
    return combine_moments(walk.moments, n, walk.binomials)


@entry
def sparsity_of(walk: Walk, x: Values) -> float:
    """Return S_p of one point."""
    if len(walk.binomials) > 0:
        value = sparsity_by_moments(walk, x)
        if value != HAND_OVER:
            return value
    return sparsity_by_pairs(x, walk.order, walk.magnitudes)


@entry
def slope_along_new_direction(walk: Walk, x: Values, c: float, state: Words) -> float:
    """Return (S_p(x + c d) - S_p(x - c d)) / 2c along a new direction d."""
    draw_direction(walk, state)
    perturb(walk, x, c)
    return (sparsity_of(walk, walk.plus) - sparsity_of(walk, walk.minus)) / (2.0 * c)


@entry
def mean_slope(walk: Walk, x: Values, c: float, state: Words, count: int) -> float:
    """Return the mean size of this many slopes, each along a new direction."""
    total = 0.0
    for _ in range(count):
        total += abs(slope_along_new_direction(walk, x, c, state))
    return total / count


@entry
def walk_on(
    walk: Walk, x: Array, state: Words, gains: Values, first: int, reports: Indices, farthest: float, history: Array
) -> int:
    """Iterate from `first` to the last report, in place: x + a_k slope d, a_k = a/(k+1+A)^alpha, c_k = c/(k+1)^gamma.

    `gains` are a, alpha, A, c, gamma. At each report the sparsity goes into `history`; if |x| is above `farthest`
    there, x goes back to the report before and the walk ends. Return how many reports were reached. A whole walk is one
    call: threads that run walks side by side would else wait for the interpreter between pieces of them.
    """
    n = len(x)
    k = first
    for report in range(len(reports)):
        for i in range(n):
            walk.before[i] = x[i]
        while k < reports[report]:
            width = gains[3] / (k + 1.0) ** gains[4]
            rise = slope_along_new_direction(walk, x, width, state)
            take_step(walk, x, gains[0] / (k + 1.0 + gains[2]) ** gains[1] * rise)
            k += 1
        if not (math.sqrt(dot(x, x, n)) <= farthest):  # nan too
            for i in range(n):
                x[i] = walk.before[i]
            return report
        history[report] = sparsity_of(walk, x)
    return len(reports)
