"""`make bench`: print every table and write docs/benchmarks.md with its picture."""

import os
import platform
from pathlib import Path

import numpy as np

import sparsegauge as sg
from sparsegauge import _compiled

from . import catalogue, formulas, speed, spsa, startup, studies
from .timing import table

DOCS = Path(__file__).parents[1] / "docs"


def machine() -> str:
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}, "
        f"sparsegauge {sg.__version__} (compiled variant {_compiled.variant}). The time of `numpy.sort` depends on the "
        f"widest instructions that NumPy finds: here {widest_instructions()}."
    )


def widest_instructions() -> str:
    """The best of the instruction sets that NumPy was built for and this processor has."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]
    return (found.get("found") or found["baseline"])[-1]


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(10**6)
    sections = ["# Benchmarks", "", f"Written by `make bench`. {machine()}", ""]

    def section(title: str, text: str) -> None:
        print(f"\n## {title}\n\n{text}", flush=True)
        sections.extend([f"## {title}", "", text, ""])

    section(
        "Definition, the paper's formulas, and ours",
        "![Time and error of three ways to compute the same number](formulas.png)\n\n"
        "The even and odd formulas of the paper's section VI are exact algebra, but their terms cancel in float64. "
        "Errors are relative to all pairs summed in 80-bit arithmetic; a relative error of 1 means that no digit is "
        f"right. Times are for N = {formulas.TIMED:,}, errors for N = {formulas.CHECKED:,}.\n\n"
        + formulas.measure(DOCS / "formulas.png"),
    )
    million = speed.integer_orders(x)
    section("Integer orders", table(million, "over numpy.sort"))
    section("Real orders", table(speed.real_orders(), "over numpy.sort"))
    section("Profile", table(speed.profile(x), "over numpy.sort"))
    section("Gradients", table(speed.gradients(rng), "over numpy.argsort"))
    section("Batches", table(speed.batches(rng), "over numpy.sort"))
    section("One short vector", table(speed.one_vector(rng), "over numpy.sort"))
    section("Columns, and other kinds of numbers", table(speed.kinds_of_memory(rng), "ratio"))
    section("The catalogue: 20,000 signals of 100 coefficients", table(catalogue.batch(rng), "over numpy.sort"))
    section("SPSA: one iteration at N = 100, M = 50", spsa.iteration())
    section("The paper's study", studies.throughput())
    section("Ten million coefficients", table(speed.large(rng, million), "ratio"))
    section("The first call in a fresh process, from an installed wheel", table(startup.first_calls(), "ratio"))
    section("Memory", speed.memory())
    (DOCS / "benchmarks.md").write_text("\n".join(sections), encoding="utf-8")
    print(f"\nwritten to {DOCS / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
