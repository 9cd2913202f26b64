"""The Lorenz curve of a signal, and the effective rank of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array, Signals, as_finite_array, over_signals
from ..errors import InvalidInput
from .diversity import hill

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Lorenz:
    """A Lorenz curve: the smallest coefficients that make up a `population` hold a `share` of the total.

    Both run from 0 to 1. Equal coefficients lie on the diagonal, and twice the area between the diagonal and the curve
    is the Gini index.
    """

    population: Array
    share: Array

    @property
    def gini(self) -> float:
        """Twice the area between the diagonal and the curve: the Gini index."""
        return 1.0 - float(np.diff(self.population) @ (self.share[1:] + self.share[:-1]))

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the curve and the diagonal, and return matplotlib's axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new ones by default.
        **style
            Options of the curve, as ``color`` and ``label``.

        Returns
        -------
        matplotlib Axes
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(4, 4), layout="constrained").add_subplot()
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        ax.plot(self.population, self.share, **style)
        ax.set(
            xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="share of the coefficients, smallest first",
            ylabel="share of the total",
        )  # fmt: skip
        return ax


def lorenz(x: ArrayLike, *, nan_policy: str = "propagate", weights: ArrayLike | None = None) -> Lorenz:
    r"""Return the Lorenz curve of one signal: which share of :math:`\sum c` its smallest coefficients hold.

    Parameters
    ----------
    x : array_like
        One signal: real or complex numbers; an array of more dimensions is flattened.
    nan_policy : {"propagate", "omit", "raise"}
        What to do with NaN. A curve of NaN is refused, whatever this says, unless they are omitted.
    weights : array_like, optional
        How often each coefficient counts.

    Returns
    -------
    Lorenz
        The curve, with ``population``, ``share``, ``gini`` and ``plot()``.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> curve = sg.lorenz([0, 0, 3, 1])
    >>> curve.population, curve.share
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25, 1.  ]))
    >>> curve.gini == sg.gini([0, 0, 3, 1])
    True
    """
    found: list[tuple[Array, Array]] = []

    def keep(signals: Signals) -> Array:
        if signals.missing is not None and signals.missing.any():
            raise InvalidInput("x has NaN or nothing but masked values; nan_policy='omit' leaves NaN out")
        w = np.ones(len(signals.values)) if signals.weights is None else signals.weights
        total = float(signals.lengths[0]) if signals.totals is None else float(signals.totals[0])
        found.append((np.abs(signals.values), np.append(w, max(0.0, total - w.sum()))))
        return np.zeros(signals.rows)

    over_signals(x, None, nan_policy, keep, weights=weights)
    values, w = found[0]
    top = values.max(initial=0.0)
    if top == 0.0:
        raise InvalidInput("x is zero everywhere, and its coefficients have no shares; pass a signal that is not")
    c = np.append(values / top, 0.0)  # the last stands for zeros that a sparse array does not store
    order = np.argsort(c, kind="stable")
    order = order[w[order] > 0.0]
    population, share = np.cumsum(w[order]), np.cumsum(w[order] * c[order])
    return Lorenz(*(np.concatenate([[0.0], curve / curve[-1]]) for curve in (population, share)))


def stable_rank(A: ArrayLike) -> float | Array:
    r"""Return the stable rank of matrices, :math:`\|A\|_F^2 / \|A\|_2^2`: from 1 to the rank.

    Small singular values, which rounding and noise add, hardly change it (Rudelson and Vershynin 2007, J. ACM 54(4)).

    Parameters
    ----------
    A : array_like of shape (..., m, n)
        One matrix, or a stack of them, of finite real numbers; nan for a matrix of zeros.

    Returns
    -------
    float or ndarray
        One number per matrix.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.stable_rank([[2.0, 0.0], [0.0, 1.0]])
    1.25
    """
    s = _singular_values(A)
    with np.errstate(invalid="ignore"):
        ratios = s / s.max(axis=-1, keepdims=True)
    return _plain(np.sum(ratios**2, axis=-1))


def effective_rank(A: ArrayLike) -> float | Array:
    r"""Return the effective rank of matrices: the Hill number of order 1 of their singular values.

    It is the exponential of the entropy of :math:`s_i / \sum s` (Roy and Vetterli 2007, EUSIPCO), from 1 to the rank.

    Parameters
    ----------
    A : array_like of shape (..., m, n)
        One matrix, or a stack of them, of finite real numbers; nan for a matrix of zeros.

    Returns
    -------
    float or ndarray
        One number per matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> round(sg.effective_rank(np.eye(3)), 12)
    3.0
    """
    return _plain(np.asarray(hill(_singular_values(A), q=1.0)))


def _plain(values: Array) -> float | Array:
    return float(values) if values.ndim == 0 else values


def _singular_values(A: ArrayLike) -> Array:
    matrices = as_finite_array(A)
    if matrices.ndim < 2:
        raise InvalidInput(f"A must be a matrix or a stack of them, got shape {matrices.shape}; reshape it to (m, n)")
    return np.asarray(np.linalg.svd(matrices, compute_uv=False), dtype=np.float64)
