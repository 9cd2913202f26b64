r"""GDSReweighted where A is too large to write out: thresholds weighted by the slopes of S_p, by A and A^H alone.

One step looks at r = x + G (y - A x) / alpha, G = A^H (A A^H + ridge)^-1, alpha = tr(G A)/N, which is the signal and
something like white noise of a known size tau, as long as the errors of x and those of r are uncorrelated (orthogonal
approximate message passing: J. Ma and L. Ping, "Orthogonal AMP", IEEE Access 5, 2017; S. Rangan, P. Schniter and
A. K. Fletcher, "Vector approximate message passing", IEEE Transactions on Information Theory 65(10), 2019). So r is
shrunk by reweighted thresholds,

    e = sign(r) max(|r| - t, 0),    t = scale tau max(w(c - 1), floor) c^(q-1),

with w = -d log S_p/dc in units of its largest (and the well at the common level L beyond it), q <= exponent an l_q norm
by reweighting (R. Chartrand, "Fast algorithms for nonconvex compressive sensing", ISBI 2009), and c = (1-share) |r| +
share s in units of tau, s the mean magnitude of the neighbours. Which coefficients are neighbours is
learnt from the lags at which the magnitudes of r correlate, beyond what chance allows. Where none do, share is 0.
Stein's estimate of the risk chooses scale, q, share, the floor (1 leaves the slopes out) and the well at every step
(C. Guo and M. E. Davies, "Near optimal compressed sensing without priors: parametric SURE approximate message passing",
IEEE Transactions on Signal Processing 63(8), 2015). Then
x = (e - d r)/(1 - d), with d the mean derivative of the shrinkage, has errors that are uncorrelated with those of r.

This holds for matrices whose null space has no preferred directions. The solver checks it: Stein's estimate predicts
how large the next residual will be. If the prediction fails, `operator_descent.py` and `operator_columns.py`, which do
not need this property, take over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .descent import WellOptions
from .driver import Iterate, as_iterates
from .noisy import is_noisy_message
from .operator_columns import Chosen, ColumnChoice
from .operator_descent import follow_path, lower_with_neighbours
from .operator_noise import estimate_variance, noise_left, noise_outside_range
from .problem import Problem
from .projection import nearest_matrix_free
from .quadratic import Quadratic
from .result import Recovery
from .scaled_operator import ScaledOperator
from .shrinkage import Shrinkage
from .status import Status
from .tolerances import AIM_OF_LAST_STEP, EXACT, FOUND_DEVIATION, NEGLIGIBLE_OF_OPERATOR, SOLVED

ITERATIONS = 200
RISK_SAMPLE = 1 << 14  # coefficients on which the risk is compared
SETTLED_GAIN = 1e-2  # in tau, relative
MISLED_RATIO = 3.0  # of the residual and its expected value
MOST_STRIKES = 3  # how often a run may be misled
SETTLED_STEPS = 5  # after which a run ends
MOST_UNKNOWNS_PER_EQUATION = 0.9  # of a fit
LARGEST_NEARLY_EXACT_RESIDUAL = 1e-3  # relative: a fit on the support may close it
BOUNDED_FITS = 20
LEAST_SQUARES_STEPS = 500  # of the last fit
SURE_ERROR_RATIO = 1.2  # of the path's error in a measurement and that in held-out ones
NOISY_SHARE = 0.5  # of what is left of y: if so much may be noise, y counts as noisy
IS_NOISY = (
    "y is taken as noisy: what x does not explain of it is noise of a standard deviation of about {noise:.2g} per "
    "measurement (estimated), or coefficients as small as that. Pass noise=0 if y is known to be exact"
)


def iterates(
    problem: Problem, options: WellOptions, jitter: Array | None, solve_written_out: Callable[[Problem], Recovery]
) -> Iterator[Iterate]:
    """Yield one iterate per step, and last the answer; `jitter` are random factors on the thresholds.

    `solve_written_out` solves a small problem whose matrix is written out.
    """
    return _Run(problem, ScaledOperator(problem), options, jitter, solve_written_out).iterates()


Steps = Generator[Iterate, None, tuple[NDArray[Any], bool]]


class _Seen(NamedTuple):
    """What message passing sees: r = x + white noise, and the mean square of G (y - A x)."""

    r: NDArray[Any]
    measured: float


class _Path(NamedTuple):
    """The l1 path that was followed: in which units of x, and how well its end predicts a measurement of these."""

    quadratic: Quadratic
    columns: NDArray[Any]
    prediction: float


class _Run:
    """One run, from the start to a solution that explains y."""

    def __init__(
        self, problem: Problem, scaled: ScaledOperator, options: WellOptions, jitter: Array | None,
        solve_written_out: Callable[[Problem], Recovery],
    ) -> None:  # fmt: skip
        self.problem, self.scaled, self.options = problem, scaled, options
        self.solve_written_out = solve_written_out
        bounds = None if problem.bounds is None else tuple(side * scaled.columns for side in problem.bounds)
        sample = np.random.default_rng(0).permutation(problem.n)[:RISK_SAMPLE]
        self.shrinkage = Shrinkage(options, jitter, scaled.is_complex, bounds, np.sort(sample))  # type: ignore[arg-type]
        self.misled = False
        self.predicted_within = math.inf  # what x does not explain of a measurement is no more, as the path predicts it

    def iterates(self) -> Iterator[Iterate]:
        """Yield the steps of message passing, and of the proximal gradient where that is misled; last the answer."""
        e, settled = yield from self._pass_messages()
        x = e / self.scaled.columns
        answer = self._exact(x) if self.misled else self._nearly_exact(x)
        if answer is None and self.misled:
            x, settled = yield from self._descend()
            answer = self._nearly_exact(x)
        if answer is None and self.problem.estimate_noise and (sigma := self._estimate_noise(x)) > 0:
            yield from self._repeat_with_noise(sigma, x)
            return
        if answer is None and self.misled:
            yield from self._go_on(x)
            return
        yield self._explain(x, settled) if answer is None else answer

    def _explain(self, x: NDArray[Any], settled: bool) -> Iterate:
        """Return x made to explain y as the answer."""
        x = self._explaining(x) + 0.0  # no -0
        x = x if self.scaled.is_complex else np.asarray(x.real)
        converged = settled and self.problem.residual(x) <= self.problem.explained_below
        return Iterate(x, steps=0, status=Status.CONVERGED if converged else Status.ITERATION_LIMIT)

    def _estimate_noise(self, x: NDArray[Any]) -> float:
        """Return the standard deviation of the noise in y, as far as it is certain; 0 where y may as well be exact."""
        if self.problem.residual(x) <= self.problem.tolerance():
            return 0.0
        if self.misled:
            return noise_outside_range(self.problem, x)
        low, high = self.scaled.range_of_variance(self.seen.measured)
        variance = estimate_variance(self.seen.r, low, high)
        if variance.largest - low < NOISY_SHARE * (high - low):
            return 0.0
        return self.scaled.noise_of_variance(variance.likely, self.seen.measured)

    def _repeat_with_noise(self, sigma: float, path: NDArray[Any]) -> Iterator[Iterate]:
        """Yield the steps with noise of this size, from the end of the path on if there is one."""
        problem = self.problem.with_sigma(sigma)
        told = _Run(problem, ScaledOperator(problem), self.options, self.shrinkage.jitter, self.solve_written_out)
        if self.misled:
            told.path, told.predicted_within = self.path, self.predicted_within
        for iterate in told._go_on(path) if self.misled else told.iterates():
            if iterate.status is Status.CONVERGED:
                noise = noise_left(problem, iterate.x, sigma)
                yield replace(iterate, noise=noise, message=IS_NOISY.format(noise=noise))
            else:
                yield iterate

    def _go_on(self, x: NDArray[Any]) -> Iterator[Iterate]:
        """Yield what follows the end x of a path: the choice among its columns, or what neighbours tell."""
        answer = yield from self._choose_columns(x)
        if answer is None:
            quadratic, columns, prediction = self.path
            lowered = lower_with_neighbours(quadratic, x * columns, prediction, self._jitter)
            x = yield from as_iterates(lowered, columns)
            answer = self._explain(np.asarray(x / columns), True)
        yield answer

    @property
    def _jitter(self) -> Array | float:
        return 1.0 if self.shrinkage.jitter is None else self.shrinkage.jitter

    def _shown(self, e: NDArray[Any]) -> Iterate:
        return Iterate(np.asarray(e / self.scaled.columns))

    def _start(self) -> NDArray[Any]:
        if self.problem.x0 is None:
            return np.zeros(self.problem.n, self.scaled.dtype)
        return np.asarray(self.problem.x0 * self.scaled.columns).astype(self.scaled.dtype)

    def _pass_messages(self) -> Steps:
        """Yield the steps; return the best e, and whether the errors settled. `misled`: they were not as expected."""
        scaled, y = self.scaled, self.scaled.y
        x = e = best = self._start()
        expected = least = math.inf
        strikes = quiet = 0
        for _ in range(ITERATIONS):
            step = scaled.solve(y - scaled.forward(x))
            error, square = scaled.errors(step)
            tau = math.sqrt(square)
            if tau <= FOUND_DEVIATION * np.linalg.norm(best) / math.sqrt(self.problem.n):
                return best, True
            strikes += error > MISLED_RATIO * (expected + scaled.uncertain_error) or tau > 1.5 * least
            if strikes > MOST_STRIKES:
                self.misled = True
                return best, False
            r = x + step / scaled.alpha
            e, d = self.shrinkage(r, tau)
            yield self._shown(e)
            quiet = 0 if tau < (1 - SETTLED_GAIN) * least else quiet + 1
            if tau < least:
                best, least = e, tau
                self.seen = _Seen(r, float(np.vdot(step, step).real) / len(step))
            if quiet >= SETTLED_STEPS:
                return best, True
            expected = max(square * (self.shrinkage.risk - d * d) / (1 - d) ** 2, 1e-3 * error)
            x = (e - d * r) / (1 - d)
            scaled.damp(expected)
        return best, False

    def _descend(self) -> Steps:
        """Yield the steps of the weighted l1 path of `operator_descent.py`, and its end."""
        scaled = self.scaled
        if scaled.has_even_rows():  # then the columns' norms say how well coefficients are measured
            quadratic, columns = Quadratic.of(self.problem, scaled.is_complex), np.ones(self.problem.n)
            unit = 1.0
        else:
            quadratic, columns = Quadratic.with_products(scaled.forward, scaled.adjoint, scaled.y), scaled.columns
            unit = float(np.sqrt(np.mean(scaled.rows**2)))
        path = follow_path(quadratic, self._start() * (columns / scaled.columns), self._jitter)
        x, prediction = yield from as_iterates(path, columns)
        self.path = _Path(quadratic, columns, prediction)
        self.predicted_within = SURE_ERROR_RATIO * prediction / unit
        return np.asarray(x / columns), True

    def _choose_columns(self, x: NDArray[Any]) -> Generator[Iterate, None, Iterate | None]:
        """Yield rounds of choosing among the columns that are left; return an answer if it is worth having."""
        if self.problem.bounds is not None:
            return None
        choice = ColumnChoice(self.problem, self.solve_written_out)
        chosen = yield from as_iterates(choice.rounds(x))
        return self._judge_choice(choice, x, chosen)

    def _judge_choice(self, choice: ColumnChoice, path: NDArray[Any], chosen: Chosen) -> Iterate | None:
        """Return the answer on few columns if it describes y in fewer words than the path does."""
        problem, x = self.problem, chosen.x
        if x is path:
            return None
        if (exact := self._sparse_fit(x)) is not None:
            return Iterate(exact, steps=0, status=Status.CONVERGED)
        if not choice.description_length(chosen) < choice.description_length(Chosen.of(path)):
            return None
        noise = choice.noise_left(chosen)
        if noise > self.predicted_within:
            return None
        if problem.estimate_noise and chosen.nonzeros < problem.m / 2:
            message = is_noisy_message(round(chosen.nonzeros), noise)
            return Iterate(x, steps=0, status=Status.CONVERGED, noise=noise, message=message)
        return Iterate(self._explaining(x), steps=0, status=Status.CONVERGED)

    def _explaining(self, x: NDArray[Any]) -> NDArray[Any]:
        """Make x explain y: on its own support if that can be, else by the least change."""
        problem = self.problem
        x = problem.clipped(x)
        residual = problem.residual(x)
        if residual <= problem.tolerance():
            return x
        if (fitted := self._nearly_exact(x)) is not None:
            return fitted.x
        if problem.bounds is not None:
            return self._within_bounds(x)
        if problem.noise == 0:
            return nearest_matrix_free(problem, x, LEAST_SQUARES_STEPS)[0]
        return self._within_noise(x)

    def _nearly_exact(self, x: NDArray[Any]) -> Iterate | None:
        """Return the exact solution on the support of an x that nearly explains y, or None."""
        return (
            self._exact(x) if self.problem.residual(x) <= LARGEST_NEARLY_EXACT_RESIDUAL * self.problem.scale else None
        )

    def _exact(self, x: NDArray[Any]) -> Iterate | None:
        """Return the exact solution on the support of x, or None."""
        fitted = self._sparse_fit(x)
        return None if fitted is None else Iterate(fitted, steps=0, status=Status.CONVERGED)

    def _within_noise(self, x: NDArray[Any]) -> NDArray[Any]:
        """Run conjugate gradients on |A x - y|^2 until it is within the noise: they begin where noise matters least."""
        problem, scaled = self.problem, self.scaled
        z = x * scaled.columns
        rest = scaled.y - scaled.forward(z)
        pull = direction = scaled.adjoint(rest)
        size = np.vdot(pull, pull).real
        for _ in range(LEAST_SQUARES_STEPS):
            image = scaled.forward(direction)
            step = size / np.vdot(image, image).real
            part = _part(rest, step * image, problem.tolerance())
            z, rest = z + part * step * direction, rest - part * step * image
            if np.linalg.norm(rest) <= problem.tolerance():
                break
            pull = scaled.adjoint(rest)
            previous, size = size, np.vdot(pull, pull).real
            direction = pull + (size / previous) * direction
        return np.asarray(z / scaled.columns)

    def _sparse_fit(self, x: NDArray[Any]) -> NDArray[Any] | None:
        """Return the exact solution on the support of x, or None: more equations than unknowns agree by no accident."""
        problem = self.problem
        support = x != 0
        if problem.noise > 0 or np.count_nonzero(support) > MOST_UNKNOWNS_PER_EQUATION * self.scaled.alpha * problem.n:
            return None
        fitted = problem.clipped(self._fitted(x, support))
        fitted = np.where(np.abs(fitted) > NEGLIGIBLE_OF_OPERATOR * np.max(np.abs(fitted), initial=0.0), fitted, 0)
        return fitted if problem.residual(fitted) <= EXACT * problem.scale else None

    def _fitted(self, x: NDArray[Any], free: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the least change of the free coefficients that explains y."""
        from scipy.sparse.linalg import LinearOperator, lsmr

        problem, columns = self.problem, self.scaled.columns[free]
        places = np.flatnonzero(free)

        def forward(z: NDArray[Any]) -> NDArray[Any]:
            whole = np.zeros(problem.n, x.dtype)
            whole[places] = z / columns
            return problem.system.forward(whole)

        def adjoint(u: NDArray[Any]) -> NDArray[Any]:
            back = problem.system.adjoint(u)[places] / columns
            return back if x.dtype.kind == "c" else np.asarray(back.real)

        rest = problem.y - problem.system.forward(x)
        operator = LinearOperator((problem.m, len(places)), matvec=forward, rmatvec=adjoint, dtype=rest.dtype)
        change = lsmr(operator, rest, atol=SOLVED, btol=SOLVED, conlim=0.0, maxiter=LEAST_SQUARES_STEPS)[0]
        fitted = x.copy()
        fitted[places] += (change if x.dtype.kind == "c" else change.real) / columns
        return fitted

    def _within_bounds(self, x: NDArray[Any]) -> NDArray[Any]:
        """Fit what is not held by a bound, again and again, each time no farther than the noise asks for."""
        problem = self.problem
        low, high = problem.bounds  # type: ignore[misc]
        for _ in range(BOUNDED_FITS):
            rest = problem.y - problem.system.forward(x)
            if np.linalg.norm(rest) <= problem.tolerance():
                break
            pull = problem.system.adjoint(rest).real
            free = ((x > low) | (pull > 0)) & ((x < high) | (pull < 0))
            change = problem.clipped(self._fitted(x, free)) - x
            x = problem.clipped(x + _part(rest, problem.system.forward(change), problem.tolerance()) * change)
        return x


def _part(rest: NDArray[Any], gain: NDArray[Any], radius: float) -> float:
    """Return the least t in 0..1 with |rest - t gain| <= radius (a little within it); 1 where there is none."""
    a, b = np.vdot(gain, gain).real, np.vdot(gain, rest).real
    c = np.vdot(rest, rest).real - (radius * AIM_OF_LAST_STEP) ** 2
    root = b * b - a * c
    return min(c / (b + math.sqrt(root)), 1.0) if root >= 0 and b > 0 else 1.0
