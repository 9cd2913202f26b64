"""d num_p / d c_k = p (sum_{i<k} (c_k - c_i)^(p-1) - sum_{j>k} (c_j - c_k)^(p-1)), for every k of a sorted row.

The slopes here are the bracket, without p. Integer orders run the positive recurrence of `integer` from both ends; real
orders use the tree of `tree`, where a polynomial of the distance becomes a polynomial of the point's own place.
"""

from __future__ import annotations

from .kernel_tolerances import REAL_ORDER_BUDGET, SMALLEST_ROOT
from .powers import (
    FIVE_HALVES,
    HALF,
    REAL,
    SEVEN_HALVES,
    THREE_HALVES,
    power_kind,
    power_of,
    real_power,
    sum_distances,
    sum_real_powers,
)
from .tree import (
    BUFFER,
    OFFSETS,
    PAIRS,
    POLYNOMIAL,
    Workspace,
    forget_cells,
    load_points,
    middle_coordinates,
    next_step,
    opening_jobs,
    recall_moments,
)
from .vocabulary import Array, IndexTable, Matrix, Values, entry, inlined, kernel

SHORT_SLOPES = 192  # up to this length every pair is added up, if that takes logarithms
SHORT_ROOT_SLOPES = 512  # the same with square roots


@kernel
def rank_slopes(c: Values, first: int, last: int, out: Array) -> None:
    """Order 1: write how many are smaller less how many are larger; ties count for neither (a subgradient)."""
    start = first
    while start < last:
        end = start
        while end < last and c[end] == c[start]:
            end += 1
        for i in range(start, end):
            out[i - first] = (start - first) - (last - end)
        start = end


@entry
def mirror(c: Values, first: int, last: int, unit: float, out: Array) -> None:
    """Write -c/unit in ascending order: the sums to the right of c are the sums to the left of it."""
    for k in range(last - first):
        out[k] = -c[last - 1 - k] / unit


@entry
def in_units(c: Values, first: int, last: int, unit: float, out: Array) -> None:
    """Write c/unit."""
    for k in range(last - first):
        out[k] = c[first + k] / unit


@entry
def subtract_mirrored(left: Array, right: Array, n: int) -> None:
    """Take the left sums of the mirror image from those of c: the slopes, in place of `left`."""
    for k in range(n):
        left[k] -= right[n - 1 - k]


@inlined
def add_pair_slopes_of(
    c: Values, a0: int, a1: int, b0: int, b1: int, q: float, side: float, unit: float, low: int, terms: Matrix,
    out: Array, kind: int,
) -> None:  # fmt: skip
    """Add to out[k - low] what the pairs of two runs, or inside one (a0 == b0), give to the slopes; a literal kind."""
    for j in range(b0, b1):
        point = c[j]
        start = a0
        end = min(a1, j)
        while start < end:
            n = min(BUFFER, end - start)
            for i in range(n):
                terms[1, i] = power_of((point - c[start + i]) * unit, q, kind)
            for i in range(n):
                out[start + i - low] += side * terms[1, i]
            part = 0.0
            for i in range(n):
                part += terms[1, i]
            out[j - low] += part
            start += n


@kernel
def add_pair_slopes(
    c: Values, a0: int, a1: int, b0: int, b1: int, q: float, side: float, unit: float, low: int, terms: Matrix,
    out: Array, kind: int,
) -> None:  # fmt: skip
    """Add to out[k - low] what the pairs of two runs, or inside one (a0 == b0), give to the slopes."""
    if kind == HALF:
        add_pair_slopes_of(c, a0, a1, b0, b1, q, side, unit, low, terms, out, HALF)
    elif kind == THREE_HALVES:
        add_pair_slopes_of(c, a0, a1, b0, b1, q, side, unit, low, terms, out, THREE_HALVES)
    elif kind == FIVE_HALVES:
        add_pair_slopes_of(c, a0, a1, b0, b1, q, side, unit, low, terms, out, FIVE_HALVES)
    elif kind == SEVEN_HALVES:
        add_pair_slopes_of(c, a0, a1, b0, b1, q, side, unit, low, terms, out, SEVEN_HALVES)
    else:
        add_pair_slopes_of(c, a0, a1, b0, b1, q, side, unit, low, terms, out, REAL)


@kernel
def see_from(work: Workspace, level: int, slot: int, row: int, degree: int, left: bool) -> None:
    """Write into work.local the polynomial in u of a target cell to the right (or left) of the source in `slot`."""
    for k in range(degree + 1):
        value = 0.0
        for m in range(k, degree + 1):
            # (u_B - u_A)^m holds (-1)^(m-k) C(m, k) u_B^k u_A^(m-k)
            sign = work.signed_binomials[m, k] if left else work.signed_binomials[m, m - k]
            value += work.tables[row, degree, m] * sign * work.memory[level, slot, m - k]
        work.local[k] = value


@kernel
def add_polynomial(
    work: Workspace, c: Values, first: int, last: int, cell: int, level: int, degree: int, scale: float, low: int,
    out: Array,
) -> None:  # fmt: skip
    """Add scale times the polynomial in work.local at the points c[first:last] of a cell."""
    for start in range(first, last, BUFFER):
        n = min(BUFFER, last - start)
        middle_coordinates(c, start, start + n, cell, level, work.room)
        evaluate(work.room, work.local, degree, n)
        for i in range(n):
            out[start + i - low] += scale * work.room[1, i]


