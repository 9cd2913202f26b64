"""Sparse Bayesian learning with one variance per group of coefficients, shared by all signals.

With C = sum over groups of gamma_g A_g A_g^H + sigma^2 I, the fixed-point step is

    gamma_g <- gamma_g |A_g^H C^-1 Y|^2 / (L tr A_g^H C^-1 A_g),

D. J. C. MacKay's for relevance vector machines, as in D. P. Wipf and B. D. Rao, "An empirical Bayesian strategy for
solving the simultaneous sparse approximation problem", IEEE Transactions on Signal Processing 55(7), 2007.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .groups import Groups, row_sizes
from .tolerances import LEAST_VARIANCE


def learn_variances(
    B: NDArray[Any], Y: NDArray[Any], groups: Groups, variances: Array, levels: Array
) -> Iterator[Array]:
    """Yield the variances of the groups, in units of the largest, after a step at each level of the noise.

    Levels are in units of the mean variance of a measurement.
    """
    rank, n = B.shape
    both, diagonal = np.hstack([B, Y]), np.diag_indices(rank)
    for level in levels:
        covariance = (B * variances[groups.of]) @ B.conj().T
        covariance[diagonal] += level * covariance[diagonal].real.mean()
        solved = np.linalg.solve(covariance, both)
        explained = groups.total(row_sizes(B.conj().T @ solved[:, n:]) ** 2) / Y.shape[1]
        expected = groups.total(np.einsum("ij,ij->j", B.conj(), solved[:, :n]).real)
        variances = variances * explained / np.maximum(expected, np.finfo(float).tiny)
        variances = np.maximum(variances / variances.max(), LEAST_VARIANCE)
        yield variances
