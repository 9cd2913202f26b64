"""Expectation propagation for a spike and a slab: moments of one coefficient, and sweeps over all."""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array
from ...metrics._kernels.jit import exact, summing

GAUSSIANS, EXPONENTIALS = 0, 1
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)  # for intervals with two ends
REACH = 40.0  # exp(-REACH) is nothing next to 1
FRACTION_FROM, FRACTION_DEPTH = 5.0, 40  # from where the continued fraction is used, and how much of it


@exact
def upper_tail(a: float) -> tuple[float, float, float]:
    """log P(z >= a) of a standard normal z, and z's mean and variance given z >= a.

    Far out, mean = a + 1/(a + 2/(a + 3/(a + ...))) (Laplace), written so that nothing cancels in the variance.
    """
    if a == -math.inf:
        return 0.0, 0.0, 1.0
    if a < FRACTION_FROM:
        tail = 0.5 * math.erfc(a / math.sqrt(2))
        mean = math.exp(-0.5 * a * a - HALF_LOG_2PI) / tail
        return math.log(tail), mean, 1 + a * mean - mean * mean
    rest = 0.0
    for k in range(FRACTION_DEPTH, 1, -1):
        rest = k / (a + rest)
    beyond = 1 / (a + rest)
    mean = a + beyond
    return -0.5 * a * a - HALF_LOG_2PI - math.log(mean), mean, (rest - beyond) / (a + rest)


@exact
def between(a: float, b: float) -> tuple[float, float, float]:
    """log P(a <= z <= b), and z's mean and variance given that, for finite a < b and a + b >= 0 (Gauss-Legendre)."""
    peak = max(a, 0.0)
    # exp(-(z^2 - peak^2)/2) < exp(-REACH) beyond `end`
    end = min(b, math.sqrt(peak * peak + 2 * REACH))
    start = max(a, -math.sqrt(2 * REACH))
    half = 0.5 * (end - start)
    mass, first = 0.0, 0.0
    for k in range(len(NODES)):
        t = half * (1 + NODES[k])
        z = start + t
        w = WEIGHTS[k] * math.exp(-0.5 * (z - peak) * (z + peak))
        mass += w
        first += w * t
    centre = first / mass
    second = 0.0
    for k in range(len(NODES)):
        t = half * (1 + NODES[k])
        z = start + t
        w = WEIGHTS[k] * math.exp(-0.5 * (z - peak) * (z + peak))
        second += w * (t - centre) ** 2
    return math.log(mass * half) - 0.5 * peak * peak - HALF_LOG_2PI, start + centre, second / mass


@exact
def truncated(mean: float, variance: float, low: float, high: float) -> tuple[float, float, float]:
    """log P(low <= x <= high) for x ~ N(mean, variance), and the mean and variance of x given that."""
    if low == -math.inf and high == math.inf:
        return 0.0, mean, variance
    if not low < high:
        return -math.inf, low, 0.0
    s = math.sqrt(variance)
    a, b = (low - mean) / s, (high - mean) / s
    flip = a + b < 0
    if flip:
        a, b = -b, -a
    if b == math.inf:
        log_mass, z, v = upper_tail(a)
    else:
        log_mass, z, v = between(a, b)
    return log_mass, mean + (-z if flip else z) * s, v * variance


@exact
def gaussian_slab(
    location: float, spread: float, r: float, c: float, low: float, high: float
) -> tuple[float, float, float]:
    """log of the integral of N(x; r, c) over a N(location, spread) slab in [low, high]; x's mean and variance there."""
    total = spread + c
    log_mass, mean, variance = truncated((r * spread + location * c) / total, spread * c / total, low, high)
    log_prior, _, _ = truncated(location, spread, low, high)
    if log_mass == -math.inf or log_prior == -math.inf:
        return -math.inf, mean, variance
    log_gauss = -0.5 * (r - location) ** 2 / total - 0.5 * math.log(total) - HALF_LOG_2PI
    return log_gauss + log_mass - log_prior, mean, variance


