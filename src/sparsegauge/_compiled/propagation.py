"""Sweeps of expectation propagation over all coefficients, each followed by a step of EM for the slabs.

The linear algebra is written out: a BLAS would start threads, which wait for each other on a busy machine.
"""

from __future__ import annotations

import math

import numpy as np

from .expectation import GAUSSIANS, Quadrature, tilted_moments
from .kernel_tolerances import LEAST_WEIGHT, SMALLEST_CAVITY, SMALLEST_SUM
from .lanes import LANES, join_lanes, row_times
from .vocabulary import Array, Lanes, Matrix, Values, entry, kernel, record


@record
class Propagation:
    """One run: the measurements B x = b with bounds, the prior, where the run stands, and room.

    state: rho, noise, lowest noise, its factor. sites: precision, shift, mean, inclusion. settings: damping, EM rate,
    thinnest slab, narrowest and widest site variance, what is left of `bias` after a sweep.
    """

    B: Matrix
    b: Values
    low: Values
    high: Values
    kind: int
    free: bool  # whether the locations of the slabs are learnt
    bias: Array
    slabs: Matrix
    state: Array
    sites: Matrix
    settings: Values
    rule: Quadrature
    parts: Matrix
    sums: Matrix
    table: Matrix
    spread: Array  # the variances of the sites
    scaled: Array
    mean: Array
    told: Array

    def __init__(self, system, prior, run, rule):  # type: ignore[no-untyped-def]
        self.B, self.b, self.low, self.high = system
        self.kind, self.free, self.slabs = prior
        self.bias, self.state, self.sites, self.settings = run
        self.rule = rule
        m, n = system[0].shape
        self.parts, self.sums = np.zeros((len(prior[2]), 3)), np.zeros((len(prior[2]), 3))
        self.table = np.empty((m, m + n + 1))
        self.spread, self.scaled, self.mean, self.told = np.empty(n), np.empty(n), np.empty(n), np.empty(n)


