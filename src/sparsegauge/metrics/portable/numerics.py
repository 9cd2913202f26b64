"""Elementary functions over any array library: exact scaling, differences that do not cancel, safe powers.

`xp` is the library's namespace, as array-api-compat gives it. Results and their gradients are finite wherever the
caller may use them: a value that a `where` discards is computed from a harmless argument.
"""

from __future__ import annotations

import sys
from typing import Any

LARGEST_SERIES_ARGUMENT = 0.5  # of log(1 + d) - d and exp(d) - 1 - d
LOG_TERMS = 17  # of a series in s^2 <= 1/9
EXP_TERMS = 16  # of a series in |y| <= 1/2


def constant(x: Any) -> Any:
    """Return x as numbers that no gradient flows through."""
    if hasattr(x, "detach"):  # torch
        return x.detach()
    jax = sys.modules.get("jax")
    return jax.lax.stop_gradient(x) if jax is not None and isinstance(x, jax.Array) else x


def magnitude(xp: Any, x: Any) -> Any:
    """Return abs(x), with the gradient 0 at 0 in every library."""
    if not xp.isdtype(x.dtype, "complex floating"):
        if hasattr(x, "detach"):  # of torch, which does so by itself
            return xp.abs(x)
        return x * (xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype))
    zero = x == 0
    sizes = xp.abs(xp.where(zero, xp.ones_like(x), x))
    return xp.where(zero, xp.zeros_like(sizes), sizes)


def power_of_two(xp: Any, size: Any) -> Any:
    """Return the power of two that brings a size into [1/2, 1), by comparisons and exact products alone.

    The smallest sizes that float64 has stay below 1/2, since no factor exceeds 2^1023.
    """
    size = constant(size)
    factor = xp.ones_like(size)
    steps = [2**k for k in range(9 if xp.finfo(size.dtype).bits == 64 else 6, -1, -1)]
    for k in [*steps, 1]:
        large = size >= 2.0 ** (k - 1)
        size = xp.where(large, size * 2.0**-k, size)
        factor = xp.where(large, factor * 2.0**-k, factor)
    for k in steps:
        small = size < 2.0**-k
        size = xp.where(small, size * 2.0**k, size)
        factor = xp.where(small, factor * 2.0**k, factor)
    return factor


def safe_log(xp: Any, c: Any) -> Any:
    """Return log c for c > 0, and 0 elsewhere."""
    return xp.log(xp.where(c > 0, c, xp.ones_like(c)))


def power(xp: Any, c: Any, p: float) -> Any:
    """Return c^p for c > 0, and 0 elsewhere, with all derivatives."""
    if p == 1:
        return c
    if p == 2:
        return c * c
    positive = c > 0
    return xp.where(positive, xp.where(positive, c, xp.ones_like(c)) ** p, xp.zeros_like(c))


def log_minus_linear(xp: Any, d: Any, log: Any) -> Any:
    """Return log(1 + d) - d for d > -1, given the logarithm: by a series in s = d/(2 + d) where they nearly cancel."""
    near = xp.abs(d) < LARGEST_SERIES_ARGUMENT
    inside = xp.where(near, d, xp.zeros_like(d))
    s = inside / (2.0 + inside)
    square = s * s
    series = xp.zeros_like(d)
    for k in range(LOG_TERMS, -1, -1):
        series = series * square + 1.0 / (2 * k + 3)
    return xp.where(near, s * (2.0 * square * series - inside), log - d)


def exp_minus_linear(xp: Any, y: Any) -> Any:
    """Return exp(y) - 1 - y: by its series where the terms nearly cancel."""
    near = xp.abs(y) < LARGEST_SERIES_ARGUMENT
    inside = xp.where(near, y, xp.zeros_like(y))
    series = xp.ones_like(y)
    for k in range(EXP_TERMS, 2, -1):
        series = 1.0 + series * inside / k
    return xp.where(near, 0.5 * inside * inside * series, xp.expm1(y) - y)


def centred(xp: Any, c: Any) -> tuple[Any, Any]:
    """Return the mean along the last axis, which stays, and c less the mean: twice, so that it does not round."""
    mean = xp.mean(c, axis=-1, keepdims=True)
    rest = c - mean
    correction = xp.mean(rest, axis=-1, keepdims=True)
    return mean + correction, rest - correction
