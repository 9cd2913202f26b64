"""`recover` with `joint=True` or `groups=`: one support for all signals, or for the coefficients of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays.equations import noise_norm
from ..errors import InvalidInput
from ..metrics.gds import gds
from .groups import Groups
from .joint import JointEstimate, recover_jointly
from .joint_uniqueness import judge_joint_uniqueness
from .portfolio import Portfolio
from .problem import Problem
from .result import Recovery
from .solver import Solver
from .status import Status

NOISY = "Y is noisy: an exact fit proves nothing"
NOT_FOUND = "no exact solution with few enough non-zero rows was found"


def check_together(solver: Solver | None, **unused: Any) -> Portfolio:
    """Return the options of the certificate; refuse solvers and arguments that are for one signal at a time."""
    if solver is not None and not isinstance(solver, Portfolio):
        raise InvalidInput(f"joint=True and groups= have a solver of their own; leave out solver={solver!r}")
    for name, value in unused.items():
        if value is not None:
            raise InvalidInput(f"joint=True and groups= do not use {name}; leave it out")
    return Portfolio() if solver is None else solver


def recover_together(
    problem: Problem, Y: NDArray[Any], groups: Groups | None, solver: Portfolio, rng: np.random.Generator
) -> list[Recovery]:
    """Recover the columns of Y, which share one support."""
    estimate = recover_jointly(problem, Y, rng, groups=groups)
    certificate, reason = None, NOISY if estimate.noise > 0 else NOT_FOUND
    if estimate.is_exact:
        certificate, reason = judge_joint_uniqueness(
            problem,
            Y,
            estimate.X,
            groups=groups,
            assume_generic=solver.assume_generic,
            check_dependence=solver.check_dependence,
        )
    found = _as_recoveries(problem, Y, estimate)
    return [replace(one, certificate=certificate, certificate_reason=reason) for one in found]


def _as_recoveries(problem: Problem, Y: NDArray[Any], estimate: JointEstimate) -> list[Recovery]:
    """Return one result per column; noise of a known size is compared with the residual of all columns together."""
    residuals = np.linalg.norm(problem.matrix() @ estimate.X - Y, axis=0)
    noisy = np.linalg.norm(residuals) <= estimate.noise * noise_norm(Y.size)
    found = []
    for x, y, residual in zip(estimate.X.T, Y.T, residuals, strict=True):
        explained = bool(noisy or residual <= problem.with_y(y).explained_below)
        status, message = estimate.status, estimate.message
        if not explained and status in (Status.CONVERGED, Status.NO_SIGNAL):
            status, message = Status.INEXACT, None
        found.append(
            Recovery(
                x=np.ascontiguousarray(x),
                success=explained and status.can_succeed,
                status=status,
                message=status.message if message is None else message,
                nit=0,
                nfev=0,
                fun=float(gds(x, 2.0, zero=np.nan)),
                residual=float(residual),
                noise=estimate.noise,
                std=estimate.std,
                inclusion=estimate.inclusion,
            )
        )
    return found
