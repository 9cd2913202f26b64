"""The search for exact solutions: which few columns, beside the likely ones, explain b exactly?

Ordered-statistics decoding, as in coding theory. T holds the rank - SPARE coefficients that are most likely not zero.
In the complement of span(B_T), of dimension SPARE, at most three more columns are looked for whose span holds what is
left of b. So at most three members of the true support may lie outside T, which is far less than convergence asks for.
"""

from __future__ import annotations

import math

import numpy as np

from .dense import factor_qr, write_complement
from .kernel_tolerances import DEPENDENT, EXACT_FIT, PARALLEL, VANISHING
from .lanes import add_row, dot, row_dot, row_times
from .vocabulary import Array, Indices, Matrix, Values, entry, kernel, record

SPARE = 5
MARGIN = 2  # an exact solution has at least so many equations more than non-zeros
MOST_REFITS = 100  # per search: where more sets of columns nearly fit, none of them is exact
SEARCHED_COLUMNS = 160  # columns outside T that are searched, the likeliest first


@record
class SearchRoom:
    """Working memory of `find_support` for an m x n matrix."""

    order: Indices
    spare_order: Indices
    chosen: Indices
    refits: Indices  # how many this search has made, as its only entry
    basis: Matrix
    complement: Matrix
    C: Matrix
    gram: Matrix
    inner: Matrix
    along: Array
    norm: Array
    product: Array
    left: Array
    diagonal: Array
    tau: Array
    residual: Array

    def __init__(self, m: int, n: int) -> None:
        spare = min(SPARE, m - 1)
        searched = min(SEARCHED_COLUMNS, max(n - (m - spare), 0))
        self.order, self.spare_order = np.empty((2, n), np.int64)
        self.chosen = np.empty(n, np.int64)
        self.refits = np.zeros(1, np.int64)
        self.basis = np.empty((m + 1, m))
        self.complement = np.empty((spare, m))
        self.C = np.empty((spare, searched))
        self.gram, self.inner = np.empty((2, searched, searched))
        self.along, self.norm, self.product = np.empty((3, searched))
        self.left = np.empty(spare)
        self.diagonal, self.tau, self.residual = np.empty((3, m))


@entry
def order_descending(x: Values, order: Indices, room: Indices) -> None:
    """Write the indices of x from its largest to its smallest; equal ones stay as they are. By merging."""
    n = len(x)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            end = min(middle + width, n)
            i = start
            j = middle
            for k in range(start, end):
                if j >= end or (i < middle and not x[order[j]] > x[order[i]]):
                    room[k] = order[i]
                    i += 1
                else:
                    room[k] = order[j]
                    j += 1
            start = end
        for k in range(n):
            order[k] = room[k]
        width *= 2


@entry
def refit(columns: Matrix, b: Values, chosen: Indices, count: int, room: SearchRoom, x: Array) -> float:
    """Write least squares on the first `count` chosen columns into x; return the relative residual.

    It is inf where the columns depend on each other, and where b is zero.
    """
    m = len(b)
    for i in range(len(x)):
        x[i] = 0.0
    for j in range(count):
        for t in range(m):
            room.basis[j, t] = columns[chosen[j], t]
    for t in range(m):
        room.basis[count, t] = b[t]
    factor_qr(room.basis, count, count + 1, m, room.diagonal, room.tau)
    largest = 0.0
    for j in range(count):
        largest = max(largest, abs(room.diagonal[j]))
    for j in range(count):
        if abs(room.diagonal[j]) < DEPENDENT * largest:
            return math.inf
    size = math.sqrt(dot(b, b, m))
    if size == 0.0 or (count > 0 and largest == 0.0):
        return math.inf
    for t in range(m):
        room.residual[t] = -b[t]
    for j in range(count - 1, -1, -1):
        value = room.basis[count, j] / room.diagonal[j]
        x[chosen[j]] = value
        for t in range(j):
            room.basis[count, t] -= value * room.basis[j, t]
        add_row(columns, chosen[j], value, m, room.residual)
    return math.sqrt(dot(room.residual, room.residual, m)) / size


@kernel
def accept(
    columns: Matrix, b: Values, size: int, first: int, second: int, third: int, room: SearchRoom, x: Array
) -> bool:
    """Return whether T and up to three more columns fit b, with MARGIN equations to spare.

    T is order[:size], and the others are given by their places behind it, -1 for none. Needless ones are dropped.
    """
    if room.refits[0] >= MOST_REFITS:
        return False
    room.refits[0] += 1
    count = size
    for j in range(size):
        room.chosen[j] = room.order[j]
    if first >= 0:
        room.chosen[count] = room.order[size + first]
        count += 1
    if second >= 0:
        room.chosen[count] = room.order[size + second]
        count += 1
    if third >= 0:
        room.chosen[count] = room.order[size + third]
        count += 1
    if refit(columns, b, room.chosen, count, room, x) > EXACT_FIT:
        return False
    top = 0.0
    for i in range(len(x)):
        top = max(top, abs(x[i]))
    kept = 0
    for i in range(len(x)):
        if abs(x[i]) > DEPENDENT * top:
            room.chosen[kept] = i
            kept += 1
    return kept <= len(b) - MARGIN and refit(columns, b, room.chosen, kept, room, x) <= EXACT_FIT


