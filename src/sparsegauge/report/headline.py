"""The three sentences on top of the page: which signal is the sparsest, where, and what is odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..signals import REPRESENTATIONS
from .measured_signals import MeasuredSignal
from .rankings import Ranking

ORDER = 2.0
DOMINANT_MEAN_SHARE = 0.5  # of the energy
DOMINANT_SAMPLE_SHARE = 0.5  # of the energy
CLIPPED_SHARE = 0.01  # of samples that equal the largest or the smallest: the recorder was overdriven
FEW_LEVELS = 32  # different values of a long signal
LONG = 1000
MOST_NAMES_IN_A_SENTENCE = 3
MOST_OTHER_CHOICES = 2


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
    choices = ranking.sparsest(ranking.lawful)
    names = [signal.name for signal in signals]
    by_order = max(signals, key=lambda signal: signal.profiles["samples"][ORDER])
    best = signals[names.index(max(choices, key=lambda name: len(choices[name])))] if choices else by_order
    sparsity = best.profiles["samples"][ORDER]
    said = f"{best.name} is the sparsest of the {len(signals)} signals in its samples (S₂ = {sparsity:.2f})"
    return f"{said}; {_who_agrees(best.name, choices, len(ranking.lawful))}."


def _who_agrees(best: str, choices: Mapping[str, Sequence[str]], lawful: int) -> str:
    """Say which of the metrics that obey all laws choose this signal, and which choose another."""
    agreeing = choices.get(best, ())
    if len(agreeing) == lawful:
        return f"all {lawful} metrics that obey all laws agree"
    others = [
        f"{_list(metrics)} choose{'s' if len(metrics) == 1 else ''} {name}"
        for name, metrics in choices.items()
        if name != best
    ]
    words = f"{len(agreeing)} of the {lawful} metrics that obey all laws agree"
    return "; ".join([f"{words} ({_list(agreeing)})" if agreeing else words, *others[:MOST_OTHER_CHOICES]])


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
    found: dict[str, list[tuple[str, Oddity]]] = {}
    for k, signal in enumerate(signals):
        for oddity in find_oddities(signal.values, missing[k] if k < len(missing) else 0):
            found.setdefault(oddity.of_several, []).append((signal.name, oddity))
    if not found:
        return "Nothing odd was found in the samples."
    facts = [
        f"{_join([oddity for _, oddity in those])} ({_list([name for name, _ in those])})" for those in found.values()
    ]
    return f"Odd: {'; '.join(facts)}."


@dataclass(frozen=True)
class Oddity:
    """One unusual fact: how it is said of one signal, and of several whose amounts differ ({} is their range)."""

    words: str
    of_several: str
    amount: float = 0.0


def _join(oddities: Sequence[Oddity]) -> str:
    """Say the same fact of one signal or of several."""
    if len(oddities) == 1:
        return oddities[0].words
    low, high = (pick(oddity.amount for oddity in oddities) for pick in (min, max))
    return oddities[0].of_several.format(f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}")


def _list(names: Sequence[str]) -> str:
    """List a few names, and say how many more there are; a file's name stands before those of its signals once."""
    files = {name.partition(": ")[0] for name in names}
    if len(names) > 1 and len(files) == 1 and all(": " in name for name in names):
        return f"{files.pop()}: {_list([name.partition(': ')[2] for name in names])}"
    more = len(names) - MOST_NAMES_IN_A_SENTENCE
    if more > 0:
        return f"{', '.join(names[:MOST_NAMES_IN_A_SENTENCE])} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def find_oddities(values: Array, missing: int = 0) -> list[Oddity]:
    """Return what is unusual about samples: missing values, an offset, one huge sample, clipping, few levels, zeros."""
    found = []
    if missing:
        left_out = "missing or infinite samples left out: {}"
        found.append(Oddity(left_out.format(f"{missing:,}"), left_out, missing))
    flat = values.ravel() / np.abs(values).max()
    energy = float(np.sum(flat**2))
    if values.ndim == 1 and flat.size * float(np.mean(flat)) ** 2 > DOMINANT_MEAN_SHARE * energy:
        offset = "the mean has most of the energy, so the sparsity of the samples is that of an offset"
        found.append(Oddity(offset, offset))
    if float(np.max(flat**2)) > DOMINANT_SAMPLE_SHARE * energy:
        alone = "alone has most of the energy"
        found.append(Oddity(f"sample {int(np.argmax(np.abs(flat))):,} {alone}", f"one sample {alone}"))
    levels, counts = np.unique(flat, return_counts=True)
    if len(levels) == 1:
        return [*found, Oddity("all samples are equal", "all samples are equal")]
    extremes = max(counts[0], counts[-1]) / flat.size
    if values.ndim == 1 and len(levels) > 2 and levels[0] * levels[-1] < 0 and extremes > CLIPPED_SHARE:
        found.append(_share("{} % of the samples are at the largest or smallest value, as if clipped", extremes))
    if flat.size >= LONG and len(levels) <= FEW_LEVELS:
        found.append(Oddity(f"only {len(levels)} different values", "only {} different values", len(levels)))
    zeros = float(np.mean(flat == 0))
    if zeros > CLIPPED_SHARE:
        found.append(_share("{} % of the samples are exactly zero", zeros))
    return found


def _share(words: str, share: float) -> Oddity:
    return Oddity(words.format(f"{100 * share:.0f}"), words, 100 * share)
