"""Systems A x = y: dense, sparse and matrix-free, real and complex, checked once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from .checks import check_number
from .libraries import advise_on_conversion
from .signal_rows import Array, is_sparse

LARGEST_ADJOINT_ERROR = 1e-4  # of the dot test, relative: single precision stays far below
LARGEST_MATRIX = 4_000_000  # entries up to which a sparse array or an operator is written out


def as_operator(A: Any, *, copy: bool = True) -> tuple[Any, NDArray[Any] | None, bool]:
    """Return A for products, A written out (None where it is too large), and whether it was passed as an operator."""
    structured = is_sparse(A) or _is_operator(A)
    operator = A if structured else _as_matrix(A, copy)
    shape = tuple(getattr(operator, "shape", ()))
    if len(shape) != 2 or 0 in shape:
        raise InvalidInput(f"A must have at least one row and one column, got shape {shape}")
    if is_sparse(A):
        _refuse_non_finite("A", A.data if hasattr(A, "data") else A.tocoo().data)
    elif structured:
        _check_adjoint(operator, shape)
    matrix = operator if not structured else _written_out(operator, shape)
    if matrix is not None:
        _refuse_non_finite("A", matrix)
    return operator, matrix, structured


def _is_operator(A: Any) -> bool:
    return not isinstance(A, np.ndarray) and all(hasattr(A, name) for name in ("matvec", "rmatvec", "shape"))


def _check_adjoint(operator: Any, shape: tuple[int, ...]) -> None:
    """Refuse an operator whose rmatvec is not the adjoint of its matvec: <v, A u> = <A^H v, u> for random u and v."""
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    image = np.asarray(operator.matvec(u)).ravel()
    v = v + 1j * rng.standard_normal(shape[0]) if image.dtype.kind == "c" else v
    try:
        back = np.asarray(operator.rmatvec(v)).ravel()
    except NotImplementedError as error:
        raise InvalidInput(
            "A has no adjoint; give its operator rmatvec, the product with the conjugate transpose of A, as in "
            "LinearOperator((M, N), matvec=forward, rmatvec=adjoint, dtype=float)"
        ) from error
    if image.shape != v.shape or back.shape != u.shape:
        raise InvalidInput(
            f"A has the shape {shape}, but A.matvec gives {image.size} numbers and A.rmatvec {back.size}; matvec takes "
            f"{shape[1]} numbers to {shape[0]}, and rmatvec {shape[0]} to {shape[1]}"
        )
    forth, around = np.vdot(v, image), np.vdot(back, u)
    size = float(np.linalg.norm(image) * np.linalg.norm(v) + np.linalg.norm(back) * np.linalg.norm(u))
    # an operator that takes complex y to real x is the adjoint as far as real parts go
    difference = abs((forth - around).real if back.dtype.kind != "c" else forth - around)
    if difference > LARGEST_ADJOINT_ERROR * size:
        raise InvalidInput(
            f"A.rmatvec is not the adjoint of A.matvec: <v, A u> = {forth:.6g} but <A^H v, u> = {around:.6g} "
            f"for random u and v, a difference of {difference / size:.1e} of their norms where at most "
            f"{LARGEST_ADJOINT_ERROR:g} is allowed; correct rmatvec (the conjugate transpose, scaled as matvec is)"
        )


def _as_matrix(A: Any, copy: bool) -> NDArray[Any]:
    if callable(A) or (isinstance(A, tuple | list) and any(callable(part) for part in A)):
        raise InvalidInput(
            "A is a function, or a pair of functions; pass scipy.sparse.linalg.LinearOperator((M, N), matvec=forward, "
            "rmatvec=adjoint, dtype=float)"
        )
    try:
        array = np.asarray(A)
    except Exception as error:  # whatever the object's own conversion raises
        raise InvalidInput(
            f"A cannot be made into an array ({error}); {advise_on_conversion(A, 'A', 'pass a table of numbers')}"
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "biufc":
        raise InvalidInput(
            f"A must be a two-dimensional array of numbers, a SciPy sparse array or a LinearOperator, got "
            f"{type(A).__name__} of shape {array.shape} and dtype {array.dtype}"
        )
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    may_share = not copy and array.flags.writeable and array.flags.c_contiguous  # as kernels want it
    return array.astype(kind, order="C", copy=not may_share)


def as_vector(name: str, values: Any, length: int) -> NDArray[Any]:
    """Return one-dimensional real or complex numbers that fit A."""
    array = _as_numbers(name, values)
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional numbers, got shape {array.shape}")
    if len(array) != length:
        raise InvalidInput(f"{name} must have {length} entries to fit A, got {len(array)}")
    return array


def as_measurements(y: Any, m: int) -> NDArray[Any]:
    """Return y as one vector of m measurements, or as a table with one column per signal."""
    array = _as_numbers("y", y)
    if array.ndim > 2:
        raise InvalidInput(
            f"y must be {m} measurements, or a table with one column per signal, got shape {array.shape}; "
            f"reshape it to ({m}, number of signals)"
        )
    if array.ndim != 2:
        return as_vector("y", array, m)
    if array.shape[0] != m or array.shape[1] == 0:
        remedy = "; pass its transpose, y.T, if its rows are signals" if array.shape[1] == m else ""
        raise InvalidInput(f"y must have {m} rows to fit A, and one column per signal, got shape {array.shape}{remedy}")
    return array


def as_starts(x0: Any, n: int, count: int) -> NDArray[Any]:
    """Return where to start: one vector for all signals, or one column per signal."""
    array = _as_numbers("x0", x0)
    if array.ndim == 2 and array.shape == (n, count):
        return array
    if array.ndim == 2:
        raise InvalidInput(f"x0 must have shape ({n},) or ({n}, {count}), got {array.shape}")
    return as_vector("x0", array, n)


def _as_numbers(name: str, values: Any) -> NDArray[Any]:
    """Return finite real or complex numbers, as a copy."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise InvalidInput(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked entries; leave them out, with their rows of A: "
            "recover(A[~y.mask], y.compressed())"
        )
    if is_sparse(values):
        raise InvalidInput(f"{name} is a sparse array; pass {name}.toarray()")
    try:
        array = np.asarray(values)
    except Exception as error:
        advice = advise_on_conversion(values, name, "pass a list of numbers")
        raise InvalidInput(f"{name} cannot be made into an array ({error}); {advice}") from error
    if array.dtype.kind not in "biufc":
        raise InvalidInput(f"{name} must be numbers, got dtype {array.dtype} of shape {array.shape}")
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if array.ndim == 2:
        _refuse_non_finite_columns(name, array)
    _refuse_non_finite(name, array)
    return array


