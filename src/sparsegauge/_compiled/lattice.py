"""Short vectors of a lattice: whole numbers z with F z = 0, by the reduction of Lenstra, Lenstra and Lovasz.

A. K. Lenstra, H. W. Lenstra and L. Lovasz, "Factoring polynomials with rational coefficients", Mathematische Annalen
261, 1982. The rows of V are [z, scale F z]. The scale grows in small steps, so that the numbers stay small, and
doubles suffice.
"""

from __future__ import annotations

import numpy as np

from .bits import to_nearest
from .dense import AlignedMatrix, multiply_vector
from .kernel_tolerances import IMAGE_ROUNDING, IN_KERNEL
from .lanes import add_row, dot, row_dot, row_times
from .vocabulary import Array, Matrix, Values, entry, kernel, record

LOVASZ = 0.98  # how much shorter a vector must be to move down: 1 is the best basis and the slowest
SIZE_REDUCTIONS = 8  # passes over one row, at most


@record
class LatticeRoom:
    """A basis V of n vectors of length n + m, the coefficients mu of its orthogonalisation, and working memory."""

    V: Matrix
    mu: Matrix
    mu_columns: Matrix
    squares: Array
    row: Array
    products: Array

    def __init__(self, m: int, n: int) -> None:
        self.V = AlignedMatrix(n, n + m).values
        self.mu = AlignedMatrix(n, n).values
        self.mu_columns = AlignedMatrix(n, n).values
        self.squares = np.zeros(n)
        self.row = np.zeros(n + m + 16)
        self.products = np.empty(max(m, n))


@entry
def reduce_basis(V: Matrix, visits: int, room: LatticeRoom) -> int:
    """Reduce the rows of V in place; return how many of `visits` steps are left, negative if they did not suffice."""
    n = V.shape[0]
    width = V.shape[1]
    k = 0
    while k < n and visits >= 0:
        visits -= 1
        shorten(V, k, room)
        rest = dot(room.row, room.row, width) - row_times(room.mu, k, room.products, k)
        room.squares[k] = rest
        if k > 0 and rest < (LOVASZ - room.mu[k, k - 1] * room.mu[k, k - 1]) * room.squares[k - 1]:
            for t in range(width):
                V[k, t] = V[k - 1, t]
                V[k - 1, t] = room.row[t]
            k -= 1
        else:
            k += 1
    return visits


@kernel
def shorten(V: Matrix, k: int, room: LatticeRoom) -> None:
    """Take whole multiples of the rows before it from row k, until its part along each is at most one half.

    The new row is also in room.row, and room.products has its inner products with the orthogonalised rows before it.
    """
    width = V.shape[1]
    for t in range(width):
        room.row[t] = V[k, t]
    for _ in range(SIZE_REDUCTIONS):
        multiply_vector(V, k, room.row, width, room.products)
        eliminate_products(room.mu_columns, k, room.products)
        divide_products(room.products, room.squares, k, room.mu)
        shorter = False
        for j in range(k - 1, -1, -1):
            whole = to_nearest(room.mu[k, j])
            if whole != 0.0:
                shorter = True
                add_row(V, j, -whole, width, room.row)
                subtract_coefficients(room.mu, j, whole, k)
        if not shorter:
            break
    for t in range(width):
        V[k, t] = room.row[t]
    for j in range(k):
        room.mu_columns[j, k] = room.mu[k, j]


@kernel
def eliminate_products(mu_columns: Matrix, k: int, products: Array) -> None:
    """Turn inner products with the first k rows into those with the orthogonalised rows."""
    for j in range(k - 1):
        along = products[j]
        for i in range(j + 1, k):
            products[i] -= along * mu_columns[j, i]


@kernel
def divide_products(products: Values, squares: Values, k: int, mu: Matrix) -> None:
    """Write row k of mu."""
    for j in range(k):
        mu[k, j] = products[j] / squares[j]


@kernel
def subtract_coefficients(mu: Matrix, j: int, whole: float, k: int) -> None:
    """Take `whole` times row j of mu, whose diagonal is 1, from row k."""
    for i in range(j):
        mu[k, i] -= whole * mu[j, i]
    mu[k, j] -= whole


@entry
def kernel_vector(F: Matrix, growth: float, stages: int, visits: int, room: LatticeRoom, z: Array) -> bool:
    """Return whether a short whole-number vector with F z = 0 was found; it is written into z."""
    m = F.shape[0]
    n = F.shape[1]
    for i in range(n):
        for t in range(n):
            room.V[i, t] = 0.0
        room.V[i, i] = 1.0
    scale = 1.0
    for _ in range(stages):
        scale *= growth
        for i in range(n):
            for t in range(n):
                room.row[t] = room.V[i, t]
            multiply_vector(F, m, room.row, n, room.products)
            for s in range(m):
                room.V[i, n + s] = scale * room.products[s]
        visits = reduce_basis(room.V, visits, room)
        limit = IMAGE_ROUNDING * scale * IMAGE_ROUNDING * scale
        for i in range(n):
            square = row_dot(room.V, i, room.V, i, 0, n)
            image = row_dot(room.V, i, room.V, i, n, n + m)
            if image < IN_KERNEL * square and image < limit * square:
                for t in range(n):
                    z[t] = room.V[i, t]
                return True
        if visits < 0:
            return False
    return False
