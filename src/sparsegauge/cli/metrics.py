"""`sparsegauge metrics`: every metric with its meaning, its direction and the laws that it obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import AsJson, print_json, printer

if TYPE_CHECKING:
    from ..metrics.metric import Metric


def metrics(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[METRIC]...", help="The metrics to show; all of them by default.")
    ] = None,
    lawful: Annotated[bool, typer.Option("--lawful", help="Show only metrics that obey all laws.")] = False,
    json: AsJson = False,
) -> None:
    """List the metrics: what each means, which direction is sparser, and which laws it obeys."""
    from ..metrics.catalogue import METRICS

    chosen = [METRICS.find(name) for name in names] if names else list(METRICS.values())
    rows = [row for row in map(_describe, chosen) if not (lawful and row["breaks"])]
    if json:
        print_json(rows)
    else:
        _print(rows)


def _describe(metric: Metric) -> dict[str, Any]:
    """Return the facts about one metric at its default parameters."""
    from ..criteria.shipped_audits import stored_audit

    verdicts = stored_audit(metric.name).laws.values()
    by_status = {
        status: [verdict.name for verdict in verdicts if verdict.status == status] for status in ("holds", "violated")
    }
    return {
        "name": metric.name,
        "title": metric.title,
        "parameters": dict(metric.defaults),
        "meaning": metric.meaning,
        "formula": metric.formula,
        "sparser": metric.sparser,
        "obeys": by_status["holds"],
        "breaks": by_status["violated"],
        "laws": len(verdicts),
        "reference": metric.reference,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("metric", "what it says", "sparser is", "laws kept", box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.columns[0].no_wrap = True
    for row in rows:
        parameters = "\n".join(f"  {name}={value:g}" for name, value in row["parameters"].items())
        name = f"{row['name']}\n{parameters}" if parameters else row["name"]
        words = f"{row['title'][0].upper()}{row['title'][1:]}: {row['meaning']}"
        table.add_row(name, words, row["sparser"], _laws_kept(row))
    printer().print(table)


def _laws_kept(row: dict[str, Any]) -> str:
    """Say how many laws a metric obeys, and which it breaks."""
    kept, broken = len(row["obeys"]), row["breaks"]
    if not broken and kept == row["laws"]:
        return f"all {kept}"
    return f"{kept} of {row['laws']}" + (f"; not {', '.join(broken)}" if broken else "; the rest is undecided")
