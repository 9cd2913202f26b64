"""Reweighted least squares, the smoothed l0 norm, and sparse Bayesian learning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ..driver import Iterate
from ..problem import Problem
from ..projection import EPS, Ball, damped_dual, nearest, nearest_matrix_free, size_of
from ..solver import Capabilities, Solver, count, real
from ..status import Status
from ..tolerances import FIRST_ACCURACY, NO_NOISE_VARIANCE, PRUNED_VARIANCE

EPSILON_STAGES = 10.0 ** -np.arange(9)
MOST_CG_STEPS = 1000  # per solve, where A is not written out
MOST_LSMR_STEPS = 10_000
DIVERGED_RESIDUAL = 10.0  # in units of |y|: conjugate gradients leave so much of a singular system


@dataclass(frozen=True, kw_only=True)
class IRLS(Solver):
    """argmin sum (|x_i|^2 + epsilon)^(p/2) subject to A x = y, by reweighted least squares, epsilon falling.

    R. Chartrand and W. Yin, "Iteratively reweighted algorithms for compressive sensing", ICASSP 2008: with
    Q = diag((|x|^2 + epsilon)^(1 - p/2)), x = Q A^H (A Q A^H)^-1 y; epsilon starts at `smoothing` times the mean
    square of the least-norm solution and is divided by ten, eight times, each time that the relative change of x
    falls below sqrt(epsilon / epsilon_0) / 100. With noise, A Q A^H + lambda with the lambda that meets the noise.
    Works matrix-free (conjugate gradients) and for complex systems.
    """

    supports: ClassVar[Capabilities] = Capabilities(complex=True, operators=True)

    p: float = real(0.5, low=0.0, high=1.0, low_included=True, high_included=True)
    smoothing: float = real(4.0, low=0.0)
    max_iterations: int = count(50, least=1)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield x after each least-squares problem."""
        step: _Dense | _MatrixFree = _MatrixFree(problem) if problem.system.matrix is None else _Dense(problem)
        x = step.start()
        if not x.any():  # nothing to weigh by
            yield Iterate(x, status=Status.CONVERGED)
            return
        first, counted = self.smoothing * float(np.mean(np.abs(x) ** 2)), 0
        for stage in EPSILON_STAGES:
            for k in range(self.max_iterations):
                before = x
                x = step.solve((np.abs(x) ** 2 + first * stage) ** (1 - self.p / 2), math.sqrt(stage))
                change = float(np.linalg.norm(x - before) / (np.linalg.norm(x) or 1.0))
                has_settled = change <= math.sqrt(stage) / 100
                status = None
                if stage == EPSILON_STAGES[-1] and (has_settled or k == self.max_iterations - 1):
                    status = Status.CONVERGED if has_settled else Status.ITERATION_LIMIT
                yield Iterate(x, evaluations=step.products - counted, status=status)
                counted = step.products
                if has_settled:
                    break

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y."""
        return (
            nearest_matrix_free(problem, x, MOST_LSMR_STEPS)[0]
            if problem.system.matrix is None
            else nearest(problem, x)
        )


class _Dense:
    """argmin sum |x_i|^2 / q_i over what explains y, by Cholesky's or the spectral factorisation of A Q A^H."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.products = 0
        noisy = problem.noise > 0
        self.A = problem.matrix() if noisy else problem.reduced.B
        self.y = problem.y if noisy else problem.reduced.b

    def start(self) -> NDArray[Any]:
        x0 = self.problem.x0
        return nearest(self.problem, np.zeros(self.problem.n, self.A.dtype) if x0 is None else x0)

    def solve(self, q: Array, accuracy: float) -> NDArray[Any]:
        self.products += 1
        q = q / q.max()
        QA = q[:, None] * self.A.conj().T
        return np.asarray(QA @ self._dual(self.A @ QA))

    def _dual(self, S: NDArray[Any]) -> NDArray[Any]:
        from scipy.linalg import cho_factor, cho_solve

        if self.problem.noise == 0:
            try:
                return np.asarray(cho_solve(cho_factor(S, lower=True, check_finite=False), self.y, check_finite=False))
            except np.linalg.LinAlgError:  # some weights are too small to tell from rounding
                d, U = _clipped_spectrum(S)
                return np.asarray(U @ ((U.conj().T @ self.y) / d))
        d, U = np.linalg.eigh(S)
        return np.asarray(U @ damped_dual(d, U.conj().T @ self.y, self.problem.tolerance()))


