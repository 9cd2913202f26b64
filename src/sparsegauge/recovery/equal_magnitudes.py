r"""Signals of equal magnitudes, or of small whole-number ratios: found by lattice reduction, whatever their sparsity.

x0 = t z0 with z0 of whole numbers. Then A z0 is parallel to y, and with the rows of Q^T orthonormal and orthogonal to
y, z0 is a short whole-number vector with Q^T A z0 = 0, whereas for a continuous A every other such vector is far
longer. So the reduction of a lattice finds it; nothing is minimised, and M may be far below K (D. Gamarnik, E. C.
Kizildag and I. Zadik, "Inference in high-dimensional linear regression via lattice basis reduction and integer relation
detection", IEEE Transactions on Information Theory 67, 2021, who need one measurement and many digits).

Theorem. Let x0 be fixed before A (M x N, M >= 2) is drawn from a continuous density. Then almost surely every solution
of A x = A x0 that is a multiple of a whole-number vector is x0. (Whole-number vectors are countable. For one z that is
not parallel to x0, A (t z - x0) = 0 for some t says that A z and A x0 are parallel, which has probability zero.) It
gives no `certified`, which stands for sparsity alone; `certificate_reason` tells of it.

An equation whose digits are known to b bits gives b bits of information (`BITS_PER_EQUATION`), and each unknown needs
a few (`BITS_PER_UNKNOWN`). Every further equation eliminates one unknown, the likeliest non-zeros first, whose values
need not be whole then: that makes the lattice small, and its reduction a matter of milliseconds.
"""

from __future__ import annotations

import math

import numpy as np

from .._arrays import Array
from .._compiled import recover as kernels
from .problem import Problem
from .tolerances import EXACT, NOT_ZERO, SAME_NEARLY_WHOLE

BITS_PER_EQUATION = 40  # that rounding leaves intact
BITS_PER_UNKNOWN = 3.5  # that distinguish the vector from all others
LARGEST_LATTICE = 110  # dimension
GROWTH = 4.0
VISITS = 60_000
BITS_BEYOND_COINCIDENCE = 64  # a coincidence has a probability of 2^-64


def whole_multiples(problem: Problem, likely: Array) -> Array | None:
    """Return an exact solution whose values are small whole multiples of one another, or None; A is a real matrix.

    The `likely` largest may take any values, as far as there are equations to spare.
    """
    B, b = problem.reduced.B, problem.reduced.b
    rank, n = B.shape
    if rank < 3:
        return None
    order = np.argsort(-likely)
    kept = min(n, rank - 1 + int(LARGEST_LATTICE * (1 - BITS_PER_UNKNOWN / BITS_PER_EQUATION)))
    free = int((BITS_PER_EQUATION * (rank - 1) - BITS_PER_UNKNOWN * kept) / (BITS_PER_EQUATION - BITS_PER_UNKNOWN))
    free = min(max(free, 0), rank - 2)
    any_value, whole = order[:free], order[free:kept]
    Q = np.linalg.qr(np.column_stack([b, B[:, any_value]]), mode="complete")[0][:, free + 1 :]
    F = np.ascontiguousarray(Q.T @ B[:, whole])
    z = np.zeros(len(whole))
    room = kernels.LatticeRoom(*F.shape)
    if not kernels.kernel_vector(F, GROWTH, int(BITS_PER_EQUATION / math.log2(GROWTH)), VISITS, room, z):
        return None
    fit = np.linalg.lstsq(np.column_stack([B[:, any_value], B[:, whole] @ z]), b, rcond=None)[0]
    x = np.zeros(n)
    x[any_value], x[whole] = fit[:-1], fit[-1] * z
    return x


def as_whole(problem: Problem, x: Array) -> Array | None:
    """Move x onto the multiples of its smallest magnitude, if it lies on them and they explain y beyond coincidence.

    A coincidence: of the (2 max|z| + 1)^N vectors with as small whole numbers, one fits M - 1 equations to 1e-9.
    """
    B, b = problem.reduced.B, problem.reduced.b
    nonzero = np.abs(x) > NOT_ZERO * np.abs(x).max()
    if not nonzero.any():
        return None
    ratios = x / np.min(np.abs(x[nonzero]))
    z = np.rint(ratios)
    if np.abs(ratios - z).max() > SAME_NEARLY_WHOLE:
        return None
    image = B @ z
    t = float(image @ b / (image @ image))
    told = (len(b) - 1) * -math.log2(EXACT)
    taken = problem.n * math.log2(2 * np.abs(z).max() + 1)
    if taken + BITS_BEYOND_COINCIDENCE > told or np.linalg.norm(t * image - b) > EXACT * np.linalg.norm(b):
        return None
    return np.asarray(t * z)
