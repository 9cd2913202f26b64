"""Wells with noise: |A x - y| <= radius in place of A x = y, and the choice of a support by its evidence.

`descend` takes the steps of `wells.py`; the multiplier of the noise is found by Newton's steps on its secular equation,
from where the last step left it. `climb` and `sample` look at y = A x + e with x_i = 0 (z_i = 0) or drawn from the
Gaussian slab z_i = 1, 2, ..., a row (weight, mean mu, variance tau): then y - A mu_z = r is of the covariance
C = sigma^2 I + A diag(tau_z) A^T, and B = C^-1 A, Q = B^T r and S_j = a_j . B_j are kept by rank-one changes
(M. E. Tipping and A. C. Faul, "Fast marginal likelihood maximisation for sparse Bayesian models", AISTATS 2003).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array, Indices
from ...metrics._kernels.jit import exact, summing
from . import wells

NEWTON = 20  # steps of the secular equation, at most
ON_SPHERE = 1e-2  # how near to the radius an intermediate x has to be
FLIPS = 4  # changes of a support, for each coefficient, at most
GAIN = 1e-9  # in log evidence: less is rounding
STEEPEST = 1e13  # 1/lambda, beyond which the noise is less than rounding


@exact
def solve_lower(L: NDArray[Any], u: Array) -> None:
    """u <- L^-1 u."""
    for i in range(len(u)):
        total = u[i]
        for j in range(i):
            total -= L[i, j] * u[j]
        u[i] = total / L[i, i]


@exact
def solve_upper(L: NDArray[Any], u: Array) -> None:
    """u <- L^-T u."""
    for i in range(len(u) - 1, -1, -1):
        u[i] /= L[i, i]
        for j in range(i):
            u[j] -= L[i, j] * u[i]


@exact
def solve_within(
    A: Array, y: Array, radius: float, weight: Array, target: Array, x: Array, damping: float, accuracy: float
) -> float:
    """x = argmin sum weight (x - target)^2 subject to |A x - y| <= radius; returns the damping for the next step.

    x = target + W^-1 A^T u with (G + lambda) u = y - A target and G = A W^-1 A^T, which leaves lambda u of y. Newton's
    steps on 1/|lambda u| as a function of 1/lambda (More, 1978). `damping` is lambda m / trace G.
    """
    m = len(y)
    left = y - A @ target
    if math.sqrt(left @ left) <= radius:
        x[:] = target
        return damping
    scaled = A / weight
    G = scaled @ A.T
    unit = np.trace(G) / m
    mu = 1.0 / damping
    K = np.empty((m, m))
    u = np.empty(m)
    for _ in range(NEWTON):
        ridge = unit / mu
        K[:] = G
        for i in range(m):
            K[i, i] += ridge
        L = np.linalg.cholesky(K)
        u[:] = left
        solve_lower(L, u)
        solve_upper(L, u)
        square = ridge * ridge * (u @ u)
        size = math.sqrt(square)
        if abs(size - radius) <= accuracy * radius:
            break
        z = u.copy()
        solve_lower(L, z)
        slope = square - ridge**3 * (z @ z)  # r^T (I + mu G)^-1 mu G r with r = lambda u
        if slope <= 0.0:
            break
        mu *= max(1.0 + square * (size / radius - 1.0) / slope, 0.1)
        if mu > STEEPEST:
            break
    x[:] = target + scaled.T @ u
    return 1.0 / mu


@exact
def descend(
    A: Array, y: Array, radius: float, start: Array, p: float, floor: float, beta: float, power: float, r: float,
    side: float, jitter: Array, x: Array, stages: int, steps: int, last: float,
) -> int:  # fmt: skip
    """One run from wide wells to those whose eps is `last`; the number of solves."""
    n = len(start)
    x[:] = start
    previous = np.empty(n)
    weight = np.empty(n)
    target = np.empty(n)
    width = wells.FIRST_WIDTH * float(start @ start) / n
    eps = width
    solves = 0
    damping = 1.0
    for _ in range(stages):
        for _ in range(steps):
            previous[:] = x
            wells.weigh(x, eps, p, floor, beta, power, r, side, jitter, weight, target)
            damping = solve_within(A, y, radius, weight, target, x, damping, ON_SPHERE)
            solves += 1
            change = 0.0
            size = 0.0
            for i in range(n):
                change += (x[i] - previous[i]) ** 2
                size += x[i] * x[i]
            if change < (wells.SETTLED * wells.SETTLED * eps / width) * size:
                break
        if eps <= last:
            break
        eps *= 0.5
    return solves


@summing
def flip(At: Array, Bt: Array, Q: Array, S: Array, i: int, mean: float, variance: float) -> None:
    """What follows for B, Q and S when the slab of coefficient i gets `mean` and `variance` more."""
    n, m = At.shape
    b = Bt[i].copy()
    factor = variance / (1.0 + variance * S[i])
    pull = mean + (Q[i] - mean * S[i]) * factor
    for j in range(n):
        g = 0.0
        for k in range(m):
            g += At[j, k] * b[k]
        for k in range(m):
            Bt[j, k] -= factor * g * b[k]
        S[j] -= factor * g * g
        Q[j] -= pull * g


@exact
def change(At: Array, Bt: Array, Q: Array, S: Array, slabs: Array, z: Indices, i: int, k: int) -> None:
    """z_i <- k."""
    mean = variance = 0.0
    if k > 0:
        mean, variance = slabs[k - 1, 1], slabs[k - 1, 2]
    if z[i] > 0:
        mean -= slabs[z[i] - 1, 1]
        variance -= slabs[z[i] - 1, 2]
    flip(At, Bt, Q, S, i, mean, variance)
    z[i] = k


@exact
def set_up(
    At: Array, y: Array, noise: float, rho: float, slabs: Array, z: Indices, Bt: Array, Q: Array, S: Array
) -> float:
    """B, Q and S from scratch; returns log p(y, z), up to a constant. `noise` is sigma^2."""
    n, m = At.shape
    members = np.flatnonzero(z)
    scaled = np.empty((len(members), m))
    r = y.copy()
    value = (n - len(members)) * math.log(1.0 - rho)
    for j in range(len(members)):
        weight, mean, variance = slabs[z[members[j]] - 1]
        scaled[j] = math.sqrt(variance) * At[members[j]]
        r -= mean * At[members[j]]
        value += math.log(rho * weight)
    C = scaled.T @ scaled
    for i in range(m):
        C[i, i] += noise
    L = np.linalg.cholesky(C)
    b = np.empty(m)
    for i in range(n):
        b[:] = At[i]
        solve_lower(L, b)
        solve_upper(L, b)
        Bt[i] = b
        S[i] = b @ At[i]
        Q[i] = b @ r
    solve_lower(L, r)
    value -= 0.5 * float(r @ r)
    for i in range(m):
        value -= math.log(L[i, i])
    return float(value)


@exact
def odds(Q: float, S: float, now: int, log_odds: float, slabs: Array, logs: Array, means: Array) -> None:
    """For one coefficient: the log of every slab's probability over that of zero, and the mean of x_i under each."""
    if now > 0:  # as if it were zero
        left = 1.0 - slabs[now - 1, 2] * S
        Q = (Q + slabs[now - 1, 1] * S) / left
        S = S / left
    logs[0] = means[0] = 0.0
    for k in range(len(slabs)):
        weight, mean, variance = slabs[k]
        wide = 1.0 + variance * S
        fit = (variance * Q * Q + 2.0 * Q * mean - mean * mean * S) / (2.0 * wide)
        logs[k + 1] = log_odds + math.log(weight) - 0.5 * math.log(wide) + fit
        means[k + 1] = (mean + variance * Q) / wide


