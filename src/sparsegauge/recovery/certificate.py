"""When is a sparse solution the signal that was measured? The certificate, and when it must not be given.

Theorem 1. Let x0 be fixed before A (M x N) is drawn from a continuous density. Then almost surely every x with
A x = A x0 and at most M - 1 non-zeros is x0. (Take a set T of at most M - 1 columns. If x0 is not supported in T, then
A x0 has a component along a column outside T, which is independent of A_T, so it lies in span(A_T) with probability
zero only. There are finitely many T; and on T the solution is unique.)

Theorem 2. Let A be any matrix, and let the non-zeros of x0 be drawn from a continuous density, wherever they stand.
Then almost surely every x with A x = A x0 is x0, if the columns A_T of its support are independent and no column
outside T lies in their span. (The v with A_S v in span(A_T) are a linear subspace, and not all of R^S, as S holds a
column that is not in the span. There are finitely many S and T.)

So a certificate is false only if A is special, and x0 too, e.g. of equal magnitudes; or if x0 was chosen by someone who
knew A. In floating point it needs at most rank(A) - 2 non-zeros, a refit with a residual of at most 1e-9 |y|,
well-conditioned columns, and no noise. Where y is noisy and nobody said so, the search may fit the noise by chance with
a few columns beside those of the signal: `accepted` refuses that if the signal's columns alone are the better
explanation. `objection` refuses it to matrices that look discrete or structured, unless the caller vouches for A with
`assume_generic=True`; `ambiguity` refuses it where one, two or three columns outside T depend on each other or on A_T,
and, as far as a few random bases show it, where more of them do. So a special x0 would have to have more columns
outside T than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from .._compiled import support
from .explanation import is_coincidence
from .lattice import as_whole
from .nearest import fitted
from .problem import EXACT, Problem

FEW_VALUES = 0.9  # a matrix with fewer different entries, or ratios of neighbours, than this share is structured
SAME = 1e-9  # relative difference of magnitudes that are one
NOTHING = 1e-12  # in units of the largest: magnitudes that are zero, up to rounding
PARALLEL = 1e-10
DEPENDENT = 1e-10  # sine of the angle between a vector and a span that it is in
SUSPECT = 1e-7  # the same, where squares were subtracted: to be looked at more closely
NEGLIGIBLE = 1e-7  # a coefficient, in units of the largest, without which the fit is tried again
TRIPLES = 200  # columns up to which dependent triples are looked for
BASES, WORK = (3, 200), 50_000  # random ones, for dependent sets of any size: so many, with so many entries in all

CERTIFIED = "the refit on {k} columns is exact, {spare} equations to spare, and A is generic"
TOO_MANY = "{k} non-zeros are too many for {rank} independent equations"
WHOLE = ", but they are whole multiples of one number and explain y: coincidence is unlikely where A is generic"


def objection(problem: Problem, assume_generic: bool) -> str:
    """Why no solution of this problem can be certified; empty where one can."""
    if problem.noise > 0:
        return "y is noisy: an exact fit proves nothing"
    if problem.system.matrix is None:
        return "A is too large to write out, so its columns cannot be looked at"
    if problem.misfit > EXACT * problem.scale:
        return "y is not in the range of A: there is no exact fit"
    if problem.reduced.rank < 3:
        return "fewer than three independent equations"
    if assume_generic:
        return ""
    if problem.system.structured:
        return "A is a sparse array or an operator, so perhaps structured (assume_generic=True vouches for it)"
    return _structure(problem.matrix())


def _structure(A: NDArray[Any]) -> str:
    lengths = np.linalg.norm(A, axis=0)
    if lengths.min() <= DEPENDENT * lengths.max():
        return f"column {int(np.argmin(lengths))} of A is zero, so that no measurement depends on that coefficient"
    magnitudes = np.abs(A)
    different = _different(magnitudes, NOTHING * float(magnitudes.max()))
    if different < FEW_VALUES * A.size:
        return f"A has only {different} different magnitudes among {A.size} entries, so it is discrete or structured"
    # what survives a scaling of rows and columns: Toeplitz, Vandermonde, Kronecker, signs
    for name, above, below in (
        ("rows", magnitudes[1:], magnitudes[:-1]),
        ("columns", magnitudes[:, 1:], magnitudes[:, :-1]),
    ):
        different = _different(above / np.maximum(below, np.finfo(float).tiny))
        if different < FEW_VALUES * above.size:
            return f"neighbouring {name} of A have only {different} different ratios, so it is structured"
    columns = A / lengths
    cosines = np.abs(columns.conj().T @ columns)
    np.fill_diagonal(cosines, 0.0)
    if (cosines > 1 - PARALLEL).any():
        return "A has parallel columns, between which no measurement can tell"
    return ""


def _different(values: Array, rounding: float = 0.0) -> int:
    """How many different ones there are, up to a relative difference and an absolute one."""
    ordered = np.sort(values, axis=None)
    return 1 + int(np.count_nonzero(np.diff(ordered) > SAME * ordered[1:] + rounding))


def verdict(problem: Problem, x: NDArray[Any], objection: str) -> tuple[bool, str]:
    """Whether an exact solution is certified, and why or why not.

    The multiples of whole numbers that `lattice.py` finds may have more non-zeros than the theorems here allow: they
    are not certified, and the reason says what speaks for them.
    """
    k, rank = int(np.count_nonzero(x)), problem.reduced.rank
    doubt = objection
    if not doubt and k > rank - support.MARGIN:
        doubt = TOO_MANY.format(k=k, rank=rank) + (WHOLE if as_whole(problem, x) is not None else "")
    doubt = doubt or ambiguity(problem, x)
    return not doubt, doubt or reason(problem, x)


def ambiguity(problem: Problem, x: NDArray[Any]) -> str:
    """Which columns of A could stand in for others, as they could not if A were generic; empty if none was found.

    In the complement of span(A_T), T the support of x: one column outside T that is zero, two that are parallel, three
    in a plane, fewer than there are dimensions that hold another. The last also among all columns, because part of T
    may be enough for it.
    """
    B, T = problem.reduced.B, np.flatnonzero(x)
    doubt = _beside(B, T) if 0 < len(T) <= len(B) - support.MARGIN else ""
    if doubt:
        return doubt
    group = _dependent_set(B / np.maximum(np.linalg.norm(B, axis=0), np.finfo(float).tiny))
    return f"columns {_listed(group)} of A depend on each other" if group else ""


def _beside(B: NDArray[Any], T: Indices) -> str:
    Q, R = np.linalg.qr(B[:, T], mode="complete")
    diagonal = np.abs(np.diag(R))
    if diagonal.min() <= NEGLIGIBLE * diagonal.max():
        return "the columns of the support are nearly dependent"
    outside = np.setdiff1d(np.arange(B.shape[1]), T)
    C = Q[:, len(T) :].conj().T @ B[:, outside]
    lengths = np.linalg.norm(C, axis=0)
    spanned = lengths <= DEPENDENT * float(np.linalg.norm(B, axis=0).max())
    if spanned.any():
        return f"column {outside[np.argmax(spanned)]} of A is a combination of the columns of the support"
    C = C / lengths
    group = _dependent_pair(C) or _dependent_triple(C) or _dependent_set(C)
    return f"columns {_listed(outside[list(group)])} of A depend on each other and on the support" if group else ""


def _listed(columns: Iterable[int]) -> str:
    return ", ".join(str(k) for k in sorted(columns))


def _dependent_pair(C: NDArray[Any]) -> tuple[int, ...]:
    """Two of the unit columns that are parallel, in at least two dimensions; or none."""
    if len(C) < 2:
        return ()
    near = np.abs(np.triu(C.conj().T @ C, 1)) > 1 - SUSPECT**2
    return next((pair for pair in _indices(near) if _are_dependent(C[:, pair])), ())


def _dependent_triple(C: NDArray[Any]) -> tuple[int, ...]:
    """Three of the unit columns in one plane, in at least three dimensions; or none.

    A projection onto three random directions keeps what is dependent, and determinants there are quick.
    """
    if len(C) < 3 or C.shape[1] > TRIPLES:
        return ()
    shadow = np.random.default_rng(0).standard_normal((3, len(C))) @ C if len(C) > 3 else C
    shadow = (shadow / np.linalg.norm(shadow, axis=0)).T
    second, first = np.tril_indices(len(shadow), -1)  # by the second, so that those before any k come first
    normals = np.ascontiguousarray(np.cross(shadow[first], shadow[second]).T)
    for k in range(2, len(shadow)):
        for pair in np.flatnonzero(np.abs(shadow[k] @ normals[:, : k * (k - 1) // 2]) <= SUSPECT):
            triple = int(first[pair]), int(second[pair]), k
            if _are_dependent(C[:, triple]):
                return triple
    return ()


def _dependent_set(C: NDArray[Any]) -> tuple[int, ...]:
    """A column of C that is a combination of less than a whole basis, with that part of the basis; or none.

    A set of d dependent columns shows if a random basis holds all of them but one.
    """
    size, count = C.shape
    bases = min(max(WORK // C.size, BASES[0]), BASES[1])
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(count), (bases, 1)), axis=1)
    shuffled = np.moveaxis(C[:, orders], 1, 0)
    try:
        W = np.abs(np.linalg.solve(shuffled[:, :, :size], shuffled[:, :, size:]))
    except np.linalg.LinAlgError:
        return tuple(range(count))
    largest = W.max(axis=1, keepdims=True)
    if largest.max() > 1 / DEPENDENT:  # so large only where the basis is none
        return tuple(orders[int(np.argmax(largest.max(axis=(1, 2)))), :size])
    needed = DEPENDENT * largest < W
    if needed.all():
        return ()
    trial, k = np.unravel_index(int(np.argmin(needed.sum(axis=1))), largest[:, 0].shape)
    return (*orders[trial, :size][needed[trial, :, k]], orders[trial, size + k])


def _indices(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    return ((int(i), int(k)) for i, k in np.argwhere(mask))


def _are_dependent(columns: NDArray[Any]) -> bool:
    return bool(np.linalg.svd(columns, compute_uv=False)[-1] <= DEPENDENT)


def certify(problem: Problem, likely: NDArray[Any], rng: np.random.Generator) -> NDArray[Any] | None:
    """An exact solution with few non-zeros near the order of `likely` (e.g. |x|), or None.

    A certificate follows from it only where `verdict` says so.
    """
    reduced = problem.reduced
    if reduced.rank < 3:
        return None
    if problem.is_complex:
        return _searched(problem, likely)
    x = np.empty(problem.n)
    rng.standard_normal((reduced.rank, support.SPARE))  # unused: so that a seed gives the restarts it always gave
    columns, order = np.ascontiguousarray(reduced.B.T), np.ascontiguousarray(likely, np.float64)
    found = kernels.certify(columns, reduced.b, order, kernels.SearchRoom(*reduced.B.shape), x)
    return x if found and accepted(problem, x) else None


def exact_fit(problem: Problem, chosen: Indices, spare: int) -> NDArray[Any] | None:
    """Least squares on the chosen columns, where that is exact with at least `spare` equations more than non-zeros."""
    B, b = problem.reduced.B, problem.reduced.b
    limit = EXACT * float(np.linalg.norm(b))
    x = fitted(B, b, chosen)
    if np.linalg.norm(B @ x - b) > limit:
        return None
    magnitudes = np.abs(x)
    fewer = fitted(B, b, np.flatnonzero(magnitudes > NEGLIGIBLE * magnitudes.max()))
    x = fewer if np.linalg.norm(B @ fewer - b) <= limit else x
    few = np.count_nonzero(x) <= problem.reduced.rank - spare
    return problem.clipped(x) if few and accepted(problem, x) else None


def _searched(problem: Problem, likely: NDArray[Any]) -> NDArray[Any] | None:
    """The search of `_compiled/support.py` for complex systems."""
    B, b = problem.reduced.B, problem.reduced.b
    size = max(len(b) - support.SPARE, 1)
    order = np.argsort(-likely)
    T, rest = order[:size], order[size : size + support.SEARCHED_COLUMNS]
    complement = np.linalg.qr(B[:, T], mode="complete")[0][:, size:].conj().T
    left = complement @ b
    if np.linalg.norm(left) <= EXACT * np.linalg.norm(b):
        return exact_fit(problem, T, support.MARGIN)
    for extra in _spanning(complement @ B[:, rest], left):
        x = exact_fit(problem, np.concatenate([T, rest[list(extra)]]), support.MARGIN)
        if x is not None:
            return x
    return None


def _spanning(C: NDArray[Any], left: NDArray[Any]) -> Iterator[tuple[int, ...]]:
    """One, two, then three columns of C whose span seems to hold `left`, by inner products alone."""
    most = len(C) - 1  # as many as there are dimensions span everything
    G, g, energy = C.conj().T @ C, C.conj().T @ left, float(np.linalg.norm(left) ** 2)
    squares = G.diagonal().real
    limit = support.PARALLEL * energy
    near = (squares > 0) & (energy * squares - np.abs(g) ** 2 <= limit * squares)
    yield from ((int(k),) for k in np.flatnonzero(near))
    for i in np.flatnonzero(squares[:-1] > 0) if most >= 2 else ():
        H = G[i + 1 :, i + 1 :] - np.outer(G[i + 1 :, i], G[i, i + 1 :]) / squares[i]
        h = g[i + 1 :] - G[i + 1 :, i] * (g[i] / squares[i])
        after = energy - abs(g[i]) ** 2 / squares[i]
        n = H.diagonal().real
        whole = n > NEGLIGIBLE**2 * squares[i + 1 :]
        near = whole & (after * n - np.abs(h) ** 2 <= limit * n)
        yield from ((int(i), int(i + 1 + k)) for k in np.flatnonzero(near))
        if most >= 3:
            yield from ((int(i), int(i + 1 + j), int(i + 1 + k)) for j, k in _third(H, h, n, whole, after, limit))


def _third(
    H: NDArray[Any], h: NDArray[Any], n: Array, whole: NDArray[np.bool_], after: float, limit: float
) -> Iterator[tuple[int, int]]:
    """The pairs j < k which, beside a column that was projected out, explain the rest."""
    inverse = np.divide(1.0, n, out=np.zeros_like(n), where=whole)
    square = n - np.abs(H) ** 2 * inverse[:, None]
    product = h - H.T * (h * inverse)[:, None]
    last = (after - np.abs(h) ** 2 * inverse)[:, None]
    near = (last * square - np.abs(product) ** 2 <= limit * square) & (square > NEGLIGIBLE**2 * n)
    return _indices(np.triu(near & whole[:, None] & whole, 1))


def searchable(problem: Problem) -> bool:
    """Whether an exact solution can be looked for: it is better than what a solver ended with, certified or not."""
    return problem.noise == 0 and problem.system.matrix is not None and problem.misfit <= EXACT * problem.scale


def accepted(problem: Problem, x: NDArray[Any]) -> bool:
    """Whether x solves the system as it came, within its bounds, and not by coincidence."""
    if problem.residual(x) > EXACT * problem.scale + problem.misfit or is_coincidence(problem, x):
        return False
    if problem.bounds is None:
        return True
    slack = 1e-9 * float(np.max(np.abs(x)))
    return bool(np.all(x >= problem.bounds[0] - slack) and np.all(x <= problem.bounds[1] + slack))


def reason(problem: Problem, x: NDArray[Any]) -> str:
    """What a certificate rests on."""
    k = int(np.count_nonzero(x))
    return CERTIFIED.format(k=k, spare=problem.reduced.rank - k)
