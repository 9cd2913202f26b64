"""Random sparse signals and sensing matrices, as in the paper's section VIII."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import Array, as_rng, check_choice, check_count
from .errors import InvalidInput

# The paper's four distributions (its binomial data are ones); the signs come apart.
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "binomial": lambda rng, count: np.ones(count),
    "uniform": lambda rng, count: rng.uniform(0.0, 1.0, count),
    "normal": lambda rng, count: rng.standard_normal(count),
    "exponential": lambda rng, count: rng.exponential(1.0, count),
}
SIGNS = ("natural", "positive", "random")


def sparse_signal(
    n: int, nonzeros: int, distribution: str = "normal", *, signs: str = "natural", rng: Any = None
) -> Array:
    """Draw a signal of n coefficients with a given number of non-zeros at random positions.

    Parameters
    ----------
    n, nonzeros : int
        The length, and how many coefficients are not zero.
    distribution : {"binomial", "uniform", "normal", "exponential"}
        The distribution of the non-zeros: ones, U(0, 1), N(0, 1) or Exp(1).
    signs : {"natural", "positive", "random"}
        As drawn, all positive, or each by the toss of a coin.
    rng : int, numpy.random.Generator or None
        Where the randomness comes from.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> x = sg.sparse_signal(100, 20, "uniform", rng=0)
    >>> x.shape, int((x != 0).sum())
    ((100,), 20)
    """
    n = check_count("n", n, least=1)
    nonzeros = check_count("nonzeros", nonzeros, least=0)
    if nonzeros > n:
        raise InvalidInput(f"nonzeros must be at most n = {n}, got {nonzeros}")
    check_choice("distribution", distribution, tuple(DISTRIBUTIONS))
    check_choice("signs", signs, SIGNS)
    rng = as_rng(rng)
    x = np.zeros(n)
    support = rng.choice(n, nonzeros, replace=False)
    x[support] = with_signs(DISTRIBUTIONS[distribution](rng, nonzeros), signs, rng)
    return x


def with_signs(values: Array, signs: str, rng: np.random.Generator) -> Array:
    """Return the values unchanged ("natural"), all positive, or with random signs."""
    if signs == "natural":
        return values
    magnitudes: Array = np.abs(values)
    return magnitudes if signs == "positive" else magnitudes * rng.choice([-1.0, 1.0], len(values))


def gaussian_matrix(m: int, n: int, *, rng: Any = None) -> Array:
    """Draw an m x n matrix of independent N(0, 1) entries.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.gaussian_matrix(30, 100, rng=0).shape
    (30, 100)
    """
    return as_rng(rng).standard_normal((check_count("m", m, least=1), check_count("n", n, least=1)))
