"""Many signals with one support, or groups of coefficients, under noise: which support has the largest evidence?

Each group is zero, or its coefficients are drawn from N(0, tau) in all L columns; Y = A X + E with E ~ N(0, sigma^2).
For the columns A_S of some groups, the covariance of a column of Y is C = tau A_S A_S^H + sigma^2 I, and

    log p(Y | S) = -L/2 log det C - 1/2 tr Y^H C^-1 Y + constant,

with tau, and sigma where it is not known, at its maximum. All sets of k groups are equally probable, and so are all k.
From several first guesses, the group whose entry or exit raises the evidence most is flipped until none does. With
s = A_g^H C^-1 A_g and q = A_g^H C^-1 Y, entry (t = tau) and exit (t = -tau) change it by

    -L/2 log det(I + t s) + t/2 tr q^H (I + t s)^-1 q.

The same differences are the log odds of `inclusion`. Complex numbers count twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .climbs import CLEAR_GAIN
from .group_variances import learn_variances
from .groups import Groups, row_sizes
from .tolerances import LEAST_JOINT_NOISE

VARIANCE_RATIOS = np.geomspace(1e-10, 1e4, 57)  # that are tried, of tau over sigma^2 or of sigma^2 over tau
GUESS_LEVELS = (1.0, 0.1, 0.01, 1e-3, 1e-4)  # of noise, in units of the variance of a measurement
GUESS_STEPS = 12
LEAST_GUESSED_VARIANCE = 1e-2  # of a group that a guess takes as non-zero, in units of the largest
MOST_COLUMNS_PER_MEASUREMENT = 0.9


class Variances(NamedTuple):
    """The slab's tau, the noise sigma^2, and the log evidence there."""

    tau: float
    noise: float
    evidence: float


@dataclass(frozen=True)
class NoisyEstimate:
    """The mean of X on the support of the largest evidence, with error bars; `is_clear` as in `spike_slab.py`."""

    X: NDArray[Any]
    support: Indices
    std: Array
    inclusion: Array
    noise: float
    is_clear: bool


