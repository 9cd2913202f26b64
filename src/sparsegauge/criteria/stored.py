"""The audits that ship with the package: every metric at its defaults, GDS at many orders."""

from __future__ import annotations

import functools
import json
from importlib import resources

from .audit import Audit


@functools.cache
def stored_audits() -> tuple[Audit, ...]:
    """All of them, as `audit` gave them with its default seed and budget."""
    text = resources.files(__package__).joinpath("audits.json").read_text(encoding="utf-8")
    return tuple(Audit.of(entry) for entry in json.loads(text))


def stored_audit(metric: str, **parameters: float) -> Audit:
    """The stored audit of one metric; parameters that are not given may have any value, the first one counts."""
    for entry in stored_audits():
        if entry.metric == metric and all(entry.parameters.get(key) == value for key, value in parameters.items()):
            return entry
    raise KeyError(f"no audit of {metric} with {parameters} is stored")
