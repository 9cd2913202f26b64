"""The generated parts of docs/recovery.md: what each solver supports, and every status, from their declarations."""

from __future__ import annotations

import sparsegauge as sg
from sparsegauge.recovery.registry import BASELINES, OWN


def parts() -> dict[str, str]:
    """Everything between markers, by the markers' names."""
    return {"capabilities": capabilities(), "statuses": statuses()}


def capabilities() -> str:
    """One row per solver of the package."""
    rows = ["| solver | bounds | complex | operators | noise | unknown noise |", "|---|---|---|---|---|---|"]
    for solver in (*OWN, *BASELINES):
        can = solver.supports
        flags = (can.complex, can.operators, can.noise, can.unknown_noise)
        bounds = "–" if can.bounds == "none" else can.bounds
        rows.append(f"| `{solver.__name__}` | {bounds} | " + " | ".join("✓" if flag else "–" for flag in flags) + " |")
    return "\n".join(rows)


def statuses() -> str:
    """One row per status."""
    rows = ["| `status` | name | can be a success | meaning |", "|--:|---|---|---|"]
    for status in sg.Status:
        can = "yes" if status.can_succeed else "no"
        rows.append(f"| {int(status)} | `{status.name}` | {can} | {status.message} |")
    return "\n".join(rows)
