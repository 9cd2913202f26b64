"""Moments of one coefficient in expectation propagation: a spike at zero and a slab, times a Gaussian."""

from __future__ import annotations

import math

import numpy as np

from .vocabulary import Array, Matrix, Values, entry, kernel, record

GAUSSIANS, EXPONENTIALS = 0, 1
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
QUADRATURE_NODES = 64
REACH = 40.0  # exp(-REACH) is negligible next to 1
FRACTION_FROM, FRACTION_DEPTH = 5.0, 40  # from where the continued fraction is used, and how much of it


@record
class Quadrature:
    """A Gauss-Legendre rule of QUADRATURE_NODES, for intervals with two ends, and room for its terms."""

    nodes: Values
    weights: Values
    terms: Array

    def __init__(self, nodes, weights):  # type: ignore[no-untyped-def]
        self.nodes, self.weights = nodes, weights
        self.terms = np.empty(len(nodes))


@entry
def upper_tail(a: float) -> tuple[float, float, float]:
    """Return log P(z >= a) of a standard normal z, and the mean and variance of z given z >= a.

    Far out, mean = a + 1/(a + 2/(a + 3/(a + ...))) (Laplace), written so that nothing cancels in the variance.
    """
    if a == -math.inf:
        return 0.0, 0.0, 1.0
    if a < FRACTION_FROM:
        tail = 0.5 * math.erfc(a / math.sqrt(2.0))
        mean = math.exp(-0.5 * a * a - HALF_LOG_2PI) / tail
        return math.log(tail), mean, 1.0 + a * mean - mean * mean
    rest = 0.0
    k = FRACTION_DEPTH
    while k > 1:
        rest = k / (a + rest)
        k -= 1
    beyond = 1.0 / (a + rest)
    mean = a + beyond
    return -0.5 * a * a - HALF_LOG_2PI - math.log(mean), mean, (rest - beyond) / (a + rest)


@kernel
def moments_between(a: float, b: float, rule: Quadrature) -> tuple[float, float, float]:
    """Return log P(a <= z <= b) of a standard normal z, and its mean and variance given that.

    For finite a < b with a + b >= 0, by the rule.
    """
    peak = max(a, 0.0)
    # exp(-(z^2 - peak^2)/2) < exp(-REACH) beyond `end`
    end = min(b, math.sqrt(peak * peak + 2.0 * REACH))
    start = max(a, -math.sqrt(2.0 * REACH))
    half = 0.5 * (end - start)
    mass = 0.0
    first = 0.0
    for k in range(QUADRATURE_NODES):
        t = half * (1.0 + rule.nodes[k])
        z = start + t
        term = rule.weights[k] * math.exp(-0.5 * (z - peak) * (z + peak))
        rule.terms[k] = term
        mass += term
        first += term * t
    centre = first / mass
    second = 0.0
    for k in range(QUADRATURE_NODES):
        t = half * (1.0 + rule.nodes[k]) - centre
        second += rule.terms[k] * (t * t)
    return math.log(mass * half) - 0.5 * peak * peak - HALF_LOG_2PI, start + centre, second / mass


@entry
def truncated_moments(
    mean: float, variance: float, low: float, high: float, rule: Quadrature
) -> tuple[float, float, float]:
    """Return log P(low <= x <= high) for x ~ N(mean, variance), and the mean and variance of x given that."""
    if low == -math.inf and high == math.inf:
        return 0.0, mean, variance
    if not (low < high):
        return -math.inf, low, 0.0
    s = math.sqrt(variance)
    a = (low - mean) / s
    b = (high - mean) / s
    side = 1.0
    if a + b < 0.0:
        side = -1.0
        a, b = -b, -a
    if b == math.inf:
        log_mass, z, v = upper_tail(a)
    else:
        log_mass, z, v = moments_between(a, b, rule)
    return log_mass, mean + side * z * s, v * variance


@kernel
def gaussian_slab(
    location: float, spread: float, r: float, c: float, low: float, high: float, rule: Quadrature
) -> tuple[float, float, float]:
    """Return the log of the integral of N(x; r, c) over a slab, and the mean and variance of x there.

    The slab is N(location, spread) in [low, high].
    """
    total = spread + c
    log_mass, mean, variance = truncated_moments(
        (r * spread + location * c) / total, spread * c / total, low, high, rule
    )
    log_prior, _, _ = truncated_moments(location, spread, low, high, rule)
    if log_mass == -math.inf or log_prior == -math.inf:
        return -math.inf, mean, variance
    log_gauss = -0.5 * ((r - location) * (r - location)) / total - 0.5 * math.log(total) - HALF_LOG_2PI
    return log_gauss + log_mass - log_prior, mean, variance


@kernel
def exponential_slab(
    side: float, scale: float, r: float, c: float, low: float, high: float, rule: Quadrature
) -> tuple[float, float, float]:
    """Return what `gaussian_slab` does, for the slab exp(-side x/scale)/scale where side x >= 0."""
    if side < 0.0:
        r = -r
        low, high = -high, -low
    low = max(low, 0.0)
    log_mass, mean, variance = truncated_moments(r - c / scale, c, low, high, rule)
    prior = math.exp(-low / scale) - math.exp(-high / scale)
    log_evidence = -math.inf
    if log_mass > -math.inf and prior > 0.0:
        log_evidence = log_mass + (0.5 * c / scale - r) / scale - math.log(scale) - math.log(prior)
    return log_evidence, side * mean, variance


@entry
def tilted_moments(
    kind: int, log_odds: float, slabs: Matrix, r: float, c: float, low: float, high: float, parts: Matrix,
    rule: Quadrature,
) -> tuple[float, float, float]:  # fmt: skip
    """Return inclusion probability, mean and variance of x ~ spike-and-slab prior times N(x; r, c).

    `slabs` has a row (weight, location, spread) for each component; `parts` receives for each its probability, and
    the mean and the variance of x there.
    """
    spike = -math.inf
    if low <= 0.0 <= high:
        spike = -0.5 * r * r / c - 0.5 * math.log(c) - HALF_LOG_2PI
    top = spike
    for k in range(len(slabs)):
        if kind == GAUSSIANS:
            log_z, x, v = gaussian_slab(slabs[k, 1], slabs[k, 2], r, c, low, high, rule)
        else:
            log_z, x, v = exponential_slab(slabs[k, 1], slabs[k, 2], r, c, low, high, rule)
        parts[k, 0] = log_z + log_odds + math.log(slabs[k, 0])
        parts[k, 1] = x
        parts[k, 2] = v
        top = max(top, parts[k, 0])
    if top == -math.inf:  # nothing is possible but the bound itself
        for k in range(len(slabs)):
            parts[k, 0] = 0.0
        return 1.0, min(max(r, low), high), 0.0
    inclusion = 0.0
    for k in range(len(slabs)):
        parts[k, 0] = math.exp(parts[k, 0] - top)
        inclusion += parts[k, 0]
    total = math.exp(spike - top) + inclusion
    mean = 0.0
    for k in range(len(slabs)):
        parts[k, 0] /= total
        if parts[k, 0] > 0.0:
            mean += parts[k, 0] * parts[k, 1]
    inclusion /= total
    variance = (1.0 - inclusion) * mean * mean
    for k in range(len(slabs)):
        if parts[k, 0] > 0.0:
            distance = parts[k, 1] - mean
            variance += parts[k, 0] * (parts[k, 2] + distance * distance)
    return inclusion, mean, variance
