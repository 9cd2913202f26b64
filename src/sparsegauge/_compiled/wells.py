"""Reweighted least squares with two wells: the majoriser of S_p, step by step. `recovery/reweighted.py` explains it."""

from __future__ import annotations

import math

import numpy as np

from .dense import (
    AlignedMatrix,
    factor_with_jitter,
    multiply_halves,
    multiply_vector,
    scale_rows,
    solve_lower,
    solve_upper,
)
from .kernel_tolerances import SMALLEST_SUM
from .lanes import LANES, add_row, dot, fill, join_lanes, total_of
from .powers import exp, log, real_power, sum_real_powers
from .vocabulary import Array, Lanes, Matrix, Values, entry, kernel, record

HALVINGS = 21
STEPS_PER_STAGE = 10
FULL_WELL_FROM = 1.5  # the well at the common level is used between these orders, ...
FULL_WELL_TO = 4.0
NO_WELL_FROM = 6.0  # ... fades towards order 1 and up to this one, and is left out beyond
FIRST_WIDTH = 4.0  # eps_0 in units of the mean square of the start
SETTLED = 0.03
PENALTY = 10.0  # on the wrong side of zero, of the one-sided form
LARGEST_EVEN_SLOPE = 16  # the highest even order whose slopes are computed from power sums


@record
class SlopesRoom:
    """Working memory of `slopes` and `weigh`, for n coefficients."""

    c: Array
    w: Array
    unit_c: Array
    shifted: Array
    power: Array
    raised: Array
    sums: Array
    coefficients: Array

    def __init__(self, n: int) -> None:
        self.c, self.w, self.unit_c, self.shifted, self.power, self.raised = np.empty((6, n))
        self.sums, self.coefficients = np.empty((2, LARGEST_EVEN_SLOPE))


@record
class Wells:
    """The options of `GDSReweighted`, under the same names: order p, floor, well, sharpness, exponent r and side."""

    order: float
    floor: float
    well: float
    sharpness: float
    exponent: float
    side: float

    def __init__(self, order: float, floor: float, well: float, sharpness: float, exponent: float, side: float) -> None:
        self.order, self.floor, self.well = order, floor, well
        self.sharpness, self.exponent, self.side = sharpness, exponent, side


@record
class DescentRoom:
    """The columns of A (m x n), followed by zeros as `dense.py` wants them, and working memory of a descent."""

    columns: Matrix
    scaled: Matrix
    gram: Matrix
    factor: Matrix
    inverse: Array
    weight: Array
    target: Array
    previous: Array
    fitted: Array
    left: Array
    dual: Array
    power: Array

    def __init__(self, A: Matrix) -> None:
        m, n = A.shape
        columns = np.asarray(AlignedMatrix(n, m).values)
        columns[:, :m] = A.T
        width = columns.shape[1]
        self.columns = columns
        self.scaled = AlignedMatrix(n, m).values
        self.gram = AlignedMatrix(width, m).values
        self.factor = AlignedMatrix(width, m).values
        self.inverse, self.weight, self.target, self.previous, self.fitted = np.empty((5, n))
        self.left, self.dual, self.power = np.empty((3, m))


@entry
def slopes(c: Values, p: float, w: Array, room: SlopesRoom) -> None:
    """Write w = -d log S_p / dc at magnitudes c, in units of its largest."""
    n = len(c)
    top = 0.0
    for i in range(n):
        top = max(top, c[i])
    largest = 0.0
    if top > 0.0:
        order = int(p) if p <= LARGEST_EVEN_SLOPE else 1
        if order == p and order & 1 == 0:
            write_even_slopes(c, 1.0 / top, order, w, room)
        else:
            write_pair_slopes(c, 1.0 / top, p, w, room)
        for i in range(n):
            largest = max(largest, w[i])
    if largest > 0.0:
        for i in range(n):
            w[i] /= largest
    else:
        fill(w, 0, n, 1.0)


