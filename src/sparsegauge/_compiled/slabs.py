"""The choice of a support by its evidence, among measurements with noise.

y = A x + e with x_i = 0 (z_i = 0) or drawn from the Gaussian slab z_i = 1, 2, ..., a row (weight, mean mu, variance
tau): then y - A mu_z = r is of the covariance C = sigma^2 I + A diag(tau_z) A^T, and B = C^-1 A, Q = B^T r and
S_j = a_j . B_j are kept by rank-one changes (M. E. Tipping and A. C. Faul, "Fast marginal likelihood maximisation for
sparse Bayesian models", AISTATS 2003).
"""

from __future__ import annotations

import math

import numpy as np

from .dense import AlignedMatrix, factor_with_jitter, multiply_halves, multiply_vector, solve_lower, solve_many
from .kernel_tolerances import LEAST_NOISE_FOR_CHANGES, SMALLEST_EVIDENCE_GAIN
from .lanes import add_row, dot, row_dot, row_times
from .vocabulary import Array, Indices, Matrix, Values, entry, kernel, record

FLIPS = 4  # changes of a support, for each coefficient, at most


@record
class EvidenceRoom:
    """The columns of A (n of length m), followed by zeros as `dense.py` wants them, and what is kept of a support."""

    columns: Matrix
    rows: Matrix
    solutions: Matrix
    B: Matrix
    Q: Array
    S: Array
    scaled: Matrix
    C: Matrix
    factor: Matrix
    lower: Matrix
    along: Array
    left: Array
    solution: Array
    priors: Array
    logs: Array
    means: Array
    squares: Array

    def __init__(self, columns: Matrix, slabs: int) -> None:
        n, m = columns.shape
        padded = np.asarray(AlignedMatrix(n, m).values)
        padded[:, :m] = columns
        width = padded.shape[1]
        rows = np.asarray(AlignedMatrix(width, n).values)
        rows[:m, :n] = columns.T
        self.columns, self.rows = padded, rows
        self.solutions = AlignedMatrix(width, n).values
        self.B = AlignedMatrix(n, m).values
        self.scaled = AlignedMatrix(n, m).values
        self.C = AlignedMatrix(width, m).values
        self.factor = AlignedMatrix(width, m).values
        self.lower = AlignedMatrix(width, m).values
        self.Q, self.S, self.along = np.empty((3, n))
        self.left, self.solution = np.empty((2, width))
        self.priors, self.logs, self.means, self.squares = np.empty((4, slabs + 1))


@kernel
def flip(room: EvidenceRoom, i: int, mean: float, variance: float) -> None:
    """Change B, Q and S for `mean` and `variance` more of the slab of coefficient i."""
    n = room.columns.shape[0]
    width = room.columns.shape[1]
    for t in range(width):
        room.solution[t] = room.B[i, t]
    factor = variance / (1.0 + variance * room.S[i])
    pull = mean + (room.Q[i] - mean * room.S[i]) * factor
    multiply_vector(room.columns, n, room.solution, width, room.along)
    for j in range(n):
        g = room.along[j]
        subtract_from_row(room.solution, factor * g, width, room.B, j)
        room.S[j] -= factor * g * g
        room.Q[j] -= pull * g


@kernel
def subtract_from_row(x: Values, factor: float, n: int, A: Matrix, r: int) -> None:
    """Take factor * x[:n] from A[r, :n]."""
    for t in range(n):
        A[r, t] -= factor * x[t]


@kernel
def choose_slab(room: EvidenceRoom, slabs: Matrix, z: Indices, i: int, k: int) -> None:
    """Set z_i to k, and change what follows from it."""
    mean = 0.0
    variance = 0.0
    if k > 0:
        mean = slabs[k - 1, 1]
        variance = slabs[k - 1, 2]
    if z[i] > 0:
        mean -= slabs[z[i] - 1, 1]
        variance -= slabs[z[i] - 1, 2]
    flip(room, i, mean, variance)
    z[i] = k


@entry
def set_up_evidence(room: EvidenceRoom, y: Values, noise: float, rho: float, slabs: Matrix, z: Indices) -> float:
    """Compute B, Q and S from scratch; return log p(y, z), up to a constant. `noise` is sigma^2.

    Where rounding makes C indefinite, the least amount that restores it is added to its diagonal; where none does, the result is
    not a number, and B is zero.
    """
    n = room.columns.shape[0]
    m = len(y)
    width = room.columns.shape[1]
    for t in range(m):
        room.left[t] = y[t]
    members = 0
    value: float = 0.0
    for j in range(n):
        if z[j] > 0:
            root = math.sqrt(slabs[z[j] - 1, 2])
            for t in range(width):
                room.scaled[members, t] = root * room.columns[j, t]
            add_row(room.columns, j, -slabs[z[j] - 1, 1], m, room.left)
            value += math.log(rho * slabs[z[j] - 1, 0])
            members += 1
    value += (n - members) * math.log(1.0 - rho)
    multiply_halves(room.scaled, room.scaled, members, m, room.C)
    found = factor_with_jitter(room.C, noise, m, room.factor) >= 0.0
    for t in range(room.rows.shape[0]):
        for j in range(room.rows.shape[1]):
            room.solutions[t, j] = room.rows[t, j] if found else 0.0
    if found:
        solve_many(room.factor, m, room.lower, room.solutions)
    for j in range(n):
        for t in range(m):
            room.B[j, t] = room.solutions[t, j]
        room.S[j] = row_dot(room.columns, j, room.B, j, 0, m)
        room.Q[j] = row_times(room.B, j, room.left, m)
    if not found:
        return math.nan
    solve_lower(room.factor, m, room.left)
    value -= 0.5 * dot(room.left, room.left, m)
    for i in range(m):
        value -= math.log(room.factor[i, i])
    return value


