"""Reconstructions a second in the paper's study: ours, and the same study written with noisyopt and NumPy.

Both meet the same cells, orders and trials, and take the same number of iterations. noisyopt knows box bounds and no
equations, so that its objective projects its argument onto A x = y before it measures, by the shortest formula for
the order (benchmarks/spsa.py); its result is projected once more. Each is timed on one thread, in turns.
"""

import dataclasses
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import noisyopt
import numpy as np

import sparsegauge as sg
from sparsegauge.study.axes import Cell
from sparsegauge.study.run import draw_trial, run_cell

from .spsa import definition, objective, shortcut

PAPER = Path(__file__).parents[1] / "studies" / "paper.toml"
ORDERS = (1, 2, 3, 4, 7, 10)
CELLS = [Cell((name, nonzeros, m), 0, 1) for name in ("binomial", "normal") for nonzeros, m in ((10, 30), (40, 70))]
ROUNDS = 3
WORKERS = 2


def peer(study: sg.Study, cell: Cell) -> None:
    """One cell, as somebody would write it with noisyopt and NumPy."""
    trial = draw_trial(study, cell, cell.first)
    B = np.linalg.svd(trial.A, full_matrices=False)[2]
    b = B @ trial.x
    start = B.T @ b
    unit = np.sqrt(np.mean(start**2))
    for order in study.orders:
        formula = shortcut if order <= 4 else definition
        function = objective(formula, int(order), B, b / unit)
        options = {"niter": study.solver.iterations, "a": 1.0, "c": 0.1, "paired": False}
        found = noisyopt.minimizeSPSA(function, start / unit, **options)
        _ = found.x + B.T @ (b / unit - B @ found.x)


def seconds(work, cells: list[Cell]) -> float:
    began = time.perf_counter()
    for cell in cells:
        work(cell)
    return time.perf_counter() - began


def throughput() -> str:
    paper = sg.Study.from_toml(PAPER)
    study = dataclasses.replace(paper, orders=ORDERS)
    ours, theirs = (lambda cell: run_cell(study, cell)), (lambda cell: peer(study, cell))
    ours(CELLS[0])  # compile
    count = len(CELLS) * len(ORDERS)
    times = np.array([(seconds(ours, CELLS), seconds(theirs, CELLS)) for _ in range(ROUNDS)]).min(axis=0)
    rates = count / times
    lines = [
        f"{paper.solver.iterations:,} iterations a reconstruction, N = {paper.n}, one thread, "
        f"orders {', '.join(map(str, ORDERS))}.",
        "",
        "| | reconstructions a second | ratio |",
        "|---|--:|--:|",
        f"| sparsegauge | {rates[0]:,.0f} | {rates[0] / rates[1]:.0f} |",
        f"| noisyopt and NumPy | {rates[1]:,.1f} | 1 |",
        "",
        f"At this rate all {paper.total:,} reconstructions of the paper take "
        f"{_whole_grid(paper) / 60:.0f} minutes of one core. {_workers(paper)}",
    ]
    return "\n".join(lines)


def _whole_grid(paper: sg.Study) -> float:
    """Seconds, from a sample of cells at all ten orders."""
    sample = [dataclasses.replace(cell, measurements=m) for cell in CELLS for m in (5, 50, 95)]
    run_cell(paper, sample[0])
    return seconds(lambda cell: run_cell(paper, cell), sample) / (len(sample) * len(paper.orders)) * paper.total


def _workers(paper: sg.Study) -> str:
    cells = [Cell(("normal", 20, m), 0, 4) for m in range(4, 100, 4)]
    times = {}
    for _ in range(ROUNDS):
        for workers in (1, WORKERS):
            with ThreadPoolExecutor(workers) as pool:
                began = time.perf_counter()
                list(pool.map(lambda cell: run_cell(paper, cell), cells))
                times[workers] = min(times.get(workers, np.inf), time.perf_counter() - began)
    return f"{WORKERS} threads are {times[1] / times[WORKERS]:.2f} x as fast as one ({os.cpu_count()} cores)."


if __name__ == "__main__":
    print(throughput())
