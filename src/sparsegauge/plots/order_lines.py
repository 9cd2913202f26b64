"""Lines over M, K, the order, the noise or the iterations, with standard errors around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .._arrays import Array
from ..metrics.gds import gds
from ..study.summary import Summary, best_order
from .style import band, few, line, name_of, panels

PROTOTYPE = 100, 40  # N and K of the paper's second figure
FLAT = 1e-3  # of the largest error of all: where no order's is above it, all recover the signal and none is best


def prototypes() -> Figure:
    """Sorted magnitudes of the paper's four kinds of signal at K = 40 %, with their S_1: its second figure.

    The non-zeros stand at the quantiles of their distributions, so that the figure is of no single draw.
    """
    n, nonzeros = PROTOTYPE
    with panels(1, 1, 5.4, 3.0) as (figure, places):
        for k, (name, values) in enumerate(_quantiles(nonzeros).items()):
            c = np.concatenate([np.zeros(n - nonzeros), values])
            look = line(k) | {"marker": None}
            places[0, 0].plot(np.arange(1, n + 1), c, label=f"{name_of(name)}: S₁ = {gds(c, 1):.2f}", **look)
        places[0, 0].set(xlabel="rank of the coefficient", ylabel="magnitude", xlim=(1, n), ylim=(0, None))
        places[0, 0].legend(loc="upper left")
        return figure


def _quantiles(count: int) -> dict[str, Array]:
    from scipy import stats

    levels = (np.arange(count) + 0.5) / count
    return {
        "binomial": np.ones(count),
        "uniform": levels,
        "normal": stats.halfnorm.ppf(levels),
        "exponential": stats.expon.ppf(levels),
    }


def matters(summary: Summary) -> NDArray[np.bool_]:
    """Where the order makes a difference: not where every order recovers the signal, whose errors are rounding.

    Cells of which an order is not there yet do not count.
    """
    worst = summary.values["mse_mean"].max(axis=list(summary.axes).index("orders"))  # nan where an order is missing
    return np.asarray(worst > FLAT * np.max(worst, where=np.isfinite(worst), initial=0.0))


def optimal_order(summary: Summary, axis: str) -> Figure:
    """The mean over the other counts of the order of the lowest error, against M or K: the paper's last figures.

    Cells that every order recovers have no best order and are left out (see `matters`); the paper keeps them. An
    infinite order has no place on the axis and is left out, too.
    """
    other = {"measurements": "nonzeros", "nonzeros": "measurements"}[axis]
    names = list(summary.axes)
    summary = summary.at(orders=[order for order in summary.axes["orders"] if order < np.inf])
    orders = summary.axes["orders"]
    order, live = best_order(summary), matters(summary)
    rest = [name for name in names if name != "orders"]
    along = rest.index(other)
    with np.errstate(invalid="ignore"):
        count = live.sum(axis=along)
        mean = np.where(live, order, 0).sum(axis=along) / count
        spread = np.where(live, (order - np.expand_dims(mean, along)) ** 2, 0).sum(axis=along) / count
        error = np.sqrt(spread / np.maximum(count - 1, 1))
    with panels(1, 1, 5.6, 3.2) as (figure, places):
        for k, distribution in enumerate(summary.axes["distributions"]):
            band(places[0, 0], summary.axes[axis], mean[k], error[k], k, name_of(distribution))
        label = {"measurements": "measurements M", "nonzeros": "non-zeros K"}
        places[0, 0].set(xlabel=label[axis], ylabel=f"best order, mean over {label[other][-1]}")
        places[0, 0].set_ylim(min(orders) - 0.3, max(orders) + 0.3)
        places[0, 0].legend(ncols=2)
        return figure


def over(summary: Summary, x: str, by: str, *, measure: str = "mse", log_x: bool = False, unit: str = "") -> Figure:
    """A mean against one axis, a line a value of another; a row a distribution, a column a K. Other axes are averaged.

    Of many values, a few have lines.

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
    unit : str
        Put behind the name of the axis across.
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
                band(places[i, j], axes[x], mean[i, j, k], error[i, j, k], k, _label(by, value))
            places[i, j].set(xscale="log" if log_x else "linear", yscale="linear" if "rate" in measure else "log")
            if i == 0:
                places[i, j].set_title(f"K = {axes['nonzeros'][j]}")
            if j == 0:
                places[i, j].set_ylabel(f"{name_of(axes['distributions'][i])}\n{LABELS[measure]}")
            if i == shape[0] - 1:
                places[i, j].set_xlabel(LABELS[x] + unit)
        handles, labels = places[0, 0].get_legend_handles_labels()
        across = max(2, int(figure.get_figwidth() * 12 / (6 + max(map(len, labels)))))  # about so many fit
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), across))
        return figure


LABELS = {
    "mse": "mean sq. error",
    "relative_error": "relative error",
    "success_rate": "success rate",
    "measurements": "measurements M",
    "orders": "order p",
    "noise_db": "signal-to-noise ratio",
    "iterations": "iterations",
    "solver": "solver",
}


def _label(axis: str, value: Any) -> str:
    if axis == "orders":
        return f"order {value:g}"
    if axis == "measurements":
        return f"M = {value}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def order_by_gains(summary: Summary) -> Figure:
    """The error at each order as the gain a grows, a panel a width c: the mean over all cells.

    What is best is a property of the gains as well: where they are too large, other orders win.
    """
    axes = summary.axes
    names = list(axes)
    cells = tuple(names.index(name) for name in ("distributions", "nonzeros", "measurements"))
    mean = summary.values["mse_mean"].mean(axis=cells)  # a, c, order
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
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        return figure
