"""num_p = sum_{i<j} (c_j - c_i)^p at any real order, with the tree of `tree`."""

from __future__ import annotations

from ..._arrays import Array, Indices
from .jit import exact
from .tree import (
    PAIRS,
    POLYNOMIAL,
    ROWS,
    SLOTS,
    Workspace,
    forget_cells,
    lower_bound,
    next_step,
    opening_jobs,
    remembered,
    shifted,
    sum_of_pairs,
    sum_of_polynomial,
    unpacked,
    workspace,
)

SHORT = 256  # up to this length every pair is added up
TOLERANCE = 1e-14


@exact
def workspace_for(longest: int) -> Workspace:
    """Room for a tree, if the longest row asks for one."""
    return workspace() if longest > SHORT else workspace(0, 0)


@exact
def budget_for(c: Array, p: float, unit: float) -> float:
    """What one point of an interaction may cost in error: each level has a few interactions a point."""
    return TOLERANCE * lower_bound(c, p, unit) / (16 * len(c))


@exact
def sum_jobs(work: Workspace, c: Array, p: float, unit: float, budget: float, jobs: Indices) -> float:
    """The sum of ((c_j - c_i) unit)^p over the interactions in `jobs`, depth first."""
    forget_cells(work)
    total = 0.0
    for opening in range(len(jobs)):
        work.stack[0] = jobs[opening]
        top = 1
        while top > 0:
            action, degree, scale, top = next_step(work, c, p, False, unit, budget, top)
            a0, a1, b0, b1, a, b, level = unpacked(work.job)
            if action == PAIRS:
                total += sum_of_pairs(c, a0, a1, b0, b1, p, unit)
            elif action == POLYNOMIAL:
                left = remembered(work, c, a0, a1, a, level, degree)
                if a != b and (b - a) % SLOTS == 0:  # the right cell takes the left one's slot
                    left = left.copy()
                right = remembered(work, c, b0, b1, b, level, degree)
                part = scale * sum_of_polynomial(left, right, work.tables[(b - a) % ROWS, degree], degree)
                total += 0.5 * part if a == b else part
    return total


@exact
def numerator(work: Workspace, c: Array, p: float) -> float:
    """sum_{i<j} ((c_j - c_i) / (c_N - c_1))^p of one row; a row of up to SHORT needs no workspace."""
    if c[0] == c[-1]:
        return 0.0
    c = shifted(c)
    unit = 1.0 / (c[-1] - c[0])
    if len(c) <= SHORT:
        return sum_of_pairs(c, 0, len(c), 0, len(c), p, unit)
    return sum_jobs(work, c, p, unit, budget_for(c, p, unit), opening_jobs(c))
