"""Why a law holds: the proof that a verdict cites.

Metrics own their proofs (`Metric.proofs`); the lemmas are stated in `metrics/lemmas.py` and proved in docs/paper.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..metrics.catalogue import METRICS


def proof(name: str, parameters: Mapping[str, Any], key: str) -> str | None:
    """Return the proof that a metric of the catalogue obeys a law, in one sentence; None where there is none."""
    return METRICS[name].proof(key, **parameters) if name in METRICS else None
