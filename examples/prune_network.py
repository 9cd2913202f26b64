"""Prune a small network by the sparsity of its layers.

More weights can be removed from a layer with sparse weights than from one whose weights are alike. The PQ index I
suggests how many: Diao et al. (2023) keep at least a share 1 - I of a layer (at p = 1/2, q = 1). Here each layer keeps
the share (1 - I)^g, as if it were pruned g times, without retraining. The baselines keep the same number of weights.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import sparsegauge as sg

POWERS = np.linspace(0, 6, 25)
SEEDS = 3
COLOURS = {"the PQ index of each layer": "#0072b2", "the same share of each layer": "#d55e00"}
COLOURS["one threshold for all layers"] = "#009e73"


def largest(weights: np.ndarray, share: float) -> np.ndarray:
    """Return the weights, of which only the given share, the largest, is kept and the others are zero."""
    kept = max(round(share * weights.size), 1)
    return np.where(np.abs(weights) >= np.sort(np.abs(weights), axis=None)[-kept], weights, 0.0)


def trained(seed: int) -> tuple[MLPClassifier, np.ndarray, np.ndarray]:
    """Return a trained network, and digits that it has not seen with their labels."""
    X, y = load_digits(return_X_y=True)
    X, unseen, y, truth = train_test_split(X / 16, y, test_size=0.4, random_state=seed, stratify=y)
    network = MLPClassifier((64, 32), alpha=0.1, learning_rate_init=0.005, tol=1e-3, max_iter=200, random_state=seed)
    return network.fit(X, y), unseen, truth


def curves(seed: int) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Return the share of all weights that is kept for each power, and the accuracies of each way to choose them."""
    network, unseen, truth = trained(seed)
    layers = [weights.copy() for weights in network.coefs_]
    index = np.array([sg.pq_index(weights, axis=None) for weights in layers])
    if seed == 0:
        print("layer     weights  PQ index  kept by it")
        for weights, i in zip(layers, index, strict=True):
            print(f"{weights.shape[0]:3} to {weights.shape[1]:2}  {weights.size:6}  {i:8.3f}  {1 - i:10.0%}")
    sizes = np.array([weights.size for weights in layers])
    cuts, everything = np.cumsum(sizes)[:-1], np.concatenate([weights.ravel() for weights in layers])
    shares, found = [], {name: [] for name in COLOURS}
    for g in POWERS:
        by_layer = (1 - index) ** g
        share = float(by_layer @ sizes / sizes.sum())
        shares.append(share)
        pieces = np.split(largest(everything, share), cuts)
        ways = (
            [largest(weights, kept) for weights, kept in zip(layers, by_layer, strict=True)],
            [largest(weights, share) for weights in layers],
            [piece.reshape(weights.shape) for piece, weights in zip(pieces, layers, strict=True)],
        )
        for name, pruned in zip(COLOURS, ways, strict=True):
            network.coefs_ = pruned
            found[name].append(network.score(unseen, truth))
    return np.array(shares), found


def main(output: str) -> None:
    """Print the accuracies at a few shares, and draw all of them."""
    runs = [curves(seed) for seed in range(SEEDS)]
    shares = np.mean([run[0] for run in runs], axis=0)
    accuracy = {name: np.mean([run[1][name] for run in runs], axis=0) for name in COLOURS}
    print(f"{'weights left':30}" + "".join(f"{shares[i]:7.0%}" for i in (0, 4, 8, 12, 16)))
    for name, values in accuracy.items():
        print(f"{name:30}" + "".join(f"{values[i]:7.1%}" for i in (0, 4, 8, 12, 16)))

    plt.switch_backend("Agg")
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, values in accuracy.items():
        ax.plot(100 * shares, 100 * values, color=COLOURS[name], marker="o", markersize=3, label=name)
    once = POWERS.tolist().index(1.0)
    ax.axvline(100 * shares[once], color="#888888", linestyle=":")
    ax.text(100 * shares[once] + 1, 40, "what the PQ index suggests\n(g = 1)", color="#555555")
    ax.set(title="Digits told apart by a pruned network (mean of 3), without retraining")
    ax.set(xlabel="weights left, %", ylabel="accuracy, %", xlim=(0, 101), ylim=(0, 100))
    ax.legend(frameon=False, title="weights kept by", loc=(0.24, 0.03))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="prune_network.png", help="where the figure goes")
    main(parser.parse_args().output)
