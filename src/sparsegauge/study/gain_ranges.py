"""Statistics of best orders on the shipped tables, as ranges over all gains that could have been chosen.

The paper does not say which gains its SPSA used, so a figure is a range over those of the gain search whose error is
within 10 % of the lowest. The search is a coarser grid (K = 10, 20, 40; M = 10, 20, ..., 90; 20 trials per cell); the
whole grid was run at some of the gains.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .choice import Choices, choose_orders
from .summary import Summary, shipped

NEAR_BEST_ERROR_RATIO = 1.1  # over the lowest error
EXCEPTED_DISTRIBUTIONS = ("binomial", "uniform")  # by the paper
EXCEPTED_ABOVE_NONZEROS = 40  # of N = 100
WHOLE_GRID = "the whole grid"
RANGES_OF_M = {"M < 40": (1, 39), "40 to 80": (40, 80), "M > 80": (81, 99)}

Statistic: TypeAlias = Callable[[Choices], float]


@functools.cache
def near_best_gains() -> dict[str, Summary]:
    """Return the tables of the gain search whose error is within 10 % of the lowest, by their gains.

    The error of a table is the mean over its cells of the error at the best order of each.
    """
    gains = shipped("gains")
    tables = {f"a = {a:g}, c = {c:g}": gains.at(a=a, c=c) for a in gains.axes["a"] for c in gains.axes["c"]}
    errors = {label: float(table.values["mse_mean"].min(axis=-1).mean()) for label, table in tables.items()}
    return {
        label: table for label, table in tables.items() if errors[label] <= NEAR_BEST_ERROR_RATIO * min(errors.values())
    }


def share_best(
    choices: Choices, low: float, high: float, *, with_exception: bool = False, first: int = 1, last: int = 99
) -> float:
    """Return the share of open cells with first <= M <= last whose best order is within low..high.

    With the paper's exception, cells of binomial and uniform signals with K > 40 % are left out.
    """
    counted = choices.is_open & _within(choices, first, last)
    if with_exception:
        for i, name in enumerate(choices.axes["distributions"]):
            if name in EXCEPTED_DISTRIBUTIONS:
                counted[i, np.asarray(choices.axes["nonzeros"]) > EXCEPTED_ABOVE_NONZEROS] = False
    order = choices.order[counted]
    return float(np.mean((order >= low) & (order <= high)))


def mean_order(choices: Choices, first: int = 1, last: int = 99) -> float:
    """Return the mean best order over the open cells with first <= M <= last."""
    return float(choices.order[choices.is_open & _within(choices, first, last)].mean())


def _within(choices: Choices, first: int, last: int) -> NDArray[np.bool_]:
    measurements = np.asarray(choices.axes["measurements"])
    return np.asarray((measurements >= first) & (measurements <= last))


def mean_order_by_nonzeros(choices: Choices) -> list[float]:
    """Return the mean best order for each K."""
    return [float(choices.order[:, k][choices.is_open[:, k]].mean()) for k in range(len(choices.axes["nonzeros"]))]


def share_growing(summary: Summary) -> float:
    """Return in what share of neighbouring cells the error grows with K, at the same M and order."""
    return float(np.mean(np.diff(summary.values["mse_mean"], axis=1) > 0))


def share_falling(summary: Summary, measure: str = "mse_mean") -> list[float]:
    """Return in what share of cells the error falls from one kind of signal to the next, in the paper's order."""
    values = summary.values[measure]
    return [float(np.mean(values[k + 1] < values[k])) for k in range(len(values) - 1)]


@functools.cache
def near_best_choices() -> dict[str, Choices]:
    """Return the choices on the grid of the gain search at the near-best gains."""
    return {label: choose_orders(table) for label, table in near_best_gains().items()}


def study_choices() -> Choices:
    """Return the choices on the whole grid at the gains of the study, whose error is the lowest."""
    return next(iter(whole_grids().values()))


@functools.cache
def whole_tables() -> dict[str, Summary]:
    """Return the tables of the paper's whole grid, by the gains at which it was run, as far as they are near the best.

    It was run at a = 1.6, c = 0.1 as well (`paper_long_steps`), where the error is further than 10 % from the best.
    """
    other = shipped("paper_gains")
    tables = {"a = 0.4, c = 0.1": shipped("spsa"), "a = 0.2, c = 0.1": shipped("paper_short_steps")}
    return tables | {f"a = {a:g}, c = 0.01": other.at(a=a) for a in other.axes["a"]}


@functools.cache
def whole_grids() -> dict[str, Choices]:
    """Return the choices on the paper's whole grid at all gains at which it was run, by their gains."""
    return {label: choose_orders(table) for label, table in whole_tables().items()}


def over_gains(statistic: Statistic) -> tuple[float, float, float]:
    """Return the least and the largest value of a statistic over near-best gains, and that of the whole grid."""
    values = [statistic(choices) for choices in near_best_choices().values()]
    return min(values), max(values), statistic(study_choices())


def describe_range(statistic: Statistic, form: str = ".0%") -> str:
    """Return a statistic as text: its range over near-best gains, and over the gains of the whole grid."""
    low, high, _ = over_gains(statistic)
    whole = [statistic(choices) for choices in whole_grids().values()]
    return (
        f"{format(low, form)} to {format(high, form)}; {WHOLE_GRID}: {format(min(whole), form)} to "
        f"{format(max(whole), form)}"
    )


def decide_over_gains(statement: Callable[[Choices], bool]) -> str:
    """Return "true" or "false" where a statement is so at all gains, else "undecided"."""
    return combine(statement(choices) for choices in (*near_best_choices().values(), *whole_grids().values()))


def combine(answers: Iterable[bool]) -> str:
    """Return "true" if all answers are yes, "false" if none is, else "undecided"."""
    found = set(answers)
    return "undecided" if len(found) > 1 else "true" if found == {True} else "false"


def least_measurements(summary: Summary, measure: str, enough: float) -> NDArray[np.float64]:
    """Return for each distribution and order the least M from which on signals are recovered, on average over K.

    Recovered are those of a cell whose success rate is at least, or whose mean error at most, `enough`. Where that is
    so at no M, the least M is taken to be 100, of which there are coefficients.
    """
    values = summary.values[measure]
    failed = values < enough if measure == "success_rate" else values > enough
    measurements = np.asarray(summary.axes["measurements"])[:, None]
    last_failure = np.where(failed, measurements, 0).max(axis=2)
    return np.asarray(last_failure.mean(axis=1) + 1)
