"""Reweighted least squares, the smoothed l0 norm, and sparse Bayesian learning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array, Parameter, check_count
from ..nearest import Ball, multiplier, nearest, nearest_matrix_free, refuse_bounds, size_of
from ..problem import CALLED_OFF, CONVERGED, STOPPED, Callback, Problem, Recovery, Solver, finished

P = Parameter("p", 0.5, low=0.0, high=1.0, low_included=True, high_included=True)
SMOOTHING = Parameter("smoothing", 4.0, low=0.0)
FACTOR = Parameter("factor", 0.9, low=0.0, high=1.0)
STEP = Parameter("step", 2.0, low=0.0)
LAST = Parameter("last", 1e-5, low=0.0, high=1.0)
TOLERANCE = Parameter("tolerance", 1e-6, low=0.0, high=1.0)
STAGES = 10.0 ** -np.arange(9)  # of epsilon
NO_NOISE = 1e-10  # the variance, for |A| = |y| = 1, that keeps Cholesky's factorisation going
PRUNED = 1e-10  # a gamma below this part of the largest is zero
CONJUGATE_GRADIENTS, LSMR_STEPS = 1000, 10_000  # steps a solve, where A is not written out


@dataclass(frozen=True, kw_only=True)
class IRLS(Solver):
    """argmin sum (|x_i|^2 + epsilon)^(p/2) subject to A x = y, by reweighted least squares, epsilon falling.

    R. Chartrand and W. Yin, "Iteratively reweighted algorithms for compressive sensing", ICASSP 2008: with
    Q = diag((|x|^2 + epsilon)^(1 - p/2)), x = Q A^H (A Q A^H)^-1 y; epsilon starts at `smoothing` times the mean
    square of the least-norm solution and is divided by ten, eight times, each time that the relative change of x
    falls below sqrt(epsilon / epsilon_0) / 100. With noise, A Q A^H + lambda with the lambda that meets the noise.
    Works matrix-free (conjugate gradients) and for complex systems.
    """

    p: float = 0.5
    smoothing: float = 4.0
    max_iterations: int = 50

    def __post_init__(self) -> None:
        P.check(self.p)
        SMOOTHING.check(self.smoothing)
        check_count("max_iterations", self.max_iterations, least=1)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        refuse_bounds(problem, "IRLS")
        if problem.scale <= problem.noise:
            return finished(problem, np.zeros(problem.n))
        step: _Dense | _MatrixFree = _MatrixFree(problem) if problem.system.matrix is None else _Dense(problem)
        x = step.start()
        first = self.smoothing * float(np.mean(np.abs(x) ** 2))
        nit, change = 0, math.inf
        for stage in STAGES:
            for _ in range(self.max_iterations):
                before = x
                x = step.taken((np.abs(x) ** 2 + first * stage) ** (1 - self.p / 2), math.sqrt(stage))
                nit += 1
                if callback is not None and callback(nit, x):
                    return finished(problem, step.end(x), status=CALLED_OFF, nit=nit, nfev=step.products)
                change = float(np.linalg.norm(x - before) / np.linalg.norm(x))
                if change <= math.sqrt(stage) / 100:
                    break
        status = CONVERGED if change <= math.sqrt(STAGES[-1]) / 100 else STOPPED
        return finished(problem, step.end(x), status=status, nit=nit, nfev=step.products)


class _Dense:
    """argmin sum |x_i|^2 / q_i over what explains y, by Cholesky's or the spectral factorisation of A Q A^H."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.products = 0
        noisy = problem.noise > 0
        self.A = problem.matrix() if noisy else problem.reduced.B
        self.y = problem.system.y if noisy else problem.reduced.b

    def start(self) -> NDArray[Any]:
        return nearest(
            self.problem, np.zeros(self.problem.n, self.A.dtype) if self.problem.x0 is None else self.problem.x0
        )

    def taken(self, q: Array, accuracy: float) -> NDArray[Any]:
        from scipy.linalg import cho_factor, cho_solve

        self.products += 1
        q = q / q.max()
        QA = q[:, None] * self.A.conj().T
        S = self.A @ QA
        if self.problem.noise == 0:
            return np.asarray(QA @ cho_solve(cho_factor(S, lower=True, check_finite=False), self.y, check_finite=False))
        d, U = np.linalg.eigh(S)
        c = U.conj().T @ self.y
        mu = multiplier(np.maximum(d, 0.0), c, self.problem.tolerance())
        return np.asarray(QA @ (U @ (mu * c / (1 + mu * d))))

    def end(self, x: NDArray[Any]) -> NDArray[Any]:
        return nearest(self.problem, x)


