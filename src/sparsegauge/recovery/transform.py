"""`recover(..., transform=...)`: signals that are not sparse themselves, but in a basis, or piecewise constant.

With an orthonormal transform W the coefficients c = W x are sparse, so that x = W^H c, and A W^H is the matrix to
recover them from. A piecewise constant x has few jumps d_j = x_(j+1) - x_j: x = x_1 + cumulative sums of d. The
constant is no jump and costs nothing, so that it is eliminated: with u = A 1, the equations orthogonal to u hold for d
alone.

Where A is too large to write out, or the signal is a picture, the jumps are no unknowns of a linear system any more,
and photographs are not sparse enough for one wavelet basis. Both are left to `analysis.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .._arrays import Array, is_sparse
from ..errors import InvalidInput
from ..signals import orthogonal_wavelet
from .analysis import Analysis, SpunWavelets, TotalVariation, differences
from .result import Recoveries, Recovery
from .system import System
from .tolerances import NOT_MEASURED, NOT_ORTHONORMAL

TOTAL_VARIATION = "tv"
KINDS = 'a wavelet such as "db4", "tv", (wavelet, shape), or an orthonormal matrix or operator'

Vector = NDArray[Any]


@dataclass(frozen=True)
class Basis:
    """x = S c: how to get from coefficients to the signal, and by the adjoint from a signal to inner products."""

    n: int  # coefficients
    synthesise: Callable[[Vector], Vector]
    adjoint: Callable[[Vector], Vector]
    eliminate: Callable[[Vector], Vector] | None = None  # from y to the equations of the coefficients
    complete: Callable[[Vector, Vector], Vector] | None = None  # from c and y to the signal
    analysis: Analysis | None = None  # for large operators, where the signal is not sparse after all

    def measurements(self, y: Vector) -> Vector:
        """Return what the coefficients have to explain."""
        return y if self.eliminate is None else self.eliminate(y)

    def compose(self, system: System) -> System:
        """Return A S, written out where A is."""
        if system.matrix is not None:
            rows = np.stack([self.adjoint(row.conj()).conj() for row in system.matrix])
            product = rows if self.eliminate is None else self.eliminate(rows)
            return System._of(product, np.ascontiguousarray(product), system.structured)
        kind = np.dtype(getattr(system.operator, "dtype", None) or np.float64)
        product = LinearOperator(
            (system.m, self.n),
            matvec=lambda c: system.forward(self.synthesise(np.ravel(c))),
            rmatvec=lambda r: self.adjoint(system.adjoint(np.ravel(r))),
            dtype=kind,
        )
        return System._of(product, None, True)

    def signal(self, c: Vector, y: Vector) -> Vector:
        """Return the signal with these coefficients."""
        return self.synthesise(c) if self.complete is None else self.complete(c, y)

    def to_signal(self, found: Recovery | Recoveries, y: Vector) -> Recovery | Recoveries:
        """Return results for the signal in place of those for its coefficients."""
        if isinstance(found, Recoveries):
            return Recoveries([self._one(one, column) for one, column in zip(found, y.T, strict=True)])
        return self._one(found, y)

    def _one(self, found: Recovery, y: Vector) -> Recovery:
        return replace(found, x=self.signal(found.x, y), coefficients=found.x)


def basis_of(transform: Any, A: Any, system: System) -> Basis | Analysis:
    """Return the basis that a caller's `transform` names, for signals that `system` measures, or what stands for it."""
    name, shape = transform if isinstance(transform, tuple) and len(transform) == 2 else (transform, None)
    if isinstance(name, str):
        shape = _shape(shape if shape is not None else getattr(A, "dims", None), system.n)
        return _total_variation(system, shape) if name == TOTAL_VARIATION else wavelet_basis(name, shape)
    if is_sparse(transform) or (isinstance(transform, np.ndarray) and transform.ndim == 2):
        transform = aslinearoperator(transform)
    if all(hasattr(transform, method) for method in ("matvec", "rmatvec", "shape")):
        return _operator(transform, system.n)
    raise InvalidInput(f"transform must be {KINDS}, got {transform!r:.60}")


def _shape(shape: Any, n: int) -> tuple[int, ...]:
    """Return the shape of the signal: as given, or of an operator's model, or one-dimensional."""
    try:
        told = (n,) if shape is None else tuple(int(length) for length in np.atleast_1d(shape))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the shape in transform must be whole numbers such as (128, 128), got {shape!r}") from error
    if math.prod(told) != n or len(told) > 2:
        raise InvalidInput(f"the shape in transform must be of one or two dimensions with {n} samples, got {told}")
    return told