@kernel
def evaluate(room: Matrix, polynomial: Array, degree: int, n: int) -> None:
    """Write the polynomial at room[0] into room[1], by Horner's scheme."""
    for i in range(n):
        room[1, i] = polynomial[degree]
    k = degree - 1
    while k > 0:  # two steps at a time, to save half of the traffic
        high, low = polynomial[k], polynomial[k - 1]
        for i in range(n):
            u = room[0, i]
            room[1, i] = (room[1, i] * u + high) * u + low
        k -= 2
    if k == 0:
        low = polynomial[0]
        for i in range(n):
            room[1, i] = room[1, i] * room[0, i] + low


@entry
def add_job_slopes(
    work: Workspace, c: Values, q: float, side: float, unit: float, budget: float, jobs: IndexTable, first: int,
    last: int, low: int, out: Array,
) -> None:  # fmt: skip
    """Add to out[k - low] what the interactions jobs[first:last] give to the slope at c_k.

    `side` is the sign of what lies to the right: -1 for slopes, 1 for the sum of all distances to the power q.
    """
    forget_cells(work)
    kind = power_kind(q)
    for opening in range(first, last):
        for k in range(7):
            work.stack[0, k] = jobs[opening, k]
        top = 1
        while top > 0:
            here = top - 1
            a0, a1, b0, b1 = work.stack[here, 0], work.stack[here, 1], work.stack[here, 2], work.stack[here, 3]
            a, b, level = work.stack[here, 4], work.stack[here, 5], work.stack[here, 6]
            action, degree, scale, top = next_step(work, c, q, kind, side < 0.0, unit, budget, top)
            if action == PAIRS:
                add_pair_slopes(c, a0, a1, b0, b1, q, side, unit, low, work.room, out, kind)
            elif action == POLYNOMIAL:
                row = (b - a) % OFFSETS
                slot = recall_moments(work, c, a0, a1, a, level, degree)
                see_from(work, level, slot, row, degree, False)
                add_polynomial(work, c, b0, b1, b, level, degree, scale, low, out)
                if a != b:
                    slot = recall_moments(work, c, b0, b1, b, level, degree)
                    see_from(work, level, slot, row, degree, True)
                    add_polynomial(work, c, a0, a1, a, level, degree, side * scale, low, out)


@entry
def slopes_budget(c: Values, n: int, q: float, unit: float) -> float:
    """Return what an interaction may cost in error at a point: a share of the slopes at the ends, where nothing cancels."""
    kind = power_kind(q)
    ends = max(sum_distances(c, 0, n, c[0], unit, q, kind), sum_distances(c, 0, n, c[n - 1], unit, q, kind))
    return REAL_ORDER_BUDGET * ends / 16


@kernel
def real_slopes(work: Workspace, c: Values, first: int, last: int, q: float, points: Array, out: Array) -> float:
    """Write out[k] = sum_{i<k} d^q - sum_{j>k} d^q for a real q > 0, with d in units of the returned number.

    `points` has room for the row and LANES more.
    """
    n = last - first
    for k in range(n):
        out[k] = 0.0
    width = c[last - 1] - c[first]
    if width == 0.0:
        return 1.0
    load_points(c, first, last, points)
    unit = 1.0 / width
    kind = power_kind(q)
    if n <= (SHORT_SLOPES if kind == REAL else SHORT_ROOT_SLOPES):
        add_pair_slopes(points, 0, n, 0, n, q, -1.0, unit, 0, work.room, out, kind)
    else:
        count = opening_jobs(points, n, work.edges, work.jobs)
        budget = slopes_budget(points, n, q, unit)
        add_job_slopes(work, points, q, -1.0, unit, budget, work.jobs, 0, count, 0, out)
    return width


@entry
def assemble_slopes(
    c: Values, first: int, last: int, p: float, length: int, numerator: float, unit: float, slope: Array, once: float,
    twice: float, out: Array,
) -> None:  # fmt: skip
    """Write dS_p/dc_k into out[first:last] for the non-zeros of a signal of `length`: once * twice times the caller's.

    Zeros factor out, S_p = z/N + (n/N) S_p(c), so with m = max c, den = sum (c/m)^p and `numerator` in units of unit^p
    dS_p/dc_k = p / (m N den) (unit/m)^(p-1) (slope_k - (unit/m) numerator / den (c_k/m)^(p-1)).
    """
    top = c[last - 1]
    denominator = sum_real_powers(c, first, last, p, 1.0 / top)
    root = (unit / top) ** ((p - 1.0) / 2.0)
    late = 1.0
    if root < SMALLEST_ROOT:  # its square may underflow, and the caller's scale may bring it back
        late = root
    factor = p / (top * length * denominator) * root * (root / late if late > 0.0 else 1.0)
    share = unit / top * (numerator / denominator)
    inverse = 1.0 / top
    if p == 1.0:
        for k in range(first, last):
            out[k] = factor * (slope[k - first] - share) * once * twice * late
    elif p == 2.0:
        for k in range(first, last):
            out[k] = factor * (slope[k - first] - share * (c[k] * inverse)) * once * twice * late
    else:
        for k in range(first, last):
            weight = real_power(c[k] * inverse, p - 1.0)
            out[k] = factor * (slope[k - first] - share * weight) * once * twice * late
