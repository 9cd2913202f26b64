"""Portfolio: solvers in turn, until one is certified or the budget of solves ends. And `recover`, the front door."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Parameter, as_rng, check_count
from ..errors import InvalidInput
from . import certificate, lattice, noisy
from .ep import EP
from .explanation import Explanation
from .nearest import nearest
from .problem import (
    CALLED_OFF,
    CONVERGED,
    DETERMINED,
    EXACT,
    INEXACT,
    NO_SIGNAL,
    Callback,
    Problem,
    Recovery,
    Solver,
    finished,
)
from .reweighted import GDSReweighted
from .rivals import OMP, BasisPursuit

# both wells, one-sided, an l_1/2 norm, a deep well, a high order: found on trials below 1,000 of the benchmark
WELLS = (
    GDSReweighted(order=4, floor=0.03, well=0.3, sharpness=6, exponent=1.0),
    GDSReweighted(order=4, floor=0.03, well=0.3, sharpness=4, exponent=1.0, side=1),
    GDSReweighted(order=4, floor=0.001, well=0.1, sharpness=6, exponent=0.5),
    GDSReweighted(order=4, floor=0.001, well=0.1, sharpness=4, exponent=0.5, side=1),
    GDSReweighted(order=4, floor=0.001, well=0.5, sharpness=10, exponent=1.0),
    GDSReweighted(order=10, floor=0.001, well=0.0, exponent=1.0),
)
ONE_SIDED = 4  # times as many restarts where one sign is likely: they are quicker and find more
WORK, LITTLE = 1e7, 0.5  # multiplications of a solve for which the budget is meant; below half of it, fewer solvers
LOOKS_NOISY = (
    "y looks noisy: {k} columns of A explain it up to noise of a standard deviation of about {noise:.2g}, and no exact "
    "sparse solution was found. Pass noise={noise:.2g}, or look at trade_off(A, y)"
)
NOT_FOUND = "no exact solution with few enough non-zeros was found"
ROUNDED = "the fit explains y, but less exactly than a certificate needs"
TIME_LIMIT = Parameter("time_limit", float("inf"), low=0, high=float("inf"), high_included=True)

Candidate = tuple[NDArray[Any] | None, bool, int]


@dataclass(frozen=True, kw_only=True)
class Portfolio(Solver):
    """The default: reweighting by GDS in six variants, a lattice, expectation propagation, restarts; each is tested.

    Parameters
    ----------
    restarts : int
        How often the six variants are tried again with random weights. Large systems get fewer of all restarts.
    propagations : int
        Restarts of expectation propagation.
    lattice : bool
        Whether to look for signals of equal magnitudes, or of small whole-number ratios, by lattice reduction.
    time_limit : float
        Seconds after which no further solver is started. It makes results depend on the machine: for results that
        reproduce, leave it and set `restarts`.
    """

    restarts: int = 12
    propagations: int = 24
    lattice: bool = True
    time_limit: float = TIME_LIMIT.default

    def __post_init__(self) -> None:
        check_count("restarts", self.restarts, least=0)
        check_count("propagations", self.propagations, least=0)
        TIME_LIMIT.check(self.time_limit)

    def solve(self, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
        """Candidates in turn; the first that is exact, else the x nearest to the best explanation of a noisy y.

        The search ends early where the six variants leave no doubt that y is noisy.
        """
        objection = certificate.objection(problem, self.assume_generic)
        if objection and problem.is_large and problem.system.structured:
            return replace(WELLS[0].solve(problem, rng, callback), certificate_reason=objection)
        if problem.noise > 0:
            return replace(self._noisy(problem, rng, callback), certificate_reason=objection)
        started = time.monotonic()
        best: Explanation | None = None
        shown, solves = problem.start(), 0
        for number, (x, exact, cost) in enumerate(self._candidates(problem, rng)):
            solves += cost
            if x is not None and exact:
                certified, reason = certificate.verdict(problem, x, objection)
                found = finished(problem, x, nit=solves, nfev=solves)
                return replace(found, certified=certified, certificate_reason=reason)
            if x is not None:
                explanation = Explanation.of(problem, x)
                if best is None or explanation.score < best.score:
                    best = explanation
                    shown = _explaining(problem, best.x) if callback is not None else shown
            if callback is not None and callback(number, shown):
                return finished(problem, shown, status=CALLED_OFF, nit=solves, nfev=solves)
            if time.monotonic() - started > self.time_limit:
                break
            if number >= len(WELLS) and best is not None and best.is_clear:
                break
        assert best is not None
        return _inexact(problem, best, objection, solves)

    def _noisy(self, problem: Problem, rng: np.random.Generator, callback: Callback | None) -> Recovery:
        """No fit is exact, and none proves anything: the mean over what explains y best."""
        started, tried, called_off = time.monotonic(), 0, False

        def guesses() -> Iterator[NDArray[Any]]:
            nonlocal tried, called_off
            for guess in noisy.guesses(problem, _sided(problem), rng, self.restarts, self.propagations // 4):
                yield guess
                tried += 1
                called_off = callback is not None and bool(callback(tried, guess))
                if called_off or time.monotonic() - started > self.time_limit:
                    return

        x = noisy.refined(problem, guesses(), rng, blocks=noisy.MANY_BLOCKS)
        return finished(problem, x, status=CALLED_OFF if called_off else CONVERGED, nit=tried, nfev=tried)

    def _candidates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Candidate]:
        """Yield x, or None while a run goes on, whether x is exact with few non-zeros, and its cost in solves."""
        plain = not problem.is_complex and certificate.searchable(problem)
        solvers = _sided(problem)
        if problem.is_large:
            yield self._by_products(problem, rng)
        effort = min(1.0, WORK / (problem.m**2 * problem.n))
        for solver in solvers if effort > LITTLE else solvers[:2]:
            yield self._tried(solver, problem, rng, plain)
        if plain and self.lattice:
            yield self._whole(problem, rng)
        if plain and effort > LITTLE:
            yield from self._propagated(problem, rng, effort)
        for k in range(round(self.restarts * effort) if plain else 0):
            yield self._tried(replace(solvers[k % len(solvers)], jitter=0.2), problem, rng, plain)
        if plain and effort > LITTLE:
            yield from ((solver.solve(problem, rng).x, False, 1) for solver in _baselines(problem))

    def _by_products(self, problem: Problem, rng: np.random.Generator) -> Candidate:
        """GDSReweighted without factorisations: far quicker where A is large."""
        as_operator = replace(problem, system=problem.system._replace(matrix=None, structured=True))
        found = WELLS[0].solve(as_operator, rng)
        x = certificate.certify(problem, np.abs(found.x), rng) if certificate.searchable(problem) else None
        return (found.x, False, found.nit) if x is None else (x, True, found.nit)

    def _tried(self, solver: GDSReweighted, problem: Problem, rng: np.random.Generator, plain: bool) -> Candidate:
        x, solves, exact, _ = solver.run(problem, rng, certifying=plain)
        if not exact and certificate.searchable(problem) and (problem.is_complex or problem.bounds is not None):
            found = certificate.certify(problem, np.abs(x), rng)
            return (x, False, solves) if found is None else (found, True, solves)
        return x, exact and certificate.accepted(problem, x), solves

    def _whole(self, problem: Problem, rng: np.random.Generator) -> Candidate:
        x = lattice.whole_multiples(problem, np.abs(problem.start()))
        if x is None:
            return problem.start(), False, 1
        found = certificate.certify(problem, np.abs(x), rng)
        if found is None:
            found = lattice.as_whole(problem, x)
        return (x, False, 1) if found is None or not certificate.accepted(problem, found) else (found, True, 1)

    def _propagated(self, problem: Problem, rng: np.random.Generator, effort: float) -> Iterator[Candidate]:
        for prior, restarts in self._priors(problem):
            for iterate in EP(restarts=round(restarts * effort)).iterates(prior, rng):
                found = certificate.certify(problem, iterate.inclusion, rng)
                if found is not None:
                    yield found, True, 1
                else:
                    yield iterate.x if iterate.ended else None, False, 1

    def _priors(self, problem: Problem) -> list[tuple[Problem, int]]:
        """What is believed of the signs, and how many restarts that is given: most go to what the data lean to."""
        if problem.bounds is not None:
            return [(problem, ONE_SIDED * self.propagations)]
        one_sided = min(max(abs(_lean(problem)) - 0.5, 0.0), 1.0)
        return [
            (_one_sided(problem), round(ONE_SIDED * self.propagations * one_sided)),
            (problem, round(self.propagations * (1 - one_sided))),
        ]


def _sided(problem: Problem) -> list[GDSReweighted]:
    """The wells, those of one side on the likelier one."""
    side = 0 if problem.is_complex else (1 if _lean(problem) >= 0 else -1)
    return [replace(solver, side=solver.side * side) for solver in WELLS]


def _lean(problem: Problem) -> float:
    """How one-sided x is, by its least-norm solution: about standard normal where the signs are random."""
    x = problem.start()
    return float(np.sum(x) / np.linalg.norm(x))


def _one_sided(problem: Problem) -> Problem:
    """The same as if all non-zeros had the likelier sign: no assumption, since the certificate decides."""
    zeros, open_ended = np.zeros(problem.n), np.full(problem.n, np.inf)
    return replace(problem, bounds=(zeros, open_ended) if _lean(problem) >= 0 else (-open_ended, zeros))


def _baselines(problem: Problem) -> tuple[Solver, ...]:
    """The solvers that come last: with noise they may be near the signal where the others are not."""
    return (BasisPursuit(), OMP()) if problem.bounds is None else (BasisPursuit(),)


def _explaining(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """x where it explains y within the bounds, else moved by no more than that takes; A is written out."""
    x = problem.clipped(x)
    residual = problem.residual(x)
    if residual <= problem.tolerance():
        return x
    if problem.bounds is not None:
        return nearest(problem, x)
    return np.asarray(x + (1 - EXACT * problem.scale / residual) * (problem.reduced.project(x) - x))


def _inexact(problem: Problem, best: Explanation, objection: str, solves: int) -> Recovery:
    """What is returned where the search found no exact solution with few non-zeros."""
    x = _explaining(problem, best.x)
    if certificate.searchable(problem) and best.is_clear and np.array_equal(x, best.x):
        return replace(finished(problem, x, nit=solves, nfev=solves), certificate_reason=objection or ROUNDED)
    found = finished(problem, x, status=INEXACT, nit=solves, nfev=solves)
    if found.status == INEXACT and best.is_clear:
        k = np.count_nonzero(best.x)
        found = replace(found, message=LOOKS_NOISY.format(k=k, noise=best.noise))
    return replace(found, certificate_reason=objection or NOT_FOUND)


def recover(
    A: Any,
    y: Any,
    *,
    solver: Solver | None = None,
    noise: Any = 0.0,
    bounds: Any = None,
    x0: Any = None,
    rng: Any = None,
    callback: Callback | None = None,
) -> Recovery:
    """A sparse x with A x = y, from fewer measurements than unknowns.

    Parameters
    ----------
    A : array, sparse array or LinearOperator
        M x N, real or complex; PyLops operators too.
    y : array
        The M measurements.
    solver : Solver, optional
        `Portfolio()` by default.
    noise : float or ("residual", float)
        The standard deviation of the noise in each measurement, or the largest norm of the residual.
    bounds : (low, high), optional
        Numbers, arrays or None: ``(0, None)`` for x >= 0. Knowing the sign is worth more than any cleverness.
    x0 : array, optional
        Where to start; the solution of the least norm by default.
    rng : int or numpy.random.Generator, optional
        For solvers that toss coins.
    callback : callable, optional
        Called with (iteration, x); returning True ends the work.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> x = sg.sparse_signal(100, 20, "uniform", rng=0)
    >>> A = sg.gaussian_matrix(45, 100, rng=1)
    >>> found = sg.recover(A, A @ x, rng=0)
    >>> bool(np.allclose(found.x, x)), found.certified
    (True, True)
    """
    solver = Portfolio() if solver is None else solver
    if not isinstance(solver, Solver):
        raise InvalidInput(f"solver must be an object such as sg.Portfolio() or sg.BasisPursuit(), got {solver!r}")
    problem = Problem.of(A, y, noise=noise, bounds=bounds, x0=x0)
    if problem.scale <= problem.noise and not problem.clipped(np.zeros(problem.n)).any():
        return finished(problem, np.zeros(problem.n, problem.system.y.dtype), status=NO_SIGNAL)
    if problem.system.matrix is not None and problem.reduced.rank == problem.n and problem.noise == 0:
        return finished(problem, problem.clipped(problem.reduced.least_norm()), status=DETERMINED)
    return _certified(problem, solver, solver.solve(problem, as_rng(rng), callback))


def _certified(problem: Problem, solver: Solver, found: Recovery) -> Recovery:
    """An exact solution that the search finds around a solver's last iterate, in its place; certified if A allows."""
    if found.certificate_reason:
        return found
    objection = certificate.objection(problem, solver.assume_generic)
    x = None
    if certificate.searchable(problem):
        x = certificate.certify(problem, np.abs(found.x), np.random.default_rng(0))
    if x is None:
        missed = "no exact solution with few enough non-zeros is near this one"
        return replace(found, certificate_reason=objection or missed)
    exact = finished(problem, x, nit=found.nit, nfev=found.nfev, history=found.history)
    certified, reason = certificate.verdict(problem, x, objection)
    return replace(exact, certified=certified, certificate_reason=reason)
