"""When is a jointly sparse solution of A X = Y the signals that were measured? Several signals say more than one.

Let X0 have the non-zero rows S, K of them, and let r be the rank of Y = A X0. Let X solve A X = Y with the rows T.

Theorem 1 (generic A). If X0 is fixed before A (M x N) is drawn from a continuous density, then almost surely every X
with at most M - 1 non-zero rows is X0. (For almost all w the vector X0 w has the non-zeros S. By Theorem 1 of
`uniqueness.py`, X w = X0 w; and the w span everything.)

Theorem 2 (any X0). If any sigma - 1 columns of A are independent and 2 K < sigma - 1 + r, then X0 is the only solution
with at most K non-zero rows. For generic A, sigma = M + 1: K < (M + r) / 2 suffices for every X0, even one chosen by
someone who knows A, and K < M where r = K. (Let X be another one. The columns S + T are not independent, or X = X0; so
there are sigma or more of them, and their rank is at least sigma - 1. Y is in span(A_S) and in span(A_T), so
r <= |S| + |T| - rank(A_S+T) <= 2 K - sigma + 1.) J. Chen and X. Huo, "Theoretical results on sparse representations of
multiple-measurement vectors", IEEE Transactions on Signal Processing 54(12), 2006; M. E. Davies and Y. C. Eldar, "Rank
awareness in joint sparse recovery", IEEE Transactions on Information Theory 58(2), 2012.

Theorem 3 (any A). If r = |T|, the columns A_T are independent, and no other column of A is in their span, then X is the
only solution with at most r non-zero rows; and X is X0 if the signals fill the span of the columns that they use, that
is if rank(Y) = rank(A_S). (span(A_T) = span(Y), and any solution's columns span at least that. If they span no more,
all of them are in span(A_T), hence among T.) All of this is measured, so A may be structured. What is assumed can be
doubted where r = L: more signals could have had a larger rank. So it is used where 1 < r < L.

In floating point, resolution and dependence are measured as in `uniqueness.py`, with the worst column of Y. Stronger
is the bound on chance. Let the first j columns leave R_j of Y, with singular values s_1, s_2, ..., of which q are not
negligible, and let all k leave e. A set of further columns that is drawn at random has to hold all q
directions. Given the first i - 1 of them, the i-th is uniform in n - i + 1 dimensions, n = rank - j, so that a set fits
by chance with a probability of at most about

    product over i = 1..q of c_i (e / s_i)^(rank - k):

q is the lesser of k - j and r. Where many columns are wrong, the power grows with the rank of Y; where one is, there
are few to choose from. So a single equation to spare suffices where the rank is large, and does not for one signal.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dependence import dependent_pair, dependent_triple
from .groups import Groups, row_sizes
from .problem import Problem
from .result import Certificate
from .tolerances import EXACT, HIDDEN
from .uniqueness import (
    FEW_EQUATIONS,
    LARGEST_SHARP_ERROR,
    MANY_COLUMNS,
    MOST_CHANCE,
    MOST_FITS,
    MOST_SEARCHES,
    ROUNDING,
    TOO_MANY,
    Fit,
    _assumptions,
    _dependence,
    _is_whole,
    _log_binomial,
    _log_share,
    _significant,
    assumptions,
    doubt_of_structure,
)

FILLS = "the signals fill the span of the {r} columns that they use, as the rank of {columns} columns of Y suggests"
SEARCHED_BESIDE = "no set of up to three columns beside the support"
ANY_SIGNAL = "A is generic: with {r} independent signals and {k} < (M + r) / 2 rows this holds for any X"


def judge_joint_uniqueness(
    problem: Problem,
    Y: NDArray[Any],
    X: NDArray[Any],
    *,
    groups: Groups | None = None,
    assume_generic: bool = False,
    check_dependence: bool = False,
) -> tuple[Certificate | None, str]:
    """Return a certificate for an exact solution X with few non-zero rows, or None, and the reason why or why not.

    `problem` has the same A, and any column of Y. All columns of a group with a non-zero count as its support.
    """
    used = X.any(axis=1)
    T = np.flatnonzero(used) if groups is None else np.sort(groups.columns(groups.of_columns(np.flatnonzero(used))))
    signals = np.linalg.norm(Y, axis=0) > 0
    Y, X = Y[:, signals], X[:, signals]
    r = _rank(Y)
    fills = 1 < r < Y.shape[1] and r == len(T)
    structure = "" if assume_generic else doubt_of_structure(problem.system)
    doubt = _objection(problem, Y, X, len(T)) or (structure if not fills else "")
    if doubt:
        return None, doubt
    combined, fit = _fit(problem, Y, X, T)
    thorough = check_dependence or (fit.is_whole and fit.is_sharp and problem.n <= MANY_COLUMNS)
    chance = chance_of_joint_fit(combined, Y, X, T, 1 if groups is None else int(groups.sizes.min()))
    doubt = fit.doubt() or (
        f"columns picked by chance would explain Y as well with a probability of up to {chance:.1g}"
        if chance > MOST_CHANCE
        else _dependence(combined, fit, thorough)
        if not structure
        else _dependence_beside(combined, fit)
    )
    if doubt:
        return None, doubt
    assumed = _assumptions(combined, fit, assume_generic, thorough)
    rank = combined.reduced.rank
    if fills:
        searched = assumed[1] if not structure else assumptions(False, SEARCHED_BESIDE)[1]
        assumed = FILLS.format(r=r, columns=Y.shape[1]), searched
    elif 2 * len(T) < rank + r:
        assumed = (ANY_SIGNAL.format(r=r, k=len(T)), *assumed[1:])
    certificate = Certificate(
        support=T,
        margin=rank - len(T),
        smallest_visible=fit.error / float(fit.lengths.min()),
        chance=chance,
        assumptions=assumed,
    )
    return certificate, str(certificate)


def _dependence_beside(problem: Problem, fit: Fit) -> str:
    """Return which two or three columns depend on each other and on the support; structured A have larger sets."""
    group = dependent_pair(fit.D, _significant(problem, fit, 2))
    group = group if group.columns else dependent_triple(fit.D, _significant(problem, fit, 3))
    listed = ", ".join(str(column) for column in sorted(fit.outside[list(group.columns)]))
    return f"columns {listed} of A depend on each other and on the support" if group.hides(fit.limit) else ""


def _objection(problem: Problem, Y: NDArray[Any], X: NDArray[Any], k: int) -> str:
    """Return why no such X can be certified; empty if one can."""
    if problem.noise > 0:
        return "Y is noisy, so an exact fit proves nothing"
    if k == 0:
        return "X is zero, so there is nothing to compare an error with"
    rank = problem.reduced.rank
    if rank < 3:
        return "there are fewer than three independent equations"
    if np.any(np.linalg.norm(problem.matrix() @ X - Y, axis=0) > EXACT * np.linalg.norm(Y, axis=0)):
        return "X does not explain Y exactly"
    return TOO_MANY.format(k=k, rank=rank) if k >= rank else ""


def _rank(Y: NDArray[Any]) -> int:
    sizes = np.linalg.svd(Y / np.linalg.norm(Y, axis=0), compute_uv=False)
    return int(np.count_nonzero(sizes > math.sqrt(EXACT) * sizes[0]))


def _fit(problem: Problem, Y: NDArray[Any], X: NDArray[Any], T: NDArray[Any]) -> tuple[Problem, Fit]:
    """Return a random combination of the signals as a problem, and its fit with the errors of the worst signal."""
    weights = np.random.default_rng(0).standard_normal(Y.shape[1]) / np.linalg.norm(Y, axis=0)
    combined = replace(problem, y=Y @ weights, bounds=None, x0=None, estimate_noise=False)
    x = X @ weights
    x[T] = np.where(x[T] == 0, np.finfo(float).tiny, x[T])  # a group counts with all its columns
    fit = Fit.of(combined, x)
    units = problem.system.row_units if problem.has_uneven_rows else np.ones(problem.m)
    terms = np.linalg.norm(fit.A[:, T], axis=0) @ np.abs(X[T])
    residuals = np.linalg.norm(fit.A @ X - Y / units[:, None], axis=0)
    errors = np.maximum(residuals, ROUNDING * terms)
    largest = np.abs(X).max(axis=0)
    is_whole = any(_is_whole(values[values != 0]) for values in X[T].T)
    is_sharp = bool(np.all(errors <= LARGEST_SHARP_ERROR * ROUNDING * terms))
    fit = replace(
        fit,
        error=float(errors.max()),
        limit=max(fit.limit, float((errors / largest).max()) / HIDDEN),
        is_whole=is_whole or (is_sharp and problem.reduced.rank <= FEW_EQUATIONS),  # equal rows make sums likely too
        is_sharp=is_sharp,
    )
    return combined, fit


def chance_of_joint_fit(
    problem: Problem, Y: NDArray[Any], X: NDArray[Any], T: NDArray[Any], together: int = 1
) -> float:
    """Return a bound of the probability that the columns T explain Y by chance, as the module says.

    Columns in groups of at least `together` leave fewer choices.
    """
    B = problem.reduced.B
    X = X / np.abs(X).max(axis=0)
    terms = np.linalg.norm(B[:, T], axis=0)[:, None] * np.abs(X[T])
    T = T[np.argsort(-row_sizes(terms), kind="stable")]
    b, (rank, n), k = B @ X, B.shape, len(T)
    b = b + problem.reduced.factors.U[:, :rank].conj().T @ _left(problem, Y, X) / problem.reduced.factors.s[:, None]
    along = np.linalg.qr(B[:, T], mode="complete")[0].conj().T @ b
    error = max(float(np.linalg.norm(along[k:])), ROUNDING * float(np.linalg.norm(terms.sum(axis=0))))
    real = 2 if np.iscomplexobj(along) else 1
    spare, worst = real * (rank - k), -math.inf
    for j in range(k):
        choices = _log_binomial((n - j) / together, (k - j) / together)
        total = min(math.log(MOST_SEARCHES) + choices, math.log(MOST_FITS))
        sizes = np.linalg.svd(along[j:], compute_uv=False)[: k - j]
        for i, size in enumerate(sizes[sizes > error]):
            total += min(_log_share(real * (rank - j - i), spare) + spare * math.log(error / size), 0.0)
        worst = max(worst, total)
    return math.exp(min(worst, 0.0))


def _left(problem: Problem, Y: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
    """Return what X, whose columns were scaled, leaves of Y in the same scale, in the rows of the factors."""
    A, units = problem.matrix(), problem.system.row_units if problem.has_uneven_rows else np.ones(problem.m)
    fitted = A @ X
    scale = np.linalg.norm(fitted, axis=0) / np.linalg.norm(Y, axis=0)
    return np.asarray((Y * scale - fitted) / units[:, None])
