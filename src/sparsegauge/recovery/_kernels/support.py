"""The certificate's search: which few columns, beside the likely ones, explain b exactly?

Ordered-statistics decoding, as in coding theory. T holds the rank - SPARE coefficients that are most likely not zero.
In the complement of span(B_T), of dimension SPARE, at most three more columns are looked for whose span holds what is
left of b. So at most three members of the true support may lie outside T, which is far less than convergence asks for.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array, Indices
from ...metrics._kernels.jit import exact, summing

SPARE = 5
MARGIN = 2  # a certificate needs at least so many equations more than non-zeros
PARALLEL = 1e-11  # 1 - cos^2 of two vectors that are looked at more closely
EXACT = 1e-9  # relative residual of a fit that counts as exact
COLUMNS = 160  # columns outside T that are searched, the likeliest first


@exact
def refit(B: Array, b: Array, chosen: Indices, x: Array) -> float:
    """Least squares on the chosen columns, written into x; the relative residual (inf where they are dependent)."""
    k = len(chosen)
    x[:] = 0.0
    part = np.empty((len(b), k))
    for j in range(k):
        part[:, j] = B[:, chosen[j]]
    Q, R = np.linalg.qr(part)
    Q = np.ascontiguousarray(Q)
    largest = 0.0
    for j in range(k):
        largest = max(largest, abs(R[j, j]))
    for j in range(k):
        if abs(R[j, j]) < 1e-7 * largest:
            return np.inf
    right = b @ Q
    for j in range(k - 1, -1, -1):
        value = right[j]
        for i in range(j + 1, k):
            value -= R[j, i] * x[chosen[i]]
        x[chosen[j]] = value / R[j, j]
    left = B @ x - b
    return float(np.sqrt(left @ left) / np.sqrt(b @ b))


@exact
def _accept(B: Array, b: Array, T: Indices, extra: Indices, rest: Indices, x: Array) -> bool:
    """Whether T and a few more columns fit b, with `MARGIN` equations to spare once needless ones are dropped."""
    chosen = np.empty(len(T) + len(extra), np.int64)
    chosen[: len(T)] = T
    for i in range(len(extra)):
        chosen[len(T) + i] = rest[extra[i]]
    if refit(B, b, chosen, x) > EXACT:
        return False
    top = np.max(np.abs(x))
    kept = np.flatnonzero(np.abs(x) > 1e-7 * top)
    return len(kept) <= len(b) - MARGIN and refit(B, b, kept, x) <= EXACT


@exact
def certify(B: Array, b: Array, likely: Array, filler: Array, x: Array) -> bool:
    """Whether an exact fit with few non-zeros lies near the order of `likely`; it is written into x.

    `filler` is a (rank, SPARE) array of random numbers, which completes a basis.
    """
    m = len(b)
    spare = min(SPARE, m - 1)
    size = m - spare
    order = np.argsort(-likely)
    T = order[:size]
    rest = order[size : size + COLUMNS]
    basis = np.empty((m, m))
    for j in range(size):
        basis[:, j] = B[:, T[j]]
    basis[:, size:] = filler[:, :spare]
    Q, _ = np.linalg.qr(basis)
    complement = np.ascontiguousarray(Q[:, size:].T)
    left = complement @ b
    energy = left @ left
    if energy <= EXACT * EXACT * (b @ b):
        return _accept(B, b, T, np.empty(0, np.int64), rest, x)
    C = np.empty((spare, len(rest)))
    for j in range(len(rest)):
        C[:, j] = complement @ np.ascontiguousarray(B[:, rest[j]])
    return _search(B, b, T, rest, C, left, x)


@exact
def _search(B: Array, b: Array, T: Indices, rest: Indices, C: Array, left: Array, x: Array) -> bool:
    """One, two, then three columns of C whose span holds `left`, by inner products alone."""
    r = C.shape[1]
    G = C.T @ C
    g = left @ C
    energy = float(left @ left)
    for k in range(r):
        near = G[k, k] > 0.0 and energy * G[k, k] - g[k] * g[k] <= PARALLEL * energy * G[k, k]
        if near and _accept(B, b, T, np.array([k]), rest, x):
            return True
    if len(left) < 3:  # as many columns as there are dimensions span everything
        return False
    norm = np.empty(r)
    dot = np.empty(r)
    inner = np.empty((r, r))
    for i in range(r - 1):
        if G[i, i] <= 0.0:
            continue
        _without(G, g, i, inner, dot)
        for k in range(i + 1, r):
            norm[k] = inner[k, k]
        after = energy - g[i] * g[i] / G[i, i]
        for k in range(i + 1, r):
            near = norm[k] > 1e-9 * G[k, k] and after * norm[k] - dot[k] * dot[k] <= PARALLEL * energy * norm[k]
            if near and _accept(B, b, T, np.array([i, k]), rest, x):
                return True
        for j in range(i + 1, r - 1 if len(left) > 3 else i + 1):
            if norm[j] <= 1e-9 * G[j, j]:
                continue
            last = after - dot[j] * dot[j] / norm[j] - PARALLEL * energy
            if not _some(inner[j], norm, dot, j + 1, 1.0 / norm[j], dot[j] / norm[j], last):
                continue
            for k in range(j + 1, r):
                square = norm[k] - inner[j, k] * inner[j, k] / norm[j]
                product = dot[k] - inner[j, k] / norm[j] * dot[j]
                near = square > 1e-9 * norm[k] and last * square - product * product <= 0.0
                if near and _accept(B, b, T, np.array([i, j, k]), rest, x):
                    return True
    return False


@exact
def _without(G: Array, g: Array, i: int, inner: Array, dot: Array) -> None:
    """The inner products of the columns after the i-th, and theirs with what is left, once its part is taken out."""
    r = len(g)
    for k in range(i + 1, r):
        share = G[i, k] / G[i, i]
        dot[k] = g[k] - share * g[i]
        for j in range(k, r):
            inner[k, j] = G[k, j] - share * G[i, j]


@summing
def _some(inner: Array, norm: Array, dot: Array, first: int, scale: float, along: float, last: float) -> bool:
    """Whether last |c_k|^2 <= (c_k . left)^2 for some k, beside two columns: then the k-th explains what is left.

    Counted without a branch, so that it vectorises: nearly all pairs end here.
    """
    count = 0
    for k in range(first, len(norm)):
        product = dot[k] - inner[k] * along
        count += last * (norm[k] - inner[k] * inner[k] * scale) <= product * product
    return count > 0
