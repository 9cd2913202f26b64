"""The generated parts of docs/order.md, from the tables that ship with the package."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import sparsegauge as sg
from sparsegauge.plots.style import name_of
from sparsegauge.study import gain_ranges, section_viii
from sparsegauge.study.choice import choose_orders
from sparsegauge.study.summary import Summary, shipped

FOURS = ("binomial", "uniform", "normal", "exponential")


def parts() -> dict[str, str]:
    return {
        "claims": claims(),
        "winners": winners(),
        "paired": paired(),
        "literal": literal(),
        "whole grids": whole_grids(),
        "random signs": random_signs(),
        "ranges": ranges(),
        "example": example(),
        "gains": gains(),
        "convergence": convergence(),
        "real orders": real_orders(),
        "solvers": solvers(),
        "noise": noise(),
        "real data": real_data(),
    }


def rows(header: list[str], body: list[list[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|---|" + "--:|" * (len(header) - 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in body])


def claims() -> str:
    """What the paper says of its figures, and the same read off our tables."""
    found = [*section_viii.findings(), section_viii.convergence_conditions()]
    body = [[finding.claim, finding.verdict, finding.figures] for finding in found]
    notes = [f"- *{finding.claim}*: {finding.note}" for finding in found if finding.note]
    table = rows(["the paper", "verdict", "here"], body).replace("--:|", "---|")
    return "\n".join([table, "", *notes])


def literal() -> str:
    """The same statistics for SPSA as it is written in textbooks, and for ours on the same cells."""
    table = shipped("literal")
    tables = {f"literal, a = {a:g}, c = 0.002": table.at(a=a) for a in table.axes["a"]}
    tables |= {f"ours, {label}": part for label, part in gain_ranges.near_best_gains().items()}
    return statistics(tables)


def whole_grids() -> str:
    """The same statistics on the whole grid, at all gains at which it was run."""
    return statistics(gain_ranges.whole_tables() | {"a = 1.6, c = 0.1": shipped("paper_long_steps")})


def statistics(tables: Mapping[str, Summary]) -> str:
    """How often which orders are best, and the mean best order for few, some and many measurements."""
    body = []
    for label, part in tables.items():
        found = choose_orders(part)
        shares = [f"{gain_ranges.share_best(found, low, high):.0%}" for low, high in ((1, 1), (2, 7))]
        means = [f"{gain_ranges.mean_order(found, *span):.1f}" for span in gain_ranges.RANGES_OF_M.values()]
        error = part.values["mse_mean"].min(axis=-1).mean()
        trials = str(int(part.values["trials"].min()))
        body.append([label, trials, f"{error:.4f}", *shares, *means])
    header = [
        "gains",
        "trials per cell",
        "error at the best order",
        "order 1 is best",
        "orders 2 to 7",
        *gain_ranges.RANGES_OF_M,
    ]
    return rows(header, body)


def paired() -> str:
    """Clear leads by the errors of paired differences, and by the separate errors, on the cells that have both."""
    table = shipped("spsa").at(measurements=range(10, 100, 10))
    separate = Summary(
        table.axes, {name: held for name, held in table.values.items() if name != "mse_lead_error"}, table.manifest
    )
    body = []
    for label, part in (("paired differences", table), ("separate errors", separate)):
        found = choose_orders(part)
        clear = [int(np.sum((found.order == p) & found.is_clear)) for p in table.axes["orders"]]
        near = found.near[found.is_open].sum(axis=-1).mean()
        body.append([label, *map(str, clear), f"{sum(clear)} of {found.is_open.sum()}", f"{near:.1f}"])
    orders = (f"p = {order:g}" for order in table.axes["orders"])
    return rows(["standard errors of", *orders, "clear leads", "orders as good as the best"], body)


def random_signs() -> str:
    """In how many cells each order is best, as drawn and with random signs, on the same cells."""
    cells = {"nonzeros": [10, 20, 40], "measurements": list(range(10, 100, 10))}
    body = []
    for label, table in (("as drawn", shipped("spsa").at(**cells)), ("random signs", shipped("random_signs"))):
        found = choose_orders(table)
        for i, name in enumerate(found.axes["distributions"]):
            order = found.order[i][found.is_open[i]]
            shares = [f"{np.mean(order == 1):.0%}", f"{np.mean((order >= 2) & (order <= 7)):.0%}"]
            body.append([f"{label}, {name_of(name)}", str(len(order)), *shares, f"{order.mean():.1f}"])
    return rows(["signs, non-zeros", "cells", "order 1 is best", "orders 2 to 7", "mean best order"], body)


def winners() -> str:
    """In how many cells each order is best, and in how many by more than two standard errors."""
    table = shipped("spsa")
    orders = table.axes["orders"]
    choices = choose_orders(table)
    best, live = choices.order, choices.is_open
    clear = choices.is_clear
    body = []
    for i, name in enumerate(table.axes["distributions"]):
        cells = [f"{np.sum((best[i] == p) & live[i])} ({np.sum((best[i] == p) & clear[i])})" for p in orders]
        body.append([name_of(name), str(live[i].sum()), *cells])
    return rows(["non-zeros", "cells", *(f"p = {order:g}" for order in orders)], body)


def ranges() -> str:
    """The mean best order where M is small, middling and large, and what order 2 costs against the best one."""
    table = shipped("spsa")
    choices = choose_orders(table)
    best, live = choices.order, choices.is_open
    mse = table.values["mse_mean"]
    excess = mse[..., table.axes["orders"].index(2)] / mse.min(axis=-1)
    worst = mse.max(axis=-1) / mse.min(axis=-1)
    body = []
    for label, first, last in (("M < 40", 1, 39), ("40 to 80", 40, 80), ("M > 80", 81, 99)):
        cells = slice(first - 1, last)
        for i, name in enumerate(table.axes["distributions"]):
            chosen = live[i, :, cells]
            if not chosen.any():
                body.append([f"{label}, {name_of(name)}", "0", "", "", "", ""])
                continue
            order = best[i, :, cells][chosen]
            body.append(
                [
                    f"{label}, {name_of(name)}",
                    str(chosen.sum()),
                    f"{order.mean():.1f} ± {order.std() / np.sqrt(len(order)):.1f}",
                    f"{np.mean(order == 1):.0%}",
                    f"{np.median(excess[i, :, cells][chosen]) - 1:.1%}",
                    f"{np.median(worst[i, :, cells][chosen]):.2f}",
                ]
            )
    header = ["measurements, non-zeros", "cells", "mean best order", "order 1 is best", "order 2 costs", "worst / best"]
    return rows(header, body)


def example() -> str:
    """The paper's worked example."""
    found = sg.recommend_order("normal", 20, 10)
    errors = [
        f"{found.mse_by_order[p]:.4f} ± {found.standard_error_by_order[p]:.4f}" for p in sorted(found.mse_by_order)
    ]
    near = ", ".join(f"{order:g}" for order in found.near_optimal)
    table = rows(["order", *(f"{p:g}" for p in sorted(found.mse_by_order))], [["mean squared error", *errors]])
    return f"{table}\n\nBest: order {found.order:g}. Within one standard error of it: {near}."