@kernel
def write_even_slopes(c: Values, unit: float, p: int, w: Array, room: SlopesRoom) -> None:
    """Write the slopes by power sums about the mean: sum_i (u - u_i)^(p-1) is a polynomial in u."""
    n = len(c)
    mean = total_of(c, 0, n) * unit / n
    for i in range(n):
        room.unit_c[i] = c[i] * unit
        room.shifted[i] = room.unit_c[i] - mean
        room.power[i] = 1.0
        room.raised[i] = room.unit_c[i]
    for k in range(p):
        room.sums[k] = total_of(room.power, 0, n)
        multiply_all(room.power, room.shifted, n)
    for _ in range(p - 2):
        multiply_all(room.raised, room.unit_c, n)
    denominator = dot(room.raised, room.unit_c, n)
    binomial = 1.0
    for k in range(p):
        sign = 1.0 - 2.0 * (k & 1)
        room.coefficients[p - 1 - k] = sign * binomial * room.sums[k]
        binomial = binomial * (p - 1 - k) / (k + 1)
    fill(w, 0, n, room.coefficients[p - 1])
    for k in range(p - 2, -1, -1):
        next_horner(w, room.shifted, room.coefficients[k], n)
    numerator = dot(w, room.shifted, n)  # sum_ij (u_i - u_j)^p = 2 sum_i u_i sum_j (u_i - u_j)^(p-1)
    subtract_slopes(room.raised, denominator, max(numerator, SMALLEST_SUM), w, n)


@kernel
def multiply_all(x: Array, y: Values, n: int) -> None:
    """Multiply x[:n] by y[:n]."""
    for i in range(n):
        x[i] *= y[i]


@kernel
def next_horner(value: Array, u: Values, coefficient: float, n: int) -> None:
    """Replace value by value * u + coefficient."""
    for i in range(n):
        value[i] = value[i] * u[i] + coefficient


@kernel
def subtract_slopes(raised: Values, denominator: float, numerator: float, w: Array, n: int) -> None:
    """Replace w, the slope of the numerator of S_p, by that of -log S_p; `raised` is c^(p-1)."""
    for i in range(n):
        w[i] = raised[i] / denominator - w[i] / numerator


@kernel
def write_pair_slopes(c: Values, unit: float, p: float, w: Array, room: SlopesRoom) -> None:
    """Write the slopes pair by pair, at any real order."""
    n = len(c)
    fill(w, 0, n, 0.0)
    numerator = 0.0
    for i in range(n):
        room.unit_c[i] = c[i] * unit
        total, square = add_pair_slopes(room.unit_c, i, p - 1.0, w)
        w[i] += total
        numerator += square
    raise_all(room.unit_c, p - 1.0, room.raised, n)
    denominator = sum_real_powers(c, 0, n, p, unit)
    subtract_slopes(room.raised, denominator, max(numerator, SMALLEST_SUM), w, n)


@kernel
def add_pair_slopes(c: Values, i: int, power: float, w: Array) -> tuple[float, float]:
    """Take the slopes s_j = sign(d) |d|^power, d = c_i - c_j, from w_j for all j < i; return sum s_j and sum s_j d."""
    slope_lane: Lanes = [0.0] * LANES
    product_lane: Lanes = [0.0] * LANES
    slope_rest = 0.0
    product_rest = 0.0
    own = c[i]
    j = 0
    while j + LANES <= i:
        for k in range(LANES):
            d = own - c[j + k]
            slope = math.copysign(real_power(abs(d), power), d)
            slope = slope if d != 0.0 else 0.0
            w[j + k] -= slope
            slope_lane[k] += slope
            product_lane[k] += slope * d
        j += LANES
    while j < i:
        d = own - c[j]
        slope = math.copysign(real_power(abs(d), power), d)
        slope = slope if d != 0.0 else 0.0
        w[j] -= slope
        slope_rest += slope
        product_rest += slope * d
        j += 1
    return join_lanes(slope_lane) + slope_rest, join_lanes(product_lane) + product_rest


@kernel
def raise_all(x: Values, p: float, out: Array, n: int) -> None:
    """Write x^p for x in [0, 1]."""
    for i in range(n):
        out[i] = real_power(x[i], p)


@entry
def weigh(x: Values, eps: float, wells: Wells, jitter: Values, room: SlopesRoom, weight: Array, target: Array) -> None:
    """Write weights and targets at x: a well at zero (h0), and where S_p would grow with c one at the common level."""
    n = len(x)
    side = wells.side
    top = 0.0
    for i in range(n):
        room.c[i] = abs(x[i]) if side == 0.0 else max(side * x[i], 0.0)
        top = max(top, room.c[i])
    slopes(room.c, wells.order, room.w, room)
    p = wells.order
    level = 0.0
    if top > 0.0:
        level = top * sum_real_powers(room.c, 0, n, p, 1.0 / top) / sum_real_powers(room.c, 0, n, p - 1.0, 1.0 / top)
    unit = 1.0 / level if level > 0.0 else 1.0
    weigh_zero(x, eps, wells.floor, unit, wells.exponent - 1.0, jitter, room.w, weight, n)
    well = wells.well * share_of_well(p)
    if well > 0.0:
        weigh_level(room.c, eps, well, wells.sharpness, level, room.w, target, n)
    else:
        fill(target, 0, n, 0.0)
    for i in range(n):
        h0 = weight[i] * (PENALTY if side * x[i] < 0.0 else 1.0)
        h1 = 0.0 if side * x[i] < 0.0 else target[i]
        weight[i] = h0 + h1
        target[i] = h1 * math.copysign(level, side if side != 0.0 else x[i]) / (h0 + h1)


