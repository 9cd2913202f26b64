"""Run every study behind the shipped tables and docs/order.md, and summarise them: `make studies`.

Each study has a store of its own below build/studies. Whatever is finished is skipped, so the command can be cut off at
any moment and typed again; all of it takes about three hours of one core. `--only NAME` runs or summarises one.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import sparsegauge as sg
from sparsegauge.study.summary import Summary, put_together, summarise

ROOT = Path(__file__).parent
STORES = ROOT.parent / "build" / "studies"
SHIPPED = ROOT.parent / "src" / "sparsegauge" / "study" / "shipped"

FILES = {  # name of the table -> file
    "spsa": "paper",
    "reweighted": "reweighted",
    "gains": "gains",
    "paper_gains": "paper_gains",
    "paper_short_steps": "paper_short_steps",
    "paper_long_steps": "paper_long_steps",
    "literal": "literal",
    "random_signs": "random_signs",
    "real_orders": "real_orders",
    "noise": "noise",
    "noise_spsa": "noise_spsa",
    "real_data": "real_data",
    "real_data_spsa": "real_data_spsa",
}
ITERATIONS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
SOLVERS = {
    "Portfolio": sg.Portfolio(),
    "EP": sg.EP(),
    "SBL": sg.SBL(),
    "IRLS": sg.IRLS(),
    "ReweightedL1": sg.ReweightedL1(),
    "BasisPursuit": sg.BasisPursuit(),
    "OMP": sg.OMP(),
    "MinimumNorm": sg.MinimumNorm(),
}


def paper(**changes: object) -> sg.Study:
    """The paper's study with something changed."""
    return dataclasses.replace(sg.Study.from_toml(ROOT / "paper.toml"), **changes)


def coarse(solver: object, **changes: object) -> sg.Study:
    """Some cells of the paper's grid, which have the same trials as there."""
    cells = {"nonzeros": [10, 20, 40], "measurements": range(10, 100, 10), "repeats": 20}
    return paper(**cells | {"solver": solver} | changes)


def convergence() -> Iterator[tuple[int, sg.Study]]:
    solver = paper().solver
    for iterations in ITERATIONS:
        chosen = {"measurements": [30, 50, 70, 90], "orders": [1, 2, 3, 4, 6, 10], "repeats": 5}
        yield iterations, coarse(dataclasses.replace(solver, iterations=iterations), **chosen)


def solvers() -> Iterator[tuple[str, sg.Study]]:
    for name, solver in SOLVERS.items():
        yield name, coarse(solver, repeats=5 if name == "Portfolio" else 10, orders=())


def finished(name: str, study: sg.Study) -> Summary:
    """Run what is missing of a study."""
    store = STORES / name
    store.parent.mkdir(parents=True, exist_ok=True)
    print(f"{name}: {study.total:,} reconstructions", flush=True)
    sg.run_study(study, store)
    return summarise(store)


def table(name: str) -> Summary:
    if name in FILES:
        return finished(name, sg.Study.from_toml(ROOT / f"{FILES[name]}.toml"))
    if name == "convergence":
        return put_together("iterations", {k: finished(f"convergence_{k}", study) for k, study in convergence()})
    if name == "solvers":
        return put_together("solver", {key: finished(f"solver_{key}", study) for key, study in solvers()})
    return finished("ascent", coarse(sg.GDSAscent(), repeats=10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["solvers", "convergence", "ascent", *FILES]
    parser.add_argument("--only", choices=names, action="append", help="this table alone; may be repeated")
    for name in parser.parse_args().only or names:
        table(name).save(SHIPPED / f"{name}.npz")
        print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
