"""The formulas as the paper prints them, for comparison: the pairwise definition and the even and odd formulas.

Rows come sorted, scaled by a power of two and without their zeros, which are only counted.

The even and odd formulas cancel: 1e-7 off at p = 30 for U(0, 1), garbage soon after.
"""

from __future__ import annotations

import math

import numpy as np

from .._arrays import Array


def pairwise(c: Array, length: int, p: float) -> float:
    """Evaluate Definition 1: sum_{i<j} (c_j - c_i)^p / (N sum c^p), all pairs one by one."""
    width = c[-1] - c[0]
    # in units of the range and of the maximum, so that high powers do not underflow
    numerator = 0.0
    if width > 0.0:
        parts = [float(np.sum(((c[j] - c[:j]) / width) ** p)) for j in range(1, len(c))]
        numerator = sum(parts) * (width / c[-1]) ** p
    denominator = float(np.sum((c / c[-1]) ** p))
    zeros = length - len(c)
    return float((numerator + zeros * denominator) / (length * denominator))  # a zero and c_i are c_i apart


def paper(c: Array, length: int, p: float) -> float:
    """Evaluate the even formula (the paper's eq. 20) or the odd one (eq. 21), in float64 as printed."""
    formula = _odd if int(p) % 2 else _even
    return formula(c, length, int(p) // 2)


def _even(c: Array, length: int, k: int) -> float:
    norm = [float(np.sum(c**w)) for w in range(2 * k + 1)]  # ||c||_w^w
    bracket = sum((-1) ** w * math.comb(2 * k, w) * norm[w] * norm[2 * k - w] for w in range(1, k))
    bracket += (-1) ** k / 2 * math.comb(2 * k, k) * norm[k] ** 2
    return float(1.0 + bracket / (length * norm[2 * k]))


def _odd(c: Array, length: int, k: int) -> float:
    p = 2 * k + 1
    gamma = 0.0
    for w in range(k + 1):
        low, high = c**w, c ** (p - w)
        zeros = length - len(c) if w == 0 else 0  # 0^0 = 1 counts in f_0, and nothing else of a zero does
        gamma += (-1) ** w * math.comb(p, w) * float(np.sum(high * (zeros + np.cumsum(low)) - low * np.cumsum(high)))
    return gamma / (length * float(np.sum(c**p)))
