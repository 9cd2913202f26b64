"""Sums over all pairs of points on a line, by splitting cells until a polynomial is good enough.

Sorted points in [0, 1) fall into cells: at level l cell g holds g 2^-l <= c < (g + 1) 2^-l. All pairs of points are
one interaction of the root cell with itself. An interaction of two cells is

- added up pair by pair, where that is few pairs;
- left out, where it cannot matter;
- replaced by a polynomial of the distance (`polynomials`), where its error fits the budget; the polynomial's sum needs
  only the moments sum u^k of each cell, u in [-1, 1] measured from the cell's middle;
- split into the interactions of the two cells' halves otherwise.

Only d -> d^p is approximated, and near cells of deep levels hardly count, since they hold few and short distances: so
the work per point is small. An interaction may cost an error of `budget` times the points of its smaller cell. From
the offset `near` on, a polynomial's rounding errors are harmless; below it they have to fit the budget too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import Array, Indices
from .jit import exact, summing
from .polynomials import DEGREE, SIGNED_BINOMIALS, expand
from .powers import real_power

LEVELS = 1000  # down to 2^-999 of the maximum
SLOTS = 64  # moments remembered a level
ROWS = 512  # offsets whose polynomials are remembered
FEW_PAIRS = 64
JOB = 7  # an interaction: its two runs of points, their cells and their level
ROUNDING = 1e-15
BUFFER = 512

SETTLED, PAIRS, POLYNOMIAL = 0, 1, 2


class Workspace(NamedTuple):
    """What a walk through the tree remembers: polynomials by offset, moments by level and cell, and what is to do."""

    owners: Indices  # the offset in each row of errors and tables
    errors: Array
    tables: Array
    cells: Indices  # the cell in each slot of memory
    degrees: Indices
    memory: Array
    room: Array
    stack: Indices
    job: Indices
    deepest: Indices  # the deepest level in memory, as one number


@exact
def workspace(rows: int = ROWS, levels: int = LEVELS) -> Workspace:
    """One that remembers nothing: for all rows of one order. No rows and no levels where no tree is needed."""
    return Workspace(
        np.full(rows, -1),
        np.empty((rows, DEGREE + 1)),
        np.empty((rows, DEGREE + 1, DEGREE + 1)),
        np.full((levels, SLOTS), -1),
        np.empty((levels, SLOTS), np.int64),
        np.empty((levels, SLOTS, DEGREE + 1)),
        np.empty((2, BUFFER)),
        np.empty((4 * levels, JOB), np.int64),
        np.empty(JOB, np.int64),
        np.zeros(1, np.int64),
    )


@exact
def forget_cells(work: Workspace) -> None:
    """Another row comes: its order and so its polynomials stay, its moments do not."""
    work.cells[: work.deepest[0] + 1] = -1
    work.deepest[0] = 0


@exact
def near_offset(p: float) -> int:
    """From this offset on ((o + 1) / o)^p is moderate, so that a polynomial does not cancel."""
    return max(2, math.ceil(min(p / 4, 2.0**60)))


@exact
def first_at_least(c: Array, low: int, high: int, value: float) -> int:
    """The first index in low..high with c >= value."""
    while low < high:
        middle = (low + high) >> 1
        if c[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@exact
def _first_in_cell(c: Array, low: int, high: int, cell: int, level: int) -> int:
    """The first index in low..high whose point lies in `cell` or above. Whole numbers: an edge may not be a float64."""
    scale = 2.0**level
    while low < high:
        middle = (low + high) >> 1
        if np.int64(c[middle] * scale) < cell:
            low = middle + 1
        else:
            high = middle
    return low


@exact
def shifted(c: Array) -> Array:
    """c - min c where that is exact (Sterbenz), so that the cells of nearly equal points have small numbers."""
    return c - c[0] if 2.0 * c[0] >= c[-1] else c


@exact
def _push(stack: Indices, top: int, a0: int, a1: int, b0: int, b1: int, a: int, b: int, level: int) -> int:
    if a0 == a1 or b0 == b1:
        return top
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a0, a1, b0, b1
    stack[top, 4], stack[top, 5], stack[top, 6] = a, b, level
    return top + 1


@exact
def unpacked(job: Indices) -> tuple[int, int, int, int, int, int, int]:
    """Where the two runs of points start and end, their cells and their level."""
    return job[0], job[1], job[2], job[3], job[4], job[5], job[6]


@exact
def _split(c: Array, job: Indices, stack: Indices, top: int) -> int:
    """Push the interactions of the halves; the leftmost comes on top, so that moments are still remembered."""
    a0, a1, b0, b1, a, b, level = unpacked(job)
    am = _first_in_cell(c, a0, a1, 2 * a + 1, level + 1)
    if a == b:
        top = _push(stack, top, am, a1, am, a1, 2 * a + 1, 2 * a + 1, level + 1)
        top = _push(stack, top, a0, am, am, a1, 2 * a, 2 * a + 1, level + 1)
        return _push(stack, top, a0, am, a0, am, 2 * a, 2 * a, level + 1)
    bm = _first_in_cell(c, b0, b1, 2 * b + 1, level + 1)
    top = _push(stack, top, am, a1, bm, b1, 2 * a + 1, 2 * b + 1, level + 1)
    top = _push(stack, top, am, a1, b0, bm, 2 * a + 1, 2 * b, level + 1)
    top = _push(stack, top, a0, am, bm, b1, 2 * a, 2 * b + 1, level + 1)
    return _push(stack, top, a0, am, b0, bm, 2 * a, 2 * b, level + 1)


@exact
def _opening_cells(c: Array) -> int:
    """How many cells the range is cut into at first: wide cells would need high degrees for all of their points."""
    return 64 if len(c) >= 8192 else 16


@exact
def opening_jobs(c: Array) -> Indices:
    """All pairs of points, as the interactions of the cells that hold them at the first level."""
    level = 0
    while (c[-1] - c[0]) * 2.0**level < _opening_cells(c) / 2:
        level += 1
    edges = np.empty((_opening_cells(c) + 2, 3), np.int64)  # start, end and number of every occupied cell
    count = 0
    start = 0
    while start < len(c):
        cell = int(c[start] * 2.0**level)
        end = _first_in_cell(c, start, len(c), cell + 1, level)
        edges[count, 0], edges[count, 1], edges[count, 2] = start, end, cell
        count += 1
        start = end
    jobs = np.empty((count * (count + 1) // 2, JOB), np.int64)
    top = 0
    for i in range(count):
        for j in range(i, count):
            a0, a1, a = edges[i, 0], edges[i, 1], edges[i, 2]
            top = _push(jobs, top, a0, a1, edges[j, 0], edges[j, 1], a, edges[j, 2], level)
    return jobs


@exact
def _degree_for(work: Workspace, offset: int, p: float, odd: bool, allowed: float, deepest: bool) -> int:
    """The lowest degree whose error is allowed, or -1: split. The deepest level takes what there is."""
    careful = offset < near_offset(p)
    if careful and allowed < ROUNDING and not deepest:
        return -1
    row = offset % ROWS
    if work.owners[row] != offset:
        expand(offset, p, odd, work.errors[row], work.tables[row])
        work.owners[row] = offset
    degree = 0
    while degree < DEGREE and work.errors[row, degree] > allowed:
        degree += 1
    if careful and work.errors[row, degree] > allowed and not deepest:
        return -1
    return degree


@exact
def next_step(
    work: Workspace, c: Array, p: float, odd: bool, unit: float, budget: float, top: int
) -> tuple[int, int, float, int]:
    """Take one interaction off the stack into work.job: what to do, at which degree and scale, and the new top."""
    top -= 1
    job = work.job
    job[:] = work.stack[top]
    a0, a1, b0, b1, a, b, level = unpacked(job)
    offset = b - a
    if offset == 0 and c[a0] == c[a1 - 1]:
        return SETTLED, 0, 0.0, top
    if (a1 - a0) * (b1 - b0) <= (2 * FEW_PAIRS if offset == 0 else FEW_PAIRS):
        return PAIRS, 0, 0.0, top
    scale = ((offset + 1) * 2.0**-level * unit) ** p
    allowed = budget / (scale * max(a1 - a0, b1 - b0)) if scale > 0.0 else np.inf
    if allowed >= 1.0:
        return SETTLED, 0, 0.0, top
    degree = _degree_for(work, offset, p, odd, allowed, level == LEVELS - 1)
    if degree >= 0:
        return POLYNOMIAL, degree, scale, top
    return SETTLED, 0, 0.0, _split(c, job, work.stack, top)


@exact
def middle_coordinates(c: Array, cell: int, level: int, u: Array) -> None:
    # c 2^level - cell is exact; taking off the half cell in the same step would not be
    scale = 2.0**level
    for i in range(len(c)):
        u[i] = 2.0 * (c[i] * scale - cell) - 1.0


@summing
def _add_powers(u: Array, power: Array, n: int, degree: int, out: Array) -> None:
    for i in range(n):
        power[i] = 1.0
    for k in range(1, degree + 1):
        part = 0.0
        for i in range(n):
            power[i] *= u[i]
            part += power[i]
        out[k] += part


@exact
def _moments(c: Array, cell: int, level: int, degree: int, room: Array, out: Array) -> None:
    """out[k] = sum u^k for k = 0..degree over the points of one cell."""
    out[0] = len(c)
    if c[0] == c[-1]:  # equal points, of which a tie may have millions
        middle_coordinates(c[:1], cell, level, room[0])
        for k in range(1, degree + 1):
            out[k] = out[k - 1] * room[0, 0]
        return
    out[1 : degree + 1] = 0.0
    for start in range(0, len(c), BUFFER):
        part = c[start : start + BUFFER]
        middle_coordinates(part, cell, level, room[0])
        _add_powers(room[0], room[1], len(part), degree, out)


@exact
def remembered(work: Workspace, c: Array, low: int, high: int, cell: int, level: int, degree: int) -> Array:
    """The moments of the cell that holds c[low:high], computed at most once while they are remembered."""
    slot = cell % SLOTS
    out = work.memory[level, slot]
    if work.cells[level, slot] != cell or work.degrees[level, slot] < degree:
        _moments(c[low:high], cell, level, degree, work.room, out)
        work.cells[level, slot] = cell
        work.degrees[level, slot] = degree
        work.deepest[0] = max(work.deepest[0], level)
    return out


@summing
def sum_of_polynomial(left: Array, right: Array, coefficients: Array, degree: int) -> float:
    """sum over both cells of sum_m coefficients[m] (u_B - u_A)^m, from their moments."""
    total = 0.0
    for m in range(degree + 1):
        part = 0.0
        for k in range(m + 1):
            part += SIGNED_BINOMIALS[m, k] * left[k] * right[m - k]
        total += coefficients[m] * part
    return total


@summing
def sum_of_pairs(c: Array, a0: int, a1: int, b0: int, b1: int, p: float, unit: float) -> float:
    """The same pair by pair: of two runs, or inside one (a0 == b0)."""
    total = 0.0
    for j in range(b0, b1):
        part = 0.0
        for i in range(a0, min(a1, j)):
            part += real_power((c[j] - c[i]) * unit, p)
        total += part
    return total


@summing
def _spread(c: Array, p: float, unit: float) -> float:
    """sum_i (|c_i - mean| unit)^p."""
    mean = 0.0
    for i in range(len(c)):
        mean += c[i]
    mean /= len(c)
    total = 0.0
    for i in range(len(c)):
        total += real_power(abs(c[i] - mean) * unit, p)
    return total


@exact
def lower_bound(c: Array, p: float, unit: float) -> float:
    """A bound of sum_{i<j} ((c_j - c_i) unit)^p from below: by Jensen about the mean, by bins, and by the range."""
    n = len(c)
    bins = 64
    counts = np.zeros(bins)
    start = 0
    for b in range(bins):
        end = n if b == bins - 1 else first_at_least(c, start, n, c[0] + (c[-1] - c[0]) * ((b + 1) / bins))
        counts[b] = end - start
        start = end
    binned = 0.0
    for apart in range(2, bins):
        pairs = 0.0
        for b in range(bins - apart):
            pairs += counts[b] * counts[b + apart]
        binned += pairs * ((apart - 1) / bins) ** p
    return max(1.0, max(0.5 * n * _spread(c, p, unit), binned))
