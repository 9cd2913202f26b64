"""Tables for the polynomials that stand in for d^p between two cells. `tree.Workspace` takes them."""

from __future__ import annotations

import functools
import math

import numpy as np

from .polynomials import CHEBYSHEV_NODES, DEGREE
from .vocabulary import Matrix


@functools.cache
def chebyshev_tables() -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the nodes (as one row), values to coefficients, T_k by powers of t, and signed binomials."""
    angles = math.pi * (np.arange(CHEBYSHEV_NODES) + 0.5) / CHEBYSHEV_NODES
    to_coefficients = np.cos(np.outer(np.arange(CHEBYSHEV_NODES), angles)) * (2.0 / CHEBYSHEV_NODES)
    to_coefficients[0] /= 2.0
    in_powers = np.zeros((DEGREE + 1, DEGREE + 1))
    in_powers[0, 0] = in_powers[1, 1] = 1.0
    for k in range(2, DEGREE + 1):
        in_powers[k, 1:] = 2.0 * in_powers[k - 1, :-1]
        in_powers[k] -= in_powers[k - 2]
    signed = np.array([[(-1.0) ** k * math.comb(m, k) for k in range(DEGREE + 1)] for m in range(DEGREE + 1)])
    return np.cos(angles)[None, :], to_coefficients, in_powers, signed
