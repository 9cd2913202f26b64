"""The row statistics of which the metrics of the catalogue are short formulas.

Each statistic is one number per signal, computed by compiled kernels on several threads where that pays. It depends on
the signal alone, so that a batch equals its signals one by one, bit for bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Signals
from .._compiled import measure as kernels
from .._compiled.sums import BLOCK
from . import _dispatch

if TYPE_CHECKING:
    from fractions import Fraction

# N, and ranks k counted from the largest -> N times their weights, and the logarithms of these
Weights = Callable[[int, Array], tuple[Array, Array]]


CLOSE_TO_A_SPIKE = 0.5  # a Renyi entropy up to which it is computed from what is beside the spike


class TailPowers:
    """Weights by rank: the k largest of N coefficients together weigh (k/N)^power, and the whole weighs 1."""

    def __init__(self, power: float) -> None:
        self.power = power

    def __call__(self, N: int, k: Array) -> tuple[Array, Array]:
        """Return N w and log(N w) of the ranks k, w = (k/N)^power - ((k - 1)/N)^power."""
        if self.power == 2.0:
            u = (2.0 * k - 1.0) / N
            return u, np.log(u)
        step = -N * np.expm1(self.power * np.log1p(-1.0 / k))
        return step * (k / N) ** self.power, np.log(step) + self.power * np.log(k / N)


class Rows:
    """Statistics of the magnitudes c = abs(x) of every signal, each computed on first use.

    All of them are arrays with one number per signal. Those called "scaled" are in units of a power of two per signal,
    so that powers of them neither overflow nor underflow: the unit drops out of ratios of the same degree, and
    `unscaled` restores it.
    """

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def _over_rows(self, kernel: Callable[..., Any], *arguments: Any, columns: int = 0, blocks: int = 1) -> Array:
        """Return a kernel's result for every row: one number, or several in `columns`; `blocks` is its working room."""
        rows = self._signals.rows
        out = np.empty((rows, columns) if columns else rows)
        arguments = self._signals.values, self._signals.starts, *arguments
        _dispatch.over_rows(self._signals, _dispatch.with_room(kernel, arguments, *[BLOCK] * blocks), out)
        return out

    @functools.cached_property
    def N(self) -> Array:  # noqa: N802 (the formulas' name)
        """The number of coefficients."""
        return self._signals.lengths.astype(np.float64)

    @functools.cached_property
    def _powers(self) -> Array:
        return self._over_rows(kernels.power_rows, columns=5, blocks=2)

    @functools.cached_property
    def n(self) -> Array:
        """The number of coefficients that are not zero."""
        return self.N - self.at_most(0.0)

    @functools.cached_property
    def all_zero(self) -> NDArray[np.bool_]:
        """Return whether all coefficients are zero."""
        return np.equal(self.n, 0)

    @property
    def top(self) -> Array:
        """The largest c, scaled."""
        return self._powers[:, 1]

    @property
    def l1(self) -> Array:
        """The sum of c, scaled."""
        return self._powers[:, 2]

    @property
    def squares(self) -> Array:
        """The sum of c^2, scaled."""
        return self._powers[:, 3]

    @property
    def fourths(self) -> Array:
        """The sum of c^4, scaled."""
        return self._powers[:, 4]

    def unscaled(self, values: Array) -> Array:
        """Return a scaled statistic in the signal's own unit; inf where that is beyond float64's range."""
        return np.ldexp(values, self._powers[:, 0].astype(np.int64))

    @property
    def log_density(self) -> Array:
        """log(n/N), accurate for few zeros too."""
        return np.where(self.n > self.N / 2, np.log1p((self.n - self.N) / self.N), np.log(self.n / self.N))

    def at_most(self, bound: float) -> Array:
        """Return the number of coefficients c <= bound, for a bound >= 0."""
        return self._over_rows(kernels.small_rows, bound, blocks=0) + (self.N - np.diff(self._signals.starts))

    def gds(self, p: float, method: str = "auto") -> Array:
        """Return the generalised differential sparsity S_p; nan where all coefficients are zero."""
        if method == "auto" or math.isinf(p):
            values = _dispatch.measure(self._signals, float(p), math.nan)
        else:
            values = _dispatch.measure_slowly(self._signals, float(p), math.nan, method)
        self.__dict__["all_zero"] = np.isnan(values)  # which saves a pass over the coefficients
        return values

    def each(self, function: Callable[[Array], float]) -> Array:
        """Return a function of the magnitudes of each signal, which come sorted in ascending order, zeros included."""
        starts, lengths = self._signals.starts, self._signals.lengths
        values = np.empty(self._signals.rows)
        for r, length in enumerate(lengths):
            c = np.zeros(length)
            stored = np.abs(self._signals.values[starts[r] : starts[r + 1]])
            c[length - len(stored) :] = stored
            c.sort()
            values[r] = function(c)
        return values

    def entropy_of_squares(self) -> Array:
        """Return Shannon's entropy of c^2/sum c^2, in nats."""
        return self._over_rows(kernels.entropy_rows, blocks=2)

    @functools.cached_property
    def _logs(self) -> Array:
        return self._over_rows(kernels.log_rows, columns=2, blocks=2)

    def sum_log(self) -> Array:
        """Return sum log c over the non-zeros."""
        return self._logs[:, 0]

    def sum_c_log(self) -> Array:
        """Return sum c log c, scaled (the logarithm is not)."""
        return self._logs[:, 1]

    def sum_log_one_plus_square(self) -> Array:
        """Return sum log(1 + c^2)."""
        return self._over_rows(kernels.log_one_plus_square_rows)

    def sum_tanh(self, a: float, b: float) -> Array:
        """Return sum tanh((a c)^b)."""
        return self._over_rows(kernels.tanh_rows, a, b)

    def sum_negative_powers(self, p: float) -> Array:
        """Return sum c^p over the non-zeros, p < 0."""
        bottom, total = self.negative_powers(p)
        powers: Array = np.power(bottom, p) * total
        return powers

    def negative_powers(self, p: float) -> tuple[Array, Array]:
        """Return the smallest non-zero b, and sum (c/b)^p over the non-zeros, p < 0."""
        bottom, total = self._over_rows(kernels.negative_power_rows, p, columns=2).T
        return bottom, total

    def deviation(self) -> Array:
        """Return sum |c - mean c| / sum c."""
        return self._over_rows(kernels.deviation_rows, self._signals.lengths, blocks=2)

    def theil(self, squared: bool = False) -> Array:
        """Return mean(z log z), z = c/mean c or c^2/mean c^2, over the non-zeros."""
        return self.dispersion(1.0, squared)[:, 0]

    def log_power_mean(self, p: float, squared: bool = False) -> Array:
        """Return log (mean z^p)^(1/p), z as in `theil`; of the geometric mean at p = 0."""
        if p == 1:
            return np.zeros(self._signals.rows)
        return self.dispersion(p, squared)[:, 1]

    def dispersion(self, p: float, squared: bool) -> Array:
        """Return Phi_p of the non-zeros (`_compiled/dispersion.py`) and log (mean z^p)^(1/p), in two columns."""
        return self._over_rows(kernels.dispersion_rows, squared, float(p), columns=2, blocks=2)

    @functools.cached_property
    def _sorted(self) -> Array:
        return _dispatch.sorted_magnitudes(self._signals).values

    def narrowest(self, share: Fraction) -> Array:
        """Return the share of the range of c that its narrowest window with this share of coefficients leaves out."""
        signals = self._signals
        lengths, where = np.unique(signals.lengths, return_inverse=True)
        windows = np.array([math.ceil(share * int(N)) for N in lengths])[where]
        out = np.empty(signals.rows)
        kernel = functools.partial(kernels.window_rows, self._sorted, signals.starts, signals.lengths, windows)
        _dispatch.over_rows(signals, kernel, out)
        return out

    def relative_to_top(self, q: float) -> tuple[Array, Array]:
        """Return R = sum r - 1 and sum r (r^(q-1) - 1), r = c/max c: what is beside the largest, accurately.

        At q = 1 the second is sum r log r.
        """
        stored = np.diff(self._signals.starts)
        rows = np.flatnonzero(stored)
        beside, terms = np.zeros((2, len(stored)))
        if len(rows):
            starts = self._signals.starts[rows]
            last = starts + stored[rows] - 1
            r = self._sorted / np.repeat(self._sorted[last], stored[rows])
            values = np.where(r > 0.0, r * power_less_one(np.log(np.where(r > 0.0, r, 1.0)), q), 0.0)
            r[last] = 0.0
            beside[rows], terms[rows] = np.add.reduceat(r, starts), np.add.reduceat(values, starts)
        return beside, terms

    def beside_top(self) -> Array:
        """Return sum c/max c - 1: what is beside the largest coefficient, accurately."""
        return self.relative_to_top(1.0)[0]

    def weighted_by_rank(self, weights: Weights, p: float = 1.0) -> tuple[Array, Array]:
        """Return G = 1 - (w . c^p)/mean c^p for weights that fall with the rank and add up to 1; and log(1 - G)."""
        signals = self._signals
        stored = np.diff(signals.starts)
        out = np.zeros((signals.rows, 2))
        for N in np.unique(signals.lengths[signals.lengths > 0]):
            chosen = np.flatnonzero(signals.lengths == N)
            table = _rank_table(weights, int(N), int(stored[chosen].max()))
            arguments = self._sorted, signals.starts, chosen, *table, float(p)
            kernel = _dispatch.with_room(kernels.weighted_rows, arguments, BLOCK, BLOCK)
            if len(chosen) == signals.rows:
                _dispatch.over_rows(signals, kernel, out)
            else:
                kernel(0, len(chosen), out)
        return out[:, 0], out[:, 1]


def power_less_one(log: Array, q: float) -> Array:
    """Return r^(q-1) - 1 from log r; at q = 1 the logarithm itself."""
    if q == 1:
        return log
    less: Array = np.expm1((q - 1.0) * log)
    return less


def _rank_table(weights: Weights, N: int, stored: int) -> tuple[Array, Array, Array, int, Array]:
    """Return u = N w, log u and v = 1 - u of the `stored` largest ranks, where v changes sign, and sums of v.

    The last are the sums of all v but the last k. Of a sparse row few ranks are stored. More than a third of the
    weights (1/e of them and more) are below their mean, so where less than a third is stored the sign changes among the
    zeros, and there is nothing to sum.
    """
    if 3 * stored < N:
        u, log_u = weights(N, np.arange(stored, 0.0, -1.0))
        return u, log_u, 1.0 - u, -1, np.zeros(1)
    u, log_u = weights(N, np.arange(N, 0.0, -1.0))
    v = 1.0 - u
    rests = np.ascontiguousarray(np.concatenate([[0.0], np.cumsum(v)])[::-1])
    return u, log_u, v, min(int(np.searchsorted(v, 0.0)), N - 1), rests