@exact
def moments(slabs: Array, z: Indices, Q: Array, S: Array, x: Array, variance: Array) -> None:
    """The mean and the variance of every x_i given z and y."""
    for i in range(len(z)):
        x[i] = variance[i] = 0.0
        if z[i] > 0:
            tau = slabs[z[i] - 1, 2]
            x[i] = slabs[z[i] - 1, 1] + tau * Q[i]
            variance[i] = max(tau - tau * tau * S[i], 0.0)


@exact
def climb(At: Array, y: Array, noise: float, rho: float, slabs: Array, z: Indices, x: Array, variance: Array) -> float:
    """The best single change of z again and again, until none raises p(y, z); returns the log of that."""
    n, m = At.shape
    Bt, Q, S = np.empty((n, m)), np.empty(n), np.empty(n)
    value = set_up(At, y, noise, rho, slabs, z, Bt, Q, S)
    logs, means = np.empty(len(slabs) + 1), np.empty(len(slabs) + 1)
    log_odds = math.log(rho / (1.0 - rho))
    for _ in range(FLIPS * n):
        most, where, what = GAIN, -1, 0
        for i in range(n):
            odds(Q[i], S[i], z[i], log_odds, slabs, logs, means)
            for k in range(len(logs)):
                if logs[k] - logs[z[i]] > most:
                    most, where, what = logs[k] - logs[z[i]], i, k
        if where < 0:
            break
        change(At, Bt, Q, S, slabs, z, where, what)
        value += most
    moments(slabs, z, Q, S, x, variance)
    return value


@exact
def sample(
    At: Array, y: Array, noise: float, rho: float, slabs: Array, z: Indices, tosses: Array, flips: int, x: Array,
    variance: Array, average: Array, inclusion: Array,
) -> int:  # fmt: skip
    """Gibbs' sweeps over z, a row of `tosses` each; returns how many z_i changed.

    `average` and `inclusion` are the mean of x and the probability of z != 0 over the sweeps, each before its toss (Rao
    and Blackwell), `x` and `variance` those given the last z. After so many `flips` it ends.
    """
    n, m = At.shape
    Bt, Q, S = np.empty((n, m)), np.empty(n), np.empty(n)
    set_up(At, y, noise, rho, slabs, z, Bt, Q, S)
    logs, means = np.empty(len(slabs) + 1), np.empty(len(slabs) + 1)
    log_odds = math.log(rho / (1.0 - rho))
    average[:] = 0.0
    inclusion[:] = 0.0
    changed = sweeps = 0
    while sweeps < len(tosses) and (sweeps == 0 or changed < flips):
        for i in range(n):
            odds(Q[i], S[i], z[i], log_odds, slabs, logs, means)
            logs = np.exp(logs - logs.max())
            logs /= logs.sum()
            at, k = tosses[sweeps, i], 0
            while k < len(logs) - 1 and at >= logs[k]:
                at -= logs[k]
                k += 1
            average[i] += logs @ means
            inclusion[i] += 1.0 - logs[0]
            if k != z[i]:
                change(At, Bt, Q, S, slabs, z, i, k)
                changed += 1
        sweeps += 1
    average /= sweeps
    inclusion /= sweeps
    moments(slabs, z, Q, S, x, variance)
    return changed
