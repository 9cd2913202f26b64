"""d num_p / d c_k = p (sum_{i<k} (c_k - c_i)^(p-1) - sum_{j>k} (c_j - c_k)^(p-1)), for every k of a sorted row.

The slopes here are the bracket, without p. Integer orders run the positive recurrence of `integer` from both ends; real
orders use the tree of `tree`, where a polynomial of the distance becomes a polynomial of the point's own place.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from . import integer
from .jit import exact, summing
from .polynomials import DEGREE, SIGNED_BINOMIALS
from .powers import real_power, sum_real_powers
from .real import SHORT, TOLERANCE
from .tree import (
    BUFFER,
    PAIRS,
    POLYNOMIAL,
    ROWS,
    Workspace,
    forget_cells,
    middle_coordinates,
    next_step,
    opening_jobs,
    remembered,
    shifted,
    unpacked,
)


@exact
def rank_slopes(c: Array, out: Array) -> None:
    """Order 1: how many are smaller less how many are larger; ties count for neither (a subgradient)."""
    n = len(c)
    start = 0
    while start < n:
        end = start
        while end < n and c[end] == c[start]:
            end += 1
        out[start:end] = start - (n - end)
        start = end


@exact
def mirrored(c: Array) -> Array:
    """-c in ascending order: the sums to the right of c are the sums to the left of it."""
    out = np.empty(len(c))
    for k in range(len(c)):
        out[k] = -c[len(c) - 1 - k]
    return out


@exact
def left_less_right(left: Array, right: Array, out: Array) -> None:
    """The slopes from the left sums of c and those of its mirror image."""
    for k in range(len(left)):
        out[k] = left[k] - right[len(left) - 1 - k]


@summing
def _add_pairs(c: Array, a0: int, a1: int, b0: int, b1: int, q: float, unit: float, low: int, out: Array) -> None:
    for j in range(b0, b1):
        part = 0.0
        for i in range(a0, min(a1, j)):
            term = real_power((c[j] - c[i]) * unit, q)
            part += term
            out[i - low] -= term
        out[j - low] += part


@exact
def _as_seen_from(source: Array, coefficients: Array, degree: int, left: bool, out: Array) -> None:
    """out[k]: the polynomial in u of a target cell to the right (or left) of the source, from the source's moments."""
    for k in range(degree + 1):
        out[k] = 0.0
        for m in range(k, degree + 1):
            # (u_B - u_A)^m holds (-1)^(m-k) C(m, k) u_B^k u_A^(m-k)
            sign = SIGNED_BINOMIALS[m, m - k] if not left else SIGNED_BINOMIALS[m, k]
            out[k] += coefficients[m] * sign * source[m - k]


@summing
def _add_polynomial(u: Array, polynomial: Array, degree: int, scale: float, value: Array, out: Array) -> None:
    n = len(out)
    for i in range(n):
        value[i] = polynomial[degree]
    for k in range(degree - 1, -1, -1):
        for i in range(n):
            value[i] = value[i] * u[i] + polynomial[k]
    for i in range(n):
        out[i] += scale * value[i]


@exact
def _evaluate(
    c: Array, cell: int, level: int, polynomial: Array, degree: int, scale: float, room: Array, out: Array
) -> None:
    for start in range(0, len(c), BUFFER):
        part = c[start : start + BUFFER]
        middle_coordinates(part, cell, level, room[0])
        _add_polynomial(room[0], polynomial, degree, scale, room[1], out[start : start + BUFFER])


@exact
def add_jobs(
    work: Workspace, c: Array, q: float, unit: float, budget: float, jobs: Indices, low: int, out: Array
) -> None:
    """Add to out[k - low] what the interactions in `jobs` give to the slope at c_k."""
    forget_cells(work)
    polynomial = np.empty(DEGREE + 1)
    for opening in range(len(jobs)):
        work.stack[0] = jobs[opening]
        top = 1
        while top > 0:
            action, degree, scale, top = next_step(work, c, q, True, unit, budget, top)
            a0, a1, b0, b1, a, b, level = unpacked(work.job)
            if action == PAIRS:
                _add_pairs(c, a0, a1, b0, b1, q, unit, low, out)
            elif action == POLYNOMIAL:
                table = work.tables[(b - a) % ROWS, degree]
                source = remembered(work, c, a0, a1, a, level, degree)
                _as_seen_from(source, table, degree, False, polynomial)
                _evaluate(c[b0:b1], b, level, polynomial, degree, scale, work.room, out[b0 - low : b1 - low])
                if a != b:
                    source = remembered(work, c, b0, b1, b, level, degree)
                    _as_seen_from(source, table, degree, True, polynomial)
                    _evaluate(c[a0:a1], a, level, polynomial, degree, -scale, work.room, out[a0 - low : a1 - low])


@summing
def _sum_from(c: Array, origin: float, q: float, unit: float) -> float:
    total = 0.0
    for i in range(len(c)):
        total += real_power(abs(c[i] - origin) * unit, q)
    return total


@exact
def budget_for(c: Array, q: float, unit: float) -> float:
    """What one interaction may cost in error at a point: a share of the slopes at the ends, where nothing cancels."""
    return TOLERANCE * max(_sum_from(c, c[0], q, unit), _sum_from(c, c[-1], q, unit)) / 16


@exact
def integer_slopes(c: Array, binomials: Array, out: Array) -> float:
    """out[k] = sum_{i<k} d^q - sum_{j>k} d^q, q = len(binomials) - 1, with d in units of the returned number."""
    unit = math.ldexp(1.0, integer.range_exponent(c))
    right = np.empty(len(c))
    integer.left_sums(c / unit, binomials, out)
    integer.left_sums(mirrored(c / unit), binomials, right)
    left_less_right(out, right, out)
    return unit


@exact
def real_slopes(work: Workspace, c: Array, q: float, out: Array) -> float:
    """The same for a real q > 0; a row of up to SHORT needs no workspace."""
    out[:] = 0.0
    width = c[-1] - c[0]
    if width == 0.0:
        return 1.0
    c = shifted(c)
    unit = 1.0 / width
    if len(c) <= SHORT:
        _add_pairs(c, 0, len(c), 0, len(c), q, unit, 0, out)
    else:
        add_jobs(work, c, q, unit, budget_for(c, q, unit), opening_jobs(c), 0, out)
    return width


@exact
def assemble(
    c: Array, p: float, length: int, numerator: float, unit: float, slope: Array, scale: tuple[float, float], out: Array
) -> None:
    """dS_p/dc_k of the non-zero coefficients c of a signal of `length`, which are `scale` times the caller's.

    Zeros factor out, S_p = z/N + (n/N) S_p(c), so with m = max c, den = sum (c/m)^p and `numerator` in units of unit^p
    dS_p/dc_k = p / (m N den) (unit/m)^(p-1) (slope_k - (unit/m) numerator / den (c_k/m)^(p-1)).
    """
    top = c[-1]
    denominator = sum_real_powers(c, p, 1.0 / top)
    root = (unit / top) ** ((p - 1.0) / 2.0)
    late = 1.0
    if root < 1e-150:  # its square may underflow, and the caller's scale may bring it back
        late = root
    factor = p / (top * length * denominator) * root * (root / late if late > 0.0 else 1.0)
    share = unit / top * (numerator / denominator)
    for k in range(len(c)):
        weight = real_power(c[k] / top, p - 1.0) if p > 1.0 else 1.0
        slope_here = factor * (slope[k] - share * weight)
        out[k] = slope_here * scale[0] * scale[1] * late