def gains() -> str:
    """The best order for each pair of gains, and the error there."""
    table = shipped("gains")
    mean = table.mean_over("mse_mean", keep=("a", "c", "orders"))
    orders = np.asarray(table.axes["orders"])
    body = []
    for i, a in enumerate(table.axes["a"]):
        cells = [f"p = {orders[np.argmin(line)]:g} ({line.min():.3g}; p = 1: {line[0]:.3g})" for line in mean[i]]
        body.append([f"a = {a:g}", *cells])
    return rows(["", *(f"c = {c:g}" for c in table.axes["c"])], body)


def convergence() -> str:
    """The geometric mean of the error over all sampled cells against the number of iterations."""
    table = shipped("convergence")
    mean = np.exp(np.log(table.values["mse_median"]).mean(axis=(1, 2, 3)))
    rate = table.values["success_rate"].mean(axis=(1, 2, 3))
    body = [
        [f"{iterations:,}", *(f"{value:.2g} ({success:.2f})" for value, success in zip(line, found, strict=True))]
        for iterations, line, found in zip(table.axes["iterations"], mean, rate, strict=True)
    ]
    return rows(["iterations", *(f"p = {order:g}" for order in table.axes["orders"])], body)


def real_orders() -> str:
    """The geometric mean of the error over M and K at orders 1.0 to 2.0."""
    table = shipped("real_orders")
    mean = np.exp(np.log(table.values["mse_mean"]).mean(axis=(1, 2)))
    body = []
    for name, line in zip(table.axes["distributions"], mean, strict=True):
        cells = [f"**{value:.3g}**" if value == line.min() else f"{value:.3g}" for value in line]
        body.append([name_of(name), *cells])
    return rows(["non-zeros", *(f"{order:.1f}" for order in table.axes["orders"])], body)