def wavelet_basis(name: str, shape: tuple[int, ...]) -> Basis:
    """Return a full periodised decomposition: as deep as all lengths are even, as `signals.wavelet` is."""
    filters = orthogonal_wavelet(name)
    if any(length % 2 for length in shape):
        raise InvalidInput(f"transform={name!r} needs even lengths, got shape {shape}; pad or cut the signal")
    synthesise = functools.partial(_synthesise, filters=filters, shape=shape)
    analyse = functools.partial(_analyse, filters=filters, shape=shape)
    kinds = tuple(functools.partial(_spin, filters, shape, by_neighbours) for by_neighbours in (False, True))
    return _checked(Basis(math.prod(shape), synthesise, analyse, analysis=Analysis(shape, kinds, analyse)))


def _spin(filters: Any, shape: tuple[int, ...], by_neighbours: bool) -> SpunWavelets:
    return SpunWavelets(filters, shape, np.random.default_rng(0), by_neighbours=by_neighbours)


def _levels(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the shapes of the approximations, from fine to coarse."""
    shapes = []
    while all(length % 2 == 0 for length in shape):
        shape = tuple(length // 2 for length in shape)
        shapes.append(shape)
    return shapes


def _keys(dimensions: int) -> list[str]:
    """Return the names of the details of one level."""
    return ["d"] if dimensions == 1 else ["ad", "da", "dd"]


def _analyse(x: Vector, *, filters: Any, shape: tuple[int, ...]) -> Vector:
    import pywt

    approximation, pieces = x.reshape(shape), list[Vector]()
    for _ in _levels(shape):
        bands = pywt.dwtn(approximation, filters, mode="periodization")
        approximation = bands["a" * len(shape)]
        pieces[:0] = [bands[key].ravel() for key in _keys(len(shape))]
    return np.concatenate([approximation.ravel(), *pieces])


def _synthesise(c: Vector, *, filters: Any, shape: tuple[int, ...]) -> Vector:
    import pywt

    shapes, keys = _levels(shape)[::-1], _keys(len(shape))
    size = math.prod(shapes[0])
    approximation, used = c[:size].reshape(shapes[0]), size
    for coarse in shapes:
        size = math.prod(coarse)
        bands = {"a" * len(shape): approximation}
        for key in keys:
            bands[key], used = c[used : used + size].reshape(coarse), used + size
        approximation = pywt.idwtn(bands, filters, mode="periodization")
    return np.asarray(approximation).ravel()


def _operator(W: Any, n: int) -> Basis:
    """Return the basis of an operator from signals to coefficients, which has to be orthonormal."""
    if W.shape[1] != n:
        raise InvalidInput(f"transform must take signals of {n} samples, as A does, got an operator of shape {W.shape}")
    return _checked(
        Basis(int(W.shape[0]), lambda c: np.asarray(W.rmatvec(c)).ravel(), lambda x: np.asarray(W.matvec(x)).ravel())
    )


def _checked(basis: Basis) -> Basis:
    """Refuse a transform that is not orthonormal: its coefficients would not be those of the signal."""
    v = np.random.default_rng(0).standard_normal(len(basis.synthesise(np.zeros(basis.n))))
    error = float(np.linalg.norm(basis.synthesise(basis.adjoint(v)) - v) / np.linalg.norm(v))
    if not error <= NOT_ORTHONORMAL:
        raise InvalidInput(
            f"transform must be orthonormal (its adjoint times itself the identity), and is off by {error:.1g}; pass "
            "an orthogonal wavelet, or recover the coefficients with A times the synthesis as the operator"
        )
    return basis


def _total_variation(system: System, shape: tuple[int, ...]) -> Basis | Analysis:
    if len(shape) > 1 or system.matrix is None:
        kinds = tuple(functools.partial(TotalVariation, shape, reweighted=reweighted) for reweighted in (False, True))
        return Analysis(shape, kinds, lambda x: differences(x.reshape(shape)).ravel())
    n = system.n
    u = system.matrix.sum(axis=1)
    length = float(np.linalg.norm(u))
    Q = _complement(u) if length > NOT_MEASURED * float(np.linalg.norm(system.matrix)) else None

    def integrate(d: Vector) -> Vector:
        return np.concatenate([np.zeros(1, d.dtype), np.cumsum(d)])

    def complete(d: Vector, y: Vector) -> Vector:
        x = integrate(d)
        return x if Q is None else np.asarray(x + np.vdot(u, y - system.forward(x)) / length**2)

    return Basis(
        n=n - 1,
        synthesise=integrate,
        adjoint=lambda x: np.cumsum(x[::-1])[::-1][1:],
        eliminate=None if Q is None else lambda y: Q.conj().T @ y,
        complete=complete,
    )


def _complement(u: Vector) -> Array:
    """Return an orthonormal basis of what is orthogonal to u, one vector per column."""
    return np.asarray(np.linalg.qr(u[:, None], mode="complete")[0][:, 1:])
