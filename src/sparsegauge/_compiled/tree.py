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

import numpy as np

from .bits import ldexp
from .kernel_tolerances import POLYNOMIAL_ROUNDING
from .lanes import LANES, next_power_sum, total_of
from .polynomials import CHEBYSHEV_NODES, DEGREE, expand
from .powers import REAL, power_kind, real_power, sum_distances
from .vocabulary import Array, Cube, IndexTable, Indices, Matrix, Values, entry, kernel, record

LEVELS = 1000  # down to 2^-999 of the maximum
SLOTS = 64  # moments remembered per level
OFFSETS = 512  # offsets whose polynomials are remembered
FEW_PAIRS = 64  # added up one by one; with square roots, which are cheap, more
FEW_ROOTS = 256
JOB = 7  # an interaction: its two runs of points, their cells and their level
BUFFER = 512
BINS = 64
LARGEST_OPENING = 66  # occupied cells at the first level

SETTLED, PAIRS, POLYNOMIAL = 0, 1, 2


@record
class Workspace:
    """What a walk through the tree remembers: polynomials by offset, moments by level and cell, and what is to do."""

    nodes: Matrix
    to_coefficients: Matrix
    in_powers: Matrix
    signed_binomials: Matrix
    series: Matrix
    owners: Indices  # the offset in each row of errors and tables
    errors: Matrix
    tables: Cube
    cells: IndexTable  # the cell in each slot of memory
    degrees: IndexTable
    memory: Cube
    copy: Array
    local: Array
    room: Matrix
    stack: IndexTable
    jobs: IndexTable
    edges: IndexTable
    counts: Array
    deepest: int  # the deepest level in memory

    def __init__(self, tables, levels=LEVELS):  # type: ignore[no-untyped-def]
        """Remember nothing; `tables` are those of `chebyshev`. No levels where no tree is needed."""
        offsets = OFFSETS if levels else 0
        self.nodes, self.to_coefficients, self.in_powers, self.signed_binomials = tables
        self.series = np.empty((2, CHEBYSHEV_NODES))
        self.owners = np.full(offsets, -1)
        self.errors = np.empty((offsets, DEGREE + 1))
        self.tables = np.empty((offsets * (DEGREE + 1), DEGREE + 1, 1)).reshape(offsets, DEGREE + 1, DEGREE + 1)
        self.cells = np.full((levels, SLOTS), -1)
        self.degrees = np.empty((levels, SLOTS), np.int64)
        self.memory = np.empty((levels, SLOTS, DEGREE + 1))
        self.copy = np.empty(DEGREE + 1)
        self.local = np.empty(DEGREE + 1)
        self.room = np.empty((2, BUFFER))
        self.stack = np.empty((4 * levels, JOB), np.int64)
        self.jobs = np.empty((LARGEST_OPENING * (LARGEST_OPENING + 1) // 2 if levels else 0, JOB), np.int64)
        self.edges = np.empty((LARGEST_OPENING, 3), np.int64)
        self.counts = np.empty(BINS)
        self.deepest = 0


@kernel
def forget_cells(work: Workspace) -> None:
    """Prepare for another row: its order and so its polynomials stay, its moments do not."""
    for level in range(work.deepest + 1):
        for slot in range(SLOTS):
            work.cells[level, slot] = -1
    work.deepest = 0


@kernel
def near_offset(p: float) -> int:
    """Return the offset from which on ((o + 1) / o)^p is moderate, so that a polynomial does not cancel."""
    return int(max(2.0, math.ceil(min(p / 4, 1e18))))


@kernel
def first_at_least(c: Values, low: int, high: int, value: float) -> int:
    """Return the first index in low..high with c >= value."""
    while low < high:
        middle = (low + high) >> 1
        if c[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def first_in_cell(c: Values, low: int, high: int, cell: int, level: int) -> int:
    """Return the first index in low..high whose point lies in `cell` or above: an edge may not be a float64."""
    scale = ldexp(1.0, level)
    while low < high:
        middle = (low + high) >> 1
        if int(c[middle] * scale) < cell:
            low = middle + 1
        else:
            high = middle
    return low


@entry
def load_points(c: Values, first: int, last: int, points: Array) -> None:
    """Copy c[first:last], with infinities after it; less its minimum where that is exact (Sterbenz).

    Then the cells of nearly equal points have small numbers.
    """
    origin = c[first] if 2.0 * c[first] >= c[last - 1] else 0.0
    for i in range(last - first):
        points[i] = c[first + i] - origin
    for i in range(last - first, last - first + LANES):
        points[i] = math.inf


@kernel
def push_job(jobs: IndexTable, top: int, a0: int, a1: int, b0: int, b1: int, a: int, b: int, level: int) -> int:
    """Put an interaction on top unless one of its runs is empty; return the new top."""
    if a0 == a1 or b0 == b1:
        return top
    jobs[top, 0], jobs[top, 1], jobs[top, 2], jobs[top, 3] = a0, a1, b0, b1
    jobs[top, 4], jobs[top, 5], jobs[top, 6] = a, b, level
    return top + 1


@kernel
def split_job(c: Values, stack: IndexTable, top: int) -> int:
    """Replace the interaction at `top` by those of the halves, the leftmost on top, so that moments are still remembered."""
    a0, a1, b0, b1 = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
    a, b, level = 2 * stack[top, 4], 2 * stack[top, 5], stack[top, 6] + 1
    am = first_in_cell(c, a0, a1, a + 1, level)
    if a == b:
        top = push_job(stack, top, am, a1, am, a1, a + 1, a + 1, level)
        top = push_job(stack, top, a0, am, am, a1, a, a + 1, level)
        return push_job(stack, top, a0, am, a0, am, a, a, level)
    bm = first_in_cell(c, b0, b1, b + 1, level)
    top = push_job(stack, top, am, a1, bm, b1, a + 1, b + 1, level)
    top = push_job(stack, top, am, a1, b0, bm, a + 1, b, level)
    top = push_job(stack, top, a0, am, bm, b1, a, b + 1, level)
    return push_job(stack, top, a0, am, b0, bm, a, b, level)


@entry
def opening_jobs(c: Values, n: int, edges: IndexTable, jobs: IndexTable) -> int:
    """Write all pairs of points as interactions of the cells that hold them at the first level; return their number.

    Wide cells would need high degrees for all of their points.
    """
    cells = 64 if n >= 8192 else 16
    level = 0
    while ldexp(c[n - 1] - c[0], level) < cells / 2:
        level += 1
    count = 0
    start = 0
    while start < n:
        cell = int(ldexp(c[start], level))
        end = first_in_cell(c, start, n, cell + 1, level)
        edges[count, 0], edges[count, 1], edges[count, 2] = start, end, cell
        count += 1
        start = end
    top = 0
    for i in range(count):
        for j in range(i, count):
            top = push_job(
                jobs, top, edges[i, 0], edges[i, 1], edges[j, 0], edges[j, 1], edges[i, 2], edges[j, 2], level
            )
    return top


@kernel
def degree_for(work: Workspace, offset: int, p: float, odd: bool, allowed: float, deepest: bool) -> int:
    """Return the lowest degree whose error is allowed, or -1: split. The deepest level takes what there is."""
    careful = offset < near_offset(p)
    if careful and allowed < POLYNOMIAL_ROUNDING and not deepest:
        return -1
    row = offset % OFFSETS
    if work.owners[row] != offset:
        expand(
            offset, p, odd, work.nodes, work.to_coefficients, work.in_powers, work.series, work.errors[row],
            work.tables[row],
        )  # fmt: skip
        work.owners[row] = offset
    degree = 0
    while degree < DEGREE and work.errors[row, degree] > allowed:
        degree += 1
    if careful and work.errors[row, degree] > allowed and not deepest:
        return -1
    return degree


@kernel
def next_step(
    work: Workspace, c: Values, p: float, kind: int, odd: bool, unit: float, budget: float, top: int
) -> tuple[int, int, float, int]:
    """Take one interaction off the stack, where it still lies: what to do, at which degree and scale, and the new top."""
    top -= 1
    a0, a1, b0, b1 = work.stack[top, 0], work.stack[top, 1], work.stack[top, 2], work.stack[top, 3]
    offset, level = work.stack[top, 5] - work.stack[top, 4], work.stack[top, 6]
    if offset == 0 and c[a0] == c[a1 - 1]:
        return SETTLED, 0, 0.0, top
    few = FEW_PAIRS if kind == REAL else FEW_ROOTS
    if (a1 - a0) * (b1 - b0) <= (2 * few if offset == 0 else few):
        return PAIRS, 0, 0.0, top
    scale = (ldexp(offset + 1.0, -level) * unit) ** p
    allowed = budget / (scale * max(a1 - a0, b1 - b0)) if scale > 0.0 else math.inf
    if allowed >= 1.0:
        return SETTLED, 0, 0.0, top
    degree = degree_for(work, offset, p, odd, allowed, level == LEVELS - 1)
    if degree >= 0:
        return POLYNOMIAL, degree, scale, top
    return SETTLED, 0, 0.0, split_job(c, work.stack, top)


@kernel
def middle_coordinates(c: Values, first: int, last: int, cell: int, level: int, u: Matrix) -> None:
    """Write the places of c[first:last] in their cell, from -1 to 1, into u[0].

    c 2^level - cell is exact; taking off the half cell in the same step would not be.
    """
    scale = ldexp(1.0, level)
    for i in range(last - first):
        u[0, i] = 2.0 * (c[first + i] * scale - cell) - 1.0


@kernel
def write_moments(
    work: Workspace, c: Values, first: int, last: int, cell: int, level: int, degree: int, slot: int
) -> None:
    """Write sum u^k for k = 0..degree over the points c[first:last] of one cell into their place in memory."""
    out = work.memory
    out[level, slot, 0] = last - first
    if c[first] == c[last - 1]:  # equal points, of which a tie may have millions
        middle_coordinates(c, first, first + 1, cell, level, work.room)
        for k in range(1, degree + 1):
            out[level, slot, k] = out[level, slot, k - 1] * work.room[0, 0]
        return
    for k in range(1, degree + 1):
        out[level, slot, k] = 0.0
    for start in range(first, last, BUFFER):
        n = min(BUFFER, last - start)
        middle_coordinates(c, start, start + n, cell, level, work.room)
        for i in range(n):
            work.room[1, i] = 1.0
        for k in range(1, degree + 1):
            out[level, slot, k] += next_power_sum(work.room, n)


@kernel
def recall_moments(work: Workspace, c: Values, low: int, high: int, cell: int, level: int, degree: int) -> int:
    """Return the slot with the moments of the cell that holds c[low:high], computed once while it is remembered."""
    slot = cell % SLOTS
    if work.cells[level, slot] != cell or work.degrees[level, slot] < degree:
        write_moments(work, c, low, high, cell, level, degree, slot)
        work.cells[level, slot] = cell
        work.degrees[level, slot] = degree
        work.deepest = max(work.deepest, level)
    return slot


@kernel
def sum_run_pairs(c: Values, a0: int, a1: int, b0: int, b1: int, p: float, kind: int, unit: float) -> float:
    """Return sum ((c_j - c_i) unit)^p pair by pair: of two runs, or inside one (a0 == b0)."""
    total = 0.0
    for j in range(b0, b1):
        total += sum_distances(c, a0, min(a1, j), c[j], unit, p, kind)
    return total


@entry
def lower_bound(c: Values, n: int, p: float, unit: float, counts: Array) -> float:
    """Return a bound of sum_{i<j} ((c_j - c_i) unit)^p from below: by Jensen about the mean, by bins, and by the range."""
    start = 0
    for b in range(BINS):
        end = n
        if b < BINS - 1:
            end = first_at_least(c, start, n, c[0] + (c[n - 1] - c[0]) * ((b + 1) / BINS))
        counts[b] = end - start
        start = end
    binned = 0.0
    for apart in range(2, BINS):
        pairs = 0.0
        for b in range(BINS - apart):
            pairs += counts[b] * counts[b + apart]
        binned += pairs * real_power((apart - 1) / BINS, p)
    mean = total_of(c, 0, n) / n
    return max(1.0, max(0.5 * n * sum_distances(c, 0, n, mean, unit, p, power_kind(p)), binned))
