"""The three sentences on top of the page: which signal is the sparsest, where, and what is odd."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Array
from ..signals import REPRESENTATIONS
from .measured_signals import MeasuredSignal
from .rankings import Ranking

ORDER = 2.0
DOMINANT_MEAN = 0.5  # share of the energy that the mean has
DOMINANT_SAMPLE = 0.5  # share of the energy that one sample has
REPEATED_EXTREME = 0.01  # share of samples that are exactly the largest or the smallest: the recorder was overdriven
FEW_LEVELS = 32  # different values of a long signal
LONG = 1000
MOST_NAMES = 4  # of signals that share an oddity


def summarise_signals(
    signals: Sequence[MeasuredSignal], rankings: Sequence[Ranking], missing: Sequence[int] = ()
) -> tuple[str, ...]:
    """Return the sentences that a reader in a hurry should see."""
    return _who(signals, rankings[0]), _where(signals), _strange(signals, missing)


def _who(signals: Sequence[MeasuredSignal], ranking: Ranking) -> str:
    """Say which signal is the sparsest by its samples, and how many metrics agree."""
    if len(signals) == 1:
        signal = signals[0]
        profile = signal.profiles["samples"]
        return (
            f"{signal.name} has a sparsity S₂ of {profile[2]:.2f} in its samples (0: all magnitudes are equal; 1: "
            f"nearly all are zero), and {profile[1]:.2f} by the Gini index."
        )
    best = max(signals, key=lambda signal: signal.profiles["samples"][2])
    agreeing = sum(row.ranks[signals.index(best)] == 1 for row in ranking.lawful)
    return (
        f"{best.name} is the sparsest of the {len(signals)} signals in its samples (S₂ = "
        f"{best.profiles['samples'][2]:.2f}); {agreeing} of the {len(ranking.lawful)} metrics that obey all laws agree."
    )


def _where(signals: Sequence[MeasuredSignal]) -> str:
    """Say which representation makes the signals sparsest."""
    wins = {label: [s.name for s in signals if label in s.sparsest(ORDER)] for label in REPRESENTATIONS}
    words = {"samples": "as samples", "DCT": "in cosines (DCT)", "wavelet": "in wavelets"}
    if len(signals) == 1:
        label = next(label for label, names in wins.items() if names)
        return f"It is sparsest {words[label]} (S₂ = {signals[0].profiles[label][ORDER]:.2f})."
    parts = [f"{len(names)} {words[label]}" for label, names in wins.items() if names]
    return f"Of the {len(signals)} signals, these are sparsest: {', '.join(parts)}."


def _strange(signals: Sequence[MeasuredSignal], missing: Sequence[int]) -> str:
    """Say what is odd, each fact once with the signals that it is true of."""
    names: dict[str, list[str]] = {}
    for k, signal in enumerate(signals):
        for fact in find_oddities(signal.values, missing[k] if k < len(missing) else 0):
            names.setdefault(fact, []).append(signal.name)
    if not names:
        return "Nothing odd was found in the samples."
    return f"Odd: {'; '.join(f'{_list(those)}: {fact}' for fact, those in names.items())}."


def _list(names: Sequence[str]) -> str:
    """List a few names, and say how many more there are."""
    more = len(names) - MOST_NAMES
    if more > 0:
        return f"{', '.join(names[:MOST_NAMES])} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def find_oddities(values: Array, missing: int = 0) -> list[str]:
    """Return what is unusual about samples: missing values, an offset, one huge sample, clipping, few levels, zeros."""
    found = []
    if missing:
        found.append(f"{missing:,} missing or infinite value{'s were' if missing > 1 else ' was'} left out")
    flat = values.ravel() / np.abs(values).max()
    energy = float(np.sum(flat**2))
    if values.ndim == 1 and flat.size * float(np.mean(flat)) ** 2 > DOMINANT_MEAN * energy:
        found.append("the mean has most of the energy, so the sparsity of the samples is that of an offset")
    if float(np.max(flat**2)) > DOMINANT_SAMPLE * energy:
        found.append(f"sample {int(np.argmax(np.abs(flat))):,} alone has most of the energy")
    levels, counts = np.unique(flat, return_counts=True)
    if len(levels) == 1:
        return [*found, "all samples are equal"]
    extremes = max(counts[0], counts[-1]) / flat.size
    if values.ndim == 1 and len(levels) > 2 and levels[0] * levels[-1] < 0 and extremes > REPEATED_EXTREME:
        found.append(
            f"{100 * extremes:.0f} % of the samples are at the largest or smallest value, as if it were clipped"
        )
    if flat.size >= LONG and len(levels) <= FEW_LEVELS:
        found.append(f"it has only {len(levels)} different values")
    zeros = float(np.mean(flat == 0))
    if zeros > REPEATED_EXTREME:
        found.append(f"{100 * zeros:.0f} % of the samples are exactly zero")
    return found