def _refuse_non_finite_columns(name: str, array: NDArray[Any]) -> None:
    """Refuse a table some columns of which, but not all, have NaN or infinite entries."""
    bad = np.flatnonzero(~np.isfinite(array).all(axis=0))
    if 0 < len(bad) < array.shape[1]:
        shown = ", ".join(str(column) for column in bad[:5]) + (", ..." if len(bad) > 5 else "")
        raise InvalidInput(
            f"{name} has NaN or infinite entries in {len(bad)} of {array.shape[1]} columns ({shown}); leave "
            f"these columns out: {name}[:, np.isfinite({name}).all(axis=0)]"
        )


def _refuse_non_finite(name: str, array: NDArray[Any]) -> None:
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} has NaN or infinite entries; remove the rows that hold them")


def _written_out(operator: Any, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if math.prod(shape) > LARGEST_MATRIX:
        return None
    if is_sparse(operator):
        matrix = np.asarray(operator.toarray())
    else:
        kind = np.complex128 if np.dtype(operator.dtype or np.float64).kind == "c" else np.float64
        matrix = np.column_stack([operator.matvec(column) for column in np.eye(shape[1], dtype=kind)])
    return matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)


def as_start(x0: Any, n: int) -> NDArray[Any] | None:
    """Return where to start, or None."""
    return None if x0 is None else as_vector("x0", x0, n)


def as_bounds(bounds: Any, n: int) -> tuple[Array, Array] | None:
    """Return (low, high), numbers or arrays or None on either side, as two arrays; None where nothing is bounded."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):  # scipy.optimize.Bounds
        bounds = tuple(
            side[0] if np.size(side) == 1 and np.ndim(side) == 1 else side for side in (bounds.lb, bounds.ub)
        )
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise InvalidInput(
            f"bounds must be a pair (low, high) such as (0, None) for x >= 0, or scipy.optimize.Bounds, got {bounds!r}"
        )
    low, high = (_bound(side, n, default) for side, default in zip(bounds, (-math.inf, math.inf), strict=True))
    if np.any(low > high):
        raise InvalidInput("bounds: low must not exceed high anywhere")
    return None if np.all(np.isinf(low)) and np.all(np.isinf(high)) else (low, high)


def _bound(side: Any, n: int, default: float) -> Array:
    array = np.asarray(default if side is None else side)
    if array.dtype.kind not in "biuf" or array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise InvalidInput(f"each side of bounds is a number, None or {n} numbers, got {side!r:.60}")
    array = np.broadcast_to(array.astype(np.float64), (n,))
    if np.isnan(array).any():
        raise InvalidInput("bounds must not be NaN; use None for no bound")
    return np.array(array)


def as_noise(noise: Any, m: int) -> float:
    """Return the largest residual |A x - y|_2 that noise explains.

    A number is the standard deviation of each measurement's noise; ("residual", r) is the bound r itself.
    """
    told = noise[1] if isinstance(noise, tuple) and len(noise) == 2 and noise[0] == "residual" else noise
    try:
        bound = check_number("noise", told) * (1.0 if told is not noise else noise_norm(m))
    except InvalidInput:
        bound = math.nan
    if not 0 <= bound < math.inf:
        raise InvalidInput(
            f"noise must be 'auto', a standard deviation >= 0 or ('residual', r >= 0), got {noise!r:.60}"
        )
    return bound


def noise_norm(m: int) -> float:
    """Return the norm that m values of unit normal noise hardly exceed: two deviations above its mean square."""
    return math.sqrt(m + 2 * math.sqrt(2 * m))
