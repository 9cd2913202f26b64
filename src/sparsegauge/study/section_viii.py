"""What the paper reads off its experiment (section VIII), computed from the shipped tables.

The paper does not say which gains its SPSA used, so each figure is a range over all gains that could have been chosen:
those of the gain search whose error is within 10 % of the lowest. The search is a coarser grid (K = 10, 20, 40; M = 10,
20, ..., 90; 20 trials per cell); the whole grid was run at some of the gains.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .choice import Choices, choose_orders
from .summary import Summary, shipped

NEAR_BEST_GAINS = 1.1  # errors up to this multiple of the lowest
EXCEPTED, EXCEPTED_ABOVE = ("binomial", "uniform"), 40  # the paper's own exception, of N = 100
WHOLE_GRID = "the whole grid"
RANGES_OF_M = {"M < 40": (1, 39), "40 to 80": (40, 80), "M > 80": (81, 99)}


@dataclass(frozen=True)
class ExperimentClaim:
    """One statement of section VIII, and what the tables say of it.

    Attributes
    ----------
    claim : str
        What the paper says.
    verdict : {"true", "false", "undecided"}
        True or false at all gains within 10 % of the best and on the whole grid; else undecided: it depends on the
        gains, which the paper does not name.
    figures : str
        The range over gains, and the whole grid.
    note : str
        What else a reader should know.
    """

    claim: str
    verdict: str
    figures: str
    note: str = ""


@functools.cache
def near_best_gains() -> dict[str, Summary]:
    """Return the tables of the gain search whose error is within 10 % of the lowest, by their gains.

    The error of a table is the mean over its cells of the error at the best order of each.
    """
    gains = shipped("gains")
    tables = {f"a = {a:g}, c = {c:g}": gains.at(a=a, c=c) for a in gains.axes["a"] for c in gains.axes["c"]}
    errors = {label: float(table.values["mse_mean"].min(axis=-1).mean()) for label, table in tables.items()}
    return {label: table for label, table in tables.items() if errors[label] <= NEAR_BEST_GAINS * min(errors.values())}


def share_best(choices: Choices, low: float, high: float, *, with_exception: bool = False) -> float:
    """Return the share of open cells whose best order is within low..high.

    With the paper's exception, cells of binomial and uniform signals with K > 40 % are left out.
    """
    counted = choices.is_open.copy()
    if with_exception:
        for i, name in enumerate(choices.axes["distributions"]):
            if name in EXCEPTED:
                counted[i, np.asarray(choices.axes["nonzeros"]) > EXCEPTED_ABOVE] = False
    order = choices.order[counted]
    return float(np.mean((order >= low) & (order <= high)))


def mean_order(choices: Choices, first: int = 1, last: int = 99) -> float:
    """Return the mean best order over the open cells with first <= M <= last."""
    measurements = np.asarray(choices.axes["measurements"])
    counted = choices.is_open & (measurements >= first) & (measurements <= last)
    return float(choices.order[counted].mean())


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


Statistic = Callable[[Choices], float]


@functools.cache
def _all_choices() -> tuple[dict[str, Choices], Choices]:
    return {label: choose_orders(table) for label, table in near_best_gains().items()}, choose_orders(shipped("spsa"))


@functools.cache
def whole_grids() -> dict[str, Choices]:
    """Return the choices on the paper's whole grid at all gains at which it was run, by their gains."""
    other = shipped("paper_gains")
    grids = {f"a = {a:g}, c = 0.01": choose_orders(other.at(a=a)) for a in other.axes["a"]}
    return {"a = 0.4, c = 0.1": _all_choices()[1]} | grids


def over_gains(statistic: Statistic) -> tuple[float, float, float]:
    """Return the least and the largest value of a statistic over near-best gains, and that of the whole grid."""
    by_gains, whole = _all_choices()
    values = [statistic(choices) for choices in by_gains.values()]
    return min(values), max(values), statistic(whole)


def describe_range(statistic: Statistic, form: str = ".0%") -> str:
    """Return a statistic as text: its range over near-best gains, and over the gains of the whole grid."""
    low, high, _ = over_gains(statistic)
    whole = [statistic(choices) for choices in whole_grids().values()]
    return (
        f"{format(low, form)} to {format(high, form)}; {WHOLE_GRID}: {format(min(whole), form)} to "
        f"{format(max(whole), form)}"
    )


def _decide(statement: Callable[[Choices], bool]) -> str:
    answers = {statement(choices) for choices in (*_all_choices()[0].values(), *whole_grids().values())}
    return "undecided" if len(answers) == 2 else "true" if answers == {True} else "false"


def findings() -> list[ExperimentClaim]:
    """Return every statement of section VIII about the experiment, with what the shipped tables say of it."""
    return [*_about_errors(), *_about_best_orders(), *_about_measurements(), *_about_nonzeros(), _example()]


def _about_errors() -> list[ExperimentClaim]:
    whole = shipped("spsa")
    absolute, relative = share_falling(whole), share_falling(whole, "relative_error_mean")
    return [
        ExperimentClaim(
            "row by row: the larger K, the larger the error",
            "true" if share_growing(whole) > 0.95 else "false",
            f"in {share_growing(whole):.0%} of neighbouring cells",
        ),
        ExperimentClaim(
            "column by column: the error falls from binomial over uniform and normal to exponential",
            "true" if min(absolute) > 0.5 else "false",
            f"in {_listed(absolute)} of cells; relative to the signal in {_listed(relative)}",
            "The mean squares of the non-zeros are 1, 1/3, 1 and 2, and where little is recovered the error is about "
            "what there is to lose. Relative to the signal the statement holds in most cells.",
        ),
    ]


