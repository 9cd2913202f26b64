"""The paper's rule of thumb (end of section VIII): look up the order that recovered such signals best.

    S_p with p = argmin over p of the mean squared error at (distribution, K, M)

in the shipped table of the paper's own experiment. Errors are interpolated between the values of K and M that it has;
`choice.py` decides which order is best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, check_choice, check_count
from ..errors import InvalidInput
from ..rounding import AT_LIMIT, WHOLE
from .choice import Choices, decide, has_paired_errors, lead_errors
from .summary import Summary, shipped

TABLES_WITH_ORDERS = ("spsa", "reweighted")  # of the shipped ones
DEFAULT_SOLVER = "Portfolio"


@dataclass(frozen=True)
class Recommendation:
    """A recommended order, with its expected error and the orders that are nearly as good.

    `expected_mse` is the mean squared error that the order is expected to have, and `standard_error` that of this
    mean; both are in squares of the signal's own units, the non-zeros being ones, U(0, 1), N(0, 1) or Exp(1).
    `near_optimal` are the orders whose lag behind the best is within one standard error of that lag: the more of them
    there are, the flatter the optimum. `default_solver_success_rate` is how often `recover` without a solver finds such
    signals exactly, on a coarser grid of the same study; nan outside that grid.
    """

    order: float
    expected_mse: float
    standard_error: float
    expected_success_rate: float
    near_optimal: tuple[float, ...]
    mse_by_order: dict[float, float]
    standard_error_by_order: dict[float, float]
    message: str
    success_rate_by_order: dict[float, float] = field(default_factory=dict)
    default_solver_success_rate: float = float("nan")


def recommend_order(
    distribution: str, nonzeros: int, measurements: int, *, n: int = 100, solver: str = "spsa"
) -> Recommendation:
    """Return the order of GDS that recovers such signals with the lowest mean squared error.

    Parameters
    ----------
    distribution : {"binomial", "uniform", "normal", "exponential"}
        Of the non-zeros.
    nonzeros, measurements : int
        Counts out of n, any that lie within the table: 10 to 60 % non-zeros and 1 to 99 % measurements.
    n : int
        The length of the signal. The table is for 100; other lengths are looked up by the shares nonzeros / n and
        measurements / n, which is what recovery depends on when n is not small.
    solver : {"spsa", "reweighted"}
        Whose errors count: the paper's SPSA with 1,000 iterations, orders 1 to 10; or `GDSReweighted`, orders 1.5, 2
        and 4. The best order is a property of the solver as well, and of its gains (docs/order.md).

    Returns
    -------
    Recommendation
        `order`, `expected_mse` with its `standard_error`, `near_optimal` and more; `message` says where the choice
        matters little, over how many trials the table's means are, and what the default solver does on such signals.

    Examples
    --------
    The example of the paper (section VIII), which finds "approximately 4" there:

    >>> import sparsegauge as sg
    >>> found = sg.recommend_order("normal", 20, 10)
    >>> len(found.mse_by_order)
    10

    Where signals can be recovered, the default solver does so more often than SPSA at any order:

    >>> found = sg.recommend_order("normal", 20, 60)
    >>> found.default_solver_success_rate > max(found.success_rate_by_order.values())
    True
    """
    check_choice("solver", solver, TABLES_WITH_ORDERS)
    n = check_count("n", n, least=2)
    table = shipped(solver)
    check_choice("distribution", distribution, tuple(table.axes["distributions"]))
    counts = {
        "nonzeros": check_count("nonzeros", nonzeros, least=1),
        "measurements": check_count("measurements", measurements, least=1),
    }
    size = table.manifest["study"]["n"]
    weights = {axis: _weights(table.axes[axis], count, n, size, axis) for axis, count in counts.items()}
    cells = np.multiply.outer(weights["nonzeros"], weights["measurements"])  # of the four cells around, 0 elsewhere
    default = _default_solver(distribution, counts, n)
    return _recommendation(table.at(distributions=distribution), cells, _about(table, n, size), default)


def _weights(grid: tuple[int, ...], count: int, n: int, size: int, axis: str) -> Array:
    """Return weights of the values of an axis whose weighted mean is at count / n: linear interpolation."""
    least, most = grid[0] / size, grid[-1] / size
    share = count / n
    if not least - AT_LIMIT <= share <= most + AT_LIMIT:
        lowest, highest = int(np.ceil(least * n - WHOLE)), int(np.floor(most * n + WHOLE))
        allowed = f"{lowest} to {highest} of n = {n}" if lowest <= highest else f"{least:.0%} to {most:.0%} of n"
        raise InvalidInput(f"{axis} must be within the table, {allowed}, got {count}; "
                           "outside it, run a study of your own (docs/studies.md)")  # fmt: skip
    where = np.interp(share * size, grid, np.arange(len(grid)))
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(np.arange(len(grid)) - where)))


def _recommendation(part: Summary, cells: Array, about: str, default: float) -> Recommendation:
    orders = [float(order) for order in part.axes["orders"]]
    mse = _mean(cells, part.values["mse_mean"])
    error = np.sqrt(_mean(cells**2, part.values["mse_standard_error"] ** 2))
    success = _mean(cells, part.values["success_rate"])
    choice = _decide_between(part, cells, mse, success)
    best = int(choice.best)
    return Recommendation(
        order=orders[best],
        expected_mse=float(mse[best]),
        standard_error=float(error[best]),
        expected_success_rate=float(success[best]),
        near_optimal=tuple(order for order, is_near in zip(orders, choice.near, strict=True) if is_near),
        mse_by_order=dict(zip(orders, mse.tolist(), strict=True)),
        standard_error_by_order=dict(zip(orders, error.tolist(), strict=True)),
        message="; ".join([*_say(choice), about, *_compare(default, success)]),
        success_rate_by_order=dict(zip(orders, success.tolist(), strict=True)),
        default_solver_success_rate=default,
    )


def _decide_between(part: Summary, cells: Array, mse: Array, success: Array) -> Choices:
    """Decide at a point between cells.

    The error of an order's lag behind the best order of the mean is at most the sum of the errors of their two lags
    behind the best order of a cell; in a cell of the table itself it is the error there.
    """
    lags = lead_errors(part)
    behind = lags + lags[..., int(np.argmin(mse)), None]
    behind[..., int(np.argmin(mse))] = 0.0
    spread = np.sqrt(_mean(cells**2, behind**2))
    orders = tuple(float(order) for order in part.axes["orders"])
    return decide(mse, spread, success, axes={}, orders=orders, is_paired=has_paired_errors(part))


def _say(choice: Choices) -> list[str]:
    if choice.all_recover:
        return ["every order recovers such signals"]
    if choice.is_flat:
        near, count = int(choice.near.sum()), len(choice.orders)
        return [f"the choice matters little: {near} of {count} orders are as good within a standard error"]
    return []


def _compare(default: float, success: Array) -> list[str]:
    """State how many such signals the default solver recovers, and how many the table's solver at its best order."""
    if math.isnan(default):
        return ["`recover` without a solver was not tried on such signals"]
    best = f"{100 * success.max():.0f} %"
    return [f"`recover` without a solver finds {100 * default:.0f} % of such signals exactly, the best order {best}"]


def _default_solver(distribution: str, counts: dict[str, int], n: int) -> float:
    """Return the success rate of the default solver at such counts; nan outside its table."""
    table = shipped("solvers").at(solver=DEFAULT_SOLVER, distributions=distribution)
    studies = shipped("solvers").manifest["studies"]
    size = studies[DEFAULT_SOLVER]["study"]["n"]
    try:
        weights = [_weights(table.axes[axis], count, n, size, axis) for axis, count in counts.items()]
    except InvalidInput:  # the table is coarser, and ends earlier
        return float("nan")
    return float(np.sum(np.multiply.outer(*weights) * table.values["success_rate"]))


def _mean(cells: Array, values: NDArray[np.float64]) -> Array:
    """Return the weighted mean over the axes (nonzeros, measurements); what has no weight may be missing."""
    return np.asarray(np.sum(cells[..., None] * values, axis=(0, 1), where=cells[..., None] > 0))


def _about(table: Summary, n: int, size: int) -> str:
    trials = int(table.values["trials"].min())
    length = "" if n == size else f", looked up by shares of n in a table for n = {size}"
    return f"{trials} trials per cell{length}"
