"""Slow, obvious twins of the compiled parts of SPSA, expectation propagation and the thresholds."""

from __future__ import annotations

import numpy as np

from naive import LongPairs

ALL = (1 << 64) - 1


def splitmix(state: int) -> tuple[int, int]:
    """The next state and 64 random bits (Steele, Lea and Flood, 2014)."""
    state = (state + 0x9E3779B97F4A7C15) & ALL
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL
    return state, z ^ (z >> 31)


def signs(state: int, n: int) -> tuple[int, np.ndarray]:
    """The next state and n signs, 60 of each word from its lowest bit on."""
    bits: list[int] = []
    while len(bits) < n:
        state, word = splitmix(state)
        bits += [(word >> k) & 1 for k in range(60)]
    return state, 2.0 * np.array(bits[:n]) - 1.0


def walk(
    B: np.ndarray, x: np.ndarray, order: float, gains: tuple[float, ...], state: int, iterations: int
) -> np.ndarray:
    """SPSA by its formula."""
    a, alpha, A, c, gamma = gains
    for k in range(iterations):
        state, s = signs(state, len(x))
        d = s - B.T @ (B @ s)
        width = c / (k + 1) ** gamma
        plus, minus = (float(LongPairs(x + side * width * d).sparsity([order])[0]) for side in (1, -1))
        x = x + a / (k + 1 + A) ** alpha * (plus - minus) / (2 * width) * d
    return x


def literal_walk(
    A: np.ndarray, y: np.ndarray, order: float, gains: tuple[float, ...], state: int, iterations: int
) -> np.ndarray:
    """SPSA written literally: measure at x +- c s, step along s, project the point onto A x = y."""
    a, alpha, stability, c, gamma = gains
    inverse = np.linalg.pinv(A)
    x = inverse @ y
    for k in range(iterations):
        state, s = signs(state, len(x))
        width = c / (k + 1) ** gamma
        plus, minus = (float(LongPairs(x + side * width * s).sparsity([order])[0]) for side in (1, -1))
        x = x + a / (k + 1 + stability) ** alpha * (plus - minus) / (2 * width) * s
        x = x - inverse @ (A @ x - y)
    return x


def posterior(B: np.ndarray, b: np.ndarray, noise: float, precision: np.ndarray, shift: np.ndarray) -> tuple:
    """Mean of N(b; B x, noise I) prod N(x_i; shift_i/precision_i, 1/precision_i), and 1 - variance x precision."""
    covariance = np.linalg.inv(B.T @ B / noise + np.diag(precision))
    return covariance @ (B.T @ b / noise + shift), 1 - np.diag(covariance) * precision


def slopes_at(u: np.ndarray, counts: np.ndarray, p: float) -> np.ndarray:
    """-d log S_p/du of magnitudes u that occur so often, in units of the largest."""
    distance = np.abs(u - u[:, None])
    rise = (np.sign(u[:, None] - u) * distance ** (p - 1)) @ counts
    numerator = counts @ distance**p @ counts / 2
    w = u ** (p - 1) / (counts @ u**p) - rise / numerator
    return w / w.max()


def shrunken(a: float, share_of_s: float, s: float, q: float, scale: float, w: float, floor: float) -> float:
    """The magnitude a less its threshold, where there is no well; w is the slope there."""
    c = max((1 - share_of_s) * a + share_of_s * s, 1e-6)
    return max(a - scale * max(w, floor) * c ** (q - 1), 0.0)