class _MatrixFree:
    """The same by conjugate gradients on (A Q A^H + lambda) z = y, each from the last z; lambda follows the noise."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.products = 0
        self.dtype = getattr(problem.system.operator, "dtype", None) or float
        self.z: NDArray[Any] | None = None
        self.x = np.zeros_like(problem.system.adjoint(problem.y))  # the last that was found
        self.q, self.accuracy = np.ones(problem.n), FIRST_ACCURACY
        self.damp = size_of(problem) ** 2 if problem.noise > 0 else 0.0

    def start(self) -> NDArray[Any]:
        x0 = self.problem.x0
        if x0 is None and self._solve().any():
            return self.x
        self.x = nearest_matrix_free(self.problem, self.x if x0 is None else x0, MOST_LSMR_STEPS)[0]
        return self.x

    def _solve(self) -> NDArray[Any]:
        from scipy.sparse.linalg import LinearOperator, cg

        forward, adjoint, y = self.problem.system.forward, self.problem.system.adjoint, self.problem.y

        def product(z: NDArray[Any]) -> NDArray[Any]:
            self.products += 2
            return forward(self.q * adjoint(z)) + self.damp * z

        S = LinearOperator((self.problem.m, self.problem.m), matvec=product, dtype=np.result_type(y, self.dtype))
        with np.errstate(all="ignore"):
            z = cg(S, y, x0=self.z, rtol=self.accuracy, maxiter=MOST_CG_STEPS)[0]
            left = float(np.linalg.norm(forward(self.q * adjoint(z)) + self.damp * z - y))
        if left <= DIVERGED_RESIDUAL * self.problem.scale:
            self.z, self.x = z, np.asarray(self.q * adjoint(z))
        return self.x

    def solve(self, q: Array, accuracy: float) -> NDArray[Any]:
        self.accuracy = accuracy / 1000
        self.q = q / q.max()
        x = self._solve()
        if self.problem.noise > 0:
            residual = self.problem.residual(x)
            self.damp *= min(max(self.problem.tolerance() / residual, 0.1), 10.0) if residual > 0 else 10.0
        return x


@dataclass(frozen=True, kw_only=True)
class SL0(Solver):
    """argmax sum exp(-|x_i|^2 / (2 sigma^2)) subject to A x = y, sigma falling: a smoothed count of zeros.

    H. Mohimani, M. Babaie-Zadeh and C. Jutten, "A fast approach for overcomplete sparse decomposition based on
    smoothed l0 norm", IEEE Transactions on Signal Processing 57(1), 2009. From sigma = 2 max |x| of the least-norm
    solution, times `factor`, down to `last` of that: `steps` times x - `step` x exp(-|x|^2 / (2 sigma^2)), projected.
    Theirs is factor=0.5, steps=3; the default is slower and finds more. With noise, each x is moved only as far as
    |A x - y| <= noise (A. Eftekhari et al., "Robust-SL0 for stable sparse representation in noisy settings", ICASSP
    2009, who move it all the way). Also for complex systems. The callback sees x once per sigma.
    """

    supports: ClassVar[Capabilities] = Capabilities(complex=True)

    factor: float = real(0.9, low=0.0, high=1.0)
    steps: int = count(10, least=1)
    step: float = real(2.0, low=0.0)
    last: float = real(1e-5, low=0.0, high=1.0)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield x after the steps at each sigma."""
        project = problem.reduced.project if problem.noise == 0 else Ball.of(problem).nearest
        x = project(np.zeros(problem.n, problem.matrix().dtype) if problem.x0 is None else problem.x0)
        if not x.any():  # there is no scale for sigma
            yield Iterate(x, status=Status.CONVERGED)
            return
        largest = 2 * float(np.max(np.abs(x)))
        stages = math.ceil(math.log(self.last) / math.log(self.factor)) + 1
        for stage, sigma in enumerate(largest * self.factor ** np.arange(stages), start=1):
            for _ in range(self.steps):
                x = project(x - self.step * x * np.exp(np.abs(x) ** 2 / (-2 * sigma**2)))
            yield Iterate(x, steps=self.steps, status=Status.CONVERGED if stage == stages else None)