def solvers() -> str:
    """The success rate over the cells M > K of the coarse grid; trials are the same, though not as many for all."""
    cells = {"nonzeros": [10, 20, 40], "measurements": list(range(10, 100, 10))}
    lines: dict[str, NDArray[np.float64]] = {}
    table = shipped("solvers")
    for solver in table.axes["solver"]:
        lines[f"`{solver}`"] = table.at(solver=solver).values["success_rate"]
    for name, label in (("reweighted", "`GDSReweighted`"), ("ascent", "`GDSAscent`"), ("spsa", "`SPSA`, 1,000 steps")):
        part = shipped(name).at(**cells)
        for order in (order for order in (1, 1.5, 2, 4, 10) if order in part.axes["orders"]):
            lines[f"{label}, order {order:g}"] = part.at(orders=order).values["success_rate"]
    more = np.less.outer(cells["nonzeros"], cells["measurements"])
    body = [[label, *(f"{rate[i][more].mean():.3f}" for i in range(len(FOURS)))] for label, rate in lines.items()]
    body.sort(key=lambda row: -sum(map(float, row[1:])))
    return rows(["solver", *map(name_of, FOURS)], body)


def noise() -> str:
    """The median relative error over cells at each signal-to-noise ratio."""
    body = []
    for name, label in (("noise", "`GDSReweighted`"), ("noise_spsa", "`SPSA`")):
        table = shipped(name)
        places = tuple(list(table.axes).index(axis) for axis in ("distributions", "nonzeros", "measurements"))
        median = np.median(table.values["relative_error_mean"], axis=places)  # noise, order
        for j, order in enumerate(table.axes["orders"]):
            body.append([f"{label}, order {order:g}", *(f"{value:.3f}" for value in median[:, j])])
    return rows(["solver", *(f"{ratio:g} dB" for ratio in shipped("noise").axes["noise_db"])], body)


def real_data() -> str:
    """The relative error from half as many measurements as coefficients, at the best order."""
    body = []
    for name in shipped("real_data").axes["distributions"]:
        row = [name_of(name)]
        for table in (shipped("real_data"), shipped("real_data_spsa")):
            part = table.at(distributions=name, measurements=32)
            for nonzeros in (13, 64):
                cell = part.at(nonzeros=nonzeros)
                mean, error = cell.values["relative_error_mean"], cell.values["relative_error_standard_error"]
                k = int(np.argmin(mean))
                row.append(f"{mean[k]:.3f} ± {error[k]:.3f} (p = {cell.axes['orders'][k]:g})")
        body.append(row)
    kinds = [f"{solver}, {kept}" for solver in ("GDSReweighted", "SPSA") for kept in ("13 largest", "all 64")]
    return rows(["data", *kinds], body)
