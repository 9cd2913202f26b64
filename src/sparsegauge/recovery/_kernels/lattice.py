"""Short vectors of a lattice: whole numbers z with F z = 0, by the reduction of Lenstra, Lenstra and Lovasz.

A. K. Lenstra, H. W. Lenstra and L. Lovasz, "Factoring polynomials with rational coefficients", Mathematische Annalen
261, 1982. The rows of V are [z, scale F z]. The scale grows in small steps, so that the numbers stay small, and
doubles suffice.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ...metrics._kernels.jit import exact, summing

LOVASZ = 0.98  # how much shorter a vector must be to move down: 1 is the best basis and the slowest
PASSES = 8  # of size reduction, at most
KERNEL = 1e-4  # |scale F z|^2 in units of |z|^2 of what is in the kernel; others are balanced, at about 1
ROUNDING = 1e-11  # |F z| in units of |z|: what is larger is no zero, however small the scale


@exact
def reduce(V: Array, visits: int) -> int:
    """Reduce the rows of V in place; how many of `visits` steps are left (negative where they did not suffice)."""
    n = len(V)
    mu = np.zeros((n, n))
    r = np.zeros((n, n))
    k = 0
    while k < n and visits >= 0:
        visits -= 1
        _shorten(V, k, mu, r)
        rest = V[k] @ V[k]
        for j in range(k):
            rest -= mu[k, j] * r[k, j]
        r[k, k] = rest
        if k > 0 and rest < (LOVASZ - mu[k, k - 1] ** 2) * r[k - 1, k - 1]:
            for t in range(V.shape[1]):
                V[k, t], V[k - 1, t] = V[k - 1, t], V[k, t]
            k -= 1
        else:
            k += 1
    return visits


@summing
def _shorten(V: Array, k: int, mu: Array, r: Array) -> None:
    """Take whole multiples of the rows before it from row k, until its part along each is at most one half."""
    for _ in range(PASSES):
        for j in range(k):
            product = 0.0
            for t in range(V.shape[1]):
                product += V[k, t] * V[j, t]
            for i in range(j):
                product -= mu[j, i] * r[k, i]
            r[k, j] = product
            mu[k, j] = product / r[j, j]
        changed = False
        for j in range(k - 1, -1, -1):
            whole = np.rint(mu[k, j])
            if whole != 0.0:
                changed = True
                for t in range(V.shape[1]):
                    V[k, t] -= whole * V[j, t]
                for i in range(j):
                    mu[k, i] -= whole * mu[j, i]
                mu[k, j] -= whole
        if not changed:
            return


@exact
def kernel_vector(F: Array, growth: float, stages: int, visits: int, z: Array) -> bool:
    """Whether a short whole-number vector with F z = 0 was found; it is written into z."""
    m, n = F.shape
    V = np.zeros((n, n + m))
    for i in range(n):
        V[i, i] = 1.0
    scale = 1.0
    for _ in range(stages):
        scale *= growth
        V[:, n:] = scale * (np.ascontiguousarray(V[:, :n]) @ F.T)
        visits = reduce(V, visits)
        for i in range(n):
            square = V[i, :n] @ V[i, :n]
            image = V[i, n:] @ V[i, n:]
            if image < KERNEL * square and image < (ROUNDING * scale) ** 2 * square:
                z[:] = V[i, :n]
                return True
        if visits < 0:
            return False
    return False