@kernel
def share_of_well(p: float) -> float:
    """Return which part of the well is used at the order p; none where it would raise its own level without end."""
    if p < FULL_WELL_FROM:
        return (p - 1.0) / (FULL_WELL_FROM - 1.0)
    return min(max((NO_WELL_FROM - p) / (NO_WELL_FROM - FULL_WELL_TO), 0.0), 1.0)


@kernel
def weigh_zero(
    x: Values, eps: float, floor: float, unit: float, power: float, jitter: Values, w: Values, out: Array, n: int
) -> None:
    """Write h0 = max(w, floor) jitter (e unit)^power / e, e = sqrt(x^2 + eps), for a power in (-1, 0]."""
    if power == 0.0:
        for i in range(n):
            out[i] = (w[i] if w[i] > floor else floor) * jitter[i] / math.sqrt(x[i] * x[i] + eps)
    else:
        for i in range(n):
            e = math.sqrt(x[i] * x[i] + eps)
            y = power * log(e * unit)
            y = y if y < 700.0 else 700.0
            raised = exp(y if y > -700.0 else -700.0)
            out[i] = (w[i] if w[i] > floor else floor) * jitter[i] * raised / e


@kernel
def weigh_level(
    c: Values, eps: float, well: float, sharpness: float, level: float, w: Values, out: Array, n: int
) -> None:
    """Write h1 = well (1 - max(w, 0))^sharpness / sqrt((c - level)^2 + eps)."""
    for i in range(n):
        raised = real_power(1.0 - (w[i] if w[i] > 0.0 else 0.0), sharpness)
        out[i] = well * raised / math.sqrt((c[i] - level) * (c[i] - level) + eps)


@entry
def solve_weighted(room: DescentRoom, b: Values, weight: Values, target: Values, x: Array) -> None:
    """Write x = argmin sum weight (x - target)^2 subject to A x = b, A of full rank.

    x = target + W^-1 A^T u with (A W^-1 A^T) u = b - A target. Where rounding makes that matrix indefinite, the
    least amount that restores it is added to its diagonal, and A x = b holds less exactly; where none does, x is nan.
    """
    m = len(b)
    n = len(weight)
    for j in range(n):
        room.inverse[j] = 1.0 / weight[j]
    scale_rows(room.columns, room.inverse, n, room.scaled)
    multiply_halves(room.scaled, room.columns, n, m, room.gram)
    subtract_image(room.columns, target, b, room.dual)
    if factor_with_jitter(room.gram, 0.0, m, room.factor) < 0.0:
        fill(x, 0, n, math.nan)
        return
    solve_lower(room.factor, m, room.dual)
    solve_upper(room.factor, m, room.dual)
    multiply_vector(room.scaled, n, room.dual, m, x)
    for j in range(n):
        x[j] += target[j]


@kernel
def subtract_image(columns: Matrix, x: Values, y: Values, out: Array) -> None:
    """Write y - A x."""
    m = len(y)
    for i in range(m):
        out[i] = y[i]
    for j in range(len(x)):
        if x[j] != 0.0:
            add_row(columns, j, -x[j], m, out)


@kernel
def copy_values(x: Values, out: Array) -> None:
    """Write x into out."""
    for i in range(len(x)):
        out[i] = x[i]


@kernel
def has_settled(x: Values, previous: Values, limit: float) -> bool:
    """Return whether |x - previous|^2 < limit |x|^2."""
    moved = 0.0
    size = 0.0
    for i in range(len(x)):
        moved += (x[i] - previous[i]) * (x[i] - previous[i])
        size += x[i] * x[i]
    return moved < limit * size


@entry
def descend(
    room: DescentRoom, slopes_room: SlopesRoom, b: Values, wells: Wells, jitter: Values, eps: float, settled: float,
    steps: int, x: Array,
) -> int:  # fmt: skip
    """Take steps with wells of the width eps until x settles, at most `steps`; return how many. x is changed in place.

    It has settled when a step changes it by less than `settled` of |x|.
    """
    solves = 0
    for _ in range(steps):
        copy_values(x, room.previous)
        weigh(x, eps, wells, jitter, slopes_room, room.weight, room.target)
        solve_weighted(room, b, room.weight, room.target, x)
        solves += 1
        if has_settled(x, room.previous, settled * settled):
            break
    return solves
