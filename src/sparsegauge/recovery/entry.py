"""`recover`: check the system, run a solver, look for an exact solution, and judge whether it is the only one."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_rng
from .._arrays.equations import as_measurements, as_starts
from ..errors import InvalidInput
from ..metrics.gds import gds
from .analysis import Analysis
from .driver import Callback, Iterate, drive, judge
from .equal_magnitudes import as_whole
from .exact_search import accepted, drop_negligible, find_exact, has_negligible, searchable
from .groups import Groups
from .many import Columns, Progress, check_helpers, recover_many, seeds_of_columns
from .plain_solutions import certify
from .portfolio import Portfolio
from .problem import Problem
from .projection import bounded_least_squares
from .result import Recoveries, Recovery
from .solver import Solver
from .status import Status
from .system import System, scale_by_power
from .together import check_together, recover_together
from .tolerances import EXACT
from .transform import basis_of
from .uniqueness import judge_uniqueness

NOT_NEAR = "no exact solution with few enough non-zeros is near this one"
NEARLY_SPARSE = "the signal is taken as nearly sparse after the transform: no exact fit proves it"
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
    executor: Executor | None = None,
    progress: Progress | None = None,
    joint: bool = False,
    groups: Any = None,
    transform: Any = None,
) -> Recovery | Recoveries:
    """Recover a sparse x from y = A x, exact or noisy, with fewer measurements than unknowns.

    Parameters
    ----------
    A : array, sparse array, LinearOperator or System
        M x N, real or complex; PyLops operators too. `sg.System(A)` prepares A for several calls.
    y : array
        The M measurements; or M x L, with one column per signal.
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
        Called with (iteration, copy of x); return True to stop. For one y only.
    executor : concurrent.futures.Executor, optional
        What recovers the columns of y if there are several: threads by default; processes, or Dask's
        ``client.get_executor()``.
    progress : callable, optional
        Called with (columns done, columns in all).
    joint : bool
        Whether all columns of y share one support: far fewer measurements suffice.
    groups : array, optional
        A label per column of A: coefficients with one label are zero or not together.
    transform : str, (str, shape), array or operator, optional
        Where x itself is not sparse: a wavelet such as "db4", in which it is, exactly or nearly; "tv" for signals and
        pictures that are piecewise constant; or an orthonormal matrix or operator from signals to coefficients. x is
        the signal, and `Recovery.coefficients` has its coefficients. Pictures need their shape,
        ``("db4", (128, 128))``, unless A is a PyLops operator, which has it.

    Returns
    -------
    Recovery or Recoveries
        `x`, `success`, `status`, `message`, `residual`, `certified`, and with noise `noise`, `std` and `inclusion`. For
        several signals each of these has one entry, or column, per signal.

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
    >>> sg.recover(A, A @ np.eye(100)[:, :3])
    Recoveries(L=3, N=100, success=3, certified=3)
    """
    check_helpers(executor, progress)
    system = System.for_one_call(A)
    measurements = as_measurements(y, system.m)
    if transform is not None:
        _check_beside_transform(bounds=bounds, x0=x0, groups=groups)
        basis = basis_of(transform, A, system)
        if (isinstance(basis, Analysis) or basis.analysis is not None) and system.is_large_operator:
            system = system.as_operator()
        if isinstance(basis, Analysis):
            _check_beside_analysis(solver=solver, joint=joint or None, executor=executor)
            return _analyse(basis, system, measurements, noise, callback, progress)
        found = recover(
            basis.compose(system),
            basis.measurements(measurements),
            solver=solver,
            noise=noise,
            rng=rng,
            callback=None if callback is None else lambda k, c: callback(k, basis.signal(c, measurements)),
            executor=executor,
            progress=progress,
            joint=joint,
        )
        is_default = solver is None or isinstance(solver, Portfolio)
        if basis.analysis is None or system.matrix is not None or not is_default or _is_settled(found, system.m):
            return basis.to_signal(found, measurements)
        return _analyse(basis.analysis, system, measurements, noise, callback, progress)
    if not isinstance(joint, bool | np.bool_):
        raise InvalidInput(f"joint must be True or False, got {joint!r:.60}; labels of groups go to groups")
    if groups is not None or (joint and measurements.ndim == 2):
        options = check_together(solver, x0=x0, callback=callback, executor=executor, progress=progress)
        problem = Problem.of(system, measurements.reshape(system.m, -1)[:, 0], noise=noise, bounds=bounds)
        return _recover_together(problem, measurements, groups, options, rng, joint=joint)
    if measurements.ndim == 1:
        found = recover_signal(
            system, measurements, solver=solver, noise=noise, bounds=bounds, x0=x0, rng=rng, callback=callback
        )
        if progress is not None:
            progress(1, 1)
        return found
    if callback is not None:
        raise InvalidInput("callback is for one y; for several, pass progress, which is called with (done, in all)")
    starts = None if x0 is None else as_starts(x0, system.n, measurements.shape[1])
    first = Problem.of(system, measurements[:, 0], noise=noise, bounds=bounds)
    if starts is not None and starts.ndim == 1:
        first, starts = first.with_y(first.y, starts), None
    solver = _as_solver(solver)
    solver.check(first)
    seeds = seeds_of_columns(rng, measurements.shape[1])
    columns = Columns(first, measurements, starts, seeds, partial(_recover_one, solver))
    return recover_many(columns, executor=executor, progress=progress)


def _recover_together(
    problem: Problem, measurements: NDArray[Any], labels: Any, solver: Portfolio, rng: Any, *, joint: bool
) -> Recovery | Recoveries:
    """Recover signals that share one support, or signals one by one whose coefficients are zero in groups."""
    groups = None if labels is None else Groups.from_labels(labels, problem.n)
    found: list[Recovery] = []
    columns = measurements.reshape(problem.m, -1)
    for Y in (columns,) if joint else (columns[:, k : k + 1] for k in range(columns.shape[1])):
        scaled, of_a, of_y = problem.with_y(Y).in_safe_units()
        each = [scaled.with_y(np.ascontiguousarray(y)) for y in scaled.y.T]
        generator = as_rng(0 if rng is None else rng)
        if all(_is_determined(one) for one in each) or (groups is None and len(each) == 1):
            answers = [_recover(one, solver, generator, None) for one in each]
        else:
            answers = recover_together(each[0], scaled.y, groups, solver, generator)
        found += [answer if of_a == of_y == 0 else _to_units(answer, of_a, of_y) for answer in answers]
    return found[0] if measurements.ndim == 1 else Recoveries(found)


def _is_settled(found: Recovery | Recoveries, m: int) -> bool:
    """Return whether coefficients are sparse and explain y, or the callback wanted no more."""
    if isinstance(found, Recoveries):
        return all(_is_settled(one, m) for one in found)
    is_sparse = found.success and int(np.count_nonzero(found.x)) < m / 2
    return is_sparse or found.status == Status.STOPPED_BY_CALLBACK


def _analyse(
    analysis: Analysis,
    system: System,
    measurements: NDArray[Any],
    noise: Any,
    callback: Callback | None,
    progress: Progress | None,
) -> Recovery | Recoveries:
    """Recover signals that are only nearly sparse after a transform, one after the other."""
    columns = measurements.reshape(system.m, -1).T
    found: list[Recovery] = []
    for y in columns:
        problem, of_a, of_y = Problem.of(system, np.ascontiguousarray(y), noise=noise).in_safe_units()
        one = drive(analysis, problem, as_rng(0), _in_units(callback, of_y - of_a))
        one = one if of_a == of_y == 0 else _to_units(one, of_a, of_y)
        coefficients = analysis.transform(one.x)
        fun = float(gds(coefficients, analysis.sparsity_order, zero=np.nan))
        found.append(replace(one, coefficients=coefficients, fun=fun, certificate_reason=NEARLY_SPARSE))
        if progress is not None:
            progress(len(found), len(columns))
    return found[0] if measurements.ndim == 1 else Recoveries(found)


def _check_beside_analysis(**unused: Any) -> None:
    for name, value in unused.items():
        if value is not None:
            raise InvalidInput(
                f'{name} cannot be combined with transform="tv" for pictures and large operators, which have a method '
                "of their own; leave it out"
            )


def _check_beside_transform(**unused: Any) -> None:
    for name, value in unused.items():
        if value is not None:
            raise InvalidInput(
                f"{name} cannot be combined with transform, which is about other coefficients; leave it out"
            )


def recover_signal(
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
    """Recover one signal: `recover` for a y that is known to be one-dimensional."""
    problem = Problem.of(System.for_one_call(A), y, noise=noise, bounds=bounds, x0=x0)
    return _recover_one(_as_solver(solver), problem, rng, callback)


def _as_solver(solver: Solver | None) -> Solver:
    if solver is not None and not isinstance(solver, Solver):
        raise InvalidInput(f"solver must be an object such as sg.Portfolio() or sg.BasisPursuit(), got {solver!r}")
    return Portfolio() if solver is None else solver


def _recover_one(solver: Solver, problem: Problem, rng: Any, callback: Callback | None = None) -> Recovery:
    """Recover one signal, in units in which nothing overflows."""
    problem, of_a, of_y = problem.in_safe_units()
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
    if problem.system.matrix is None or problem.noise > 0 or problem.m < problem.n:
        return False
    if not problem.reduced.is_determined:
        return False
    return not problem.estimate_noise or problem.misfit <= EXACT * problem.scale


def _solve_determined(problem: Problem) -> Recovery:
    x = problem.reduced.least_norm()
    if problem.bounds is not None:
        x = bounded_least_squares(problem.real_matrix(), problem.y, problem.bounds)
    return replace(judge(problem, x, Status.DETERMINED), certificate_reason=ONLY_ONE)


def _look_for_exact(problem: Problem, solver: Solver, found: Recovery) -> Recovery:
    """Put an exact solution near the answer in its place, and certify it if it is the only one."""
    pursued = problem.notes.get("pursued")
    if pursued is not None and not solver.check_dependence and np.array_equal(found.x, pursued.x):
        certificate = certify(problem, pursued, assume_generic=solver.assume_generic)
        if certificate is not None:
            return replace(found, certificate=certificate, certificate_reason=str(certificate))
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
