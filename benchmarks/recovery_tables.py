"""The outcomes of benchmarks/recovery.py as one page: `python -m benchmarks.recovery_tables DIRECTORY [OUTPUT.md]`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks.recovery import BOUNDED, CELLS, FREE, RIGHT, SOLVERS, Case, N, Outcome, cases, path_of, read

Results = dict[Case, Outcome]
Kind = tuple[str, str, str]  # signs, distribution, bounds
SIZES = sorted({K for K, _ in CELLS})
ENOUGH = 0.9  # of the trials, for the smallest M

HEAD = """# Recovery: every solver on the same problems

N = {N}, every K in {sizes} with every M = 10, 20, ..., 90 above K; Gaussian A, signals of a random
scale. Success is a relative error below {right:g}. Entries are *alone / with search*: a solver's own last iterate, and
what the search for an exact solution around it makes of that, which is what `recover` returns. At order 1
GDSReweighted maximises the Gini index (Zonoobi, Kassim and Venkatesh, 2011), at order 2 it minimises |x|_1/|x|_2
(Rahimi, Wang, Dong and Lou, 2019). Nothing was tuned on these trials, from number {first} on. One core per problem.

`python -m benchmarks.recovery DIRECTORY` runs what is missing, `python -m benchmarks.recovery_tables DIRECTORY` writes
this page. Trials per cell: {trials}.
"""


def load(directory: Path) -> dict[str, Results]:
    """All outcomes by solver, without the last trial where a run was cut off in the middle of it."""
    loaded = {name: _whole_trials(name, read(path_of(directory, name))) for name in SOLVERS}
    return {name: results for name, results in loaded.items() if results}


def _whole_trials(name: str, results: Results) -> Results:
    numbers = {case.trial for case in results}
    whole = {trial for trial in numbers if all(case in results for case in cases(name, trial, 1))}
    return {case: outcome for case, outcome in results.items() if case.trial in whole}


def of_kind(results: Results, kind: Kind) -> dict[tuple[int, int], list[Outcome]]:
    """The outcomes of one kind of signal, by cell."""
    cells: dict[tuple[int, int], list[Outcome]] = {cell: [] for cell in CELLS}
    for case, outcome in results.items():
        if (case.signs, case.distribution, case.bounds) == kind:
            cells[case.K, case.M].append(outcome)
    return {} if not all(cells.values()) else cells


def rate(outcomes: Iterable[Outcome], field: str) -> float:
    return float(np.mean([getattr(o, field) for o in outcomes]))


def standard_error(cells: dict[tuple[int, int], list[Outcome]], field: str) -> float:
    """Of the mean over cells, which are fixed: from the spread of the trials within each."""
    variance = 0.0
    for outcomes in cells.values():
        if len(outcomes) < 2:
            return math.nan
        p = rate(outcomes, field)
        variance += p * (1 - p) / (len(outcomes) - 1)
    return math.sqrt(variance) / len(cells)


def flat(cells: dict[tuple[int, int], list[Outcome]]) -> list[Outcome]:
    return [outcome for outcomes in cells.values() for outcome in outcomes]


def both(cells: dict[tuple[int, int], list[Outcome]]) -> str:
    return f"{rate(flat(cells), 'alone'):.3f} / {rate(flat(cells), 'searched'):.3f}" if cells else ""


def smallest(cells: dict[tuple[int, int], list[Outcome]], K: int, field: str) -> str:
    """The M from which on every M has enough successes."""
    good = {M: rate(outcomes, field) >= ENOUGH for (k, M), outcomes in cells.items() if k == K}
    enough = [M for M in good if all(good[m] for m in good if m >= M)]
    return str(min(enough)) if enough else "-"


def table(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(columns)} |", "|---" + "|--:" * (len(columns) - 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def titled(kind: Kind) -> str:
    return f"{kind[1]}, {kind[0]}"


def overview(results: dict[str, Results]) -> str:
    """Success of every solver on every kind of signal."""
    rows = [[name, *(both(of_kind(found, kind)) for kind in FREE)] for name, found in results.items()]
    return table(["solver", *map(titled, FREE)], rows)


def details(results: dict[str, Results], kinds: list[Kind]) -> str:
    """Success with its standard errors, certificates and times."""
    columns = ["solver", "alone", "s.e.", "with search", "s.e.", "certified", "false", "mean ms", "median ms", "search"]
    parts = []
    for kind in kinds:
        rows = []
        for name, found in results.items():
            if cells := of_kind(found, kind):
                outcomes = flat(cells)
                times = [outcome.ms for outcome in outcomes]
                rows.append(
                    [
                        name,
                        *(f"{rate(outcomes, 'alone'):.3f}", f"{standard_error(cells, 'alone'):.3f}"),
                        *(f"{rate(outcomes, 'searched'):.3f}", f"{standard_error(cells, 'searched'):.3f}"),
                        *(f"{rate(outcomes, 'certified'):.3f}", str(sum(outcome.false for outcome in outcomes))),
                        *(f"{np.mean(times):.1f}", f"{np.median(times):.1f}", f"{rate(outcomes, 'search_ms'):.1f}"),
                    ]
                )
        title = titled(kind) + ("" if kind[2] == "none" else f", {kind[2]}")
        parts.append(f"### {title.capitalize()}\n\n{table(columns, rows)}")
    return "\n\n".join(parts)


def smallest_m(results: dict[str, Results]) -> str:
    """One table a kind of signal: the measurements that every solver needs."""
    parts = []
    for kind in FREE:
        rows = []
        for name, found in results.items():
            if cells := of_kind(found, kind):
                entries = [f"{smallest(cells, K, 'alone')} / {smallest(cells, K, 'searched')}" for K in SIZES]
                rows.append([name, *entries])
        parts.append(f"### {titled(kind).capitalize()}\n\n{table(['solver', *(f'K = {K}' for K in SIZES)], rows)}")
    return "\n\n".join(parts)


def bounded(results: dict[str, Results]) -> str:
    """With bounds, beside the same solver without them on the same problems."""

    def common(found: Results, kind: Kind) -> list[str]:
        free, kept = of_kind(found, (*kind[:2], "none")), of_kind(found, kind)
        return [both(free), both(kept)] if kept else ["", ""]

    columns = ["solver"]
    for kind in BOUNDED:
        columns += [f"{kind[1]}: free", "0 <= x <= max x" if kind[2] == "box" else "x >= 0"]
    rows = [[name, *(entry for kind in BOUNDED for entry in common(found, kind))] for name, found in results.items()]
    return table(columns, (row for row in rows if any(row[1:])))


def troubles(results: dict[str, Results]) -> str:
    """False certificates and errors, wherever they are."""
    every = [(name, outcome) for name, found in results.items() for outcome in found.values()]
    false, certified = (sum(getattr(o, field) for _, o in every) for field in ("false", "certified"))
    raised = [f"{name} ({outcome.error})" for name, outcome in every if outcome.error]
    lines = [f"{false} of {certified:,} certificates were false, in {len(every):,} runs."]
    if raised:
        lines.append(f"{len(raised)} runs ended with an error: {', '.join(sorted(set(raised)))}.")
    return " ".join(lines)


def page(results: dict[str, Results]) -> str:
    trials = {name: len({case.trial for case in found}) for name, found in results.items()}
    usual = max(set(trials.values()), key=list(trials.values()).count)
    others = "".join(f", {name} {count}" for name, count in trials.items() if count != usual)
    first = min(case.trial for found in results.values() for case in found)
    sections: list[tuple[str, Callable[[], str]]] = [
        ("Success", lambda: overview(results)),
        (f"The smallest M from which on {100 * ENOUGH:.0f} % succeed", lambda: smallest_m(results)),
        ("Positive signals with bounds", lambda: bounded(results)),
        ("Standard errors, certificates, times", lambda: details(results, FREE + BOUNDED)),
    ]
    head = HEAD.format(N=N, sizes=", ".join(map(str, SIZES)), right=RIGHT, first=first, trials=f"{usual}{others}")
    body = "\n\n".join(f"## {title}\n\n{content()}" for title, content in sections)
    return f"{head}\n{troubles(results)}\n\n{body}\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery_tables", description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("output", type=Path, nargs="?", default=Path("docs/recovery_results.md"))
    options = parser.parse_args()
    results = load(options.directory)
    if not results:
        raise SystemExit(f"{options.directory} holds no whole trial of any solver: run benchmarks.recovery first")
    options.output.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
