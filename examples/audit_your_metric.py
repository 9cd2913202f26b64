"""Audit your own sparsity metric: which laws it violates, with counterexamples that can be recomputed.

The example is a common metric, the share of the energy in the largest tenth of the coefficients. Its function accepts
any numbers, so the audit can call it with fractions and obtain exact values.
"""

import argparse
import json
import textwrap
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import sparsegauge as sg

MUST = {"<": "should fall", "=": "should stay", ">": "should rise"}
Pairs = list[tuple[str, int]]


def top_tenth(x: np.ndarray) -> float:
    """Return the share of the energy in the largest tenth of the coefficients, at least one of them."""
    energy = np.sort(np.abs(x) ** 2)
    kept = -(-len(energy) // 10)
    return energy[-kept:].sum() / energy.sum()


def signal(pairs: Pairs) -> np.ndarray:
    """Return the [value, count] pairs of a counterexample as an array of fractions."""
    return np.array([Fraction(value) for value, count in pairs for _ in range(count)], dtype=object)


def draw(ax: plt.Axes, counterexample: dict) -> None:
    """Draw the signal before and after a step, each with its value of the metric."""
    criterion = sg.CRITERIA[counterexample["criterion"]]
    start = 0
    for key, colour in (("before", "#0072b2"), ("after", "#d55e00")):
        heights = signal(counterexample[key]).astype(float)
        places = start + np.arange(len(heights))
        ax.vlines(places, 0, heights / heights.max(), color=colour, linewidth=4)
        ax.plot(places, heights / heights.max(), "o", color=colour)
        value = Fraction(counterexample[f"value_{key}"])
        shown = value if value.denominator < 1000 else f"{float(value):.4f}"
        ax.text(places.mean(), 1.12, shown, ha="center", color=colour)
        start += len(heights) + 1
    ax.set(title=f"{criterion.name}: {MUST[criterion.relation]}", ylim=(-0.05, 1.3), xticks=[], yticks=[])
    ax.set(xlabel=textwrap.fill(criterion.transformation, 30), xlim=(-1, start - 1))
    ax.spines[["top", "right", "left"]].set_visible(False)


def main(output: str) -> None:
    """Print the verdicts, recompute one by hand, draw the counterexamples."""
    audit = sg.audit(top_tenth, budget=1000)
    for key, verdict in audit.verdicts.items():
        print(f"{key:10} {sg.CRITERIA[key].name:22} {verdict.status}")
    print(f"\n{audit['P3']}\n")
    counterexample = audit["P3"].counterexample
    before, after = (top_tenth(signal(counterexample[key])) for key in ("before", "after"))
    print(f"by hand: {before} -> {after}, though the rich gave to the poor")
    print(f"verified from its JSON: {sg.verify(json.dumps(counterexample), metric=top_tenth)}")
    others = {name: sg.verify(counterexample, metric=sg.METRICS[name].function) for name in ("gini", "hoyer", "gds")}
    print(f"does the same step mislead others? {others}")

    plt.switch_backend("Agg")
    broken = [key for key in audit.violated if key != "P7_literal"]  # no metric of the catalogue keeps that one
    figure, axes = plt.subplots(1, len(broken), figsize=(2.6 * len(broken), 3.2), layout="constrained")
    for ax, key in zip(axes, broken, strict=True):
        draw(ax, audit[key].counterexample)
    figure.suptitle("Energy in the largest tenth: before (blue) and after (orange)")
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="audit_your_metric.png", help="where the figure goes")
    main(parser.parse_args().output)