@dataclass(frozen=True, kw_only=True)
class SBL(Solver):
    """Sparse Bayesian learning: x_i ~ N(0, gamma_i), each gamma_i learnt from y by raising its evidence.

    D. P. Wipf and B. D. Rao, "Sparse Bayesian learning for basis selection", IEEE Transactions on Signal Processing
    52(8), 2004. With S = A Gamma A^H + lambda, mu = Gamma A^H S^-1 y and Sigma_ii = gamma_i - gamma_i^2 a_i^H S^-1 a_i:
    gamma_i <- |mu_i|^2 + Sigma_ii, until no mu_i changes by more than `tolerance` of the largest. These are the steps
    of expectation maximisation; MacKay's, |mu_i|^2 / (1 - Sigma_ii / gamma_i), are faster but without noise they end
    in denser solutions. lambda is the variance that the noise bound stands for, or next to nothing without noise.
    Also for complex systems.
    """

    supports: ClassVar[Capabilities] = Capabilities(complex=True)

    max_iterations: int = count(1000, least=1)
    tolerance: float = real(1e-6, low=0.0, high=1.0)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the posterior mean of x after each step."""
        noisy = problem.noise > 0
        A, y = (problem.matrix(), problem.y) if noisy else (problem.reduced.B, problem.reduced.b)
        if not A.any() or not y.any():
            yield Iterate(np.zeros(problem.n, problem.dtype), status=Status.CONVERGED)
            return
        size, scale, m = float(np.linalg.norm(A, 2)), float(np.linalg.norm(y)), len(y)
        A, y = A / size, y / scale
        variance = max((problem.noise / scale) ** 2 / (m + 2 * math.sqrt(2 * m)), NO_NOISE_VARIANCE)
        gamma, kept, mu = np.ones(problem.n), np.arange(problem.n), np.zeros(problem.n)
        for nit in range(1, self.max_iterations + 1):
            before, mu = mu, np.zeros(problem.n, np.result_type(A, y))
            mu[kept], gamma = _raise_evidence(A[:, kept], y, gamma, variance)
            has_settled = np.max(np.abs(mu - before)) <= self.tolerance * np.max(np.abs(mu))
            at_limit = Status.ITERATION_LIMIT if nit == self.max_iterations else None
            yield Iterate(mu * (scale / size), status=Status.CONVERGED if has_settled else at_limit)
            if has_settled:
                return
            alive = gamma > PRUNED_VARIANCE * gamma.max()
            gamma, kept = gamma[alive], kept[alive]

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y."""
        return nearest(problem, x)


def _raise_evidence(A: NDArray[Any], y: NDArray[Any], gamma: Array, variance: float) -> tuple[NDArray[Any], Array]:
    """Take one step of expectation and maximisation; return the posterior mean, and the next gamma."""
    S = (A * gamma) @ A.conj().T
    S[np.diag_indices(len(y))] += variance
    W = _whiten(S, np.column_stack([A, y]))
    mu = gamma * (W[:, :-1].conj().T @ W[:, -1])
    explained = gamma * np.sum(np.abs(W[:, :-1]) ** 2, axis=0)  # 1 - Sigma_ii / gamma_i
    return mu, np.abs(mu) ** 2 + gamma * np.maximum(1 - explained, 0.0)


def _whiten(S: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """Return W with W^H W = vectors^H S^-1 vectors."""
    from scipy.linalg import solve_triangular

    try:
        return np.asarray(solve_triangular(np.linalg.cholesky(S), vectors, lower=True, check_finite=False))
    except np.linalg.LinAlgError:  # the variance is lost in the rounding of the largest entries of S
        d, U = _clipped_spectrum(S)
        return np.asarray((U.conj().T @ vectors) / np.sqrt(d)[:, None])


def _clipped_spectrum(S: NDArray[Any]) -> tuple[Array, NDArray[Any]]:
    """Return eigenvectors, and eigenvalues that are at least as large as rounding errors."""
    d, U = np.linalg.eigh(S)
    return np.maximum(d, d[-1] * len(d) * EPS), U
