"""A, checked and prepared once, for any number of measurements y: its factors, and what is known of its columns."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .._arrays.equations import as_operator
from .tolerances import SMALLEST_SINGULAR_VALUE

LARGE = 200_000  # entries of A above which products with it are cheaper than factorisations
UNEVEN_ROWS = 1e3  # ratio of row norms above which the rows of an exact system are scaled to length 1
SAFE_EXPONENT = 300  # powers of two beyond which products of entries may over- or underflow


class Factors:
    """The singular value decomposition of a matrix, without rounding errors; `notes` depend on B alone."""

    def __init__(self, A: NDArray[Any]) -> None:
        self.U, s, Vh = np.linalg.svd(A, full_matrices=False)
        rounding = max(A.shape) * np.finfo(float).eps
        self.independent = int(np.count_nonzero(s > s[0] * rounding)) if s[0] > 0 else 0
        self.rank = int(np.count_nonzero(s > s[0] * max(rounding, SMALLEST_SINGULAR_VALUE))) if s[0] > 0 else 0
        self.s = s[: self.rank]
        self.B = np.ascontiguousarray(Vh[: self.rank])
        self.notes: dict[str, Any] = {}

    @functools.cached_property
    def columns(self) -> Array:
        """The columns of B, one per row."""
        return np.ascontiguousarray(self.B.T)

    def reduce(self, y: NDArray[Any]) -> Reduced:
        """Return the equations for one y."""
        coefficients = self.U.conj().T @ y
        misfit = float(np.linalg.norm(y - self.U[:, : self.independent] @ coefficients[: self.independent]))
        return Reduced(self, coefficients[: self.rank] / self.s, misfit)


@dataclass(frozen=True)
class Reduced:
    """The equations that say something: B x = b with orthonormal rows; `misfit` is what no x can explain of y."""

    factors: Factors
    b: NDArray[Any]
    misfit: float

    @property
    def B(self) -> NDArray[Any]:  # noqa: N802 (as in the formulas)
        """The orthonormal rows."""
        return self.factors.B

    @property
    def is_determined(self) -> bool:
        """Whether A has as many independent rows as columns, up to rounding."""
        return bool(self.rank == self.B.shape[1])

    @property
    def rank(self) -> int:
        """The number of equations."""
        return len(self.b)

    def least_norm(self) -> NDArray[Any]:
        """Return the solution of the least norm."""
        return np.asarray(self.B.conj().T @ self.b)

    def project(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the solution nearest to x."""
        return np.asarray(x + self.B.conj().T @ (self.b - self.B @ x))