@exact
def exponential_slab(
    side: float, scale: float, r: float, c: float, low: float, high: float
) -> tuple[float, float, float]:
    """The same for the slab exp(-side x/scale)/scale where side x >= 0."""
    if side < 0:
        r, low, high = -r, -high, -low
    low = max(low, 0.0)
    log_mass, mean, variance = truncated(r - c / scale, c, low, high)
    prior = math.exp(-low / scale) - math.exp(-high / scale)
    log_evidence = -math.inf
    if log_mass > -math.inf and prior > 0:
        log_evidence = log_mass + (0.5 * c / scale - r) / scale - math.log(scale) - math.log(prior)
    return log_evidence, side * mean, variance


@exact
def tilted(
    kind: int,
    log_odds: float,
    slabs: Array,
    r: float,
    c: float,
    low: float,
    high: float,
    parts: Array,
) -> tuple[float, float, float]:
    """Inclusion probability, mean and variance of x ~ spike-and-slab prior x N(x; r, c).

    `slabs` has a row (weight, location, spread) for each component; `parts` receives for each its probability, and
    the mean and the variance of x there.
    """
    spike = -0.5 * r * r / c - 0.5 * math.log(c) - HALF_LOG_2PI if low <= 0 <= high else -math.inf
    top = spike
    for k in range(len(slabs)):
        if kind == GAUSSIANS:
            log_z, mean, variance = gaussian_slab(slabs[k, 1], slabs[k, 2], r, c, low, high)
        else:
            log_z, mean, variance = exponential_slab(slabs[k, 1], slabs[k, 2], r, c, low, high)
        parts[k, 0] = log_z + log_odds + math.log(slabs[k, 0])
        parts[k, 1], parts[k, 2] = mean, variance
        top = max(top, parts[k, 0])
    if top == -math.inf:  # nothing is possible but the bound itself
        parts[:, 0] = 0.0
        return 1.0, min(max(r, low), high), 0.0
    total = math.exp(spike - top)
    inclusion, mean = 0.0, 0.0
    for k in range(len(slabs)):
        parts[k, 0] = math.exp(parts[k, 0] - top)
        inclusion += parts[k, 0]
    total += inclusion
    for k in range(len(slabs)):
        parts[k, 0] /= total
        if parts[k, 0] > 0:
            mean += parts[k, 0] * parts[k, 1]
    inclusion /= total
    variance = (1 - inclusion) * mean * mean
    for k in range(len(slabs)):
        if parts[k, 0] > 0:
            variance += parts[k, 0] * (parts[k, 2] + (parts[k, 1] - mean) ** 2)
    return inclusion, mean, variance


@summing
def gram(B: Array, D: Array, noise: float, table: Array) -> None:
    """Write the upper half of noise I + B diag(D) B^T into the first columns of `table`.

    By hand, as is the elimination: BLAS would start threads, which wait for each other on a busy machine.
    """
    m, n = B.shape
    scaled = np.empty(n)
    for j in range(m):
        for i in range(n):
            scaled[i] = B[j, i] * D[i]
        for k in range(j, m):
            total = 0.0
            for i in range(n):
                total += scaled[i] * B[k, i]
            table[j, k] = total
        table[j, j] += noise


@exact
def eliminate(table: Array, lowest: float) -> None:
    """Gaussian elimination of a symmetric K whose upper half stands left in `table`: [K | R] -> [U | L^-1 R]."""
    m, width = table.shape
    for j in range(m):
        table[j, j] = max(table[j, j], lowest)  # K >= noise I, but for rounding
        for k in range(j + 1, m):
            factor = table[j, k] / table[j, j]
            for i in range(k, width):
                table[k, i] -= factor * table[j, i]


@exact
def posterior(B: Array, b: Array, noise: float, precision: Array, shift: Array) -> tuple[Array, Array]:
    """Mean of q(x) ~ N(b; B x, noise I) prod N(x_i; shift_i/precision_i, 1/precision_i), and 1 - variance x precision.

    By Woodbury: with D = 1/precision and K = noise I + B D B^T, the mean is m + D B^T K^-1 (b - B m), and the variance
    D_i - D_i^2 q_i with q_i = B_i^T K^-1 B_i.
    """
    m, n = B.shape
    D = 1 / precision
    start = shift * D
    table = np.empty((m, m + n + 1))
    gram(B, D, noise, table)
    for j in range(m):
        table[j, m : m + n] = B[j]
        table[j, m + n] = b[j] - (B[j] * start).sum()
    eliminate(table, noise)
    q, step = np.zeros(n), np.zeros(n)
    for j in range(m):
        pivot, right = table[j, j], table[j, m + n] / table[j, j]
        for i in range(n):
            q[i] += table[j, m + i] ** 2 / pivot
            step[i] += table[j, m + i] * right
    return start + D * step, D * q


