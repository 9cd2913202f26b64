"""Times, best of several, with the yardstick measured in between: ratios survive a noisy machine."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a table: a measured ratio beside what was asked for."""

    case: str
    milliseconds: float
    ratio: float
    limit: float

    @property
    def verdict(self) -> str:
        return "met" if self.ratio <= self.limit else "**missed**"


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(
    case: str,
    ours: Callable[[], object],
    yardstick: Callable[[], object],
    limit: float,
    *,
    repeats: int = 9,
    calls: int = 1,
) -> Row:
    """The best time of `ours` over the best time of `yardstick`, the two taken in turns; `calls` a measurement."""

    def many(function: Callable[[], object]) -> Callable[[], object]:
        return (lambda: [function() for _ in range(calls)]) if calls > 1 else function

    ours()  # compile, and warm the caches
    times = [(seconds(many(ours)), seconds(many(yardstick))) for _ in range(repeats)]
    best, base = (min(column) / calls for column in zip(*times, strict=True))
    return Row(case, best * 1e3, best / base, limit)


def fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    return done.stdout


def table(rows: list[Row], unit: str) -> str:
    lines = [f"| case | time | {unit} | at most | |", "|---|--:|--:|--:|---|"]
    for row in rows:
        lines.append(f"| {row.case} | {duration(row.milliseconds)} | {row.ratio:.2f} | {row.limit:g} | {row.verdict} |")
    return "\n".join(lines)


def duration(milliseconds: float) -> str:
    if milliseconds < 0.1:
        return f"{milliseconds * 1e3:.1f} µs"
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1e3:.3g} s"
