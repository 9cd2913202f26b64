"""Decide which order is best; tables, pages, figures and `recommend_order` only show what is decided here.

The best order of a cell is the one with the lowest mean squared error, as in the paper. How far to trust that:

- all orders meet the same trials, so the lead of one order over another is a mean of paired differences, with its own
  standard error (`mse_lead_error` of a summary; cells without it use the two separate errors, which are larger);
- a lead is clear if it is more than two standard errors over every other order;
- orders within one standard error of the best are as good as it;
- where every order recovers at least 99 % of the signals (by success, a small relative error), there is nothing to
  choose: what is left of the errors is rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from .summary import Summary

RECOVERED_SUCCESS_RATE = 0.99  # if all orders reach it, there is nothing to choose
STANDARD_ERRORS_OF_A_CLEAR_LEAD = 2.0
STANDARD_ERRORS_AS_GOOD = 1.0  # as the best order
SHARE_OF_A_FLAT_CHOICE = 2 / 3  # of the orders: if more are as good as the best, the choice matters little


@dataclass(frozen=True)
class Choices:
    """The choice of an order in each cell.

    Arrays have the axes of the summary without `orders`; `near` has the orders last.

    Attributes
    ----------
    axes : mapping
        The axes of the arrays, by name.
    orders : tuple of float
        The orders that there are to choose from.
    best : ndarray of int
        The position of the best order; -1 where the result of an order is missing.
    near : ndarray of bool
        Which orders are as good as the best.
    is_clear : ndarray of bool
        Whether the best order has a clear lead over every other.
    all_recover : ndarray of bool
        Whether every order recovers such signals.
    is_paired : bool
        Whether the standard errors are those of paired differences in every cell.
    """

    axes: Mapping[str, tuple[Any, ...]]
    orders: tuple[float, ...]
    best: NDArray[np.intp]
    near: NDArray[np.bool_]
    is_clear: NDArray[np.bool_]
    all_recover: NDArray[np.bool_]
    is_paired: bool

    @property
    def order(self) -> Array:
        """The best order; nan where a result is missing."""
        return np.where(self.best >= 0, np.asarray(self.orders)[self.best], np.nan)

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Where there is a choice to make: all results are there, and not every order recovers such signals."""
        return (self.best >= 0) & ~self.all_recover

    @property
    def is_flat(self) -> NDArray[np.bool_]:
        """Where the choice matters little: most orders are as good as the best."""
        return np.asarray(self.near.sum(axis=-1) >= SHARE_OF_A_FLAT_CHOICE * len(self.orders))


def choose_orders(summary: Summary) -> Choices:
    """Return the choice of an order in each cell of a summary.

    Examples
    --------
    >>> from sparsegauge.study.choice import choose_orders
    >>> from sparsegauge.study.summary import shipped
    >>> found = choose_orders(shipped("spsa").at(distributions="exponential", nonzeros=10, measurements=40))
    >>> float(found.order), bool(found.is_clear)
    (2.0, True)
    """
    if "orders" not in summary.axes:
        raise InvalidInput(f"there are no orders to choose from; the axes are {', '.join(summary.axes)}")
    last = list(summary.axes).index("orders")
    mean, lead_error, success = (
        np.moveaxis(np.asarray(array, float), last, -1)
        for array in (summary.values["mse_mean"], lead_errors(summary), success_rates(summary))
    )
    axes = {name: values for name, values in summary.axes.items() if name != "orders"}
    orders = tuple(float(order) for order in summary.axes["orders"])
    return decide(mean, lead_error, success, axes=axes, orders=orders, is_paired=has_paired_errors(summary))


def decide(
    mean: Array,
    lead_error: Array,
    success: Array,
    *,
    axes: Mapping[str, tuple[Any, ...]],
    orders: tuple[float, ...],
    is_paired: bool,
) -> Choices:
    """Return the choices for arrays with the orders last; `lead_error` is that of each order's lag behind the best."""
    missing = np.asarray(np.isnan(mean).any(axis=-1))
    best = np.argmin(np.where(np.isnan(mean), np.inf, mean), axis=-1)
    lag = mean - np.take_along_axis(mean, best[..., None], axis=-1)
    spread = np.nan_to_num(lead_error)  # of a single trial the error is not known; any lag then counts
    is_best = np.arange(mean.shape[-1]) == best[..., None]
    with np.errstate(invalid="ignore"):
        near = (lag <= STANDARD_ERRORS_AS_GOOD * spread) | is_best
        is_clear = ((lag > STANDARD_ERRORS_OF_A_CLEAR_LEAD * spread) | is_best).all(axis=-1) & (mean.shape[-1] > 1)
        all_recover = np.asarray((success >= RECOVERED_SUCCESS_RATE).all(axis=-1))
    return Choices(
        axes,
        orders,
        np.where(missing, -1, best),
        np.asarray(near & ~missing[..., None]),
        np.asarray(is_clear & ~missing & ~all_recover),
        np.asarray(all_recover & ~missing),
        is_paired,
    )


def success_rates(summary: Summary) -> NDArray[Any]:
    """Return the success rates of a summary; zeros if it has none."""
    return np.asarray(summary.values.get("success_rate", np.zeros_like(summary.values["mse_mean"])))


def has_paired_errors(summary: Summary) -> bool:
    """Return whether every cell of a summary has the standard errors of paired differences."""
    return "mse_lead_error" in summary.values and not np.isnan(summary.values["mse_lead_error"]).any()


def lead_errors(summary: Summary) -> NDArray[Any]:
    """Return, for each order, the standard error of the difference between its error and that of the best order.

    Cells that were written without paired differences have the errors of both orders added in squares instead. Where
    the best order of a cell was left out, the errors of two differences are added, which is more than there can be.
    """
    along = list(summary.axes).index("orders")
    mean = summary.values["mse_mean"]
    best = np.argmin(np.where(np.isnan(mean), np.inf, mean), axis=along, keepdims=True)
    error = summary.values["mse_standard_error"]
    spread = np.hypot(error, np.take_along_axis(error, best, axis=along))
    if "mse_lead_error" in summary.values:
        paired = summary.values["mse_lead_error"]
        spread = np.where(np.isnan(paired), spread, paired + np.take_along_axis(paired, best, axis=along))
    np.put_along_axis(spread, best, 0.0, axis=along)
    return np.asarray(spread)


def mean_best_order(choices: Choices, *, over: str) -> tuple[Array, Array]:
    """Return the mean of the best orders along one axis and its standard error, over the cells that are open."""
    along = list(choices.axes).index(over)
    is_open, order = choices.is_open, choices.order
    count = is_open.sum(axis=along)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_open, order, 0.0).sum(axis=along) / count
        squares = np.where(is_open, (order - np.expand_dims(mean, along)) ** 2, 0.0).sum(axis=along) / count
        error = np.sqrt(squares / np.maximum(count - 1, 1))
    return mean, error
