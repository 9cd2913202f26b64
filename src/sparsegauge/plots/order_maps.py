"""Maps over (order, M) as in the paper's first figure, and over (K, M): one row per distribution, one column per K."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter
from numpy.typing import NDArray

from ..study.choice import Choices, choose_orders
from ..study.summary import Summary, first_study
from .style import edges, few, name_of, panels, set_title

SMALLEST_ERROR_SHOWN = 1e-4  # relative to the largest of a row; smaller ones share one colour


def error_maps(summary: Summary) -> Figure:
    """Draw the mean squared error over (order, M), as in the paper's first figure.

    Each row of maps has one scale of colours. A ring marks the best order wherever it has a clear lead.
    """
    return _order_maps(summary, summary.values["mse_mean"], "mean squared error", rings=True)


def uncertainty_maps(summary: Summary) -> Figure:
    """Draw the standard error of that mean as a share of it: how far to trust the maps."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = summary.values["mse_standard_error"] / summary.values["mse_mean"]
    return _order_maps(summary, share, "standard error / mean", rings=False)


def _order_maps(summary: Summary, values: NDArray[Any], label: str, *, rings: bool) -> Figure:
    axes = summary.axes
    orders, measurements = axes["orders"], axes["measurements"]
    shape = (len(axes["distributions"]), len(axes["nonzeros"]))
    choices = choose_orders(summary)
    with panels(*shape, 1.75, 1.75, sharex=True, sharey=True) as (figure, places):
        for i, distribution in enumerate(axes["distributions"]):
            norm = _norm(values[i])
            for j, nonzeros in enumerate(axes["nonzeros"]):
                place = places[i, j]
                place.grid(False)
                mesh = place.pcolormesh(_order_edges(orders), edges(measurements), values[i, j], norm=norm)
                mesh.set_rasterized(True)
                place.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
                place.set_xticks(np.arange(len(orders)), [f"{order:g}" for order in orders], fontsize=7)
                if rings:
                    _mark_best(place, choices, i, j)
                if i == 0:
                    place.set_title(f"K = {nonzeros}")
                if i == shape[0] - 1:
                    place.set_xlabel("order p")
                if j == 0:
                    place.set_ylabel(f"{name_of(distribution)}\nmeasurements M")
            bar = figure.colorbar(mesh, ax=list(places[i]), label=label, pad=0.01, aspect=14)
            _label_bar(bar, norm)
        note = "; white ring: the best order by more than two standard errors" if rings else ""
        set_title(figure, f"{label[0].upper()}{label[1:]}, N = {first_study(summary)['n']}{note}")
        return figure


def _label_bar(bar: Colorbar, norm: Normalize) -> None:
    """Label powers of ten; of a scale of less than a decade, which may hold none, both ends."""
    low, high = float(norm.vmin or 0), float(norm.vmax or 0)
    if isinstance(norm, LogNorm) and high < 10 * low:
        bar.set_ticks([low, high], labels=[f"{end:.2g}" for end in (low, high)])
        bar.minorticks_off()
    else:
        bar.ax.yaxis.set_minor_formatter(NullFormatter())


def _order_edges(orders: tuple[float, ...]) -> NDArray[Any]:
    """Return the edges of columns of one width per order, whatever lies between the orders."""
    return np.arange(len(orders) + 1) - 0.5


def _mark_best(place: Any, choices: Choices, i: int, j: int) -> None:
    """Draw a ring at each M where one order has a clear lead."""
    clear = np.flatnonzero(choices.is_clear[i, j])
    size = min(4.0, 160 / max(len(choices.axes["measurements"]), 1))
    ring = {"markerfacecolor": "none", "markeredgecolor": "white", "markersize": size, "markeredgewidth": 0.7}
    where = [choices.axes["measurements"][k] for k in clear]
    place.plot(choices.best[i, j, clear], where, "o", **ring)


def _norm(values: NDArray[Any]) -> Normalize:
    finite = values[np.isfinite(values) & (values > 0)]
    if not len(finite):
        return Normalize(0, 1)
    return LogNorm(max(finite.min(), SMALLEST_ERROR_SHOWN * finite.max()), finite.max(), clip=True)


def success_maps(summary: Summary) -> Figure:
    """Draw the success rate over (K, M), a phase diagram: one row per distribution, one column per order."""
    axes, n = summary.axes, first_study(summary)["n"]
    orders = few(axes.get("orders", (None,)))
    with panels(len(axes["distributions"]), len(orders), 1.9, 1.7, sharex=True, sharey=True) as (figure, places):
        for i, distribution in enumerate(axes["distributions"]):
            for j, order in enumerate(orders):
                part = summary.at(distributions=distribution)
                rate = (part if order is None else part.at(orders=order)).values["success_rate"]
                place = places[i, j]
                place.grid(False)
                mesh = place.pcolormesh(
                    edges(axes["measurements"]), edges(axes["nonzeros"]), rate, vmin=0, vmax=1, rasterized=True
                )
                place.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
                place.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
                place.plot([0, n], [0, n], color="white", linewidth=0.8, linestyle=":")
                if not np.nanmax(rate, initial=0.0) > 0:
                    place.annotate("no success", (0.5, 0.5), xycoords="axes fraction", color="white", ha="center")
                place.set(xlim=edges(axes["measurements"])[[0, -1]], ylim=edges(axes["nonzeros"])[[0, -1]])
                if i == 0 and order is not None:
                    place.set_title(f"order {order:g}")
                if i == len(axes["distributions"]) - 1:
                    place.set_xlabel("measurements M")
                if j == 0:
                    place.set_ylabel(f"{name_of(distribution)}\nnon-zeros K")
        figure.colorbar(mesh, ax=list(places.flat), label="success rate", aspect=30)
        limit = first_study(summary)["success_below"]
        set_title(figure, f"Success: relative error at most {limit:g} (dotted: M = K)")
        return figure
