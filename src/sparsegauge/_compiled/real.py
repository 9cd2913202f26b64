"""num_p = sum_{i<j} (c_j - c_i)^p at any real order, with the tree of `tree`."""

from __future__ import annotations

from .kernel_tolerances import REAL_ORDER_BUDGET
from .powers import REAL, power_kind, sum_all_pairs
from .tree import (
    OFFSETS,
    PAIRS,
    POLYNOMIAL,
    Workspace,
    forget_cells,
    load_points,
    lower_bound,
    next_step,
    opening_jobs,
    recall_moments,
    sum_run_pairs,
)
from .vocabulary import Array, IndexTable, Values, entry, kernel

SHORT_REAL = 144  # up to this length every pair is added up, if that takes logarithms
SHORT_ROOT = 448  # the same with square roots


@entry
def by_all_pairs(n: int, p: float) -> bool:
    """Return whether a row of n points is added up pair by pair."""
    return n <= (SHORT_REAL if power_kind(p) == REAL else SHORT_ROOT)


@entry
def real_budget(c: Values, n: int, p: float, unit: float, counts: Array) -> float:
    """Return what one point of an interaction may cost in error: each level has a few interactions a point."""
    return REAL_ORDER_BUDGET * lower_bound(c, n, p, unit, counts) / (16 * n)


@kernel
def sum_polynomial(work: Workspace, level: int, left: int, right: int, row: int, degree: int) -> float:
    """Return the sum over two cells of sum_m coefficients[m] (u_B - u_A)^m, from their moments."""
    total = 0.0
    for m in range(degree + 1):
        part = 0.0
        for k in range(m + 1):
            part += work.signed_binomials[m, k] * work.copy[k] * work.memory[level, right, m - k]
        total += work.tables[row, degree, m] * part
    return total


@entry
def sum_jobs(
    work: Workspace, c: Values, p: float, unit: float, budget: float, jobs: IndexTable, first: int, last: int
) -> float:
    """Return the sum of ((c_j - c_i) unit)^p over the interactions jobs[first:last], depth first."""
    forget_cells(work)
    kind = power_kind(p)
    total = 0.0
    for opening in range(first, last):
        for k in range(7):
            work.stack[0, k] = jobs[opening, k]
        top = 1
        while top > 0:
            here = top - 1
            a0, a1, b0, b1 = work.stack[here, 0], work.stack[here, 1], work.stack[here, 2], work.stack[here, 3]
            a, b, level = work.stack[here, 4], work.stack[here, 5], work.stack[here, 6]
            action, degree, scale, top = next_step(work, c, p, kind, False, unit, budget, top)
            if action == PAIRS:
                total += sum_run_pairs(c, a0, a1, b0, b1, p, kind, unit)
            elif action == POLYNOMIAL:
                left = recall_moments(work, c, a0, a1, a, level, degree)
                for k in range(degree + 1):  # the right cell may take the left one's slot
                    work.copy[k] = work.memory[level, left, k]
                right = recall_moments(work, c, b0, b1, b, level, degree)
                part = scale * sum_polynomial(work, level, left, right, (b - a) % OFFSETS, degree)
                total += 0.5 * part if a == b else part
    return total


@entry
def real_numerator(work: Workspace, c: Values, first: int, last: int, p: float, points: Array) -> float:
    """Return sum_{i<j} ((c_j - c_i) / (c_N - c_1))^p of one row; one that `by_all_pairs` takes needs no tree.

    `points` has room for the row and LANES more.
    """
    if c[first] == c[last - 1]:
        return 0.0
    n = last - first
    load_points(c, first, last, points)
    unit = 1.0 / (points[n - 1] - points[0])
    if by_all_pairs(n, p):
        return sum_all_pairs(points, n, unit, p, power_kind(p))
    budget = real_budget(points, n, p, unit, work.counts)
    count = opening_jobs(points, n, work.edges, work.jobs)
    return sum_jobs(work, points, p, unit, budget, work.jobs, 0, count)
