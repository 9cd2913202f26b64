"""Sets of columns that depend on each other, as no columns of a generic matrix do: a search as far as it is affordable.

A set hides a signal: where A z = 0, no measurement tells x from x + t z. Pairs and triples are searched completely.
Larger sets are found by orthogonal least squares (S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods
and their application to non-linear system identification", International Journal of Control 50, 1989), which
represents each column by few others, and whole-number relations, such as a column that is the sum of twenty others, by
lattice reduction as in `lattice.py`. What these find depends, but they miss sets that are large for the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from .._compiled.kernel_tolerances import IN_KERNEL
from .tolerances import DEPENDENT_ANGLE, DEPENDENT_PROJECTION, DEPENDENT_RESIDUAL

PROJECTION_SLACK = 30.0  # by how much a random projection may shorten a vector
CANDIDATE_ROWS = 24  # the rows of A are mixed at random to this number, to find candidates
PRODUCTS_PER_BLOCK = 1 << 20  # inner products in memory at a time
MOST_GREEDY_ROWS = 96  # the greedy search mixes the rows to this number
MOST_GREEDY_STEPS = 12
MOST_SETS_MEASURED = 3  # of those that may be dependent
RARE_CHANCE = 1e-4  # probability that a generic matrix leaves so little at any step
GREEDY_WORK = 1e7  # operations of a greedy search, where one start per column takes fewer
STEP_OVERHEAD = 20  # operations per column and step, besides one per row
UNEVEN_DEVIATIONS = 4.5  # lengths of Gaussian columns rarely deviate so far, those of sums and means of columns do
LEAST_UNEVEN = 0.5
WORK_FACTOR_IF_UNEVEN = 10
BITS_PER_EQUATION = 40  # that rounding leaves intact
SCALE_GROWTH = 4.0  # per stage
EQUATIONS_PER_UNKNOWN = 0.124  # that no equation eliminates
LARGEST_LATTICE = 120
VISITS_PER_SQUARED_DIMENSION = 10
BITS_BEYOND_COINCIDENCE = 20  # a coincidence has a probability of 2^-20


class Relation(NamedTuple):
    """Columns with A z near 0: `length` is |A z|, where the largest of z is 1; inf and none where nothing was found."""

    columns: tuple[int, ...] = ()
    length: float = math.inf

    def hides(self, limit: float) -> bool:
        """Return whether measurements with errors of this size cannot tell z from 0."""
        return self.length <= limit


def measured(A: NDArray[Any], columns: Indices) -> Relation:
    """Return the relation of these columns: the largest coefficient that errors may hide sets its length."""
    units = np.linalg.norm(A[:, columns], axis=0)
    if units.min() == 0:
        return Relation((int(columns[np.argmin(units)]),), 0.0)
    z = np.linalg.svd(A[:, columns] / units, full_matrices=len(A) < len(columns))[2][-1].conj() / units
    z = z / np.abs(z).max()
    return Relation(tuple(sorted(int(j) for j in columns)), float(np.linalg.norm(A[:, columns] @ z)))


def dependent_pair(D: NDArray[Any], limit: float) -> Relation:
    """Return two columns of which one is within `limit` of a multiple of the other, if there are such."""
    lengths = np.linalg.norm(D, axis=0)
    C = D / lengths
    near = 1 - max(limit / float(np.median(lengths)), DEPENDENT_ANGLE) ** 2
    rows = max(1, PRODUCTS_PER_BLOCK // C.shape[1])
    for start in range(0, C.shape[1] if len(C) > 1 else 0, rows):
        cosines = np.abs(C[:, start : start + rows].conj().T @ C[:, start:])
        for i, j in np.argwhere(np.triu(cosines > near, 1)):
            pair = measured(D, start + np.array([i, j]))
            if pair.hides(limit):
                return pair
    return Relation()


def dependent_triple(D: NDArray[Any], limit: float) -> Relation:
    """Return three columns of which one is within `limit` of the plane of the others, if there are such."""
    lengths = np.linalg.norm(D, axis=0)
    relative = limit / float(np.median(lengths))
    C = _mixed(D, CANDIDATE_ROWS)
    C = C / np.linalg.norm(C, axis=0)
    for i, j, k in _planes(C, PROJECTION_SLACK * max(relative, DEPENDENT_PROJECTION)) if len(C) > 2 else ():
        a, b, c = (np.einsum("ij,ij->j", C[:, s].conj(), C[:, t]) for s, t in ((i, j), (j, k), (k, i)))
        squares = 1 - np.abs(a) ** 2 - np.abs(b) ** 2 - np.abs(c) ** 2 + 2 * (a * b * c).real
        for place in np.flatnonzero(squares <= PROJECTION_SLACK * max(relative, DEPENDENT_ANGLE) ** 2):
            triple = measured(D, np.array([i[place], j[place], k[place]]))
            if triple.hides(limit):
                return triple
    return Relation()


def _planes(C: NDArray[Any], near: float) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Yield candidates for three unit columns in one plane, by sorting: n^2 log n steps.

    In a random projection onto three dimensions, p and q are two linear forms that vanish on the i-th column. j and k
    are in one plane with it where their p : q are the same. These ratios are points on a sphere, and a coordinate of
    these points sorts them: points that are near have near coordinates.
    """
    n, rng = C.shape[1], np.random.default_rng(0)
    shadow = (rng.standard_normal((3, len(C))) @ C).T
    shadow /= np.linalg.norm(shadow, axis=1)[:, None]
    one, direction = rng.standard_normal((2, 3))
    direction /= np.linalg.norm(direction)
    forms = np.cross(shadow, one)
    forms /= np.linalg.norm(forms, axis=1)[:, None]
    rows = max(1, PRODUCTS_PER_BLOCK // n)
    for start in range(0, n, rows):
        some, form = shadow[start : start + rows], forms[start : start + rows]
        p, q = form @ shadow.T, np.cross(some, form.conj()) @ shadow.T
        product, squares = p * q.conj(), (np.abs(p) ** 2, np.abs(q) ** 2)
        points = 2 * direction[0] * product.real + 2 * direction[1] * product.imag
        points += direction[2] * (squares[0] - squares[1])
        points /= np.maximum(squares[0] + squares[1], np.finfo(float).tiny)
        points[np.arange(len(some)), np.arange(start, start + len(some))] = np.inf
        order = np.argsort(points, axis=1)
        points = np.take_along_axis(points, order, axis=1)[:, :-1]
        for apart in range(1, n - 1):
            i, place = np.nonzero(points[:, apart:] - points[:, :-apart] <= near)
            if not len(i):
                break
            yield start + i, order[i, place], order[i, place + apart]


def _mixed(A: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return at most this many rows, random combinations of those of A: dependent columns stay dependent."""
    return A if len(A) <= rows else np.random.default_rng(1).standard_normal((rows, len(A))) @ A


def has_uneven_columns(A: NDArray[Any], rank: int) -> bool:
    """Return whether a column is much longer or shorter than most, as sums and means of others are."""
    lengths = np.linalg.norm(A, axis=0)
    ratio = 1 + max(UNEVEN_DEVIATIONS / math.sqrt(2 * rank), LEAST_UNEVEN)
    middle = float(np.median(lengths))
    return bool(lengths.max() > ratio * middle or lengths.min() * ratio**1.5 < middle)


def greedy_relation(
    B: NDArray[Any],
    A: NDArray[Any],
    work: float = GREEDY_WORK,
    most_steps: int = MOST_GREEDY_STEPS,
    targets: Indices | None = None,
) -> Relation:
    """Return the shortest relation that orthogonal least squares finds among the columns of B, measured in A.

    Each column, or each of the given ones, is a target, represented by one of those most correlated with it, and then
    by whichever column leaves the least residual, step by step. Small systems are worth several first and second
    columns.
    """
    B = _mixed(B, MOST_GREEDY_ROWS)
    lengths, n = np.linalg.norm(B, axis=0), B.shape[1]
    steps = min(most_steps, len(B) - 2, n - 2)
    if steps < 1 or lengths.min() == 0:
        return Relation()
    starts = int(max(work / ((len(B) + STEP_OVERHEAD) * n * n * steps), 1))
    branches = min(starts, n - 1), min(max(starts // (n - 1), 1), n - 2)
    block = max(1, PRODUCTS_PER_BLOCK // (math.prod(branches) * n))
    found = Relation()
    targets = np.arange(n) if targets is None else targets
    for first in range(0, len(targets), block):
        search = Greedy.of(B / lengths, targets[first : first + block], branches[0], steps)
        for columns in search.sets(branches[1]):
            found = min(found, measured(A, columns), key=lambda relation: relation.length)
    return found


@dataclass
class Greedy:
    """Targets among unit columns, each with the columns chosen so far, an orthonormal basis of these, and what is left.

    `squares` are the squared lengths of all columns without their parts along the basis, inf for those chosen.
    """

    columns: NDArray[Any]  # as rows
    chosen: NDArray[np.int64]
    basis: NDArray[Any]
    left: NDArray[Any]
    squares: Array

    @classmethod
    def of(cls, C: NDArray[Any], targets: Indices, firsts: int, steps: int) -> Greedy:
        """Choose several first columns for each target, those most correlated with it."""
        columns = np.ascontiguousarray(C.T)
        inner = _squares(_conj(columns[targets]) @ C)
        inner[np.arange(len(targets)), targets] = -1.0
        first = np.argpartition(-inner, firsts - 1, axis=1)[:, :firsts].ravel()
        chosen = np.column_stack([np.repeat(targets, firsts), first])
        squares = np.ones((len(chosen), len(columns)))
        squares[np.arange(len(chosen)), chosen[:, 0]] = np.inf
        return cls(columns, chosen, np.empty((len(chosen), steps, len(C)), C.dtype), columns[chosen[:, 0]], squares)

    def sets(self, seconds: int) -> Iterator[Indices]:
        """Yield the sets that depend on each other, at the first step that finds any which chance hardly would."""
        steps = self.basis.shape[1]
        trials = len(self.chosen) * seconds * len(self.columns) * steps
        before = np.ones(len(self.chosen))
        for step in range(1, steps + 1):
            self._project(self.basis[:, : step - 1], step)
            residuals = _lengths(self.left)
            rare = (residuals / before) ** (len(self.columns[0]) - step) * trials <= RARE_CHANCE
            if rare.any():
                places = np.flatnonzero(rare & (residuals <= DEPENDENT_RESIDUAL))
                yield from self.chosen[places[np.argsort(residuals[places])[:MOST_SETS_MEASURED]]]
                if len(places):
                    return
            if step < steps:
                branches = seconds if step == 1 else 1
                self._choose(step, branches)
                before = np.repeat(residuals, branches)

    def _project(self, known: NDArray[Any], step: int) -> None:
        """Add the last of the chosen columns to the basis known so far."""
        new = self.columns[self.chosen[:, -1]]
        new = new - np.matmul(np.matmul(_conj(known), new[:, :, None]).transpose(0, 2, 1), known)[:, 0]
        new /= _lengths(new)[:, None]
        self.basis[:, step - 1] = new
        self.left = self.left - np.einsum("ij,ij->i", _conj(new), self.left)[:, None] * new

    def _choose(self, step: int, branches: int) -> None:
        """Choose the column that leaves the least residual, or several, each as a branch of its own."""
        self.squares -= _squares(_conj(self.basis[:, step - 1]) @ self.columns.T)
        self.squares[np.arange(len(self.chosen)), self.chosen[:, -1]] = np.inf
        gains = _squares(_conj(self.left) @ self.columns.T)
        gains /= np.maximum(self.squares, DEPENDENT_ANGLE)
        if branches == 1:
            chosen = gains.argmax(axis=1)
        else:
            chosen = np.argpartition(-gains, branches - 1, axis=1)[:, :branches].ravel()
            self.chosen, self.basis, self.left, self.squares = (
                np.repeat(values, branches, axis=0) for values in (self.chosen, self.basis, self.left, self.squares)
            )
        self.chosen = np.column_stack([self.chosen, chosen])


def _conj(values: NDArray[Any]) -> NDArray[Any]:
    """Return the complex conjugates, without a copy of what is real."""
    return values.conj() if np.iscomplexobj(values) else values


def _squares(values: NDArray[Any]) -> Array:
    return np.asarray(values.real**2 + values.imag**2 if np.iscomplexobj(values) else values * values)


def _lengths(rows: NDArray[Any]) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", _conj(rows), rows).real))


def can_reduce(B: NDArray[Any], largest: int = LARGEST_LATTICE) -> bool:
    """Return whether the lattice of `whole_relation` has at most this many dimensions."""
    rank, n = B.shape
    return bool(rank > 2 and n - rank + _equations(rank, n) <= largest)


def _equations(rank: int, n: int) -> int:
    return min(max(2, math.ceil(EQUATIONS_PER_UNKNOWN * (n - rank))), rank)


def whole_relation(B: NDArray[Any], A: NDArray[Any], first: Indices) -> Relation:
    """Return a relation of small whole numbers between the columns of B, measured in A, if one is found.

    All but a few equations eliminate columns, which may then have any coefficients: the `first` ones, then those of
    unusual length.
    """
    rank, n = B.shape
    lengths = np.linalg.norm(A, axis=0)
    unusual = np.abs(np.log(np.maximum(lengths, np.finfo(float).tiny) / np.median(lengths)))
    unusual[first] = np.inf
    order, free = np.argsort(-unusual, kind="stable"), rank - _equations(rank, n)
    any_value, whole = order[:free], order[free:]
    alone = _relation_among(B, A, any_value)
    if alone.columns:
        return alone
    Q = np.linalg.qr(B[:, any_value], mode="complete")[0][:, free:]
    F = Q.conj().T @ B[:, whole]
    F = np.ascontiguousarray(np.vstack([F.real, F.imag]) if np.iscomplexobj(F) else F)
    F /= np.median(np.linalg.norm(F, axis=0))
    found = Relation()
    for z in _short_vectors(F):
        rest = np.linalg.lstsq(B[:, any_value], -(B[:, whole] @ z), rcond=None)[0]
        coefficients = np.zeros(n, B.dtype)
        coefficients[any_value], coefficients[whole] = rest, z
        coefficients /= np.abs(coefficients).max()
        columns = np.flatnonzero(np.abs(coefficients) > DEPENDENT_ANGLE)
        length = float(np.linalg.norm(A[:, columns] @ coefficients[columns]))
        found = min(found, Relation(tuple(columns.tolist()), length), key=lambda relation: relation.length)
    return found


def _relation_among(B: NDArray[Any], A: NDArray[Any], columns: Indices) -> Relation:
    """Return the relation of columns that are fewer than the rows, if they depend on each other."""
    lengths = np.linalg.norm(B[:, columns], axis=0)
    if not len(columns) or lengths.min() == 0:
        return Relation()
    _, values, Vh = np.linalg.svd(B[:, columns] / lengths, full_matrices=False)
    if values[-1] > DEPENDENT_ANGLE:
        return Relation()
    z = np.abs(Vh[-1])
    return measured(A, columns[z > DEPENDENT_ANGLE * z.max()])


def _short_vectors(F: Array) -> Iterator[Array]:
    """Yield whole numbers z with F z near 0 that are no coincidence."""
    m, n = F.shape
    V, room, scale, visits = (
        np.hstack([np.eye(n), np.zeros((n, m))]),
        kernels.LatticeRoom(m, n),
        1.0,
        VISITS_PER_SQUARED_DIMENSION * n * n,
    )
    for _ in range(int(BITS_PER_EQUATION / math.log2(SCALE_GROWTH))):
        scale *= SCALE_GROWTH
        V[:, n:] = scale * (V[:, :n] @ F.T)
        visits = kernels.reduce_basis(V, visits, room)
        squares, images = np.sum(V[:, :n] ** 2, axis=1), np.sum(V[:, n:] ** 2, axis=1)
        best = int(np.argmin(images / squares))
        z = V[best, :n].copy()
        told = m * min(
            BITS_PER_EQUATION,
            -math.log2(max(float(np.linalg.norm(F @ z)) / math.sqrt(squares[best]), 2.0**-BITS_PER_EQUATION)),
        )
        taken = n * math.log2(2 * float(np.abs(z).max()) + 1)
        if images[best] < IN_KERNEL * squares[best] and told > taken + BITS_BEYOND_COINCIDENCE:
            yield z
            return
        if visits < 0:
            return
