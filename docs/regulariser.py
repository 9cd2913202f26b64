"""Sparsity as a regulariser: `python docs/regulariser.py` trains the networks of howto/sparsity_regulariser.md again.

A classifier and an autoencoder of the digits are trained with a penalty on their hidden activations: -S_p at several
orders, or the mean magnitude (l1). It writes the figure and the table of the page. About two minutes on one core.
Needs PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import sparsegauge as sg

PAGE = Path(__file__).parent / "howto" / "sparsity_regulariser.md"
FIGURE = PAGE.with_suffix(".png")
SEEDS = range(3)
STEPS, BATCH, RATE = 200, 256, 5e-3
PENALTIES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "order 1": lambda h: -sg.gds(h, 1, zero=0.0).mean(),
    "order 2": lambda h: -sg.gds(h, 2, zero=0.0).mean(),
    "order 3": lambda h: -sg.gds(h, 3, zero=0.0).mean(),
    "order 4": lambda h: -sg.gds(h, 4, zero=0.0).mean(),
    "l1": lambda h: h.abs().mean(),
}
STRENGTHS = {"classifier": (0.1, 0.5, 2.0, 8.0), "autoencoder": (0.01, 0.05, 0.2, 0.8)}
NONE = "no penalty"


class Outcome(NamedTuple):
    """What a trained network does on digits that it has not seen."""

    zeros: float  # the share of hidden activations that are exactly 0
    quality: float  # accuracy, or the share of the variance that the reconstruction explains


def digits() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    data = load_digits()
    split = train_test_split(data.data / 16.0, data.target, test_size=0.3, random_state=0, stratify=data.target)
    images, held_out, labels, held_out_labels = split
    return (
        torch.tensor(images, dtype=torch.float32),
        torch.tensor(held_out, dtype=torch.float32),
        torch.tensor(labels),
        torch.tensor(held_out_labels),
    )


def train(task: str, penalty: str, strength: float, seed: int) -> Outcome:
    images, held_out, labels, held_out_labels = digits()
    torch.manual_seed(seed)
    hidden = 128
    encoder = torch.nn.Sequential(torch.nn.Linear(64, hidden), torch.nn.ReLU())
    decoder = torch.nn.Linear(hidden, 10 if task == "classifier" else 64)
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=RATE)
    for _ in range(STEPS):
        batch = torch.randint(len(images), (BATCH,))
        h = encoder(images[batch])
        if task == "classifier":
            loss = torch.nn.functional.cross_entropy(decoder(h), labels[batch])
        else:
            loss = ((decoder(h) - images[batch]) ** 2).mean() / images.var()
        if penalty != NONE:
            loss = loss + strength * PENALTIES[penalty](h)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        h = encoder(held_out)
        output = decoder(h)
        if task == "classifier":
            quality = float((output.argmax(dim=1) == held_out_labels).double().mean())
        else:
            quality = 1.0 - float(((output - held_out) ** 2).mean() / held_out.var())
        return Outcome(float((h == 0).double().mean()), quality)


def mean_and_error(outcomes: list[Outcome]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(outcomes)
    return table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))


def main() -> None:
    torch.set_num_threads(1)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    lines = ["| penalty | strength | zeros | accuracy | strength | zeros | variance explained |", "|---|" + "---:|" * 6]
    cells: dict[tuple[str, int], list[str]] = {}
    for panel, (task, strengths) in zip(panels, STRENGTHS.items(), strict=True):
        plain, error = mean_and_error([train(task, NONE, 0.0, seed) for seed in SEEDS])
        panel.errorbar(*plain, xerr=error[0], yerr=error[1], fmt="ko", label=NONE)
        cells.setdefault((NONE, 0), []).extend(row("", plain, error))
        for name in PENALTIES:
            found = [mean_and_error([train(task, name, s, seed) for seed in SEEDS]) for s in strengths]
            means, errors = (np.array(part).T for part in zip(*found, strict=True))
            panel.errorbar(*means, xerr=errors[0], yerr=errors[1], marker="o", ms=4, lw=1.2, label=name)
            for k, s in enumerate(strengths):
                cells.setdefault((name, k), []).extend(row(f"{s:g}", means[:, k], errors[:, k]))
        panel.set_title(task)
        panel.set_xlabel("share of hidden activations that are 0")
        panel.set_ylabel("accuracy" if task == "classifier" else "variance explained")
        panel.grid(alpha=0.3)
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(FIGURE, dpi=110)
    lines += [f"| {name} | {' | '.join(parts)} |" for (name, _), parts in cells.items()]
    table = "\n".join(lines)
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(r"(<!-- table -->\n).*?(<!-- /table -->)", lambda m: f"{m[1]}{table}\n{m[2]}", text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


def row(strength: str, mean: np.ndarray, error: np.ndarray) -> list[str]:
    return [strength, f"{mean[0]:.2f} ± {error[0]:.2f}", f"{mean[1]:.3f} ± {error[1]:.3f}"]


if __name__ == "__main__":
    main()
