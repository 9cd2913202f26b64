"""Exact sparse solutions near a guess: which few columns of A explain y exactly?

Ordered-statistics decoding, as in coding theory: the columns that a guess ranks highest are taken for granted, and at
most three more are searched for among all others (`_compiled/support.py` has the algorithm). Whether a solution that
was found is the only one, and so the signal that was measured, is another question: see `uniqueness.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from .._compiled import support
from .._compiled.kernel_tolerances import PARALLEL
from .explanation import is_coincidence
from .problem import Problem
from .projection import fitted
from .tolerances import AT_BOUND, EXACT, NEGLIGIBLE


def find_exact(problem: Problem, likely: NDArray[Any]) -> NDArray[Any] | None:
    """Return an exact solution with few non-zeros, or None; `likely` ranks the columns, for instance by |x|."""
    reduced = problem.reduced
    if reduced.rank < 3:
        return None
    if problem.is_complex:
        return _searched(problem, likely)
    if "exact search" not in problem.notes:
        problem.notes["exact search"] = kernels.SearchRoom(*reduced.B.shape)
    x = np.empty(problem.n)
    room, ranks = problem.notes["exact search"], np.ascontiguousarray(likely, np.float64)
    found = kernels.find_support(reduced.factors.columns, reduced.b, ranks, room, x)
    return _refine(problem, x) if found and accepted(problem, x) else None


class ExactSearch:
    """Exact searches around many guesses at one problem, of which none is made twice.

    What a search finds depends on which columns are taken for granted, and not on their order, where all others are
    searched.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.granted = problem, max(problem.reduced.rank - support.SPARE, 1)
        self.searches_all_others = problem.n - self.granted <= support.SEARCHED_COLUMNS
        self.failed: set[bytes] = set()

    def find(self, likely: Array) -> NDArray[Any] | None:
        """Return what `find_exact` does, or None at once where the same search has failed before."""
        granted = np.zeros(self.problem.n, bool)
        granted[np.argsort(-likely, kind="stable")[: self.granted]] = True
        key = granted.tobytes()
        if self.searches_all_others and key in self.failed:
            return None
        found = find_exact(self.problem, likely)
        if found is None:
            self.failed.add(key)
        return found


def has_negligible(x: NDArray[Any]) -> bool:
    """Return whether some non-zeros are so small that the fit may do without them."""
    size = np.abs(x[x != 0])
    return bool(len(size) and size.min() <= NEGLIGIBLE * size.max())


def drop_negligible(problem: Problem, x: NDArray[Any]) -> NDArray[Any] | None:
    """Return least squares on the coefficients that are not negligible, if that is exact too."""
    size = np.abs(x)
    fewer = problem.clipped(problem.fit(np.flatnonzero(size > NEGLIGIBLE * size.max())))
    return fewer if accepted(problem, fewer) else None


def _refine(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return least squares on the support in the equations as given, which weighs their rounding errors evenly."""
    refined = problem.clipped(fitted(problem.matrix(), problem.y, np.flatnonzero(x)))
    better = np.count_nonzero(refined) == np.count_nonzero(x) and problem.residual(refined) <= problem.residual(x)
    return refined if better and not problem.has_uneven_rows else x


def exact_fit(problem: Problem, chosen: Indices, spare: int) -> NDArray[Any] | None:
    """Fit the chosen columns, where that is exact with at least `spare` equations more than non-zeros; else None."""
    B, b = problem.reduced.B, problem.reduced.b
    limit = EXACT * float(np.linalg.norm(b))
    x = fitted(B, b, chosen)
    if np.linalg.norm(B @ x - b) > limit:
        return None
    magnitudes = np.abs(x)
    fewer = fitted(B, b, np.flatnonzero(magnitudes > NEGLIGIBLE * magnitudes.max()))
    x = fewer if np.linalg.norm(B @ fewer - b) <= limit else x
    few = np.count_nonzero(x) <= problem.reduced.rank - spare
    return _refine(problem, problem.clipped(x)) if few and accepted(problem, x) else None


def _searched(problem: Problem, likely: NDArray[Any]) -> NDArray[Any] | None:
    """Search as `_compiled/support.py` does, for complex systems."""
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
    """Yield one, two, then three columns of C whose span seems to hold `left`, by inner products alone."""
    most = len(C) - 1  # as many as there are dimensions span everything
    G, g, energy = C.conj().T @ C, C.conj().T @ left, float(np.linalg.norm(left) ** 2)
    squares = G.diagonal().real
    limit = PARALLEL * energy
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
    """Return the pairs j < k which, beside a column that was projected out, explain the rest."""
    inverse = np.divide(1.0, n, out=np.zeros_like(n), where=whole)
    square = n - np.abs(H) ** 2 * inverse[:, None]
    product = h - H.T * (h * inverse)[:, None]
    last = (after - np.abs(h) ** 2 * inverse)[:, None]
    near = (last * square - np.abs(product) ** 2 <= limit * square) & (square > NEGLIGIBLE**2 * n)
    return _indices(np.triu(near & whole[:, None] & whole, 1))


def _indices(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    return ((int(i), int(k)) for i, k in np.argwhere(mask))


def searchable(problem: Problem) -> bool:
    """Whether an exact solution can be looked for: it is better than what a solver ended with, certified or not."""
    return problem.noise == 0 and problem.system.matrix is not None and problem.misfit <= EXACT * problem.scale


def accepted(problem: Problem, x: NDArray[Any]) -> bool:
    """Whether x solves the original system, within its bounds, and not by coincidence."""
    if problem.residual(x) > EXACT * problem.scale + problem.misfit or is_coincidence(problem, x):
        return False
    return is_within_bounds(problem, x)


def is_within_bounds(problem: Problem, x: NDArray[Any]) -> bool:
    """Return whether x keeps to the bounds, up to rounding."""
    if problem.bounds is None:
        return True
    slack = AT_BOUND * float(np.max(np.abs(x)))
    return bool(np.all(x >= problem.bounds[0] - slack) and np.all(x <= problem.bounds[1] + slack))