@kernel
def dots_with_four_rows(B: Matrix, k: int, x: Values, n: int, table: Matrix, j: int) -> None:
    """Write the inner products of x and B[k], ..., B[k + 3] to table[j, k:k+4]."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    three: Lanes = [0.0] * LANES
    four: Lanes = [0.0] * LANES
    i = 0
    while i + LANES <= n:
        for l in range(LANES):  # noqa: E741
            one[l] += x[i + l] * B[k, i + l]
            two[l] += x[i + l] * B[k + 1, i + l]
            three[l] += x[i + l] * B[k + 2, i + l]
            four[l] += x[i + l] * B[k + 3, i + l]
        i += LANES
    while i < n:
        one[0] += x[i] * B[k, i]
        two[0] += x[i] * B[k + 1, i]
        three[0] += x[i] * B[k + 2, i]
        four[0] += x[i] * B[k + 3, i]
        i += 1
    table[j, k] = join_lanes(one)
    table[j, k + 1] = join_lanes(two)
    table[j, k + 2] = join_lanes(three)
    table[j, k + 3] = join_lanes(four)


@entry
def weighted_gram(B: Matrix, D: Values, noise: float, scaled: Array, table: Matrix) -> None:
    """Write the upper half of noise I + B diag(D) B^T into the first columns of `table`."""
    m = len(B)
    n = len(D)
    for j in range(m):
        for i in range(n):
            scaled[i] = B[j, i] * D[i]
        k = j
        while k + 4 <= m:
            dots_with_four_rows(B, k, scaled, n, table, j)
            k += 4
        while k < m:
            table[j, k] = row_times(B, k, scaled, n)
            k += 1
        table[j, j] += noise


@entry
def eliminate(table: Matrix, lowest: float) -> None:
    """Eliminate a symmetric K whose upper half stands left in `table`: [K | R] becomes [U | L^-1 R].

    Row by row, each less its part of the finished rows, four of which are subtracted in one pass.
    """
    width = table.shape[1]
    for k in range(len(table)):
        j = 0
        while j + 4 <= k:
            a = table[j, k] / table[j, j]
            b = table[j + 1, k] / table[j + 1, j + 1]
            c = table[j + 2, k] / table[j + 2, j + 2]
            d = table[j + 3, k] / table[j + 3, j + 3]
            for i in range(k, width):
                first = a * table[j, i] + b * table[j + 1, i]
                second = c * table[j + 2, i] + d * table[j + 3, i]
                table[k, i] -= first + second
            j += 4
        while j < k:
            a = table[j, k] / table[j, j]
            for i in range(k, width):
                table[k, i] -= a * table[j, i]
            j += 1
        table[k, k] = max(table[k, k], lowest)  # K >= noise I, except for rounding


@entry
def update_posterior(work: Propagation) -> None:
    """Write the mean of q(x) ~ N(b; B x, noise I) prod N(x_i; shift_i/precision_i, 1/precision_i), and `told`.

    told = 1 - variance x precision. By Woodbury: with D = 1/precision and K = noise I + B D B^T, the mean is
    m + D B^T K^-1 (b - B m), and the variance D_i - D_i^2 q_i with q_i = B_i^T K^-1 B_i.
    """
    m = len(work.B)
    n = len(work.mean)
    for i in range(n):
        work.spread[i] = 1.0 / work.sites[0, i]
        work.mean[i] = work.sites[1, i] * work.spread[i]
    weighted_gram(work.B, work.spread, work.state[1], work.scaled, work.table)
    for j in range(m):
        for i in range(n):
            work.table[j, m + i] = work.B[j, i]
        work.table[j, m + n] = work.b[j] - row_times(work.B, j, work.mean, n)
    eliminate(work.table, work.state[1])
    for i in range(n):
        work.told[i] = 0.0
        work.scaled[i] = 0.0
    for j in range(m):
        share = 1.0 / work.table[j, j]
        right = work.table[j, m + n] * share
        for i in range(n):
            entry_ = work.table[j, m + i]
            work.told[i] += entry_ * entry_ * share
            work.scaled[i] += entry_ * right
    for i in range(n):
        work.mean[i] += work.spread[i] * work.scaled[i]
        work.told[i] *= work.spread[i]


@kernel
def learn_slabs(work: Propagation) -> None:
    """Take one step of EM for the slabs, from the sums of probability, mean and second moment of each."""
    rate = work.settings[1]
    thinnest = work.settings[2]
    widest = work.settings[4]
    total = 0.0
    for k in range(len(work.slabs)):
        total += work.sums[k, 0]
    total = max(total, SMALLEST_SUM)
    for k in range(len(work.slabs)):
        count = work.sums[k, 0]
        work.slabs[k, 0] += rate * (max(count / total, LEAST_WEIGHT) - work.slabs[k, 0])
        if count >= LEAST_WEIGHT:
            # too few measurements cannot tell how large x is
            second = min(work.sums[k, 2] / count, widest)
            mean = min(max(work.sums[k, 1] / count, -math.sqrt(widest)), math.sqrt(widest))
            spread = abs(mean)
            if work.kind == GAUSSIANS:
                if work.free:
                    work.slabs[k, 1] += rate * (mean - work.slabs[k, 1])
                location = work.slabs[k, 1]
                spread = second - 2.0 * mean * location + location * location
                spread = min(max(spread, thinnest * second), widest)
            work.slabs[k, 2] += rate * (spread - work.slabs[k, 2])


@kernel
def update_site(work: Propagation, i: int, log_odds: float) -> float:
    """Refine the factor of one coefficient, and return the square of how far its mean moved."""
    damping = work.settings[0]
    narrowest = work.settings[3]
    widest = work.settings[4]
    tau = work.sites[0, i]
    nu = work.sites[1, i]
    left = max(1.0 - work.told[i], SMALLEST_CAVITY)
    cavity = tau * work.told[i] / left  # precision without this site
    if not (cavity > 1.0 / (1e6 * widest)):
        cavity = 1.0 / (1e6 * widest)
    pull = work.mean[i] * tau / left - nu
    inclusion, x, variance = tilted_moments(
        work.kind, log_odds + work.bias[i], work.slabs, pull / cavity, 1.0 / cavity, work.low[i], work.high[i],
        work.parts, work.rule,
    )  # fmt: skip
    for k in range(len(work.slabs)):
        part = work.parts[k, 0]
        mean = work.parts[k, 1]
        work.sums[k, 0] += part
        work.sums[k, 1] += part * mean
        work.sums[k, 2] += part * (work.parts[k, 2] + mean * mean)
    variance = max(variance, narrowest)
    new_tau = 1.0 / variance - cavity
    new_nu = x / variance - pull
    if new_tau < 1.0 / widest:  # flatter than allowed: keep the mean
        new_tau = 1.0 / widest
        new_nu = x * (new_tau + cavity) - pull
    elif new_tau > 1.0 / narrowest:
        new_nu *= 1.0 / narrowest / new_tau
        new_tau = 1.0 / narrowest
    # geometric for the precision, linear for the shift: found far better than either for both
    work.sites[0, i] = math.exp((1.0 - damping) * math.log(tau) + damping * math.log(new_tau))
    work.sites[1, i] = (1.0 - damping) * nu + damping * new_nu
    moved: float = x - work.sites[2, i]
    work.sites[2, i] = x
    work.sites[3, i] = inclusion
    return moved * moved


@entry
def propagate(work: Propagation, count: int) -> float:
    """Do `count` parallel sweeps with damping, each followed by a step of EM; return the last relative change."""
    n = len(work.mean)
    rate = work.settings[1]
    fading = work.settings[5]
    change = math.inf
    for _ in range(count):
        update_posterior(work)
        log_odds = math.log(work.state[0]) - math.log(1.0 - work.state[0])
        for k in range(len(work.slabs)):
            work.sums[k, 0] = 0.0
            work.sums[k, 1] = 0.0
            work.sums[k, 2] = 0.0
        included = 0.0
        moved = 0.0
        size = 0.0
        for i in range(n):
            moved += update_site(work, i, log_odds)
            included += work.sites[3, i]
            size += work.sites[2, i] * work.sites[2, i]
        change = math.sqrt(moved / size) if size > 0.0 else 0.0
        work.state[0] += rate * (min(max(included / n, 1e-4), 1.0 - 1e-4) - work.state[0])
        learn_slabs(work)
        work.state[1] = max(work.state[1] * work.state[3], work.state[2])
        for i in range(n):
            work.bias[i] *= fading
    return change
