"""`sparsegauge recommend`: the order to recover with, looked up in a study."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .console import AsJson, Quiet, print_facts, print_json, printer

if TYPE_CHECKING:
    from rich.table import Table

    from ..study.lookup import Recommendation

CHARACTERS_OF_LONGEST_BAR = 24


class Distribution(StrEnum):
    """Of the non-zeros, as `sparse_signal` names them."""

    BINOMIAL = "binomial"
    UNIFORM = "uniform"
    NORMAL = "normal"
    EXPONENTIAL = "exponential"


def recommend(
    distribution: Annotated[
        Distribution,
        typer.Option(
            "--distribution",
            metavar="NAME",
            help="The distribution of the non-zero coefficients: binomial, uniform, normal or exponential.",
        ),
    ],
    nonzeros: Annotated[int, typer.Option("--nonzeros", min=1, help="The number of non-zero coefficients.")],
    measurements: Annotated[int, typer.Option("--measurements", min=1, help="The number of measurements.")],
    n: Annotated[int, typer.Option("--n", min=2, help="The length of the signal.")] = 100,
    solver: Annotated[str, typer.Option("--solver", help="The solver that the study was made with.")] = "spsa",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Recommend the order of GDS that recovers such signals best, by a study of many trials."""
    from ..study.lookup import recommend_order

    found = recommend_order(distribution.value, nonzeros, measurements, n=n, solver=solver)
    if quiet:
        return
    if json:
        print_json(asdict(found))
        return
    print_facts(_facts(found))
    print()
    printer().print(_table(found))


def _facts(found: Recommendation) -> dict[str, str]:
    facts = {
        "order": f"{found.order:g}",
        "expected error": f"{found.expected_mse:.3g} ± {found.standard_error:.2g} (mean squared error)",
        "exact in": f"{100 * found.expected_success_rate:.0f} % of the trials",
        "as good": _flatness(found),
    }
    return facts | ({"note": found.message} if found.message else {})


def _flatness(found: Recommendation) -> str:
    """Return how much the choice matters."""
    others = [f"{order:g}" for order in found.near_optimal if order != found.order]
    if not others:
        return f"no other of the {len(found.mse_by_order)} orders is within one standard error"
    return f"within one standard error: {', '.join(others)} ({len(others) + 1} of {len(found.mse_by_order)} orders)"


def _table(found: Recommendation) -> Table:
    from rich.table import Table

    table = Table("order", "expected error", "±", "", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.justify = "right"
    largest = max(found.mse_by_order.values())
    for order, mse in sorted(found.mse_by_order.items()):
        mark = " best" if order == found.order else " as good" if order in found.near_optimal else ""
        bar = "█" * round(CHARACTERS_OF_LONGEST_BAR * mse / largest) if largest > 0 else ""
        style = "bold green" if order == found.order else None
        spread = f"{found.standard_error_by_order[order]:.2g}"
        table.add_row(f"{order:g}", f"{mse:.3g}", spread, bar + mark, style=style)
    return table
