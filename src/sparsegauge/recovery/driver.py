"""The one loop behind every solver: callback, history, the choice of the answer, and its status.

A solver yields iterates, and decides nothing else. The driver calls the callback with each of them, keeps the history,
chooses among the answers that the solver offers, and judges the chosen one in the same way for all solvers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..metrics.gds import DEFAULT_ORDER, gds
from .problem import Problem
from .result import Recovery
from .status import Status
from .tolerances import EXACT

End = TypeVar("End")
Callback = Callable[[int, NDArray[Any]], Any]  # (iteration, a copy of x); stop by returning True


@dataclass(frozen=True)
class Iterate:
    """The state of a solver after `steps` more iterations.

    An iterate with a `status` is an answer that the solver offers, and the end of a run; others only show the way
    there. `sparsity` goes into the history. `noise`, `std` and `inclusion` are passed on to the result. The callback
    does not see an iterate of 0 steps.
    """

    x: NDArray[Any]
    steps: int = 1
    evaluations: int | None = None  # as many as steps, by default
    status: Status | None = None
    message: str | None = None
    sparsity: float | None = None
    noise: float | None = None
    std: Array | None = None
    inclusion: Array | None = None


def as_iterates(
    steps: Generator[NDArray[Any], None, End], columns: Array | float = 1.0
) -> Generator[Iterate, None, End]:
    """Yield steps as iterates, divided by the units of the columns; return what they return."""
    while True:
        try:
            x = next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield Iterate(np.asarray(x / columns))


class Iterates(Protocol):
    """What the driver needs of a solver."""

    @property
    def sparsity_order(self) -> float:
        """The order p of the S_p that the result reports."""

    def check(self, problem: Problem) -> None:
        """Refuse what the solver does not support."""

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield iterates."""

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Turn an iterate into an answer."""


def drive(solver: Iterates, problem: Problem, rng: np.random.Generator, callback: Callback | None = None) -> Recovery:
    """Run a solver to its end, or until the callback returns True."""
    solver.check(problem)
    if problem.zero_explains_y:
        return judge(problem, np.zeros(problem.n, problem.dtype), Status.NO_SIGNAL, order=solver.sparsity_order)
    answers: list[Iterate] = []
    history: list[float] = []
    nit = nfev = 0
    for iterate in solver.iterates(problem, rng):
        nit += iterate.steps
        nfev += iterate.steps if iterate.evaluations is None else iterate.evaluations
        if iterate.sparsity is not None:
            history.append(iterate.sparsity)
        if iterate.status is not None:
            answers.append(iterate)
        if callback is not None and iterate.steps and callback(nit, iterate.x.copy()):
            answers = [Iterate(iterate.x, status=Status.STOPPED_BY_CALLBACK)]
            break
    if not answers:
        raise InvalidInput(
            f"{type(solver).__name__}.iterates ended without an answer; yield at least one iterate with a status, such "
            "as sg.Iterate(x, status=sg.Status.CONVERGED)"
        )
    offered = [(solver.postprocess(problem, answer.x), answer) for answer in answers]
    x, answer = max(offered, key=lambda pair: _preference(problem, pair[0])) if len(offered) > 1 else offered[0]
    return judge(problem, x, answer.status, answer, nit=nit, nfev=nfev, order=solver.sparsity_order, history=history)


def _preference(problem: Problem, x: NDArray[Any]) -> tuple[bool, float]:
    """Prefer answers that explain y; among these, the sparsest; among others, the nearest to y."""
    residual = problem.residual(x)
    if not residual <= problem.explained_below:
        return False, -residual if math.isfinite(residual) else -math.inf
    return True, float(gds(x, 2.0, zero=1.0))


def judge(
    problem: Problem,
    x: NDArray[Any],
    status: Status | None,
    answer: Iterate | None = None,
    *,
    nit: int = 0,
    nfev: int = 0,
    order: float = DEFAULT_ORDER,
    history: list[float] | None = None,
) -> Recovery:
    """Return the result for x: whether it explains y, its status, its residual and its sparsity."""
    answer = answer or Iterate(x)
    message = answer.message
    if not np.isfinite(x).all():
        x, status, message = problem.start(), Status.DIVERGED, None
    residual = problem.residual(x)
    noise = problem.sigma if answer.noise is None else answer.noise
    explained = residual <= max(problem.explained_below, noise * problem.noise_factor)
    found = Status.CONVERGED if status is None else status
    if not explained and found in (Status.CONVERGED, Status.INEXACT):
        found = Status.INFEASIBLE if _is_infeasible(problem) else Status.INEXACT
    if found in (Status.CONVERGED, Status.INEXACT) and noise == 0 and problem.misfit > EXACT * problem.scale:
        found = Status.INCONSISTENT
    if found is not status or message is None:
        message = found.message
    fun = float(gds(x, order, zero=math.nan))
    success = bool(explained and found.can_succeed)
    return Recovery(
        x, success, found, message, nit, nfev, fun, residual, noise, answer.std, answer.inclusion, history=history or []
    )


def _is_infeasible(problem: Problem) -> bool:
    """Return whether no x within the bounds explains y; only looked at where there are bounds and A is written out."""
    if problem.bounds is None or problem.system.matrix is None:
        return False
    from .projection import bounded_least_squares

    best = bounded_least_squares(problem.real_matrix(), problem.y, problem.bounds)
    return problem.residual(best) > problem.explained_below
