"""What the paper reads off its experiment (section VIII), computed from the shipped tables.

Every figure is a range over the gains that could have been chosen (`gain_ranges.py`), because the paper names none.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..criteria.claims import Claim
from .choice import Choices, choose_orders
from .gain_ranges import (
    EXCEPTED_ABOVE_NONZEROS,
    EXCEPTED_DISTRIBUTIONS,
    RANGES_OF_M,
    WHOLE_GRID,
    combine,
    decide_over_gains,
    describe_range,
    least_measurements,
    mean_order,
    mean_order_by_nonzeros,
    near_best_choices,
    share_best,
    share_falling,
    share_growing,
    study_choices,
    whole_tables,
)
from .summary import Summary, shipped

SHARE_IN_GENERAL = 0.95  # of neighbouring cells
SHARE_OF_ALMOST_ALL = 0.9  # cells
NEGLIGIBLE_SHARE = 0.01  # of the error with one measurement
HALF, TENTH = 0.5, 0.1


@dataclass(frozen=True)
class ExperimentClaim:
    """One statement of section VIII, and what the tables say of it.

    Attributes
    ----------
    key : str
        The name of its row in `audit_paper`.
    claim : str
        What the paper says.
    verdict : {"true", "false", "undecided"}
        True or false at all gains within 10 % of the best and on the whole grid; else undecided: it depends on the
        gains, which the paper does not name.
    figures : str
        The range over gains, and the whole grid.
    note : str
        What else a reader should know.
    corrected : str
        What should stand there instead.
    """

    key: str
    claim: str
    verdict: str
    figures: str
    note: str = ""
    corrected: str = ""

    def to_row(self) -> Claim:
        """Return the row of `audit_paper`."""
        figures = self.figures[:1].upper() + self.figures[1:]
        evidence = f"{figures}. {self.note}".strip()
        return Claim(self.key, "section VIII", self.claim, self.verdict, evidence, self.corrected)


def claims_about_experiment() -> list[Claim]:
    """Return the rows of `audit_paper` about section VIII."""
    rows = [statement.to_row() for statement in (*findings(), convergence_conditions())]
    return [*rows, _row_order()]


def findings() -> list[ExperimentClaim]:
    """Return every statement of section VIII about the experiment, with what the shipped tables say of it."""
    return [
        *_about_errors(), *_about_best_orders(), *_about_measurements(), *_about_nonzeros(), *_about_other_methods(),
        _example(),
    ]  # fmt: skip


def _about_errors() -> list[ExperimentClaim]:
    tables = whole_tables().values()
    growing = [share_growing(table) for table in tables]
    absolute, relative = share_falling(shipped("spsa")), share_falling(shipped("spsa"), "relative_error_mean")
    lowest = share_of_lowest(shipped("spsa"), "exponential")
    return [
        ExperimentClaim(
            "error and K",
            "row by row: the larger K, the larger the error in general",
            combine(share > SHARE_IN_GENERAL for share in growing),
            f"in {_span(growing)} of neighbouring cells of {WHOLE_GRID}",
        ),
        ExperimentClaim(
            "error and distribution",
            "column by column: the error falls from binomial over uniform and normal to exponential",
            combine(min(share_falling(table)) > HALF for table in tables),
            f"in {_listed(absolute)} of cells; relative to the signal in {_listed(relative)}",
            "The mean squares of the non-zeros are 1, 1/3, 1 and 2, and where little is recovered the error is about "
            "what there is to lose. Relative to the signal the statement holds in most cells.",
            "Relative to the signal, the error falls from binomial to exponential in most cells.",
        ),
        ExperimentClaim(
            "most eligible",
            "exponential signals are the sparsest and thus the most eligible for reconstruction",
            combine((lowest > HALF, _success("exponential") > _success("binomial"))),
            f"their relative error is the lowest of the four in {lowest:.0%} of cells, but their mean success rate is "
            f"{_success('exponential'):.0%}, and that of ones {_success('binomial'):.0%}",
            "It depends on the measure: a large coefficient is most of the relative error, while success (a relative "
            "error of at most 0.001) asks for the small ones too.",
        ),
    ]


def _about_best_orders() -> list[ExperimentClaim]:
    claimed = functools.partial(share_best, low=2, high=7, with_exception=True)
    gini = functools.partial(share_best, low=1, high=1)
    few, more = functools.partial(claimed, last=39), functools.partial(claimed, first=40)
    whole = study_choices()
    excepted = [k for k, name in enumerate(whole.axes["distributions"]) if name in EXCEPTED_DISTRIBUTIONS]
    dense = np.asarray(whole.axes["nonzeros"]) > EXCEPTED_ABOVE_NONZEROS
    inside = whole.order[excepted][:, dense][whole.is_open[excepted][:, dense]]
    confirmed = f"{np.mean((inside >= 2) & (inside <= 7)):.0%}"
    return [
        ExperimentClaim(
            "orders 2 to 7",
            "orders 2 to 7 are best in almost all cases, except for binomial and uniform with K > 40 %",
            decide_over_gains(lambda choices: claimed(choices) > SHARE_OF_ALMOST_ALL),
            f"{describe_range(claimed)} of the cells outside the exception",
            f"The exception is confirmed: in its cells orders 2 to 7 are best in {confirmed}.",
            "In one half to nine tenths of the cells outside the exception, depending on the gains.",
        ),
        ExperimentClaim(
            "small M",
            "that orders 2 to 7 are best becomes more evident for small values of M",
            decide_over_gains(lambda choices: few(choices) > more(choices)),
            f"M < 40: {describe_range(few)}; M >= 40: {describe_range(more)}",
        ),
        ExperimentClaim(
            "gini never best",
            "order 1, the Gini index, is never the best",
            decide_over_gains(lambda choices: gini(choices) == 0),
            f"best in {describe_range(gini)} of cells",
            "The paper reads this off a mean of best orders, which is 1 only if the best order of every cell is 1. How "
            "often order 1 is best depends on the gains.",
            "Order 1 is the best in some cells at all gains.",
        ),
        ExperimentClaim(
            "order 4 on average",
            "on average order 4 is the best",
            decide_over_gains(lambda choices: 3.5 <= mean_order(choices) < 4.5),
            f"mean best order {describe_range(mean_order, '.1f')}",
        ),
    ]


def _about_measurements() -> list[ExperimentClaim]:
    few, middle, many = (functools.partial(mean_order, first=f, last=last) for f, last in RANGES_OF_M.values())
    gaps = [gap_between_orders(table) for table in whole_tables().values()]
    ratios = [ratio_between_orders(table) for table in whole_tables().values()]
    return [
        ExperimentClaim(
            "M below 40",
            "for M < 40 the best order is 4 to 6 on average",
            decide_over_gains(lambda choices: 4 <= few(choices) <= 6),
            describe_range(few, ".1f"),
            "Below M = 20 nothing is recovered and all orders are as good; random picks from 1 to 10 average 5.5.",
        ),
        ExperimentClaim(
            "M from 40 to 80",
            "for M from 40 to 80 the mean best order dips",
            decide_over_gains(lambda choices: middle(choices) < few(choices)),
            describe_range(middle, ".1f"),
        ),
        ExperimentClaim(
            "M above 80",
            "for M > 80 the mean best order rises again",
            decide_over_gains(lambda choices: many(choices) > middle(choices)),
            describe_range(many, ".1f"),
        ),
        ExperimentClaim(
            "negligible differences",
            "for large M the differences between orders become negligible, because the error is almost zero",
            combine(gap < NEGLIGIBLE_SHARE for gap in gaps),
            f"for M > 80 the median difference between the worst and the best order is {_span(gaps, '.1g')} of the "
            f"error at M = 1, on {WHOLE_GRID}",
            f"As a ratio it is not: the median of the worst over the best error is {_span(ratios, '.1f')} there.",
        ),
    ]


def _about_nonzeros() -> list[ExperimentClaim]:
    def is_above_three(choices: Choices) -> bool:
        return min(mean_order_by_nonzeros(choices)) > 3

    def does_grow(choices: Choices) -> bool:
        return bool((np.diff(mean_order_by_nonzeros(choices)) > 0).all())

    by_gains, whole = near_best_choices(), study_choices()
    lowest = [min(mean_order_by_nonzeros(choices)) for choices in by_gains.values()]
    counts = ", ".join(map(str, whole.axes["nonzeros"]))
    means = ", ".join(f"{value:.1f}" for value in mean_order_by_nonzeros(whole))
    growing = sum(map(does_grow, by_gains.values()))
    return [
        ExperimentClaim(
            "orders above 3",
            "for every K orders above 3 are needed",
            decide_over_gains(is_above_three),
            f"the lowest mean best order of any K: {_span(lowest, '.1f')}; {WHOLE_GRID} at a = 0.4, "
            f"c = 0.1, K = {counts}: {means}",
        ),
        ExperimentClaim(
            "order and K",
            "the best order grows with K",
            decide_over_gains(does_grow),
            f"at {growing} of {len(by_gains)} gains",
        ),
    ]


def _about_other_methods() -> list[ExperimentClaim]:
    answers, parts = [], []
    for measure, enough, words in (
        ("success_rate", HALF, "half of the signals are recovered"),
        ("relative_error_mean", TENTH, "the mean relative error is at most 0.1"),
    ):
        least = np.concatenate([least_measurements(table, measure, enough) for table in whole_tables().values()])
        first, best_other = least[:, 0], least[:, 1:].min(axis=-1)
        answers += (best_other < first).tolist()
        parts.append(
            f"{words} from M = {_span(first, '.0f')} on at order 1, {_span(best_other, '.0f')} at the best other"
        )
    cells = {axis: shipped("solvers").axes[axis] for axis in ("nonzeros", "measurements")}
    l1 = float(shipped("solvers").at(solver="BasisPursuit").values["success_rate"].mean())
    exact = float(shipped("ascent").at(orders=2, **cells).values["success_rate"].mean())
    spsa = shipped("spsa").at(**cells).mean_over("success_rate", keep=("orders",))
    return [
        ExperimentClaim(
            "least M",
            "high orders reduce the least number of measurements of an almost perfect reconstruction",
            combine(answers),
            f"on average over K {'; '.join(parts)}; an order above 1 needs fewer in {sum(answers)} of {len(answers)} "
            "comparisons (gains, distributions, and these two ways to say almost perfect)",
            "The best of nine orders is compared with one, which favours the nine.",
        ),
        ExperimentClaim(
            "state of the art",
            "the experiment induces the superiority of GDS over the state of the art",
            "true" if spsa.max() > l1 else "false",
            f"the same signals are recovered by basis pursuit in {l1:.0%} of trials, by SPSA in {_span(spsa)}, "
            "depending on the order",
            "The paper compares orders with each other, and with no other method. What limits it is SPSA: with the "
            f"exact gradient order 2 recovers {exact:.0%}.",
            "GDS maximised by 1,000 iterations of SPSA recovers fewer signals than basis pursuit.",
        ),
    ]


def _example() -> ExperimentClaim:
    choices = choose_orders(shipped("spsa").at(distributions="normal", nonzeros=20, measurements=10))
    near = ", ".join(f"{p:g}" for p, is_near in zip(choices.orders, choices.near, strict=True) if is_near)
    return ExperimentClaim(
        "worked example",
        "N = 100, normal, K = 20 %, M = 10: the best order is approximately 4",
        "undecided" if choices.near[choices.orders.index(4.0)] and choices.is_flat else _true_if(choices.order == 4),
        f"best here: order {float(choices.order):g}; as good within one standard error: {near}",
        "Ten measurements of a signal with 20 unknown values leave nothing to choose: no order stands out.",
        'No order stands out. The text says "20 zeros", but the column K = 20 % has 20 non-zeros.',
    )


def _row_order() -> Claim:
    return Claim(
        "row order",
        "section VIII",
        "the four rows of the figure are binomial, normal, uniform and exponential data",
        "misprint",
        "The example finds the normal data in the third row, and the sparsities 0.60, 0.73, 0.76 and 0.79 belong to "
        "binomial, uniform, normal and exponential in this order (see prototypes).",
        "binomial, uniform, normal and exponential",
    )


def share_of_lowest(summary: Summary, name: str) -> float:
    """Return in what share of cells and orders one kind of signal has the lowest relative error."""
    lowest = summary.values["relative_error_mean"].argmin(axis=0)
    return float(np.mean(lowest == summary.axes["distributions"].index(name)))


def _success(name: str) -> float:
    return float(shipped("spsa").at(distributions=name).values["success_rate"].mean())


def gap_between_orders(summary: Summary) -> float:
    """Return, for M > 80, the median difference of the worst and the best order as a share of the error at M = 1."""
    worst, best = _extreme_errors(summary)
    at_one = summary.at(measurements=1).values["mse_mean"].mean(axis=-1)
    return float(np.median((worst - best) / at_one[..., None]))


def ratio_between_orders(summary: Summary) -> float:
    """Return, for M > 80, the median of the error of the worst order over that of the best."""
    worst, best = _extreme_errors(summary)
    return float(np.median(worst / best))


def _extreme_errors(summary: Summary) -> tuple[Array, Array]:
    first, last = RANGES_OF_M["M > 80"]
    errors = summary.at(measurements=range(first, last + 1)).values["mse_mean"]
    return errors.max(axis=-1), errors.min(axis=-1)


def _true_if(holds: object) -> str:
    return "true" if holds else "false"


def _listed(shares: list[float]) -> str:
    return f"{', '.join(f'{share:.0%}' for share in shares[:-1])} and {shares[-1]:.0%}"


def _span(values: Iterable[float], form: str = ".0%") -> str:
    low, high = (format(edge(values), form) for edge in (min, max))
    return low if low == high else f"{low} to {high}"


def convergence_conditions() -> ExperimentClaim:
    """Return what holds of "SPSA converges to the global optimum under general conditions" for S_p."""
    table = shipped("convergence")
    rates: Mapping[int, float] = {
        iterations: float(table.at(iterations=iterations).values["success_rate"].max(axis=-1).mean())
        for iterations in table.axes["iterations"]
    }
    last = max(rates)
    return ExperimentClaim(
        "global convergence",
        "SPSA converges to the global optimum under general conditions (Maryak and Chin 2001)",
        "undecided",
        f"after {last:,} iterations {rates[last]:.0%} of the signals of the convergence study are recovered exactly",
        "Convergence to the global optimum in probability is proved for losses that are three times continuously "
        "differentiable with bounded third derivatives and grow without bound far out, for gains of certain rates, in "
        "one of the two theorems with noise injected into the iterates. The paper checks none of these conditions. S_p "
        "lies between 0 and 1 everywhere, need not have a finite maximum on the solutions of A x = y, and is not "
        "differentiable where a coefficient is zero: the conditions are not met, and the theorems say nothing here.",
    )
