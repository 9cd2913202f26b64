"""`recover`: check the system, run a solver, look for an exact solution, and judge whether it is the only one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_rng
from ..errors import InvalidInput
from .driver import Callback, Iterate, judge
from .exact_search import accepted, drop_negligible, find_exact, has_negligible, searchable
from .lattice import as_whole
from .portfolio import Portfolio
from .problem import EXACT, Problem, scale_by_power
from .projection import bounded_least_squares
from .result import Recovery
from .solver import Solver
from .status import Status
from .uniqueness import judge_uniqueness

NOT_NEAR = "no exact solution with few enough non-zeros is near this one"
ONLY_ONE = "A x = y has only one solution, whether it is sparse or not"


def recover(
    A: Any,
    y: Any,
    *,
    solver: Solver | None = None,
    noise: Any = "auto",
    bounds: Any = None,
    x0: Any = None,
    rng: Any = None,
    callback: Callback | None = None,
) -> Recovery:
    """Recover a sparse x from y = A x, exact or noisy, with fewer measurements than unknowns.

    Parameters
    ----------
    A : array, sparse array or LinearOperator
        M x N, real or complex; PyLops operators too.
    y : array
        The M measurements.
    solver : Solver, optional
        `Portfolio()` by default.
    noise : "auto", float or ("residual", float)
        With "auto" (or None) an exact sparse solution is looked for first; if there is none, y is taken as noisy, and
        the size of the noise is estimated by solvers that can (the default and GDSReweighted; others take y as exact).
        0 insists that y is exact. A number is the standard deviation of the noise in each measurement, and
        ``("residual", r)`` the largest norm of the residual.
    bounds : (low, high) or scipy.optimize.Bounds, optional
        Numbers, arrays or None: ``(0, None)`` for x >= 0.
    x0 : array, optional
        Where to start; the solution of the least norm by default.
    rng : int or numpy.random.Generator, optional
        The source of randomness, for solvers that use any. None stands for a fixed seed, so that the same call gives
        the same answer.
    callback : callable, optional
        Called with (iteration, copy of x); return True to stop.

    Returns
    -------
    Recovery
        `x`, `success`, `status`, `message`, `residual`, `certified`, and with noise `noise`, `std` and `inclusion`.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> x = sg.sparse_signal(100, 20, "uniform", rng=0)
    >>> A = sg.gaussian_matrix(45, 100, rng=1)
    >>> found = sg.recover(A, A @ x, rng=0)
    >>> bool(np.allclose(found.x, x)), found.certified
    (True, True)
    >>> noisy = sg.recover(A, A @ x + 0.01 * np.random.default_rng(2).standard_normal(45), rng=0)
    >>> noisy.success, round(noisy.noise, 2)
    (True, 0.01)
    """
    solver = Portfolio() if solver is None else solver
    if not isinstance(solver, Solver):
        raise InvalidInput(f"solver must be an object such as sg.Portfolio() or sg.BasisPursuit(), got {solver!r}")
    problem, of_a, of_y = Problem.of(A, y, noise=noise, bounds=bounds, x0=x0).in_safe_units()
    found = _recover(problem, solver, as_rng(0 if rng is None else rng), _in_units(callback, of_y - of_a))
    return found if of_a == of_y == 0 else _to_units(found, of_a, of_y)


def _recover(problem: Problem, solver: Solver, rng: np.random.Generator, callback: Callback | None) -> Recovery:
    solver.check(problem)
    if problem.scale > 0 and problem.system.matrix is not None and not problem.matrix().any():
        return _answer_to_zero_matrix(problem)
    if _is_determined(problem):
        return _solve_determined(problem)
    return _look_for_exact(problem, solver, solver.solve(problem, rng, callback))


def _answer_to_zero_matrix(problem: Problem) -> Recovery:
    zero = problem.clipped(np.zeros(problem.n, problem.dtype))
    found = judge(problem, zero, Status.INCONSISTENT)
    return replace(found, success=False, message="A is zero: no measurement depends on x", certificate_reason=NOT_NEAR)


def _is_determined(problem: Problem) -> bool:
    """Return whether there is only one (least-squares) solution; with noise of unknown size y has to be consistent."""
    if problem.system.matrix is None or problem.noise > 0 or not problem.reduced.is_determined:
        return False
    return not problem.estimate_noise or problem.misfit <= EXACT * problem.scale


def _solve_determined(problem: Problem) -> Recovery:
    x = problem.reduced.least_norm()
    if problem.bounds is not None:
        x = bounded_least_squares(problem.real_matrix(), problem.system.y, problem.bounds)
    return replace(judge(problem, x, Status.DETERMINED), certificate_reason=ONLY_ONE)


def _look_for_exact(problem: Problem, solver: Solver, found: Recovery) -> Recovery:
    """Put an exact solution near the answer in its place, and certify it if it is the only one."""
    exact = _exact_near(problem, found)
    if exact is None:
        return replace(found, certificate_reason=_why_not_exact(problem, found))
    if exact is not found.x:
        counts = {"nit": found.nit, "nfev": found.nfev, "history": found.history, "order": solver.sparsity_order}
        found = judge(problem, exact, Status.CONVERGED, Iterate(exact), **counts)  # type: ignore[arg-type]
    certificate, reason = judge_uniqueness(
        problem, exact, assume_generic=solver.assume_generic, check_dependence=solver.check_dependence
    )
    return replace(found, certificate=certificate, certificate_reason=reason)


def _why_not_exact(problem: Problem, found: Recovery) -> str:
    """Return why there is no exact solution to certify."""
    if found.noise > 0:
        return "y is noisy: an exact fit proves nothing"
    if problem.system.matrix is None:
        return "A is too large to write out, so its columns cannot be looked at"
    if problem.misfit > EXACT * problem.scale:
        return "y is not in the range of A: there is no exact fit"
    return NOT_NEAR


def _exact_near(problem: Problem, found: Recovery) -> NDArray[Any] | None:
    """Return the answer itself if it is exact and sparse, or an exact solution near it, or None."""
    if found.status == Status.NO_SIGNAL or found.noise > 0 or not searchable(problem):
        return None
    if not (accepted(problem, found.x) and _is_sparse(problem, found.x)):
        return find_exact(problem, np.abs(found.x))
    if not has_negligible(found.x):
        return found.x
    fewer = drop_negligible(problem, found.x)
    fewer = find_exact(problem, np.abs(found.x)) if fewer is None else fewer
    return found.x if fewer is None else fewer


def _is_sparse(problem: Problem, x: NDArray[Any]) -> bool:
    """Return whether x has few non-zeros, or is a multiple of whole numbers, which need not be sparse to be unique."""
    if np.count_nonzero(x) < problem.reduced.rank:
        return True
    return not problem.is_complex and as_whole(problem, x) is not None


def _in_units(callback: Callback | None, exponent: int) -> Callback | None:
    if callback is None or exponent == 0:
        return callback
    return lambda k, x: callback(k, scale_by_power(x, exponent))


def _to_units(found: Recovery, of_a: int, of_y: int) -> Recovery:
    """Return the result in the caller's units, or say that x does not fit into floating-point numbers."""
    with np.errstate(over="ignore", under="ignore"):
        x = scale_by_power(found.x, of_y - of_a)
        std = None if found.std is None else scale_by_power(found.std, of_y - of_a)
        residual, noise = (float(np.ldexp(value, of_y)) for value in (found.residual, found.noise))
    if not np.isfinite(x).all() or (found.x.any() and not x.any()):
        raise InvalidInput("x would be too large or too small for floating-point numbers; scale A or y")
    certificate = found.certificate
    if certificate is not None:
        visible = float(np.ldexp(certificate.smallest_visible, of_y - of_a))
        certificate = replace(certificate, smallest_visible=visible)
    return replace(found, x=x, std=std, residual=residual, noise=noise, certificate=certificate)