def _about_best_orders() -> list[ExperimentClaim]:
    claimed = functools.partial(share_best, low=2, high=7, with_exception=True)
    gini = functools.partial(share_best, low=1, high=1)
    _, whole = _all_choices()
    excepted = [k for k, name in enumerate(whole.axes["distributions"]) if name in EXCEPTED]
    dense = np.asarray(whole.axes["nonzeros"]) > EXCEPTED_ABOVE
    inside = whole.order[excepted][:, dense][whole.is_open[excepted][:, dense]]
    confirmed = f"{np.mean((inside >= 2) & (inside <= 7)):.0%}"
    return [
        ExperimentClaim(
            "orders 2 to 7 are best in almost all cases, except for binomial and uniform with K > 40 %",
            _decide(lambda choices: claimed(choices) > 0.9),
            f"{describe_range(claimed)} of the cells outside the exception",
            f"The exception is confirmed: in its cells orders 2 to 7 are best in {confirmed}.",
        ),
        ExperimentClaim(
            "order 1, the Gini index, is never the best",
            _decide(lambda choices: gini(choices) == 0),
            f"best in {describe_range(gini)} of cells",
            "The paper reads this off a mean of best orders, which is 1 only if the best order of every cell is 1. How "
            "often order 1 is best depends on the gains.",
        ),
        ExperimentClaim(
            "on average order 4 is the best",
            _decide(lambda choices: 3.5 <= mean_order(choices) < 4.5),
            f"mean best order {describe_range(mean_order, '.1f')}",
        ),
    ]


def _about_measurements() -> list[ExperimentClaim]:
    few, middle, many = (functools.partial(mean_order, first=f, last=last) for f, last in RANGES_OF_M.values())
    return [
        ExperimentClaim(
            "for M < 40 the best order is 4 to 6 on average",
            _decide(lambda choices: 4 <= few(choices) <= 6),
            describe_range(few, ".1f"),
            "Below M = 20 nothing is recovered and all orders are as good; random picks from 1 to 10 average 5.5.",
        ),
        ExperimentClaim(
            "for M from 40 to 80 the mean best order dips",
            _decide(lambda choices: middle(choices) < few(choices)),
            describe_range(middle, ".1f"),
        ),
        ExperimentClaim(
            "for M > 80 the mean best order rises again",
            _decide(lambda choices: many(choices) > middle(choices)),
            describe_range(many, ".1f"),
        ),
    ]


def _about_nonzeros() -> list[ExperimentClaim]:
    def is_above_three(choices: Choices) -> bool:
        return min(mean_order_by_nonzeros(choices)) > 3

    def does_grow(choices: Choices) -> bool:
        return bool((np.diff(mean_order_by_nonzeros(choices)) > 0).all())

    by_gains, whole = _all_choices()
    lowest = [min(mean_order_by_nonzeros(choices)) for choices in by_gains.values()]
    counts = ", ".join(map(str, whole.axes["nonzeros"]))
    means = ", ".join(f"{value:.1f}" for value in mean_order_by_nonzeros(whole))
    growing = sum(map(does_grow, by_gains.values()))
    return [
        ExperimentClaim(
            "for every K orders above 3 are needed",
            _decide(is_above_three),
            f"the lowest mean best order of any K: {min(lowest):.1f} to {max(lowest):.1f}; {WHOLE_GRID} at a = 0.4, "
            f"c = 0.1, K = {counts}: {means}",
        ),
        ExperimentClaim(
            "the best order grows with K",
            _decide(does_grow),
            f"at {growing} of {len(by_gains)} gains",
        ),
    ]


def _example() -> ExperimentClaim:
    choices = choose_orders(shipped("spsa").at(distributions="normal", nonzeros=20, measurements=10))
    near = ", ".join(f"{p:g}" for p, is_near in zip(choices.orders, choices.near, strict=True) if is_near)
    return ExperimentClaim(
        "N = 100, normal, K = 20 %, M = 10: the best order is approximately 4",
        "undecided" if choices.near[choices.orders.index(4.0)] and choices.is_flat else _true_if(choices.order == 4),
        f"best here: order {float(choices.order):g}; as good within one standard error: {near}",
        "Ten measurements of a signal with 20 unknown values leave nothing to choose: no order stands out.",
    )


def _true_if(holds: object) -> str:
    return "true" if holds else "false"


def _listed(shares: list[float]) -> str:
    return f"{', '.join(f'{share:.0%}' for share in shares[:-1])} and {shares[-1]:.0%}"


def convergence_conditions() -> ExperimentClaim:
    """Return what holds of "SPSA converges to the global optimum under general conditions" for S_p."""
    table = shipped("convergence")
    rates: Mapping[int, float] = {
        iterations: float(table.at(iterations=iterations).values["success_rate"].max(axis=-1).mean())
        for iterations in table.axes["iterations"]
    }
    last = max(rates)
    return ExperimentClaim(
        "SPSA converges to the global optimum under general conditions (Maryak and Chin 2001)",
        "undecided",
        f"after {last:,} iterations {rates[last]:.0%} of the signals of the convergence study are recovered exactly",
        "Their theorem asks for noise injected into the iterates or for conditions on a, c and the objective that the "
        "paper does not check. S_p need not have a finite maximum on the solutions of A x = y, and is not "
        "differentiable where a coefficient is zero; the conditions are not met as they stand.",
    )
