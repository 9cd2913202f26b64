"""Wells with noise: |A x - y| <= radius in place of A x = y.

The steps are those of `wells.py`; the multiplier of the noise is found by Newton's steps on its secular equation, from
where the last step left it.
"""

from __future__ import annotations

import math

from .dense import factor_with_jitter, multiply_halves, multiply_vector, scale_rows, solve_lower, solve_upper
from .lanes import dot, fill
from .vocabulary import Array, Values, entry
from .wells import DescentRoom, SlopesRoom, Wells, copy_values, has_settled, subtract_image, weigh

NEWTON_STEPS = 20  # of the secular equation, at most
ON_SPHERE = 1e-2  # how near to the radius an intermediate x has to be
STEEPEST = 1e13  # 1/lambda, beyond which the noise is less than rounding


@entry
def solve_within(
    room: DescentRoom, y: Values, radius: float, weight: Values, target: Values, damping: float, accuracy: float,
    x: Array,
) -> float:  # fmt: skip
    """Write x = argmin sum weight (x - target)^2 subject to |A x - y| <= radius; return the damping for the next step.

    x = target + W^-1 A^T u with (G + lambda) u = y - A target and G = A W^-1 A^T, which leaves lambda u of y. Newton's
    steps on 1/|lambda u| as a function of 1/lambda (More, 1978). `damping` is lambda m / trace G. Where rounding makes
    G + lambda indefinite, the least amount that restores it is added to its diagonal; where none does, x is nan.
    """
    m = len(y)
    n = len(weight)
    subtract_image(room.columns, target, y, room.left)
    if math.sqrt(dot(room.left, room.left, m)) <= radius:
        copy_values(target, x)
        return damping
    for j in range(n):
        room.inverse[j] = 1.0 / weight[j]
    scale_rows(room.columns, room.inverse, n, room.scaled)
    multiply_halves(room.scaled, room.columns, n, m, room.gram)
    unit = 0.0
    for i in range(m):
        unit += room.gram[i, i]
    unit /= m
    mu = 1.0 / damping
    for _ in range(NEWTON_STEPS):
        ridge = unit / mu
        if factor_with_jitter(room.gram, ridge, m, room.factor) < 0.0:
            fill(x, 0, n, math.nan)
            return damping
        copy_values(room.left, room.dual)
        solve_lower(room.factor, m, room.dual)
        solve_upper(room.factor, m, room.dual)
        square = ridge * ridge * dot(room.dual, room.dual, m)
        size = math.sqrt(square)
        if abs(size - radius) <= accuracy * radius:
            break
        copy_values(room.dual, room.power)
        solve_lower(room.factor, m, room.power)
        # r^T (I + mu G)^-1 mu G r with r = lambda u
        slope = square - ridge * ridge * ridge * dot(room.power, room.power, m)
        if slope <= 0.0:
            break
        mu *= max(1.0 + square * (size / radius - 1.0) / slope, 0.1)
        if mu > STEEPEST:
            break
    multiply_vector(room.scaled, n, room.dual, m, x)
    for j in range(n):
        x[j] += target[j]
    return 1.0 / mu


@entry
def descend_within(
    room: DescentRoom, slopes_room: SlopesRoom, y: Values, radius: float, wells: Wells, jitter: Values, eps: float,
    settled: float, steps: int, damping: float, x: Array,
) -> tuple[int, float]:  # fmt: skip
    """Take steps as `wells.descend` does; return how many, and the damping to go on with."""
    solves = 0
    for _ in range(steps):
        copy_values(x, room.previous)
        weigh(x, eps, wells, jitter, slopes_room, room.weight, room.target)
        damping = solve_within(room, y, radius, room.weight, room.target, damping, ON_SPHERE, x)
        solves += 1
        if has_settled(x, room.previous, settled * settled):
            break
    return solves, damping
