"""What the page shows, as files to keep: the numbers as CSV, the charts as one PNG."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._arrays import Array
from ..metrics.catalogue import METRICS
from ..plots.sparsity import escape
from ..plots.style import panels, to_file
from .drawings import DASHES, LOWERS, QUIET, RAISES
from .model import ShownCoefficients, bars
from .signal_views import MOST_PIXELS_PER_SIDE, outline, shrink

COLUMNS = ("signal", "representation", "metric", "order", "value", "percent_of_references_that_are_less_sparse")


@dataclass(frozen=True)
class Reading:
    """What the page shows of a signal at one order."""

    name: str
    values: Array
    representation: str
    order: float
    coefficients: ShownCoefficients
    profiles: Mapping[str, tuple[Array, Array]]
    standings: Mapping[str, float]
    standing: float

    @property
    def file_name(self) -> str:
        """The name without what file systems refuse."""
        kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{self.name}_{self.representation}")
        return kept.strip("._")[:100] or "signal"


def results_csv(shown: Reading) -> str:
    """Return a table with one row per order of S_p and representation, and one per other metric."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    here = shown.coefficients.sparsity(shown.order)
    table.writerow((shown.name, shown.representation, "gds", repr(shown.order), repr(here), repr(shown.standing)))
    for representation, (orders, sparsities) in shown.profiles.items():
        for order, sparsity in zip(orders, sparsities, strict=True):
            table.writerow((shown.name, representation, "gds", repr(float(order)), repr(float(sparsity)), ""))
    for metric, standing in shown.standings.items():
        value = float(METRICS[metric].function(shown.coefficients.values))
        table.writerow((shown.name, shown.representation, metric, "", repr(value), repr(standing)))
    return file.getvalue()


def plot_png(shown: Reading) -> bytes:
    """Return the signal, its coefficients, their contributions and the sparsity over the order as one picture."""
    with panels(2, 2, 4.6, 2.9) as (figure, axes):
        sparsity = shown.coefficients.sparsity(shown.order)
        shares = shown.coefficients.shares(shown.order)
        figure.suptitle(f"{escape(shown.name)}, {shown.representation}: $S_{{{shown.order:g}}}$ = {sparsity:.4f}")
        _draw_signal(axes[0, 0], shown.values)
        _draw_coefficients(axes[0, 1], shown.coefficients, shares)
        _draw_bars(axes[1, 0], shares)
        _draw_profiles(axes[1, 1], shown, sparsity)
        return to_file(figure, "png")


def _draw_signal(axes: Any, values: Array) -> None:
    if values.ndim == 2:
        axes.imshow(shrink(values, MOST_PIXELS_PER_SIDE), cmap="gray")
        axes.set_axis_off()
    else:
        axes.plot(*outline(values), color=RAISES, linewidth=0.9)
        axes.set(xlabel="sample", ylabel="value")
    axes.set_title("Signal", loc="left")


def _draw_coefficients(axes: Any, shown: ShownCoefficients, shares: Array) -> None:
    raises = shares[shown.peak_ranks] > 0
    for colour, chosen in ((RAISES, raises), (LOWERS, ~raises)):
        places = shown.peaks[chosen]
        axes.vlines(places, 0, shown.values[places], color=colour, linewidth=0.9)
    axes.set(xlabel="position", ylabel="coefficient")
    axes.set_title("Coefficients", loc="left")


def _draw_bars(axes: Any, shares: Array) -> None:
    drawn = bars(shares)
    colours = [RAISES if total >= 0 else LOWERS for total in drawn.total]
    axes.bar(drawn.left, drawn.total, drawn.right - drawn.left, align="edge", color=colours, edgecolor="white")
    axes.set(xscale="log", xlabel="rank of the magnitude, largest first", ylabel="share of $S_p$")
    axes.set_title("What each contributes", loc="left")


def _draw_profiles(axes: Any, shown: Reading, sparsity: float) -> None:
    for kind, (orders, sparsities) in shown.profiles.items():
        colour = RAISES if kind == shown.representation else QUIET
        axes.plot(orders, sparsities, color=colour, linestyle=DASHES[kind], label=kind)
    axes.plot([shown.order], [sparsity], "o", color=RAISES)
    axes.set(xlabel="order p", ylabel="$S_p$", ylim=(-0.02, 1.04))
    axes.set_title("Sparsity over the order", loc="left")
    axes.legend()
