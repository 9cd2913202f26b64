"""What is to be solved, and what came out: one shape for every solver."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .._arrays.systems import System, as_bounds, as_noise, as_start, as_system
from ..errors import InvalidInput
from ..metrics.gds import gds

Callback = Callable[[int, NDArray[Any]], Any]  # (iteration, x); stop by returning True

EXACT = 1e-9  # a relative residual that counts as none
LARGE = 200_000  # entries of A above which products with it are cheaper than factorisations
CONVERGED, STOPPED, INCONSISTENT, DETERMINED, NO_SIGNAL, CALLED_OFF, INFEASIBLE, INEXACT = range(8)
MESSAGES = {
    CONVERGED: "converged",
    STOPPED: "stopped at the largest number of iterations before it converged",
    INCONSISTENT: "A x = y has no solution: this one is sparse and as near as least squares can come",
    DETERMINED: "A has as many independent rows as columns: there is one least-squares solution only",
    NO_SIGNAL: "y is zero, and so is the sparsest solution",
    CALLED_OFF: "stopped by the callback",
    INFEASIBLE: "no x within the bounds explains y",
    INEXACT: "no exact sparse solution was found: there are too few measurements, or y is noisy. If it is noisy, pass "
    "noise= with the standard deviation of the noise, or look at trade_off(A, y)",
}


@dataclass(frozen=True)
class Reduced:
    """A x = y without what says nothing: B x = b with orthonormal rows; `misfit` is what no x can explain of y."""

    B: NDArray[Any]
    b: NDArray[Any]
    misfit: float

    @property
    def rank(self) -> int:
        """How many equations there really are."""
        return len(self.b)

    def least_norm(self) -> NDArray[Any]:
        """The solution of the least norm."""
        return np.asarray(self.B.conj().T @ self.b)

    def project(self, x: NDArray[Any]) -> NDArray[Any]:
        """The nearest solution to x."""
        return np.asarray(x + self.B.conj().T @ (self.b - self.B @ x))


@dataclass(frozen=True)
class Problem:
    """Find a sparse x with A x = y, or |A x - y| <= `noise`, perhaps within bounds."""

    system: System
    noise: float = 0.0
    bounds: tuple[Array, Array] | None = None
    x0: NDArray[Any] | None = None

    @classmethod
    def of(cls, A: Any, y: Any, *, noise: Any = 0.0, bounds: Any = None, x0: Any = None) -> Problem:
        """Everything checked."""
        system = as_system(A, y)
        limits = as_bounds(bounds, system.n)
        problem = cls(system, as_noise(noise, system.m), limits, as_start(x0, system.n))
        if limits is not None and problem.is_complex:
            raise InvalidInput("bounds are for real systems; split a complex one into real and imaginary parts")
        return problem

    @property
    def m(self) -> int:
        """How many measurements there are."""
        return self.system.m

    @property
    def n(self) -> int:
        """How many unknowns there are."""
        return self.system.n

    @property
    def is_complex(self) -> bool:
        """Whether x is complex."""
        return np.iscomplexobj(self.system.y) or (
            self.system.matrix is not None and np.iscomplexobj(self.system.matrix)
        )

    @property
    def is_large(self) -> bool:
        """Whether A is better used as an operator than as a matrix."""
        return self.m * self.n > LARGE

    def matrix(self) -> NDArray[Any]:
        """A written out, for solvers that need it."""
        if self.system.matrix is None:
            raise InvalidInput(
                f"this solver needs A as a matrix, and {self.m} x {self.n} is too large to write out; "
                "GDSReweighted and MinimumNorm work with an operator"
            )
        return self.system.matrix

    def real_matrix(self) -> Array:
        """The same, for solvers of real systems."""
        if self.is_complex:
            raise InvalidInput("this solver is for real systems; GDSReweighted and IRLS solve complex ones")
        return self.matrix()

    @functools.cached_property
    def reduced(self) -> Reduced:
        """One factorisation a problem: the singular values that count, and the rows that belong to them."""
        U, s, Vh = np.linalg.svd(self.matrix(), full_matrices=False)
        rank = int(np.count_nonzero(s > s[0] * max(self.m, self.n) * np.finfo(float).eps)) if s[0] > 0 else 0
        coefficients = U[:, :rank].conj().T @ self.system.y
        misfit = float(np.linalg.norm(self.system.y - U[:, :rank] @ coefficients))
        return Reduced(np.ascontiguousarray(Vh[:rank]), coefficients / s[:rank], misfit)

    @functools.cached_property
    def notes(self) -> dict[str, Any]:
        """What solvers worked out of A, each under its own name, for when they come again at another order."""
        return {}

    @functools.cached_property
    def scale(self) -> float:
        """|y|."""
        return float(np.linalg.norm(self.system.y))

    def residual(self, x: NDArray[Any]) -> float:
        """|A x - y|."""
        return float(np.linalg.norm(self.system.forward(x) - self.system.y))

    def start(self) -> NDArray[Any]:
        """The caller's x0 made feasible, or the solution of the least norm."""
        return self.reduced.least_norm() if self.x0 is None else self.reduced.project(self.x0)

    def clipped(self, x: NDArray[Any]) -> NDArray[Any]:
        """x moved into the bounds."""
        return x if self.bounds is None else np.clip(x, *self.bounds)

    @property
    def misfit(self) -> float:
        """What no x can explain of y; unknown, and taken as 0, where A is not written out."""
        return self.reduced.misfit if self.system.matrix is not None else 0.0

    def tolerance(self) -> float:
        """The largest residual of a solution: the noise, or what rounding and least squares leave."""
        return max(self.noise, EXACT * self.scale, self.misfit * (1 + 1e-6))


@dataclass(frozen=True)
class Recovery:
    """What a solver found, in SciPy's words.

    `fun` is the sparsity reached (S_p at the solver's order), `residual` is |A x - y|. `certified` says that x is
    the signal that was measured, up to rounding, and not only sparse; `certificate_reason` why, or why not.
    `success` is False where x explains y but is no exact sparse solution (status 7).
    """

    x: NDArray[Any]
    success: bool
    status: int
    message: str
    nit: int
    nfev: int
    fun: float
    residual: float
    certified: bool = False
    certificate_reason: str = ""
    history: list[float] = field(default_factory=list, repr=False)


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """Frozen options and one method. `assume_generic` vouches for A where its look forbids a certificate."""

    assume_generic: bool = False

    @abstractmethod
    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Solve one problem."""


def finished(
    problem: Problem,
    x: NDArray[Any],
    *,
    status: int = CONVERGED,
    nit: int = 0,
    nfev: int = 0,
    order: float = 2.0,
    history: list[float] | None = None,
    message: str | None = None,
) -> Recovery:
    """What every solver returns: the residual and the sparsity are worked out here, for all alike."""
    residual = problem.residual(x)
    explained = residual <= max(problem.tolerance(), 1e-6 * problem.scale)
    if status in (CONVERGED, INEXACT) and problem.noise == 0 and problem.misfit > EXACT * problem.scale:
        status = INCONSISTENT
    if not explained and problem.bounds is not None and status in (CONVERGED, INEXACT):
        status = INFEASIBLE
    fun = gds(x, order, zero=math.nan)
    success = explained and status in (CONVERGED, DETERMINED, NO_SIGNAL, INCONSISTENT)
    return Recovery(x, success, status, message or MESSAGES[status], nit, nfev, fun, residual, history=history or [])
