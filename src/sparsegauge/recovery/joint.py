"""Many signals with one support, and groups of coefficients: A X = Y, where few rows, or groups of them, are not 0.

Only the span of Y matters for an exact solution, so Y is replaced by an orthonormal basis U of it, of r columns. Two
steps alternate. Sparse Bayesian learning with one variance per group (D. P. Wipf and B. D. Rao, "An empirical Bayesian
strategy for solving the simultaneous sparse approximation problem", IEEE Transactions on Signal Processing 55(7), 2007)
ranks the groups, with noise that falls to zero. Then the rank - 1 - r columns that rank highest are taken for granted:
in the complement of their span, U spans the columns that are missing if these are r or fewer, so that each column of A
is tested by itself (K. Lee, Y. Bresler and M. Junge, "Subspace methods for joint sparse recovery", IEEE Transactions on
Information Theory 58(6), 2012). So all but r of the support have to rank among the first rank - 1 - r; for r = K
nothing has to be ranked at all. One signal with groups is the same problem with r = 1; there one missing group is
looked for.

Where there is no exact solution, Y is noisy: see `joint_noise.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from ..errors import InvalidInput
from .group_variances import learn_variances
from .groups import Groups, row_sizes
from .joint_noise import JointModel
from .portfolio import Portfolio
from .problem import Problem
from .projection import bounded_least_squares
from .status import Status
from .tolerances import AT_BOUND, EXACT, IN_SPAN, NEGLIGIBLE, SMALLEST_SINGULAR_VALUE

NOISE_LEVELS = np.geomspace(0.1, 1e-10, 60)
STEPS_BETWEEN_SEARCHES = 6
MOST_RUNS = 40
LEAST_RUNS = 2
RUN_WORK = 4e7  # there are RUN_WORK / (rank^2 N) runs, within these limits
RUNS_BEFORE_NOISE = 4  # after these, Y counts as noisy if few columns explain it then
FEW_COLUMNS_PER_MEASUREMENT = 0.65
IS_NOISY = (
    "Y is noisy: {k} {parts} explain it up to noise of a standard deviation of about {noise:.2g} per measurement "
    "(estimated). Pass noise=0 if Y is known to be exact"
)


@dataclass(frozen=True)
class JointEstimate:
    """X (N x L) with few non-zero rows; `std` and `inclusion`, with noise, hold for a coefficient in each column.

    `support` are the rows that are not zero, `noise` the standard deviation of the noise in one measurement.
    """

    X: NDArray[Any]
    support: Indices
    status: Status
    message: str | None = None
    noise: float = 0.0
    std: Array | None = None
    inclusion: Array | None = None

    @property
    def is_exact(self) -> bool:
        """Whether X was found as an exact solution."""
        return self.status == Status.CONVERGED and self.noise == 0


def check_joint_bounds(problem: Problem) -> None:
    """Refuse bounds that do not allow zero: the support is found without them, and they hold for its coefficients."""
    if not problem.zero_is_allowed:
        raise InvalidInput("joint=True and groups= need bounds that allow 0 everywhere, such as (0, None)")
    if problem.system.matrix is None:
        raise InvalidInput(
            f"joint=True and groups= need A written out, and this operator of {problem.m} x {problem.n} is too large; "
            "pass fewer columns, or recover each signal alone"
        )


def recover_jointly(
    problem: Problem, Y: NDArray[Any], rng: np.random.Generator, *, groups: Groups | None = None
) -> JointEstimate:
    """Recover X with A X = Y, exactly or up to noise, in which all columns share one support.

    A, the noise per measurement and the bounds are those of `problem`, which is that of one column of Y.
    """
    check_joint_bounds(problem)
    groups = Groups.single(problem.n) if groups is None else groups
    shape, kind = (problem.n, Y.shape[1]), np.result_type(problem.matrix(), Y)
    if not Y.any():
        return JointEstimate(np.zeros(shape, kind), np.zeros(0, np.int64), Status.NO_SIGNAL)
    if problem.noise > 0:
        return _recover_noisy(problem, Y, groups)
    search, noisy = JointExactSearch(problem, Y, groups), None
    X = search.run(rng, MOST_RUNS if search.has_low_rank else RUNS_BEFORE_NOISE)
    if X is None and problem.estimate_noise:
        noisy = _recover_noisy(problem, Y, groups)
        if noisy.status == Status.CONVERGED and len(noisy.support) <= FEW_COLUMNS_PER_MEASUREMENT * problem.m:
            return noisy
    X = search.run(rng, MOST_RUNS) if X is None else X
    if X is not None:
        return JointEstimate(X, np.flatnonzero(X.any(axis=1)), Status.CONVERGED)
    if noisy is not None:
        return noisy
    X = np.linalg.lstsq(problem.matrix(), Y, rcond=None)[0]
    return JointEstimate(X, np.flatnonzero(X.any(axis=1)), Status.INEXACT)


def _recover_noisy(problem: Problem, Y: NDArray[Any], groups: Groups) -> JointEstimate:
    """Return the estimate under noise of a given or unknown size."""
    sigma = None if problem.estimate_noise else problem.sigma
    found = JointModel.of(problem.matrix(), Y, sigma, groups).estimate()
    X = found.X if problem.bounds is None else _within_bounds(problem, Y, found.support)
    message = None
    if not len(found.support):
        status = Status.NO_SIGNAL if sigma is not None else Status.NOT_SPARSE
    elif sigma is not None or found.is_clear:
        status = Status.CONVERGED
        parts = "columns of A" if groups.are_single else "groups of columns of A"
        k = len(groups.of_columns(found.support))
        message = None if sigma is not None else IS_NOISY.format(k=k, parts=parts, noise=found.noise)
    else:
        status = Status.NOT_SPARSE
    return JointEstimate(X, found.support, status, message, found.noise, found.std, found.inclusion)


def _within_bounds(problem: Problem, Y: NDArray[Any], support: Indices) -> NDArray[Any]:
    """Return least squares on the support within the bounds, column by column."""
    low, high = (side[support] for side in problem.bounds or ())
    X = np.zeros((problem.n, Y.shape[1]))
    for column, y in enumerate(Y.T if len(support) else ()):
        X[support, column] = bounded_least_squares(problem.real_matrix()[:, support], y, (low, high))
    return X


class JointExactSearch:
    """The search for an exact solution: B X = b has orthonormal rows, and U is an orthonormal basis of b."""

    def __init__(self, problem: Problem, Y: NDArray[Any], groups: Groups) -> None:
        self.problem, self.Y, self.groups = problem, Y, groups
        system = problem.system
        units = system.row_units[:, None] if problem.has_uneven_rows else 1.0
        factors = system.even_factors if problem.has_uneven_rows else system.factors
        self.A, self.scaled = problem.matrix() / units, Y / units
        self.B = factors.B
        along = factors.U.conj().T @ self.scaled
        left = self.scaled - factors.U[:, : factors.independent] @ along[: factors.independent]
        self.is_consistent = bool(np.all(np.linalg.norm(left, axis=0) <= self._limits()))
        b = along[: factors.rank] / factors.s[:, None]
        directions, sizes, _ = np.linalg.svd(b / np.maximum(np.linalg.norm(b, axis=0), np.finfo(float).tiny))
        self.r = int(np.count_nonzero(sizes > SMALLEST_SINGULAR_VALUE * sizes[0]))
        self.U = directions[:, : self.r]
        self.weighted = self.U * sizes[: self.r]
        self.runs = 0

    @property
    def has_low_rank(self) -> bool:
        """Whether Y has a lower rank than noise would give it."""
        return bool(self.r < min(self.B.shape[0], self.Y.shape[1]))

    def _limits(self) -> Array:
        return np.asarray(EXACT * np.linalg.norm(self.scaled, axis=0))

    def run(self, rng: np.random.Generator, most: int) -> NDArray[Any] | None:
        """Return an exact solution with fewer non-zero rows than equations, or None after the given number of runs."""
        rank, n = self.B.shape
        if not self.is_consistent or self.r >= rank:
            return None
        if self.r == 1 and self.Y.shape[1] > 1 and self.groups.are_single:
            return self._recover_one(rng)
        while self.runs < min(max(RUN_WORK / (rank**2 * n), LEAST_RUNS), most):
            self.runs += 1
            for variances in self._rank_groups(self.runs - 1, rng):
                X = self._complete(variances)
                if X is not None:
                    return X
        return None

    def _recover_one(self, rng: np.random.Generator) -> NDArray[Any] | None:
        """Return the solution for signals that are multiples of one, by the default solver."""
        longest = int(np.argmax(np.linalg.norm(self.Y, axis=0)))
        y = np.ascontiguousarray(self.Y[:, longest])
        one = Problem(self.problem.system, y, bounds=self.problem.bounds)
        found = Portfolio().solve(one, rng)
        return self._accept(np.flatnonzero(found.x)) if found.success else None

    def _rank_groups(self, run: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield variances of the groups; runs differ in where they start, and whether directions of Y count alike."""
        V = self.weighted if run % 2 == 0 else self.U
        if run == 0:
            yield self.groups.total(row_sizes(self.B.conj().T @ V) ** 2) / self.groups.sizes
        start = np.ones(len(self.groups)) if run < LEAST_RUNS else rng.exponential(size=len(self.groups))
        for step, variances in enumerate(learn_variances(self.B, V, self.groups, start, NOISE_LEVELS), 1):
            if step % STEPS_BETWEEN_SEARCHES == 0:
                yield variances

    def _complete(self, variances: Array) -> NDArray[Any] | None:
        """Return the solution on the groups that rank highest and those that are missing, if it is exact."""
        rank, order = len(self.B), np.argsort(-variances)
        first = self.groups.leading(order, max(rank - 1 - self.r, 0))
        X = self._accept(self._with_columns_in_span(first))
        if X is None and not self.groups.are_single:
            first = self.groups.leading(order, rank - 1 - int(self.groups.sizes.max()))
            X = self._accept(self._with_one_more(first))
        return X

    def _with_columns_in_span(self, first: Indices) -> Indices:
        """Return the columns of these groups, and of those with columns in the span of what is left of U."""
        T = self.groups.columns(first)
        P = _complement(self.B, T)
        directions, sizes, _ = np.linalg.svd(P @ self.U, full_matrices=False)
        span = directions[:, sizes > NEGLIGIBLE]
        C = P @ self.B
        lengths = np.linalg.norm(C, axis=0)
        away = np.linalg.norm(C - span @ (span.conj().T @ C), axis=0)
        missing = np.flatnonzero((away <= IN_SPAN * lengths) & (lengths > IN_SPAN * np.linalg.norm(self.B, axis=0)))
        return self.groups.columns(np.union1d(first, self.groups.of_columns(missing)))

    def _with_one_more(self, first: Indices) -> Indices:
        """Return the columns of these groups, and of the one that leaves least of U."""
        P = _complement(self.B, self.groups.columns(first))
        C, left = P @ self.B, P @ self.U
        explained = np.full(len(self.groups), -1.0)
        for group in np.setdiff1d(np.arange(len(self.groups)), first):
            Q = np.linalg.qr(C[:, self.groups.members[group]])[0]
            explained[group] = np.linalg.norm(Q.conj().T @ left)
        return self.groups.columns(np.append(first, np.argmax(explained)))

    def _accept(self, columns: Indices) -> NDArray[Any] | None:
        """Return least squares on some columns if it is exact and within the bounds, without rows that are not used."""
        if not 0 < len(columns) < len(self.B):
            return None
        X = self._fit(columns)
        if X is None:
            return None
        sizes = self.groups.total(row_sizes(X) ** 2)
        used = np.flatnonzero(sizes > NEGLIGIBLE**2 * sizes.max())
        fewer = self._fit(self.groups.columns(used))
        X = X if fewer is None else fewer
        if self.problem.bounds is not None:
            low, high = (side[:, None] for side in self.problem.bounds)
            slack = AT_BOUND * np.abs(X).max(axis=0)
            if np.any(low - slack > X) or np.any(high + slack < X):
                return None
            X = np.clip(X, low, high)
        return X

    def _fit(self, columns: Indices) -> NDArray[Any] | None:
        fit = np.linalg.lstsq(self.A[:, columns], self.scaled, rcond=None)[0]
        if np.any(np.linalg.norm(self.A[:, columns] @ fit - self.scaled, axis=0) > self._limits()):
            return None
        X = np.zeros((self.A.shape[1], self.Y.shape[1]), fit.dtype)
        X[columns] = fit
        return X


def _complement(B: NDArray[Any], T: Indices) -> NDArray[Any]:
    """Return an orthonormal basis of what is orthogonal to some columns, as rows."""
    return np.asarray(np.linalg.qr(B[:, T], mode="complete")[0][:, len(T) :].conj().T)