@entry
def find_support(columns: Matrix, b: Values, likely: Values, room: SearchRoom, x: Array) -> bool:
    """Return whether an exact fit with few non-zeros lies near the order of `likely`; it is written into x.

    Row j of `columns` is column j of B, and may be longer.
    """
    m = len(b)
    spare = min(SPARE, m - 1)
    size = m - spare
    room.refits[0] = 0
    order_descending(likely, room.order, room.spare_order)
    for j in range(size):
        for t in range(m):
            room.basis[j, t] = columns[room.order[j], t]
    factor_qr(room.basis, size, size, m, room.diagonal, room.tau)
    write_complement(room.basis, size, m, room.tau, room.complement)
    for s in range(spare):
        room.left[s] = row_times(room.complement, s, b, m)
    if dot(room.left, room.left, spare) <= EXACT_FIT * EXACT_FIT * dot(b, b, m):
        return accept(columns, b, size, -1, -1, -1, room, x)
    for s in range(spare):
        for j in range(room.C.shape[1]):
            room.C[s, j] = row_dot(room.complement, s, columns, room.order[size + j], 0, m)
    return search_columns(columns, b, size, spare, room, x)


@kernel
def write_inner_products(C: Matrix, left: Values, spare: int, gram: Matrix, along: Array) -> None:
    """Write C^T C and C^T left."""
    for i in range(C.shape[1]):
        along[i] = 0.0
        for k in range(C.shape[1]):
            gram[i, k] = 0.0
        for s in range(spare):
            factor = C[s, i]
            along[i] += factor * left[s]
            for k in range(C.shape[1]):
                gram[i, k] += factor * C[s, k]


@kernel
def search_columns(columns: Matrix, b: Values, size: int, spare: int, room: SearchRoom, x: Array) -> bool:
    """Return whether one, two or three columns of C have a span that holds `left`, by inner products alone."""
    r = room.C.shape[1]
    write_inner_products(room.C, room.left, spare, room.gram, room.along)
    energy = dot(room.left, room.left, spare)
    for k in range(r):
        square = room.gram[k, k]
        near = square > 0.0 and energy * square - room.along[k] * room.along[k] <= PARALLEL * energy * square
        if near and accept(columns, b, size, k, -1, -1, room, x):
            return True
    if spare < 3:  # as many columns as there are dimensions span everything
        return False
    for i in range(r - 1):
        if not room.gram[i, i] > 0.0:
            continue
        project_out(room.gram, room.along, i, room.inner, room.product, room.norm)
        after = energy - room.along[i] * room.along[i] / room.gram[i, i]
        for k in range(i + 1, r):
            gap = after * room.norm[k] - room.product[k] * room.product[k]
            near = room.norm[k] > VANISHING * room.gram[k, k] and gap <= PARALLEL * energy * room.norm[k]
            if near and accept(columns, b, size, i, k, -1, room, x):
                return True
        if spare > 3 and search_third(columns, b, size, i, after, energy, room, x):
            return True
    return False


@kernel
def search_third(
    columns: Matrix, b: Values, size: int, i: int, after: float, energy: float, room: SearchRoom, x: Array
) -> bool:
    """Return whether two columns behind the i-th explain, with it, what is left."""
    r = room.C.shape[1]
    for j in range(i + 1, r - 1):
        norm = room.norm[j]
        if not norm > VANISHING * room.gram[j, j]:
            continue
        share = room.product[j] / norm
        last = after - room.product[j] * share - PARALLEL * energy
        if not may_explain(room.inner, j, room.norm, room.product, 1.0 / norm, share, last):
            continue
        for k in range(j + 1, r):
            square = room.norm[k] - room.inner[j, k] * room.inner[j, k] / norm
            along = room.product[k] - room.inner[j, k] / norm * room.product[j]
            near = square > VANISHING * room.norm[k] and last * square - along * along <= 0.0
            if near and accept(columns, b, size, i, j, k, room, x):
                return True
    return False


@kernel
def project_out(gram: Matrix, along: Values, i: int, inner: Matrix, product: Array, norm: Array) -> None:
    """Write the inner products of the columns behind the i-th, and theirs with what is left, without its part."""
    r = len(along)
    for k in range(i + 1, r):
        share = gram[i, k] / gram[i, i]
        product[k] = along[k] - share * along[i]
        for j in range(k, r):
            inner[k, j] = gram[k, j] - share * gram[i, j]
        norm[k] = inner[k, k]


@kernel
def may_explain(inner: Matrix, j: int, norm: Values, product: Values, scale: float, share: float, last: float) -> bool:
    """Return whether last |c_k|^2 <= (c_k . left)^2 for some k > j, beside two columns: then it explains what is left.

    Counted without a branch, so that it vectorises: nearly all pairs end here.
    """
    count = 0
    for k in range(j + 1, len(norm)):
        along = product[k] - inner[j, k] * share
        count += last * (norm[k] - inner[j, k] * inner[j, k] * scale) <= along * along
    return count > 0
