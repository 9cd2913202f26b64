"""Choose a wavelet for a signal by sparsity, and check that the chosen wavelet compresses better.

An electrocardiogram is transformed by 34 orthogonal wavelets. The wavelet with the sparsest coefficients is chosen,
without deciding how many coefficients are kept. The error of the best K terms then shows how good the choice is. The
order that predicts this error best depends on K: it is higher if fewer terms are kept.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

import sparsegauge as sg
from sparsegauge.signals import wavelet

WAVELETS = ["haar", *(f"db{k}" for k in range(2, 16)), *(f"sym{k}" for k in range(4, 16))]
WAVELETS += [f"coif{k}" for k in range(1, 8)]
ORDER, KEPT = 1.5, 64
ORDERS = np.linspace(1, 4, 61)
COLOURS = {16: "#d55e00", 32: "#cc79a7", 64: "#0072b2", 128: "#009e73"}


def best_k_term_error(coefficients: np.ndarray, k: int) -> np.ndarray:
    """Return |x - its k largest terms| / |x|, from the small terms alone: the transforms are orthonormal."""
    squares = np.sort(coefficients**2, axis=-1)
    return np.sqrt(squares[..., :-k].sum(axis=-1) / squares.sum(axis=-1))


def transformed(name: str) -> np.ndarray:
    """Return the coefficients of a demo signal, one row per wavelet."""
    x = sg.demo(name)
    return np.array([wavelet(x - x.mean(), wave) for wave in WAVELETS])


def main(output: str) -> None:
    """Print the chosen wavelets with their errors, and draw the figure for the ECG."""
    print(f"error of the best {KEPT} terms of {len(WAVELETS)} wavelets, chosen by S_{ORDER:g}")
    print(f"{'':10}{'chosen':>8}{'error':>9}{'median':>9}{'best':>9}{'worst':>9}")
    for name in ("ecg", "doppler", "bumps", "blocks", "heavisine"):
        coefficients = transformed(name)
        error = best_k_term_error(coefficients, KEPT)
        chosen = int(np.argmax(sg.gds(coefficients, ORDER)))
        shown = "".join(f"{value:9.2%}" for value in (error[chosen], np.median(error), error.min(), error.max()))
        print(f"{name:10}{WAVELETS[chosen]:>8}{shown}")
    coefficients = transformed("ecg")
    sparsity, error = sg.gds(coefficients, ORDER), best_k_term_error(coefficients, KEPT)
    chosen = int(np.argmax(sparsity))

    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    left.scatter(sparsity, 100 * error, s=18, color="#999999")
    left.scatter(sparsity[chosen], 100 * error[chosen], s=50, color="#d55e00")
    for name in (WAVELETS[chosen], "haar", "db2", "db15"):
        i = WAVELETS.index(name)
        left.annotate(name, (sparsity[i], 100 * error[i]), xytext=(6, 4), textcoords="offset points")
    left.set(
        title=f"One point per wavelet: {KEPT} of {coefficients.shape[1]} terms kept", xlabel=f"sparsity $S_{{{ORDER}}}$"
    )
    left.set(ylabel="error of the best terms, %", ylim=(0, 24), xlim=(None, sparsity.max() + 0.006))

    profile = sg.gds_profile(coefficients, ORDERS)
    for k, colour in COLOURS.items():
        tail = best_k_term_error(coefficients, k)
        agreement = np.array([spearmanr(values, -tail).statistic for values in profile])
        best = f"order {ORDERS[agreement.argmax()]:.2f} predicts it best"
        print(f"ecg, {k:3} terms kept: {best}, rank correlation {agreement.max():.2f}")
        right.plot(ORDERS, agreement, color=colour, label=f"{k} terms kept")
        right.plot(ORDERS[agreement.argmax()], agreement.max(), "o", color=colour)
    right.set(title="Which order predicts the error?", xlabel="order p", ylabel="rank correlation", xlim=(1, 4))
    right.axhline(0, color="#bbbbbb", linewidth=0.8)
    right.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.12))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="choose_wavelet.png", help="where the figure goes")
    main(parser.parse_args().output)
