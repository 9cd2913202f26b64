"""Reweighted least squares with two wells: the majoriser of S_p, step by step. `reweighted.py` explains it."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array
from ...metrics._kernels.jit import exact
from ...metrics._kernels.powers import real_power
from . import support

HALVINGS = 21
STEPS = 10  # of one stage
FIRST_WIDTH = 4.0  # eps_0 in units of the mean square of the start
SETTLED = 0.03
PENALTY = 10.0  # on the wrong side of zero, of the one-sided form


@exact
def slopes(c: Array, p: float, w: Array) -> None:
    """w = -d log S_p / dc at magnitudes c, in units of its largest."""
    top = 0.0
    for i in range(len(c)):
        top = max(top, c[i])
    if top == 0.0:
        w[:] = 1.0
        return
    unit = 1.0 / top
    if p % 2 == 0.0 and p <= 16.0:
        _even_slopes(c, unit, int(p), w)
    else:
        _pair_slopes(c, unit, p, w)
    largest = 0.0
    for i in range(len(c)):
        largest = max(largest, w[i])
    if largest > 0.0:
        for i in range(len(c)):
            w[i] /= largest
    else:
        w[:] = 1.0


@exact
def _even_slopes(c: Array, unit: float, p: int, w: Array) -> None:
    """By power sums about the mean: sum_i (u - u_i)^(p-1) is a polynomial in u."""
    n = len(c)
    mean = 0.0
    for i in range(n):
        mean += c[i]
    mean *= unit / n
    sums = np.zeros(p)
    denominator = 0.0
    for i in range(n):
        z = c[i] * unit
        denominator += z**p
        power = 1.0
        for k in range(p):
            sums[k] += power
            power *= z - mean
    coefficients = np.empty(p)  # of u^k
    binomial = 1.0
    for k in range(p):
        sign = 1.0 if k % 2 == 0 else -1.0
        coefficients[p - 1 - k] = sign * binomial * sums[k]
        binomial = binomial * (p - 1 - k) / (k + 1)
    numerator = 0.0
    for i in range(n):
        u = c[i] * unit - mean
        value = 0.0
        for k in range(p - 1, -1, -1):
            value = value * u + coefficients[k]
        w[i] = value
        numerator += value * u  # sum_ij (u_i - u_j)^p = 2 sum_i u_i sum_j (u_i - u_j)^(p-1)
    for i in range(n):
        w[i] = (c[i] * unit) ** (p - 1) / denominator - w[i] / max(numerator, 1e-300)


@exact
def _pair_slopes(c: Array, unit: float, p: float, w: Array) -> None:
    """Pair by pair, at any real order."""
    n = len(c)
    w[:] = 0.0
    numerator = denominator = 0.0
    for i in range(n):
        denominator += real_power(c[i] * unit, p)
        for j in range(i):
            d = (c[i] - c[j]) * unit
            slope = math.copysign(real_power(abs(d), p - 1.0), d) if d != 0.0 else 0.0
            w[i] += slope
            w[j] -= slope
            numerator += slope * d
    for i in range(n):
        w[i] = real_power(c[i] * unit, p - 1.0) / denominator - w[i] / max(numerator, 1e-300)


@exact
def solve_weighted(B: Array, b: Array, weight: Array, target: Array, x: Array) -> None:
    """x = argmin sum weight (x - target)^2 subject to B x = b."""
    m, n = B.shape
    scaled = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            scaled[i, j] = B[i, j] / weight[j]
    multiplier = np.linalg.solve(scaled @ B.T, b - B @ target)
    x[:] = target + scaled.T @ multiplier


@exact
def weigh(
    x: Array, eps: float, p: float, floor: float, beta: float, power: float, r: float, side: float,
    jitter: Array, weight: Array, target: Array,
) -> None:  # fmt: skip
    """Weights and targets at x: a well at zero (h0), and where S_p would grow with c one at the common level (h1)."""
    n = len(x)
    c = np.empty(n)
    for i in range(n):
        c[i] = abs(x[i]) if side == 0.0 else max(side * x[i], 0.0)
    w = np.empty(n)
    slopes(c, p, w)
    top = 0.0
    for i in range(n):
        top = max(top, c[i])
    above = below = 0.0
    for i in range(n):
        z = c[i] / top if top > 0.0 else 1.0
        above += z**p
        below += z ** (p - 1.0)
    level = top * above / below
    for i in range(n):
        e = math.sqrt(x[i] * x[i] + eps)
        h0 = max(w[i], floor) * jitter[i] * (e / level) ** (r - 1.0) / e
        h1 = beta * (1.0 - max(w[i], 0.0)) ** power / math.sqrt((c[i] - level) ** 2 + eps) if beta > 0.0 else 0.0
        if side != 0.0 and side * x[i] < 0.0:
            h0 *= PENALTY
            h1 = 0.0
        weight[i] = h0 + h1
        target[i] = h1 * math.copysign(level, side if side != 0.0 else x[i]) / (h0 + h1)


@exact
def descend(
    B: Array, b: Array, start: Array, p: float, floor: float, beta: float, power: float, r: float, side: float,
    jitter: Array, filler: Array, certifying: bool, x: Array, stages: int, steps: int,
) -> tuple[bool, int]:  # fmt: skip
    """One run from wide wells to narrow ones; whether a certificate was found on the way, and the number of solves."""
    n = len(start)
    x[:] = start
    previous = np.empty(n)
    weight = np.empty(n)
    target = np.empty(n)
    fitted = np.empty(n)
    width = FIRST_WIDTH * float(start @ start) / n
    eps = width
    solves = 0
    for _ in range(stages):
        for _ in range(steps):
            previous[:] = x
            weigh(x, eps, p, floor, beta, power, r, side, jitter, weight, target)
            solve_weighted(B, b, weight, target, x)
            solves += 1
            change = 0.0
            size = 0.0
            for i in range(n):
                change += (x[i] - previous[i]) ** 2
                size += x[i] * x[i]
            if change < (SETTLED * SETTLED * eps / width) * size:
                break
        if certifying and support.certify(B, b, np.abs(x), filler, fitted):
            x[:] = fitted
            return True, solves
        eps *= 0.5
    return False, solves
