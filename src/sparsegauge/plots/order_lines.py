"""Lines over M, K, the order, the noise or the iterations, with standard errors around them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..metrics.gds import gds
from ..study.axes import KINDS, label_axis, label_value
from ..study.choice import choose_orders, mean_best_order
from ..study.prototypes import PAPER_DISTRIBUTIONS, can_be_drawn, sorted_magnitudes
from ..study.summary import Summary, first_study
from .style import band, few, line, name_of, panels

LENGTH_AND_NONZEROS_OF_PAPER = 100, 40  # in its second figure


def prototypes(summary: Summary | None = None) -> Figure:
    """Draw the sorted magnitudes of a study's kinds of signal, with their S_1; without a study, the paper's figure.

    The non-zeros of the paper's distributions stand at their quantiles, so that the figure is of no single draw; of
    other kinds of signal, the sorted magnitudes are averaged over draws. K is the number of non-zeros of the study that
    is nearest to 40 % of N, as in the paper.
    """
    names, n, nonzeros = PAPER_DISTRIBUTIONS, *LENGTH_AND_NONZEROS_OF_PAPER
    if summary is not None:
        names, n = summary.axes["distributions"], first_study(summary)["n"]
        nonzeros = min(summary.axes["nonzeros"], key=lambda count: abs(count - 0.4 * n))
    with panels(1, 1, 5.4, 3.0) as (figure, places):
        drawn = [(name, sorted_magnitudes(name, n, nonzeros)) for name in names if can_be_drawn(name)]
        for k, (name, c) in enumerate(drawn):
            look = line(k) | {"marker": None}
            places[0, 0].plot(np.arange(1, n + 1), c, label=f"{name_of(name)}: S₁ = {gds(c, 1):.2f}", **look)
        places[0, 0].set(xlabel="rank of the coefficient", ylabel="magnitude", xlim=(1, n), ylim=(0, None))
        places[0, 0].set_title(f"N = {n}, K = {nonzeros}")
        places[0, 0].xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        places[0, 0].legend(loc="best")
        return figure


def optimal_order(summary: Summary, axis: str) -> Figure:
    """Draw the mean over the other count of the best order, against M or K: the paper's last figures.

    Cells in which every order recovers the signal have no best order and are left out; the paper keeps them. An
    infinite order has no place on the axis and is left out, too.
    """
    other = {"measurements": "nonzeros", "nonzeros": "measurements"}[axis]
    summary = summary.at(orders=[order for order in summary.axes["orders"] if order < np.inf])
    choices = choose_orders(summary)
    mean, error = mean_best_order(choices, over=other)
    with panels(1, 1, 5.6, 3.2) as (figure, places):
        for k, distribution in enumerate(summary.axes["distributions"]):
            band(places[0, 0], summary.axes[axis], mean[k], error[k], k, name_of(distribution))
        places[0, 0].set(xlabel=label_axis(axis), ylabel=f"best order, mean over {KINDS[other].symbol}")
        places[0, 0].set_ylim(min(choices.orders) - 0.3, max(choices.orders) + 0.3)
        places[0, 0].xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        places[0, 0].legend(ncols=2)
        return figure


def over(summary: Summary, x: str, by: str, *, measure: str = "mse", log_x: bool = False) -> Figure:
    """Draw a mean against one axis: one line per value of another, one row per distribution, one column per K.

    Other axes are averaged. Of many values, a few have lines.

    Parameters
    ----------
    summary : Summary
        With the axes `distributions`, `nonzeros`, x and by.
    x, by : str
        The axis across, and that of the lines.
    measure : {"mse", "relative_error", "success_rate"}
        What is drawn, with its standard error.
    log_x : bool
        Whether the axis across is logarithmic.
    """
    summary = summary.at(**{by: few(summary.axes[by])})
    axes = summary.axes
    names = list(axes)
    mean_name = measure if measure in summary.values else f"{measure}_mean"
    error_name = f"{measure}_standard_error"
    rest = tuple(names.index(name) for name in names if name not in ("distributions", "nonzeros", x, by))
    cells = np.prod([summary.values[mean_name].shape[k] for k in rest]) if rest else 1
    mean = summary.values[mean_name].mean(axis=rest)
    error = np.sqrt((summary.values[error_name] ** 2).sum(axis=rest)) / cells
    kept = [name for name in names if name in ("distributions", "nonzeros", x, by)]
    wanted = ["distributions", "nonzeros", by, x]
    mean, error = (array.transpose([kept.index(name) for name in wanted]) for array in (mean, error))
    shape = (len(axes["distributions"]), len(axes["nonzeros"]))
    with panels(*shape, 2.5 if shape[1] > 2 else 3.2, 1.8, sharex=True, sharey="row") as (figure, places):
        for i, j in np.ndindex(shape):
            for k, value in enumerate(axes[by]):
                band(places[i, j], axes[x], mean[i, j, k], error[i, j, k], k, label_value(by, value))
            places[i, j].set(xscale="log" if log_x else "linear", yscale="linear" if "rate" in measure else "log")
            if i == 0:
                places[i, j].set_title(f"K = {axes['nonzeros'][j]}")
            if j == 0:
                places[i, j].set_ylabel(f"{name_of(axes['distributions'][i])}\n{MEASURES[measure]}")
            if i == shape[0] - 1:
                places[i, j].set_xlabel(label_axis(x))
        handles, labels = places[0, 0].get_legend_handles_labels()
        across = max(2, int(figure.get_figwidth() * 12 / (6 + max(map(len, labels)))))  # about so many fit
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), across))
        return figure


MEASURES = {"mse": "mean sq. error", "relative_error": "relative error", "success_rate": "success rate"}


def order_by_gains(summary: Summary) -> Figure:
    """Draw the error at each order as the gain a grows, one panel per width c: the mean over all cells.

    The best order depends on the gains as well: where they are too large, other orders win.
    """
    axes = summary.axes
    mean = summary.mean_over("mse_mean", keep=("a", "c", "orders"))
    with panels(1, len(axes["c"]), 3.1, 2.9, sharey=True) as (figure, places):
        for j, c in enumerate(axes["c"]):
            for k, a in enumerate(axes["a"]):
                place = places[0, j]
                place.plot(axes["orders"], mean[k, j], label=f"a = {a:g}", **line(k))
                best = int(np.argmin(mean[k, j]))
                place.plot(axes["orders"][best], mean[k, j, best], "o", color=line(k)["color"], markersize=9, alpha=0.4)
            place.set(title=f"c = {c:g}", xlabel="order p", yscale="log", xticks=axes["orders"])
        places[0, 0].set_ylabel("mean squared error")
        handles, labels = places[0, 0].get_legend_handles_labels()
        handles.append(Line2D([], [], color="grey", linestyle="none", marker="o", markersize=9, alpha=0.4))
        figure.legend(handles, [*labels, "best order"], loc="outside upper center", ncols=len(labels) + 1)
        return figure
