"""What is to be solved: A x = y, exactly or up to noise, perhaps within bounds."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .._arrays.equations import as_bounds, as_noise, as_start, as_vector, noise_norm
from ..errors import InvalidInput
from .system import LARGE, Reduced, System, scale_by_power, unsafe_exponent
from .tolerances import EXACT, EXPLAINED, MISFIT_SLACK


@dataclass(frozen=True)
class Problem:
    """Find a sparse x with A x = y, or with |A x - y| <= `noise`, perhaps within bounds.

    With `estimate_noise`, `noise` is 0 and y may still be noisy: solvers that can estimate the noise do so.
    """

    system: System
    y: NDArray[Any]
    noise: float = 0.0
    bounds: tuple[Array, Array] | None = None
    x0: NDArray[Any] | None = None
    estimate_noise: bool = False

    @classmethod
    def of(cls, A: Any, y: Any, *, noise: Any = 0.0, bounds: Any = None, x0: Any = None) -> Problem:
        """Check all arguments, which are those of `recover`, and return the problem."""
        system = System(A)
        measurements = as_vector("y", y, system.m)
        limits = as_bounds(bounds, system.n)
        is_unknown = noise is None or (isinstance(noise, str) and noise == "auto")
        bound = 0.0 if is_unknown else as_noise(noise, system.m)
        problem = cls(system, measurements, bound, limits, as_start(x0, system.n), is_unknown)
        if limits is not None and problem.is_complex:
            raise InvalidInput("bounds are for real systems; split a complex one into real and imaginary parts")
        return problem

    @property
    def m(self) -> int:
        """The number of measurements."""
        return self.system.m

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.system.n

    @property
    def is_complex(self) -> bool:
        """Whether x is complex."""
        return np.iscomplexobj(self.y) or (self.system.matrix is not None and np.iscomplexobj(self.system.matrix))

    @property
    def dtype(self) -> type[np.complex128] | type[np.float64]:
        """The type of x's entries."""
        return np.complex128 if self.is_complex else np.float64

    @property
    def is_large(self) -> bool:
        """Whether A is better used as an operator than as a matrix."""
        return self.m * self.n > LARGE

    def matrix(self) -> NDArray[Any]:
        """Return A written out; capabilities make sure that solvers ask for it only where it is."""
        if self.system.matrix is None:
            raise InvalidInput(f"A is an operator of {self.m} x {self.n} entries, too large to write out")
        return self.system.matrix

    def real_matrix(self) -> Array:
        """Return A written out, of a real system."""
        if self.is_complex:
            raise InvalidInput("A or y is complex, and a real system is needed here")
        return self.matrix()

    @functools.cached_property
    def reduced(self) -> Reduced:
        """The singular value decomposition of A, computed once per problem, without parts that are rounding errors.

        Rows of very different lengths are scaled to length 1 first if y is exact: then short rows count as much as
        long ones.
        """
        system, y = self.system, self.y
        if self.noise == 0 and self.has_uneven_rows:
            even = system.even_factors.reduce(y / system.row_units)
            if even.misfit <= EXACT * np.linalg.norm(y / system.row_units):
                return even
        return system.factors.reduce(y)

    @property
    def has_uneven_rows(self) -> bool:
        """Whether the rows of A have very different lengths."""
        return self.system.has_uneven_rows

    @functools.cached_property
    def notes(self) -> dict[str, Any]:
        """What solvers computed for this problem, each under its own name, to use again on the way."""
        return {}

    @functools.cached_property
    def scale(self) -> float:
        """|y|."""
        return float(np.linalg.norm(self.y))

    def with_y(self, y: NDArray[Any], x0: NDArray[Any] | None = None) -> Problem:
        """Return the same problem for other measurements."""
        return replace(self, y=y, x0=x0)

    def residual(self, x: NDArray[Any]) -> float:
        """Return |A x - y|."""
        return float(np.linalg.norm(self.system.forward(x) - self.y))

    def start(self) -> NDArray[Any]:
        """Return the solution nearest to the caller's x0, or the solution of the least norm."""
        if self.system.matrix is None:
            return np.zeros(self.n, self.dtype) if self.x0 is None else self.x0
        return self.reduced.least_norm() if self.x0 is None else self.reduced.project(self.x0)

    def clipped(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return x moved into the bounds."""
        return x if self.bounds is None else np.clip(x, *self.bounds)

    @property
    def sign(self) -> int:
        """The sign of x that the bounds demand: 1 for x >= 0, -1 for x <= 0, 0 for other bounds or none."""
        if self.bounds is None:
            return 0
        low, high = self.bounds
        if np.all(low == 0) and np.all(np.isinf(high)):
            return 1
        return -1 if np.all(high == 0) and np.all(np.isinf(low)) else 0

    @property
    def is_free_or_one_sided(self) -> bool:
        """Whether the bounds demand nothing, or no more than a sign."""
        return self.bounds is None or self.sign != 0

    def nearest(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the nearest x that explains y within the noise and the bounds; A is written out."""
        from .projection import nearest

        return nearest(self, x)

    def fit(self, columns: Any) -> NDArray[Any]:
        """Return the least-squares solution that is zero but on the given columns; A is written out."""
        from .projection import fitted

        return fitted(self.matrix(), self.y, np.asarray(columns))

    @property
    def zero_is_allowed(self) -> bool:
        """Whether x = 0 is within the bounds."""
        return self.bounds is None or not self.clipped(np.zeros(self.n)).any()

    @property
    def zero_explains_y(self) -> bool:
        """Whether x = 0 is within the bounds and explains y."""
        return self.scale <= self.noise and self.zero_is_allowed

    @property
    def noise_factor(self) -> float:
        """The norm of the noise in all measurements, at most, over the standard deviation of one."""
        return noise_norm(self.m)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise in one measurement, as given."""
        return self.noise / self.noise_factor

    def with_sigma(self, sigma: float) -> Problem:
        """Return the same problem with noise of a known standard deviation."""
        return replace(self, noise=sigma * self.noise_factor, estimate_noise=False)

    @property
    def misfit(self) -> float:
        """What no x can explain of y; taken as 0 where A is not written out, or an exact solution is known."""
        known = self.system.matrix is None or "pursued" in self.notes
        return 0.0 if known else self.reduced.misfit

    def tolerance(self) -> float:
        """Return the largest residual of a solution: the noise, or what rounding and least squares leave."""
        return max(self.noise, EXACT * self.scale, self.misfit * MISFIT_SLACK)

    @property
    def explained_below(self) -> float:
        """The largest residual of an answer that explains y."""
        return max(self.tolerance(), EXPLAINED * self.scale)

    def in_safe_units(self) -> tuple[Problem, int, int]:
        """Return the problem scaled by powers of two where products would overflow, with the exponents of A and y."""
        (system, of_a), of_y = self.system.in_safe_units, unsafe_exponent(self.y)
        if of_a == of_y == 0:
            return self, 0, 0
        to_x = of_a - of_y
        low, high = (scale_by_power(side, to_x) for side in self.bounds or (np.zeros(0), np.zeros(0)))
        scaled = replace(
            self,
            system=system,
            y=scale_by_power(self.y, -of_y),
            noise=math.ldexp(self.noise, -of_y),
            bounds=None if self.bounds is None else (low, high),
            x0=None if self.x0 is None else scale_by_power(self.x0, to_x),
        )
        return scaled, of_a, of_y
