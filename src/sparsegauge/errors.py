"""What can go wrong, by name.

Bad input raises; not converging is a status and never raises.
"""

from __future__ import annotations


class SparsegaugeError(Exception):
    """The base of every error that sparsegauge raises on purpose."""


class InvalidInput(SparsegaugeError, ValueError):
    """An argument is outside what is allowed; the message says what came, what is allowed and what to do."""


class StaleStudy(SparsegaugeError):
    """A store holds results of a study that differs from the one now asked for."""


class MissingExtra(SparsegaugeError, ImportError):
    """An optional dependency is not installed; the message names the pip command."""
