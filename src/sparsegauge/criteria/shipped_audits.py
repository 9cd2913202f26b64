"""The audits that ship with the package: every metric at its defaults, GDS at many orders."""

from __future__ import annotations

import functools
import json
from importlib import resources

from ..metrics.catalogue import METRICS
from ..metrics.metric import Metric
from .auditor import Audit, audit


@functools.cache
def stored_audits() -> tuple[Audit, ...]:
    """Return the audits that ship with the package, made with the default seed and budget.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> [audit.metric for audit in sg.stored_audits() if audit["P3"].status == "holds"][:3]
    ['gds', 'neg_lp', 'l2_l1']
    """
    text = resources.files(__package__).joinpath("audits.json").read_text(encoding="utf-8")
    return tuple(Audit.of(entry) for entry in json.loads(text))


def known_audits() -> tuple[Audit, ...]:
    """Return the stored audits, and one at the default parameters of each metric registered from outside."""
    stored = {entry.metric for entry in stored_audits()}
    return (*stored_audits(), *(_audit_once(metric) for metric in METRICS.values() if metric.name not in stored))


@functools.cache
def _audit_once(metric: Metric) -> Audit:
    return audit(metric)


def stored_audit(metric: str, **parameters: float) -> Audit:
    """Return the known audit of one metric; parameters that are not given may have any value, the first one counts."""
    for entry in known_audits():
        if entry.metric == metric and all(entry.parameters.get(key) == value for key, value in parameters.items()):
            return entry
    raise KeyError(f"no audit of {metric} with {parameters} is stored")
