"""Orthogonal least squares on unit columns by their inner products, and what it tells of all other columns.

S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods and their application to non-linear system
identification", International Journal of Control 50, 1989; with a Gram matrix as in R. Rubinstein, M. Zibulevsky and
M. Elad, "Efficient implementation of the K-SVD algorithm using batch orthogonal matching pursuit", Technion, 2008.

With q_1, q_2, ... the orthonormal basis of the chosen columns, row k of W holds q_k^T a_j for all columns a_j. So each
step also gives, for every column, its squared distance from the span of those chosen, and its inner products with
random vectors after that span has been projected out: its sketch.
"""

from __future__ import annotations

import math

import numpy as np

from .dense import solve_lower, solve_upper
from .kernel_tolerances import SMALLEST_SQUARE
from .lanes import add_row, dot, row_times
from .vocabulary import Array, Indices, Matrix, Values, entry, kernel, record

FIRST_STEPS = 4  # before a pursuit is given up as too slow
REFINEMENTS = 2  # of the coefficients, by the residual


@record
class PursuitRoom:
    """Working memory for columns of length m, around the arrays that hold the results.

    `chosen`, `x` (their coefficients) and `distance` (of each from the span of the others) have room for as many
    columns as may be chosen; `square` and `sketch` are those of all columns.
    """

    chosen: Indices
    x: Array
    distance: Array
    square: Array
    sketch: Matrix
    W: Matrix
    along: Array
    R: Matrix  # upper triangular: the chosen columns in their orthonormal basis
    beta: Array
    step: Array
    residual: Array

    def __init__(self, m: int, chosen: Indices, x: Array, distance: Array, square: Array, sketch: Matrix) -> None:
        most = len(chosen)
        self.chosen, self.x, self.distance, self.square, self.sketch = chosen, x, distance, square, sketch
        self.W = np.empty((most, len(square)))
        self.along = np.empty(len(square))
        self.R = np.empty((most, most))
        self.beta, self.step = np.empty((2, most))
        self.residual = np.empty(m)


@kernel
def start_pursuit(along: Values, square: Values, sketch: Matrix, room: PursuitRoom) -> None:
    """Begin with no column: inner products with y, squared lengths and sketches are those of the columns."""
    for j in range(len(along)):
        room.along[j] = along[j]
        room.square[j] = square[j]
    for s in range(room.sketch.shape[0]):
        for j in range(len(along)):
            room.sketch[s, j] = sketch[s, j]


@kernel
def subtract_rows(W: Matrix, count: int, i: int, k: int) -> None:
    """Subtract W[t, i] W[t] from W[k], for the first `count` t; four rows at once."""
    n = W.shape[1]
    t = 0
    while t + 4 <= count:
        first = W[t, i]
        second = W[t + 1, i]
        third = W[t + 2, i]
        fourth = W[t + 3, i]
        for j in range(n):
            W[k, j] -= (first * W[t, j] + second * W[t + 1, j]) + (third * W[t + 2, j] + fourth * W[t + 3, j])
        t += 4
    while t < count:
        first = W[t, i]
        for j in range(n):
            W[k, j] -= first * W[t, j]
        t += 1


@kernel
def choose_column(gram: Matrix, row: int, i: int, k: int, room: PursuitRoom) -> None:
    """Add column i as the k-th to the basis; its inner products with all columns are gram[row]."""
    n = len(room.along)
    pivot = math.sqrt(room.square[i])
    for j in range(n):
        room.W[k, j] = gram[row, j]
    subtract_rows(room.W, k, i, k)
    for j in range(n):
        room.W[k, j] /= pivot
    room.chosen[k] = i
    for t in range(k):
        room.R[t, k] = room.W[t, i]
    room.R[k, k] = pivot
    beta = room.along[i] / pivot
    room.beta[k] = beta
    for j in range(n):
        w = room.W[k, j]
        room.along[j] -= beta * w
        room.square[j] -= w * w
    for s in range(room.sketch.shape[0]):
        share = room.sketch[s, i] / pivot
        for j in range(n):
            room.sketch[s, j] -= share * room.W[k, j]
    room.square[i] = 0.0


