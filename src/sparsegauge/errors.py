"""Every exception and warning of the package.

Bad input raises an exception. A solver that does not converge reports a status and never raises.
"""

from __future__ import annotations


class SparsegaugeError(Exception):
    """The base class of every error that sparsegauge raises on purpose."""


class InvalidInput(SparsegaugeError, ValueError):
    """An argument is outside what is allowed; the message says what came, what is allowed and what to do."""


class MissingExtra(SparsegaugeError, ImportError):
    """An optional dependency is not installed; the message names the pip command."""


class MissingKernels(SparsegaugeError, ImportError):
    """The package was not compiled; the message says how to install it."""


class StaleStudy(SparsegaugeError):
    """A store holds results of a study that differs from the one now asked for."""


class ClusterLost(SparsegaugeError):
    """The scheduler or the pool that a study ran on has ended; what was finished is stored."""


class StoreInUse(SparsegaugeError):
    """Another process is writing to the store of a study."""


class CellFailed(SparsegaugeError):
    """A trial of a study raised an error; the message names its cell, and the cause is the error itself."""


class StudyWarning(UserWarning):
    """Something about a store that does not stop the work: a damaged part, or rows that are not there yet."""


class Damaged(Exception):
    """A part of a store cannot be trusted; the message says why, and the next run computes it again."""


class NotRegularFile(Exception):
    """A path is a link, a pipe, a directory or a device where a regular file has to be."""


class Irrational(Exception):
    """In exact arithmetic: the value is not a fraction, cannot be seen to be one, or is too long a one."""


class Undefined(Exception):
    """In exact arithmetic: the metric has no finite value there."""


class NotMadeOfSums(Exception):
    """In a stream: a statistic cannot be added up piece by piece."""


class Illegal(ValueError):
    """In an audit: the second signal does not follow from the first by the criterion's transformation."""


class SpeedWarning(UserWarning):
    """The speed of the shaft varies, or is not the one given: lines of a fault are smeared, or elsewhere."""