@exact
def learn(kind: int, slabs: Array, sums: Array, free: bool, rate: float, thinnest: float, widest: float) -> None:
    """One step of EM for the slabs, from sums of probability, of mean and of second moment for each component."""
    total = max(sums[:, 0].sum(), 1e-300)
    for k in range(len(slabs)):
        count = sums[k, 0]
        weight = max(count / total, 1e-6)
        slabs[k, 0] += rate * (weight - slabs[k, 0])
        if count < 1e-6:
            continue
        # too few measurements cannot tell how large x is
        second = min(sums[k, 2] / count, widest)
        mean = min(max(sums[k, 1] / count, -math.sqrt(widest)), math.sqrt(widest))
        if kind == GAUSSIANS:
            if free:
                slabs[k, 1] += rate * (mean - slabs[k, 1])
            spread = second - 2 * mean * slabs[k, 1] + slabs[k, 1] ** 2
            spread = min(max(spread, thinnest * second), widest)
        else:
            spread = abs(mean)
        slabs[k, 2] += rate * (spread - slabs[k, 2])


@exact
def sweeps(
    B: Array,
    b: Array,
    low: Array,
    high: Array,
    kind: int,
    free: bool,
    bias: Array,
    slabs: Array,
    state: Array,
    sites: Array,
    settings: tuple[float, float, float, float, float, float],
    count: int,
) -> float:
    """`count` parallel sweeps with damping, each followed by a step of EM; returns the last relative change.

    state: rho, noise, lowest noise, its factor. sites: precision, shift, mean, inclusion. settings: damping, EM
    rate, thinnest slab, narrowest and widest site variance, what is left of `bias` after a sweep.
    """
    n = B.shape[1]
    damping, rate, thinnest, narrowest, widest, fading = settings
    parts = np.zeros((len(slabs), 3))
    sums = np.zeros((len(slabs), 3))
    change = math.inf
    for _ in range(count):
        mean, told = posterior(B, b, state[1], sites[0], sites[1])
        log_odds = math.log(state[0]) - math.log(1 - state[0])
        sums[:] = 0.0
        included, moved, size = 0.0, 0.0, 0.0
        for i in range(n):
            tau, nu = sites[0, i], sites[1, i]
            left = max(1 - told[i], 1e-14)  # variance x precision
            cavity = tau * told[i] / left  # precision without this site
            if not cavity > 1 / (1e6 * widest):
                cavity = 1 / (1e6 * widest)
            pull = mean[i] * tau / left - nu
            inclusion, x, variance = tilted(
                kind, log_odds + bias[i], slabs, pull / cavity, 1 / cavity, low[i], high[i], parts
            )
            included += inclusion
            for k in range(len(slabs)):
                sums[k, 0] += parts[k, 0]
                sums[k, 1] += parts[k, 0] * parts[k, 1]
                sums[k, 2] += parts[k, 0] * (parts[k, 2] + parts[k, 1] ** 2)
            variance = max(variance, narrowest)
            new_tau = 1 / variance - cavity
            new_nu = x / variance - pull
            if new_tau < 1 / widest:  # flatter than allowed: keep the mean
                new_tau = 1 / widest
                new_nu = x * (new_tau + cavity) - pull
            elif new_tau > 1 / narrowest:
                new_nu *= 1 / narrowest / new_tau
                new_tau = 1 / narrowest
            # geometric for the precision, linear for the shift: found far better than either for both
            sites[0, i] = math.exp((1 - damping) * math.log(tau) + damping * math.log(new_tau))
            sites[1, i] = (1 - damping) * nu + damping * new_nu
            moved += (x - sites[2, i]) ** 2
            size += x * x
            sites[2, i] = x
            sites[3, i] = inclusion
        change = math.sqrt(moved / size) if size > 0 else 0.0
        state[0] += rate * (min(max(included / n, 1e-4), 1 - 1e-4) - state[0])
        learn(kind, slabs, sums, free, rate, thinnest, widest)
        state[1] = max(state[1] * state[3], state[2])
        bias *= fading
    return change