@kernel
def best_column(room: PursuitRoom) -> int:
    """Return the column that leaves the least residual; -1 where none says anything."""
    best = -1
    most = 0.0
    for j in range(len(room.along)):
        if room.square[j] > SMALLEST_SQUARE:
            gain = room.along[j] * room.along[j] / room.square[j]
            if gain > most:
                most = gain
                best = j
    return best


@entry
def pursue(
    gram: Matrix,
    along: Values,
    square: Values,
    sketch: Matrix,
    energy: float,
    enough: float,
    slowest: float,
    room: PursuitRoom,
) -> int:
    """Choose columns until the squared residual is below `enough`; return how many, or -1 if it never is.

    `energy` is |y|^2, `along` the inner products of the columns with y, `square` their squared lengths (0 for columns
    that are not to be chosen, else 1). It gives up where the squared residual falls by less than `slowest` per step.
    """
    start_pursuit(along, square, sketch, room)
    left = energy
    for k in range(len(room.chosen)):
        i = best_column(room)
        if i < 0:
            return -1
        choose_column(gram, i, i, k, room)
        left -= room.beta[k] * room.beta[k]
        if left <= enough:
            return k + 1
        if k + 1 >= FIRST_STEPS and energy - left < slowest * (k + 1):
            return -1
    return -1


@entry
def follow(gram: Matrix, columns: Indices, along: Values, square: Values, sketch: Matrix, room: PursuitRoom) -> int:
    """Choose the given columns in turn; gram[k] holds the inner products of the k-th. Return how many are independent.

    That is the number of columns, or the place of the first one that depends on those before it.
    """
    start_pursuit(along, square, sketch, room)
    for k in range(len(columns)):
        if not room.square[columns[k]] > SMALLEST_SQUARE:
            return k
        choose_column(gram, k, columns[k], k, room)
    return len(columns)


@entry
def fit_chosen(columns: Matrix, y: Values, room: PursuitRoom) -> float:
    """Write least squares on the chosen columns, which are the rows of `columns`, into room.x; return |residual|."""
    m = len(y)
    k = columns.shape[0]
    for i in range(k):
        room.step[i] = room.beta[i]
    solve_upper(room.R, k, room.step)
    for i in range(k):
        room.x[i] = room.step[i]
    for _ in range(REFINEMENTS):
        write_residual(columns, y, room)
        for i in range(k):
            room.step[i] = row_times(columns, i, room.residual, m)
        solve_lower(room.R, k, room.step)
        solve_upper(room.R, k, room.step)
        for i in range(k):
            room.x[i] += room.step[i]
    write_residual(columns, y, room)
    return math.sqrt(dot(room.residual, room.residual, m))


@kernel
def write_residual(columns: Matrix, y: Values, room: PursuitRoom) -> None:
    m = len(y)
    for t in range(m):
        room.residual[t] = y[t]
    for i in range(columns.shape[0]):
        add_row(columns, i, -room.x[i], m, room.residual)


@entry
def write_distances(inverse: Matrix, room: PursuitRoom) -> None:
    """Write the distance of each chosen column from the span of the other chosen ones: 1 / |row of R^-1|.

    `inverse` has room for R^-1, and as many rows as columns were chosen.
    """
    k = inverse.shape[0]
    for i in range(k - 1, -1, -1):
        for j in range(i, k):
            inverse[i, j] = 0.0
        inverse[i, i] = 1.0
        for t in range(i + 1, k):
            factor = room.R[i, t]
            for j in range(t, k):
                inverse[i, j] -= factor * inverse[t, j]
        square = 0.0
        for j in range(i, k):
            inverse[i, j] /= room.R[i, i]
            square += inverse[i, j] * inverse[i, j]
        room.distance[i] = 1.0 / math.sqrt(square)