@kernel
def write_priors(rho: float, slabs: Matrix, priors: Array) -> None:
    """Write the log of each slab's probability over that of zero, before anything is measured."""
    for k in range(slabs.shape[0]):
        priors[k + 1] = math.log(rho / (1.0 - rho)) + math.log(slabs[k, 0])


@kernel
def write_odds(Q: float, S: float, now: int, slabs: Matrix, room: EvidenceRoom) -> None:
    """Write, for one coefficient, the log of each slab's odds against zero, and the means of x_i and x_i^2 under each."""
    if now > 0:  # as if it were zero
        share = 1.0 - slabs[now - 1, 2] * S
        Q = (Q + slabs[now - 1, 1] * S) / share
        S = S / share
    room.logs[0] = 0.0
    room.means[0] = 0.0
    room.squares[0] = 0.0
    for k in range(slabs.shape[0]):
        mean = slabs[k, 1]
        variance = slabs[k, 2]
        wide = 1.0 + variance * S
        fit = (variance * Q * Q + 2.0 * Q * mean - mean * mean * S) / (2.0 * wide)
        room.logs[k + 1] = room.priors[k + 1] - 0.5 * math.log(wide) + fit
        center = (mean + variance * Q) / wide
        room.means[k + 1] = center
        room.squares[k + 1] = center * center + variance / wide


@kernel
def write_moments(slabs: Matrix, z: Indices, Q: Values, S: Values, x: Array, variance: Array) -> None:
    """Write the mean and the variance of each x_i given z and y."""
    for i in range(len(z)):
        x[i] = 0.0
        variance[i] = 0.0
        if z[i] > 0:
            tau = slabs[z[i] - 1, 2]
            x[i] = slabs[z[i] - 1, 1] + tau * Q[i]
            variance[i] = max(tau - tau * tau * S[i], 0.0)


@entry
def climb(
    room: EvidenceRoom, y: Values, noise: float, rho: float, slabs: Matrix, z: Indices, x: Array, variance: Array
) -> float:
    """Make the best single change of z again and again, until none raises p(y, z); return the log of that.

    The last z is looked at afresh: with little noise the changes, one on top of the other, lose digits.
    """
    n = len(z)
    changes = 0
    value = set_up_evidence(room, y, noise, rho, slabs, z)
    write_priors(rho, slabs, room.priors)
    for _ in range(FLIPS * n):
        most = SMALLEST_EVIDENCE_GAIN
        where = -1
        what = 0
        for i in range(n):
            write_odds(room.Q[i], room.S[i], z[i], slabs, room)
            for k in range(len(room.logs)):
                if room.logs[k] - room.logs[z[i]] > most:
                    most = room.logs[k] - room.logs[z[i]]
                    where = i
                    what = k
        if where < 0:
            break
        choose_slab(room, slabs, z, where, what)
        changes += 1
    if changes > 0:
        value = set_up_evidence(room, y, noise, rho, slabs, z)
    write_moments(slabs, z, room.Q, room.S, x, variance)
    return value


@kernel
def share_out(logs: Array) -> None:
    """Replace logs of probabilities, up to a constant, by the probabilities."""
    top = logs[0]
    for k in range(1, len(logs)):
        top = max(top, logs[k])
    total = 0.0
    for k in range(len(logs)):
        logs[k] = math.exp(logs[k] - top)
        total += logs[k]
    for k in range(len(logs)):
        logs[k] /= total


@entry
def sample(
    room: EvidenceRoom, y: Values, noise: float, rho: float, slabs: Matrix, z: Indices, tosses: Matrix, flips: int,
    x: Array, variance: Array, average: Array, square: Array, inclusion: Array,
) -> int:  # fmt: skip
    """Sweep over z by Gibbs sampling, once per row of `tosses`; return how many z_i changed.

    `average`, `square` and `inclusion` are the means of x and x^2 and the probability of z != 0 over the sweeps, each
    before its toss (Rao-Blackwellised); `x` and `variance` are those given the last z. It ends after the sweep that
    makes the `flips`-th change. With very little noise the last z is looked at afresh, as by `climb`.
    """
    n = len(z)
    count = len(room.logs)
    set_up_evidence(room, y, noise, rho, slabs, z)
    write_priors(rho, slabs, room.priors)
    for i in range(n):
        average[i] = 0.0
        square[i] = 0.0
        inclusion[i] = 0.0
    changes = 0
    sweeps = 0
    while sweeps < tosses.shape[0] and (sweeps == 0 or changes < flips):
        for i in range(n):
            write_odds(room.Q[i], room.S[i], z[i], slabs, room)
            share_out(room.logs)
            at = tosses[sweeps, i]
            k = 0
            while k < count - 1 and at >= room.logs[k]:
                at -= room.logs[k]
                k += 1
            average[i] += dot(room.logs, room.means, count)
            square[i] += dot(room.logs, room.squares, count)
            inclusion[i] += 1.0 - room.logs[0]
            if k != z[i]:
                choose_slab(room, slabs, z, i, k)
                changes += 1
        sweeps += 1
    for i in range(n):
        average[i] /= sweeps
        square[i] /= sweeps
        inclusion[i] /= sweeps
    if changes > 0 and noise * len(y) < LEAST_NOISE_FOR_CHANGES * dot(y, y, len(y)):
        set_up_evidence(room, y, noise, rho, slabs, z)
    write_moments(slabs, z, room.Q, room.S, x, variance)
    return changes
