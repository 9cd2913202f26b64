"""Linear algebra of small dense systems: the same to the last bit on every processor, without any library's threads.

A matrix A (m x n) is passed as its columns: row j of `columns` is column j of A, followed by zeros up to a multiple of
the eight lanes. Square matrices have as many rows as their rows are long; of symmetric and triangular ones only the
upper half is used. A triangular factor R stands for R^T R. `AlignedMatrix` makes such matrices.
"""

from __future__ import annotations

import math

import numpy as np

from .kernel_tolerances import FIRST_JITTER, LAST_JITTER, PIVOT_ROUNDING
from .lanes import LANES, join_lanes, row_dot, row_times
from .vocabulary import Array, Lanes, Matrix, Values, entry, kernel, record

HALF_TILE = 4  # rows of K that are updated together: so many accumulators fit the registers
PRODUCT_BLOCK = 128  # columns whose products are added up before the next ones are fetched


@record
class AlignedMatrix:
    """A matrix of zeros whose rows begin where cache lines do, and hold at least so many numbers.

    They are an odd number of lines long: then the same places of many rows do not compete for the same part of a cache.
    """

    values: Matrix

    def __init__(self, rows: int, columns: int) -> None:
        width = 8 * ((columns + 7) // 8 | 1)
        memory = np.zeros(rows * width + 8)
        first = -memory.__array_interface__["data"][0] % 64 // 8
        self.values = memory[first : first + rows * width].reshape(rows, width)


@kernel
def add_tile(P: Matrix, Q: Matrix, first: int, last: int, i: int, j: int, sign: float, K: Matrix) -> None:
    """Add sign * sum P[t, i + a] Q[t, j + k] over t in first..last-1 to K[i + a, j + k], for a < 4 and k < 8."""
    sum_0: Lanes = [0.0] * LANES
    sum_1: Lanes = [0.0] * LANES
    sum_2: Lanes = [0.0] * LANES
    sum_3: Lanes = [0.0] * LANES
    for t in range(first, last):
        for k in range(LANES):
            q = Q[t, j + k]
            sum_0[k] += P[t, i] * q
            sum_1[k] += P[t, i + 1] * q
            sum_2[k] += P[t, i + 2] * q
            sum_3[k] += P[t, i + 3] * q
    for k in range(LANES):
        K[i, j + k] += sign * sum_0[k]
        K[i + 1, j + k] += sign * sum_1[k]
        K[i + 2, j + k] += sign * sum_2[k]
        K[i + 3, j + k] += sign * sum_3[k]


@entry
def multiply_halves(P: Matrix, Q: Matrix, count: int, m: int, K: Matrix) -> None:
    """Write the upper half of P^T Q, which is symmetric, into K; P and Q have `count` rows and m columns that count."""
    for i in range(0, m, LANES):
        for a in range(i, i + LANES):
            for j in range(i, K.shape[1]):
                K[a, j] = 0.0
    for start in range(0, count, PRODUCT_BLOCK):
        end = min(start + PRODUCT_BLOCK, count)
        for i in range(0, m, LANES):
            for j in range(i, m, LANES):
                add_tile(P, Q, start, end, i, j, 1.0, K)
                add_tile(P, Q, start, end, i + HALF_TILE, j, 1.0, K)


@entry
def scale_rows(A: Matrix, factors: Values, count: int, out: Matrix) -> None:
    """Write row r of A times factors[r] into `out`, for the first `count` rows."""
    for r in range(count):
        factor = factors[r]
        for j in range(A.shape[1]):
            out[r, j] = factor * A[r, j]


@entry
def factor_cholesky(K: Matrix, ridge: float, m: int, R: Matrix) -> bool:
    """Write the upper triangular R with R^T R = K + ridge I; return False where a pivot is mere rounding."""
    width = R.shape[1]
    for i in range(0, m, LANES):
        for a in range(i, i + LANES):
            for j in range(i, width):
                R[a, j] = K[a, j]
        for a in range(i, min(i + LANES, m)):
            R[a, a] += ridge
    for i in range(0, m, LANES):
        for j in range(i, m, LANES):
            add_tile(R, R, 0, i, i, j, -1.0, R)
            add_tile(R, R, 0, i, i + HALF_TILE, j, -1.0, R)
        end = min(i + LANES, m)
        for a in range(i, end):
            pivot = R[a, a]
            if not (m * PIVOT_ROUNDING * (K[a, a] + ridge) < pivot < math.inf):  # no number neither
                return False
            root = math.sqrt(pivot)
            for j in range(a, width):
                R[a, j] /= root
            for c in range(a + 1, end):
                factor = R[a, c]
                for j in range(i, width):
                    R[c, j] -= factor * R[a, j]
    return True


@entry
def factor_with_jitter(K: Matrix, ridge: float, m: int, R: Matrix) -> float:
    """Factor K + ridge I, or else with as little more on the diagonal as makes it positive definite; return how much.

    What is added grows from 1e-15 of the mean of the diagonal by powers of 10. The result is negative where 1e-2 of it
    was not enough, which happens only where K is zero, far from a covariance, or not of numbers.
    """
    if factor_cholesky(K, ridge, m, R):
        return 0.0
    unit = abs(ridge)
    for i in range(m):
        unit += abs(K[i, i]) / m
    share = FIRST_JITTER
    while share <= LAST_JITTER:
        if factor_cholesky(K, ridge + share * unit, m, R):
            return share * unit
        share *= 10.0
    return -1.0


@entry
def solve_lower(R: Matrix, m: int, u: Array) -> None:
    """Replace u by R^-T u."""
    for i in range(m):
        value = u[i] / R[i, i]
        u[i] = value
        for j in range(i + 1, m):
            u[j] -= value * R[i, j]


@entry
def solve_upper(R: Matrix, m: int, u: Array) -> None:
    """Replace u by R^-1 u."""
    for i in range(m - 1, -1, -1):
        lane: Lanes = [0.0] * LANES
        rest = 0.0
        j = i + 1
        while j + LANES <= m:
            for k in range(LANES):
                lane[k] += R[i, j + k] * u[j + k]
            j += LANES
        while j < m:
            rest += R[i, j] * u[j]
            j += 1
        u[i] = (u[i] - (join_lanes(lane) + rest)) / R[i, i]


@entry
def solve_many(R: Matrix, m: int, L: Matrix, X: Matrix) -> None:
    """Replace the first m rows of X by (R^T R)^-1 X, and write R^T into L; rows of X are a multiple of 8 long."""
    width = X.shape[1]
    for i in range(m):
        for j in range(L.shape[1]):
            L[i, j] = R[j, i] if j <= i else 0.0
    for i in range(0, m, LANES):
        subtract_tiles(R, 0, i, i, X)
        end = min(i + LANES, m)
        for a in range(i, end):
            divide_row(X, a, R[a, a], width)
            for c in range(a + 1, end):
                subtract_row(X, a, R[a, c], width, c)
    i = (m - 1) // LANES * LANES
    while i >= 0:
        subtract_tiles(L, i + LANES, m, i, X)
        for a in range(min(i + LANES, m) - 1, i - 1, -1):
            divide_row(X, a, R[a, a], width)
            for c in range(i, a):
                subtract_row(X, a, R[c, a], width, c)
        i -= LANES


@kernel
def subtract_tiles(P: Matrix, first: int, last: int, i: int, X: Matrix) -> None:
    """Take sum P[t, i + a] X[t] over t in first..last-1 from the rows i + a of X, a < 8."""
    if first < last:
        for j in range(0, X.shape[1], LANES):
            add_tile(P, X, first, last, i, j, -1.0, X)
            add_tile(P, X, first, last, i + HALF_TILE, j, -1.0, X)


@kernel
def divide_row(X: Matrix, r: int, divisor: float, n: int) -> None:
    """Divide X[r, :n] by a number."""
    for j in range(n):
        X[r, j] /= divisor


@kernel
def subtract_row(X: Matrix, r: int, factor: float, n: int, s: int) -> None:
    """Take factor * X[r, :n] from X[s, :n]."""
    for j in range(n):
        X[s, j] -= factor * X[r, j]


@entry
def multiply_vector(A: Matrix, count: int, x: Values, n: int, out: Array) -> None:
    """Write the inner products of x[:n] and the first `count` rows of A, four rows at a time."""
    r = 0
    while r + HALF_TILE <= count:
        lane_0: Lanes = [0.0] * LANES
        lane_1: Lanes = [0.0] * LANES
        lane_2: Lanes = [0.0] * LANES
        lane_3: Lanes = [0.0] * LANES
        rest_0 = 0.0
        rest_1 = 0.0
        rest_2 = 0.0
        rest_3 = 0.0
        i = 0
        while i + LANES <= n:
            for k in range(LANES):
                lane_0[k] += A[r, i + k] * x[i + k]
                lane_1[k] += A[r + 1, i + k] * x[i + k]
                lane_2[k] += A[r + 2, i + k] * x[i + k]
                lane_3[k] += A[r + 3, i + k] * x[i + k]
            i += LANES
        while i < n:
            rest_0 += A[r, i] * x[i]
            rest_1 += A[r + 1, i] * x[i]
            rest_2 += A[r + 2, i] * x[i]
            rest_3 += A[r + 3, i] * x[i]
            i += 1
        out[r] = join_lanes(lane_0) + rest_0
        out[r + 1] = join_lanes(lane_1) + rest_1
        out[r + 2] = join_lanes(lane_2) + rest_2
        out[r + 3] = join_lanes(lane_3) + rest_3
        r += HALF_TILE
    while r < count:
        out[r] = row_times(A, r, x, n)
        r += 1


@entry
def reflect(Q: Matrix, j: int, m: int) -> tuple[float, float]:
    """Turn row j of Q, from place j on, into the v of a reflection I - tau v v^T that leaves only place j of it.

    Returns what is left there, and tau (0 for a row of zeros, which nothing has to be done with).
    """
    top = 0.0
    for t in range(j, m):
        top = max(top, abs(Q[j, t]))
    if top == 0.0:
        return 0.0, 0.0
    for t in range(j, m):
        Q[j, t] /= top
    norm = math.sqrt(row_dot(Q, j, Q, j, j, m))
    head = Q[j, j]
    Q[j, j] = head + math.copysign(norm, head)
    return -math.copysign(norm, head) * top, 1.0 / (norm * (norm + abs(head)))


@entry
def apply_reflection(V: Matrix, j: int, tau: float, m: int, Q: Matrix, r: int) -> None:
    """Replace row r of Q, from place j on, by its image under the reflection whose v is row j of V."""
    share = tau * row_dot(V, j, Q, r, j, m)
    for t in range(j, m):
        Q[r, t] -= share * V[j, t]


@entry
def factor_qr(Q: Matrix, count: int, rows: int, m: int, diagonal: Array, tau: Array) -> None:
    """Factor the matrix whose columns are the first `count` <= m rows of Q, by Householder's reflections.

    Place i < j of row j becomes the entry (i, j) of the triangular factor, `diagonal` holds those with i = j, and the
    rest of the row is the v of a reflection. All reflections are applied to the rows count..rows-1 too.
    """
    for j in range(count):
        left, factor = reflect(Q, j, m)
        diagonal[j] = left
        tau[j] = factor
        for r in range(j + 1, rows):
            apply_reflection(Q, j, factor, m, Q, r)


@entry
def write_complement(Q: Matrix, count: int, m: int, tau: Values, out: Matrix) -> None:
    """Write orthonormal rows orthogonal to the `count` columns that `factor_qr` factored, m - count of them."""
    for s in range(m - count):
        for t in range(m):
            out[s, t] = 0.0
        out[s, count + s] = 1.0
        for j in range(count - 1, -1, -1):
            apply_reflection(Q, j, tau[j], m, out, s)