class System:
    """A matrix or operator A that is checked and factorised once, to recover many signals from it.

    Parameters
    ----------
    A : array, sparse array, LinearOperator or System
        M x N, real or complex; PyLops operators too. Arrays are copied.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> system = sg.System(sg.gaussian_matrix(30, 60, rng=0))
    >>> system
    System(30 x 60, float64)
    >>> x = sg.sparse_signal(60, 4, "normal", rng=1)
    >>> sg.recover(system, system.forward(x)).certified
    True
    """

    operator: Any
    matrix: NDArray[Any] | None  # A written out; None where it is too large
    structured: bool  # A did not come as an array

    def __new__(cls, A: Any) -> System:
        """Check A; a System is returned as it is."""
        if isinstance(A, System):
            return A
        return cls._of(*as_operator(A))

    @classmethod
    def for_one_call(cls, A: Any) -> System:
        """Check A, and use the caller's array itself where that is possible: for systems that are not kept."""
        return A if isinstance(A, System) else cls._of(*as_operator(A, copy=False))

    @classmethod
    def _of(cls, operator: Any, matrix: NDArray[Any] | None, structured: bool) -> System:
        system = super().__new__(cls)
        system.operator, system.matrix, system.structured = operator, matrix, structured
        return system

    def __reduce__(self) -> Any:
        return System._of, (self.operator, self.matrix, self.structured), self.__dict__

    def __repr__(self) -> str:
        kind = self.operator.dtype if self.matrix is None else self.matrix.dtype
        return f"System({self.m} x {self.n}, {kind}{', not written out' if self.matrix is None else ''})"

    @property
    def m(self) -> int:
        """The number of measurements."""
        return int(self.operator.shape[0])

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return int(self.operator.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self.m, self.n

    def forward(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return A x."""
        return np.asarray((self.operator if self.matrix is None else self.matrix) @ x)

    def adjoint(self, r: NDArray[Any]) -> NDArray[Any]:
        """Return A^H r."""
        if self.matrix is not None:
            return np.asarray(self.matrix.conj().T @ r)
        return np.asarray(self.operator.rmatvec(r) if hasattr(self.operator, "rmatvec") else self.operator.conj().T @ r)

    @property
    def is_large_operator(self) -> bool:
        """Whether A came as an operator, and products with it are cheaper than factorisations."""
        return self.structured and self.m * self.n > LARGE

    def as_operator(self) -> System:
        """Return the same system without its matrix, to be used by products alone."""
        return System._of(self.operator, None, True)

    @functools.cached_property
    def notes(self) -> dict[str, Any]:
        """What solvers computed from A alone, each under its own name."""
        return {}

    # --- what depends on A written out

    @functools.cached_property
    def row_lengths(self) -> Array:
        """The norms of the rows of A."""
        return norms(self.matrix, axis=1)

    @functools.cached_property
    def column_lengths(self) -> Array:
        """The norms of the columns of A."""
        return norms(self.matrix, axis=0)

    @functools.cached_property
    def has_uneven_rows(self) -> bool:
        """Whether the rows of A have very different lengths."""
        used = self.row_lengths[self.row_lengths > 0]
        return bool(len(used) and used.max() > UNEVEN_ROWS * used.min())

    @functools.cached_property
    def row_units(self) -> Array:
        """What the rows are divided by where they are scaled to length 1."""
        return np.where(self.row_lengths > 0, self.row_lengths, 1.0)

    @functools.cached_property
    def factors(self) -> Factors:
        """The decomposition of A."""
        return Factors(self.matrix)  # type: ignore[arg-type]

    @functools.cached_property
    def even_factors(self) -> Factors:
        """The decomposition of A with rows of length 1."""
        return Factors(self.matrix / self.row_units[:, None])  # type: ignore[operator]

    @functools.cached_property
    def in_safe_units(self) -> tuple[System, int]:
        """The system scaled by a power of two where products would overflow, and that power's exponent."""
        exponent = 0 if self.matrix is None else unsafe_exponent(self.matrix)
        if exponent == 0:
            return self, 0
        scaled = scale_by_power(self.matrix, -exponent)  # type: ignore[arg-type]
        return System._of(scaled, scaled, self.structured), exponent


def norms(A: Any, *, axis: int) -> Array:
    """Return the norms along an axis, without a copy of A as `numpy.linalg.norm` makes one."""
    which = "ij,ij->j" if axis == 0 else "ij,ij->i"
    parts = (A.real, A.imag) if np.iscomplexobj(A) else (A,)
    return np.asarray(np.sqrt(sum(np.einsum(which, part, part) for part in parts)))


def unsafe_exponent(values: NDArray[Any]) -> int:
    """Return the binary exponent of the largest magnitude where it is far from 0, else 0."""
    parts = (values.real, values.imag) if np.iscomplexobj(values) else (values,)
    largest = max(max(float(np.max(part)), -float(np.min(part))) for part in parts)
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    return exponent if abs(exponent) > SAFE_EXPONENT else 0


def scale_by_power(values: NDArray[Any], exponent: int) -> NDArray[Any]:
    """Return values times 2**exponent, without an intermediate overflow."""
    if np.iscomplexobj(values):
        return np.asarray(np.ldexp(values.real, exponent) + 1j * np.ldexp(values.imag, exponent))
    return np.asarray(np.ldexp(values, exponent))
