"""The paper's rule of thumb (end of section VIII): look the order up that recovered such signals best.

    S_p with p = argmin over p of the mean squared error at (distribution, K, M)

in the shipped table of the paper's own experiment. Errors are interpolated between the values of K and M that it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, check_choice, check_count
from ..errors import InvalidInput
from .summary import Summary, shipped

TABLES = ("spsa", "reweighted")  # those of the shipped ones that have a solver's errors over the orders
FLAT = 2 / 3  # of the orders: more of them within a standard error, and the choice matters little
RECOVERED = 0.99  # a success rate of all orders: what is left of their errors is rounding, and noise picks the lowest


@dataclass(frozen=True)
class Recommendation:
    """An order, and what speaks for it.

    `expected_mse` is the mean squared error that the order is expected to have, and `standard_error` that of this
    mean; both are in squares of the signal's own units, the non-zeros being ones, U(0, 1), N(0, 1) or Exp(1).
    `near_optimal` are the orders whose expected error is within one standard error of it: the more of them there
    are, the flatter the optimum.
    """

    order: float
    expected_mse: float
    standard_error: float
    expected_success_rate: float
    near_optimal: tuple[float, ...]
    mse_by_order: dict[float, float]
    standard_error_by_order: dict[float, float]
    message: str


def recommend_order(
    distribution: str, nonzeros: int, measurements: int, *, n: int = 100, solver: str = "spsa"
) -> Recommendation:
    """The order of GDS that recovers such signals with the lowest mean squared error.

    Parameters
    ----------
    distribution : {"binomial", "uniform", "normal", "exponential"}
        Of the non-zeros.
    nonzeros, measurements : int
        Counts out of n. The table has 10 to 60 % non-zeros and 1 to 99 % measurements.
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
        matters little, and over how many trials the table's means are.

    Examples
    --------
    The example of the paper (section VIII), which finds "approximately 4" there:

    >>> import sparsegauge as sg
    >>> found = sg.recommend_order("normal", 20, 10)
    >>> len(found.mse_by_order)
    10
    """
    check_choice("solver", solver, TABLES)
    n = check_count("n", n, least=2)
    table = shipped(solver)
    check_choice("distribution", distribution, tuple(table.axes["distributions"]))
    counts = {
        "nonzeros": check_count("nonzeros", nonzeros, least=1),
        "measurements": check_count("measurements", measurements, least=1),
    }
    size = table.manifest["study"]["n"]
    weights = {axis: _weights(table.axes[axis], count, n, size, axis) for axis, count in counts.items()}
    part = table.at(distributions=distribution)
    return _recommendation(part, weights["nonzeros"], weights["measurements"], _about(table, n, size))


def _weights(grid: tuple[int, ...], count: int, n: int, size: int, axis: str) -> Array:
    """Of the values of an axis, so that their mean is at count / n: linear interpolation."""
    least, most = grid[0] / size, grid[-1] / size
    share = count / n
    if not least - 1e-12 <= share <= most + 1e-12:
        lowest, highest = int(np.ceil(least * n - 1e-9)), int(np.floor(most * n + 1e-9))
        allowed = f"{lowest} to {highest} of n = {n}" if lowest <= highest else f"{least:.0%} to {most:.0%} of n"
        raise InvalidInput(f"{axis} must be within the table, {allowed}, got {count}; "
                           "outside it, run a study of your own (docs/studies.md)")  # fmt: skip
    where = np.interp(share * size, grid, np.arange(len(grid)))
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(np.arange(len(grid)) - where)))


def _recommendation(part: Summary, by_nonzeros: Array, by_measurements: Array, note: str) -> Recommendation:
    cells = np.multiply.outer(by_nonzeros, by_measurements)  # weights of the four cells around, 0 elsewhere
    orders = [float(order) for order in part.axes["orders"]]
    mse = _mean(cells, part.values["mse_mean"])
    error = np.sqrt(_mean(cells**2, part.values["mse_standard_error"] ** 2))
    best = int(np.argmin(mse))
    success = _mean(cells, part.values["success_rate"])
    near = tuple(order for order, value in zip(orders, mse, strict=True) if value <= mse[best] + error[best])
    notes = [note] * bool(note)
    if success.min() >= RECOVERED:
        notes.insert(0, "every order recovers such signals")
    elif len(near) >= FLAT * len(orders):
        notes.insert(0, f"the choice matters little: {len(near)} of {len(orders)} orders are within a standard error")
    return Recommendation(
        orders[best],
        float(mse[best]),
        float(error[best]),
        float(success[best]),
        near,
        dict(zip(orders, mse.tolist(), strict=True)),
        dict(zip(orders, error.tolist(), strict=True)),
        "; ".join(notes),
    )


def _mean(cells: Array, values: NDArray[np.float64]) -> Array:
    """Over the axes (nonzeros, measurements), weighted; what has no weight may be missing."""
    return np.asarray(np.sum(cells[..., None] * values, axis=(0, 1), where=cells[..., None] > 0))


def _about(table: Summary, n: int, size: int) -> str:
    trials = int(table.values["trials"].min())
    length = "" if n == size else f", looked up by shares of n in a table for n = {size}"
    return f"{trials} trials a cell{length}"
