"""How a recovery ended: one number, one name and one message for each outcome."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a recovery ended. It compares and serialises as its number; `message` says it in words.

    >>> import sparsegauge as sg
    >>> sg.Status.CONVERGED == 0, sg.Status(1).message
    (True, 'stopped at the largest number of iterations before it converged')
    """

    message: str
    can_succeed: bool

    def __new__(cls, number: int, message: str, can_succeed: bool) -> Status:
        """Store the message and whether an x that explains y counts as a success with this status."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.message = message
        status.can_succeed = can_succeed
        return status

    CONVERGED = (0, "converged", True)
    ITERATION_LIMIT = (1, "stopped at the largest number of iterations before it converged", False)
    INCONSISTENT = (2, "A x = y has no solution: x is as near to y as least squares can come", True)
    DETERMINED = (3, "A has as many independent rows as columns: there is only one least-squares solution", True)
    NO_SIGNAL = (4, "x = 0 explains y", True)
    STOPPED_BY_CALLBACK = (5, "stopped by the callback", False)
    INFEASIBLE = (6, "no x within the bounds explains y", False)
    INEXACT = (
        7,
        "x does not explain y exactly, or is not sparse: there are too few measurements, or y is noisy. If it is "
        'noisy, use the default solver with noise="auto", or pass the standard deviation of the noise',
        False,
    )
    NOT_SPARSE = (
        8,
        "no sparse x explains y clearly better than chance: there are too few measurements, or too much noise; x is "
        "the best estimate that was found",
        False,
    )
    DIVERGED = (9, "the iteration diverged; the solution of the least norm is returned", False)