class _MatrixFree:
    """The same by conjugate gradients on (A Q A^H + lambda) z = y, each from the last z; lambda follows the noise."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.products = 0
        self.dtype = getattr(problem.system.operator, "dtype", None) or float
        self.z: NDArray[Any] | None = None
        self.q, self.accuracy = np.ones(problem.n), 1e-6
        self.damp = size_of(problem) ** 2 if problem.noise > 0 else 0.0

    def start(self) -> NDArray[Any]:
        return self.solved(self.damp) if self.problem.x0 is None else self.end(self.problem.x0)

    def solved(self, damp: float) -> NDArray[Any]:
        from scipy.sparse.linalg import LinearOperator, cg

        forward, adjoint, y = self.problem.system.forward, self.problem.system.adjoint, self.problem.system.y

        def product(z: NDArray[Any]) -> NDArray[Any]:
            self.products += 2
            return forward(self.q * adjoint(z)) + damp * z

        S = LinearOperator((self.problem.m, self.problem.m), matvec=product, dtype=np.result_type(y, self.dtype))
        self.z = cg(S, y, x0=self.z, rtol=self.accuracy, maxiter=CONJUGATE_GRADIENTS)[0]
        return np.asarray(self.q * adjoint(self.z))

    def taken(self, q: Array, accuracy: float) -> NDArray[Any]:
        self.accuracy = accuracy / 1000
        self.q = q / q.max()
        x = self.solved(self.damp)
        if self.problem.noise > 0:
            self.damp *= min(max(self.problem.tolerance() / self.problem.residual(x), 0.1), 10.0)
        return x

    def end(self, x: NDArray[Any]) -> NDArray[Any]:
        return nearest_matrix_free(self.problem, x, LSMR_STEPS)[0]


@dataclass(frozen=True, kw_only=True)
class SL0(Solver):
    """argmax sum exp(-|x_i|^2 / (2 sigma^2)) subject to A x = y, sigma falling: a smoothed count of zeros.

    H. Mohimani, M. Babaie-Zadeh and C. Jutten, "A fast approach for overcomplete sparse decomposition based on
    smoothed l0 norm", IEEE Transactions on Signal Processing 57(1), 2009. From sigma = 2 max |x| of the least-norm
    solution, times `factor`, down to `last` of that: `steps` times x - `step` x exp(-|x|^2 / (2 sigma^2)), projected.
    Theirs is factor=0.5, steps=3; the default is slower and finds more. With noise, each x is moved only as far as
    |A x - y| <= noise (A. Eftekhari et al., "Robust-SL0 for stable sparse representation in noisy settings", ICASSP
    2009, who move it all the way). Also for complex systems.
    """

    factor: float = 0.9
    steps: int = 10
    step: float = 2.0
    last: float = 1e-5

    def __post_init__(self) -> None:
        FACTOR.check(self.factor)
        check_count("steps", self.steps, least=1)
        STEP.check(self.step)
        LAST.check(self.last)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        refuse_bounds(problem, "SL0")
        if problem.scale <= problem.noise:
            return finished(problem, np.zeros(problem.n))
        project = problem.reduced.project if problem.noise == 0 else Ball.of(problem).nearest
        x = project(np.zeros(problem.n, problem.matrix().dtype) if problem.x0 is None else problem.x0)
        largest = 2 * float(np.max(np.abs(x)))
        stages = math.ceil(math.log(self.last) / math.log(self.factor)) + 1
        nit = 0
        for sigma in largest * self.factor ** np.arange(stages):
            for _ in range(self.steps):
                x = project(x - self.step * x * np.exp(np.abs(x) ** 2 / (-2 * sigma**2)))
            nit += self.steps
            if callback is not None and callback(nit, x):
                return finished(problem, x, status=CALLED_OFF, nit=nit)
        return finished(problem, x, nit=nit)


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

    max_iterations: int = 1000
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, least=1)
        TOLERANCE.check(self.tolerance)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""
        refuse_bounds(problem, "SBL")
        noisy = problem.noise > 0
        A, y = (problem.matrix(), problem.system.y) if noisy else (problem.reduced.B, problem.reduced.b)
        if problem.scale <= problem.noise:
            return finished(problem, np.zeros(problem.n, A.dtype))
        size, scale, m = float(np.linalg.norm(A, 2)), float(np.linalg.norm(y)), len(y)
        A, y = A / size, y / scale
        variance = max((problem.noise / scale) ** 2 / (m + 2 * math.sqrt(2 * m)), NO_NOISE)
        gamma, kept, mu = np.ones(problem.n), np.arange(problem.n), np.zeros(problem.n)
        status = STOPPED
        for nit in range(1, self.max_iterations + 1):
            before, mu = mu, np.zeros(problem.n, np.result_type(A, y))
            mu[kept], gamma = _evidence_raised(A[:, kept], y, gamma, variance)
            if callback is not None and callback(nit, mu * (scale / size)):
                status = CALLED_OFF
                break
            if np.max(np.abs(mu - before)) <= self.tolerance * np.max(np.abs(mu)):
                status = CONVERGED
                break
            alive = gamma > PRUNED * gamma.max()
            gamma, kept = gamma[alive], kept[alive]
        return finished(problem, nearest(problem, mu * (scale / size)), status=status, nit=nit)


def _evidence_raised(A: NDArray[Any], y: NDArray[Any], gamma: Array, variance: float) -> tuple[NDArray[Any], Array]:
    """One step of expectation and maximisation: the posterior mean, and the next gamma."""
    from scipy.linalg import solve_triangular

    S = (A * gamma) @ A.conj().T
    S[np.diag_indices(len(y))] += variance
    W = solve_triangular(np.linalg.cholesky(S), np.column_stack([A, y]), lower=True, check_finite=False)
    mu = gamma * (W[:, :-1].conj().T @ W[:, -1])
    explained = gamma * np.sum(np.abs(W[:, :-1]) ** 2, axis=0)  # 1 - Sigma_ii / gamma_i
    return mu, np.abs(mu) ** 2 + gamma * np.maximum(1 - explained, 0.0)
