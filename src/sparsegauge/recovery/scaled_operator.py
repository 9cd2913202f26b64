"""A large operator with columns of about the same norm, and what message passing needs to know of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .problem import Problem
from .tolerances import ISOTROPIC, LEAST_COLUMN_NORM, NO_DIVISOR

PROBES_IF_EVEN = 8  # random vectors for the norms of the columns
PROBES_IF_UNEVEN = 128
NOISE_UNCERTAINTY = 0.1  # relative error of the variance of the noise, known or estimated
RELATIVE_RIDGE = 1e-4  # in units of the mean square of a singular value: bounds the steps of a linear solve


class ScaledOperator:
    """R A C^-1 with columns (and where there is no noise rows) of about the same norm; and G with its traces."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.rng = problem, np.random.default_rng(0)
        self.dtype = problem.system.adjoint(problem.y).dtype
        self.is_complex = self.dtype.kind == "c"
        self.sigma = problem.sigma
        self._equilibrate()
        self.y = problem.y * self.rows
        self.size = self._largest()
        self.isotropic = self._is_isotropic()
        start = float(np.linalg.norm(self.y)) ** 2 / (self.mean * problem.m)  # the mean square of x - 0
        self.ridge = max(RELATIVE_RIDGE * self.mean, self.sigma**2 / start)
        self._probe()

    def forward(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return A x."""
        return self.problem.system.forward(x / self.columns) * self.rows

    def adjoint(self, u: NDArray[Any]) -> NDArray[Any]:
        """Return A^H u."""
        back = self.problem.system.adjoint(u * self.rows) / self.columns
        return back if self.is_complex else np.asarray(back.real)

    def _random(self, size: int, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return normal numbers of variance 1."""
        if kind.kind != "c":
            return self.rng.standard_normal(size)
        return np.asarray(self.rng.standard_normal((size, 2)) @ (1, 1j)) / math.sqrt(2)

    def _measurement(self) -> NDArray[Any]:
        return self._random(self.problem.m, self.problem.y.dtype)

    def _equilibrate(self) -> None:
        self.rows, self.columns = np.ones(self.problem.m), np.ones(self.problem.n)
        self.columns = self._norms(lambda: self.adjoint(self._measurement()))
        if self.sigma == 0:
            sizes = self._norms(lambda: self.forward(self._random(self.problem.n, self.dtype)))
            if np.any(sizes != 1):
                self.rows = 1 / sizes
                self.columns = self.columns * self._norms(lambda: self.adjoint(self._measurement()))

    def has_even_rows(self) -> bool:
        """Whether the rows of A itself have about the same norm."""
        system = self.problem.system
        return bool(np.all(self._norms(lambda: system.forward(self._random(self.problem.n, self.dtype))) == 1))

    @staticmethod
    def _norms(sketch: Callable[[], NDArray[Any]]) -> Array:
        """Estimate the norms of rows by products with random vectors; all 1 where they differ by chance only."""
        squares: Any = 0.0
        for done in range(1, PROBES_IF_UNEVEN + 1):
            part = sketch()
            squares = squares + np.abs(part) ** 2
            if done == PROBES_IF_EVEN:
                freedom = PROBES_IF_EVEN * (2 if np.iscomplexobj(part) else 1)
                if np.var(squares) < 1.5 * 2 / freedom * np.mean(squares) ** 2:
                    return np.ones(len(squares))
        return np.asarray(np.maximum(np.sqrt(squares / np.mean(squares)), LEAST_COLUMN_NORM))

    def _largest(self) -> float:
        """Return |A|^2 by power iteration."""
        x = self._random(self.problem.n, self.dtype)
        value = 1.0
        for _ in range(15):
            x = self.adjoint(self.forward(x / np.linalg.norm(x)))
            previous, value = value, float(np.linalg.norm(x))
            if abs(value - previous) < 1e-3 * value:
                break
        return value * 1.02

    def _is_isotropic(self) -> bool:
        """Whether A A^H is a multiple of the identity: then the ridge does not change G / alpha."""
        u = self._measurement()
        v = self.forward(self.adjoint(u))
        self.mean = float(np.vdot(u, v).real / np.vdot(u, u).real)
        return bool(np.linalg.norm(v - self.mean * u) < ISOTROPIC * np.linalg.norm(v))

    def solve(self, residual: NDArray[Any], tolerance: float = 1e-3, most: int = 200) -> NDArray[Any]:
        """Return G residual by conjugate gradients in the space of the measurements."""
        if self.isotropic:
            return self.adjoint(residual) / (self.mean + self.ridge)
        u = np.zeros_like(residual)
        rest, direction = residual.copy(), residual.copy()
        size = target = np.vdot(rest, rest).real
        for _ in range(most):
            if size <= tolerance**2 * target:
                break
            image = self.forward(self.adjoint(direction)) + self.ridge * direction
            step = size / np.vdot(direction, image).real
            u += step * direction
            rest -= step * image
            previous, size = size, np.vdot(rest, rest).real
            direction = rest + (size / previous) * direction
        return self.adjoint(u)

    def _probe(self) -> None:
        """Return alpha = tr(G A)/N, tr((G A)^2)/N and tr(G G^H)/N, with random vectors where they are not known."""
        n, m = self.problem.n, self.problem.m
        if self.isotropic:
            part = self.mean / (self.mean + self.ridge)
            rank = m * (2 if self.y.dtype.kind == "c" and not self.is_complex else 1)
            self.alpha, self.square, self.noise = (
                part**k * rank / n / self.mean**j for k, j in ((1, 0), (2, 0), (2, 1))
            )
            return
        repeats = min(max(1, 40_000 // n), 4)
        self.alpha = self.square = self.noise = 0.0
        for _ in range(repeats):
            u = self._random(n, self.dtype)
            back = self.solve(self.forward(u))
            size = np.vdot(u, u).real
            self.alpha += float(np.vdot(u, back).real / size) / repeats
            self.square += float(np.vdot(back, back).real / size) / repeats
            if self.sigma > 0 or self.problem.estimate_noise:
                white = self.solve(self._measurement())
                self.noise += float(np.vdot(white, white).real) / n / repeats

    def damp(self, error: float) -> None:
        """Set the ridge that is best for errors of this mean square: sigma^2 / error."""
        wanted = max(RELATIVE_RIDGE * self.mean, self.sigma**2 / max(error, NO_DIVISOR))
        if not self.isotropic and not 1 / 5 < wanted / self.ridge < 5:
            self.ridge = min(wanted, self.size)
            self._probe()

    def errors(self, step: NDArray[Any]) -> tuple[float, float]:
        """Return the mean squares of x - truth and of r - truth, from G (y - A x)."""
        noise = self.sigma**2 * self.noise
        measured = float(np.vdot(step, step).real) / len(step)
        error = max(measured - noise, 1e-3 * measured) / self.square
        return error, error * max(self.square / self.alpha**2 - 1, 0.0) + noise / self.alpha**2

    @property
    def uncertain_error(self) -> float:
        """The mean square of errors of x that the noise hides, since its size is not known any better."""
        return NOISE_UNCERTAINTY * self.sigma**2 * self.noise / self.square

    def range_of_variance(self, measured: float) -> tuple[float, float]:
        """Return the variances of r - truth if y is exact and if x is, from the mean square of G (y - A x)."""
        return measured * max(1 / self.alpha**2 - 1 / self.square, 0.0), measured / self.alpha**2

    def noise_of_variance(self, variance: float, measured: float) -> float:
        """Return the standard deviation of the noise in y at which r - truth has the given variance."""
        low, high = self.range_of_variance(measured)
        return math.sqrt((variance - low) / (high - low) * measured / self.noise / float(np.mean(self.rows**2)))