class JointModel:
    """Y = A X + E in units in which the columns of A have a mean square length of 1, and Y a mean square of 1."""

    def __init__(self, A: NDArray[Any], Y: NDArray[Any], signals: int, noise: float | None, groups: Groups) -> None:
        self.A, self.Y, self.signals, self.noise, self.groups = A, Y, signals, noise, groups
        self.parts = 2 if np.iscomplexobj(A) or np.iscomplexobj(Y) else 1
        self.units = (1.0, 1.0)  # of a column of A, and of Y
        self.loadings = np.eye(Y.shape[1])  # from Y back to the caller's columns

    @classmethod
    def of(cls, A: NDArray[Any], Y: NDArray[Any], sigma: float | None, groups: Groups) -> JointModel:
        """Return the model with Y reduced to its rank, so that the cost does not grow with the number of signals."""
        column = float(np.linalg.norm(A)) / math.sqrt(A.shape[1])
        scale = float(np.linalg.norm(Y)) / math.sqrt(Y.size)
        U, sizes, Vh = np.linalg.svd(Y / scale, full_matrices=False)
        noise = None if sigma is None else max(sigma / scale, LEAST_JOINT_NOISE) ** 2
        model = cls(A / column, U * sizes, Y.shape[1], noise, groups)
        model.units, model.loadings = (column, scale), Vh
        return model

    def estimate(self) -> NoisyEstimate:
        """Return the estimate on the best support that is found."""
        chosen, best = self._climb(np.zeros(len(self.groups), bool))
        for guess in self._guesses():
            other, found = self._climb(guess)
            if found > best:
                chosen, best = other, found
        nothing = np.zeros(len(self.groups), bool)
        alternatives = max(self._score(nothing), self.fit(~nothing).evidence)
        return self._summarise(chosen, best > alternatives + CLEAR_GAIN)

    def _guesses(self) -> list[NDArray[np.bool_]]:
        """Return what sparse Bayesian learning takes as non-zero at several levels of noise."""
        variances, guesses = np.ones(len(self.groups)), []
        for level in GUESS_LEVELS:
            for learnt in learn_variances(self.A, self.Y, self.groups, variances, np.full(GUESS_STEPS, level)):
                variances = learnt
            order = np.argsort(-variances)
            few = self.groups.leading(order, self._most())
            guess = np.zeros(len(self.groups), bool)
            guess[few[variances[few] > LEAST_GUESSED_VARIANCE * variances.max()]] = True
            guesses.append(guess)
        return guesses

    def _most(self) -> int:
        return max(int(MOST_COLUMNS_PER_MEASUREMENT * len(self.A)), int(self.groups.sizes.min()))

    def _columns(self, chosen: NDArray[np.bool_]) -> Indices:
        return self.groups.columns(np.flatnonzero(chosen))

    def fit(self, chosen: NDArray[np.bool_]) -> Variances:
        """Return the variances of the largest evidence for some groups."""
        columns = self.A[:, self._columns(chosen)]
        squares, U = np.linalg.eigh(columns @ columns.conj().T)
        squares, energies = np.maximum(squares, 0.0), row_sizes(U.conj().T @ self.Y) ** 2
        if self.noise is not None:
            taus = VARIANCE_RATIOS if chosen.any() else np.zeros(1)
            totals = taus[:, None] * squares + self.noise
            scales = np.ones(len(taus))
        else:
            totals = squares + VARIANCE_RATIOS[:, None] if chosen.any() else np.ones((1, len(squares)))
            scales = (energies / totals).mean(axis=1) / self.signals
        values = -self.signals * (np.log(totals).sum(axis=1) + len(squares) * np.log(scales))
        values -= (energies / totals).sum(axis=1) / scales
        if self.noise is None:  # no smaller noise than rounding allows
            noises = scales * (VARIANCE_RATIOS if chosen.any() else 1.0)
            values = np.where(noises >= LEAST_JOINT_NOISE**2, values, -np.inf)
        best = int(np.argmax(values))
        evidence = 0.5 * self.parts * float(values[best])
        if self.noise is not None:
            return Variances(float(taus[best]), self.noise, evidence)
        return Variances(float(scales[best]), float(noises[best]), evidence)

    def _score(self, chosen: NDArray[np.bool_]) -> float:
        """Return the log evidence with the prior of the set."""
        return self.fit(chosen).evidence - log_choices(len(chosen), int(chosen.sum()))

    def _climb(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], float]:
        """Flip the group that raises the evidence most until none does."""
        chosen, score = chosen.copy(), self._score(chosen)
        for _ in range(4 * len(chosen)):
            gains = self._gains(chosen, self.fit(chosen))
            best = int(np.argmax(gains))
            if not gains[best] > 0:
                break
            chosen[best] ^= True
            after = self._score(chosen)
            if after <= score:
                chosen[best] ^= True
                break
            score = after
        return chosen, score

    def _inverse(self, chosen: NDArray[np.bool_], variances: Variances) -> NDArray[Any]:
        columns = self.A[:, self._columns(chosen)]
        covariance = variances.tau * (columns @ columns.conj().T)
        covariance[np.diag_indices(len(covariance))] += variances.noise
        return np.asarray(np.linalg.inv(covariance))

    def _gains(self, chosen: NDArray[np.bool_], variances: Variances) -> Array:
        """Return by how much each flip raises the score; -inf for those that make the set too large."""
        inverse, n, k = self._inverse(chosen, variances), len(chosen), int(chosen.sum())
        tau = variances.tau if chosen.any() else self._first_tau()
        signs = np.where(chosen, -tau, tau)
        solved = inverse @ self.A
        q = solved.conj().T @ self.Y
        prior = np.full(n, log_choices(n, k))
        prior -= np.where(chosen, log_choices(n, max(k - 1, 0)), log_choices(n, min(k + 1, n)))
        gains = prior + 0.5 * self.parts * self._changes(signs, solved, q, variances.noise)
        taken = len(self._columns(chosen))
        return np.where(~chosen & (taken + self.groups.sizes > self._most()), -np.inf, gains)

    def _first_tau(self) -> float:
        """Return a variance that explains Y by few groups, where no group is chosen yet."""
        return len(self.A) / max(1.0, 0.1 * len(self.A))

    def _changes(self, signs: Array, solved: NDArray[Any], q: NDArray[Any], noise: float) -> Array:
        """Return twice the change of the log evidence per real number for each flip.

        I + t s is at least sigma^2 / (sigma^2 + tau |A_g|^2), also where rounding makes it less.
        """
        least = noise / (noise + np.abs(signs) * self.groups.total(row_sizes(self.A.T) ** 2))
        if self.groups.are_single:
            s = np.einsum("ij,ij->j", self.A.conj(), solved).real
            one = np.maximum(1 + signs * s, least)
            return np.asarray(-self.signals * np.log(one) + signs * row_sizes(q) ** 2 / one)
        changes = np.empty(len(signs))
        for group, members in enumerate(self.groups.members):
            s, V = np.linalg.eigh(self.A[:, members].conj().T @ solved[:, members])
            one = np.maximum(1 + signs[group] * s, least[group])
            explained = row_sizes(V.conj().T @ q[members]) ** 2
            changes[group] = np.sum(-self.signals * np.log(one) + signs[group] * explained / one)
        return changes

    def _summarise(self, chosen: NDArray[np.bool_], is_clear: bool) -> NoisyEstimate:
        variances = self.fit(chosen)
        inverse, support = self._inverse(chosen, variances), np.sort(self._columns(chosen))
        column, scale = self.units
        solved = inverse @ self.A
        X = np.zeros((self.A.shape[1], self.signals), solved.dtype)
        X[support] = variances.tau * (solved[:, support].conj().T @ self.Y) @ self.loadings * (scale / column)
        tau = variances.tau if chosen.any() else self._first_tau()
        s = np.einsum("ij,ij->j", self.A.conj(), solved).real
        inside = np.isin(np.arange(len(s)), support)
        spread = np.where(inside, np.maximum(tau - tau**2 * s, 0.0), tau / (1 + tau * s))
        odds = np.where(chosen, -1.0, 1.0) * self._gains(chosen, variances)
        inclusion = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))[self.groups.of]
        noise = math.sqrt(variances.noise) * scale
        return NoisyEstimate(X, support, np.sqrt(spread) * scale / column, inclusion, noise, is_clear)


def log_choices(n: int, k: int) -> float:
    """Return log C(n, k)."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
