"""Weighted thresholds by the slopes of S_p, and Stein's estimate of their risk.

`recovery/matrix_free.py` explains them.
"""

from __future__ import annotations

import math

from .kernel_tolerances import LEAST_MAGNITUDE, SMALLEST_SUM
from .lanes import LANES, join_lanes
from .powers import any_power, real_power
from .vocabulary import Array, Lanes, Matrix, Values, entry, inlined, kernel, record

SLOPE_NODES = 256
SLOPE_ROOM = 2  # arrays as long as the table


@record
class ThresholdShape:
    """How thresholds depend on a magnitude: the parameters of `recovery/shrinkage.py`, and the table of slopes."""

    share: float
    q: float
    scale: float
    floor: float
    well: float
    power: float
    top: float
    level: float
    is_complex: bool
    table: Values

    def __init__(self, parameters: Values, table: Values, top: float, level: float, is_complex: bool) -> None:
        self.share, self.q, self.scale = parameters[0], parameters[1], parameters[2]
        self.floor, self.well, self.power = parameters[3], parameters[4], parameters[5]
        self.table, self.top, self.level, self.is_complex = table, top, level, is_complex


@inlined
def node_magnitude(j: int, top: float) -> float:
    """Return the j-th magnitude of the table: dense near zero, where most coefficients are."""
    z = j / SLOPE_NODES
    return top * z * z * z * z


@inlined
def find_node(c: float, top: float) -> tuple[int, float]:
    """Return the last node that is not above c, and how far c is from it to the next."""
    j = 0
    if c > 0.0:
        z = math.sqrt(math.sqrt(c / top))
        j = SLOPE_NODES - 1
        if z < 1.0:
            j = int(SLOPE_NODES * z)
    below = node_magnitude(j, top)
    above = node_magnitude(j + 1, top)
    return j, min(max((c - below) / (above - below), 0.0), 1.0)


@entry
def tabulate_slopes(c: Values, p: float, table: Array, room: Matrix) -> tuple[float, float]:
    """Write w = -d log S_p/dc at the nodes in units of its largest; return the largest c, and the level L.

    The magnitudes are counted at the nodes first, so that any real order costs O(N + SLOPE_NODES^2). `room` is
    (SLOPE_ROOM, SLOPE_NODES + 1).
    """
    top = 0.0
    for i in range(len(c)):
        top = max(top, c[i])
    for j in range(SLOPE_NODES + 1):
        table[j] = 1.0
        room[0, j] = 0.0
        room[1, j] = node_magnitude(j, 1.0)
    if top == 0.0:
        return 1.0, 0.0
    for i in range(len(c)):
        j, part = find_node(c[i], top)
        room[0, j] += 1.0 - part
        room[0, j + 1] += part
    level = write_slopes(p, table, room)
    largest = 0.0
    for j in range(SLOPE_NODES + 1):
        largest = max(largest, table[j])
    for j in range(SLOPE_NODES + 1):
        table[j] = table[j] / largest if largest > 0.0 else 1.0
    return top, top * level


@kernel
def write_slopes(p: float, w: Array, room: Matrix) -> float:
    """Write -d log S_p/dc at the nodes, and return L = sum c^p / sum c^(p-1) in units of the largest c.

    room[0] counts how often each node occurs; room[1] holds the nodes.
    """
    numerator = 0.0
    above = 0.0
    below = 0.0
    for i in range(SLOPE_NODES + 1):
        w[i] = 0.0
    for i in range(SLOPE_NODES + 1):
        u = room[1, i]
        count = room[0, i]
        rise: Lanes = [0.0] * LANES
        pairs: Lanes = [0.0] * LANES
        j = 0
        while j + LANES <= i:
            for k in range(LANES):
                d = u - room[1, j + k]
                slope = real_power(d, p - 1.0)
                weighted = room[0, j + k] * slope
                w[j + k] -= count * slope
                rise[k] += weighted
                pairs[k] += weighted * d
            j += LANES
        while j < i:
            d = u - room[1, j]
            slope = real_power(d, p - 1.0)
            weighted = room[0, j] * slope
            w[j] -= count * slope
            rise[0] += weighted
            pairs[0] += weighted * d
            j += 1
        power = real_power(u, p - 1.0)
        above += count * real_power(u, p)
        below += count * power
        w[i] += join_lanes(rise)
        numerator += count * join_lanes(pairs)
    for i in range(SLOPE_NODES + 1):
        w[i] = real_power(room[1, i], p - 1.0) / above - w[i] / max(numerator, SMALLEST_SUM)
    return above / below


@inlined
def threshold(a: float, s: float, shape: ThresholdShape, charge: float) -> tuple[float, float]:
    """Return the shrunken magnitude of a, and its derivative (for complex numbers half the divergence)."""
    share, q, floor, well, power = shape.share, shape.q, shape.floor, shape.well, shape.power
    top, level = shape.top, shape.level
    c = max((1.0 - share) * a + share * s, LEAST_MAGNITUDE)
    j, part = find_node(max(c - 1.0, 0.0), top)
    w = shape.table[j] + part * (shape.table[j + 1] - shape.table[j])
    slope = 0.0
    if 1.0 < c < 1.0 + top:
        slope = (shape.table[j + 1] - shape.table[j]) / (node_magnitude(j + 1, top) - node_magnitude(j, top))
    base = shape.scale * charge
    if q != 1.0:
        base *= any_power(c, q - 1.0)
    inner = 1.0 - share
    high = max(w, floor)
    t = base * high
    rise = inner * base * ((slope if w > floor else 0.0) + high * (q - 1.0) / c)
    pull = 0.0
    swell = 0.0
    if well > 0.0:
        deep = 1.0 - max(w, 0.0)
        pull = base * well * deep**power
        steep = base * well * power * deep ** (power - 1.0) * slope if 0.0 < w < 1.0 else 0.0
        swell = inner * (pull * (q - 1.0) / c - steep)
    below = a - max(t - pull, 0.0)
    above = a - t - pull
    if below <= 0.0:
        return 0.0, 0.0
    m = level
    d = 0.0
    if above > level:
        m = above
        d = 1.0 - rise - swell
    elif below < level or well == 0.0:
        m = below
        d = 1.0 - (rise - swell if t > pull else 0.0)
    return m, 0.5 * (d + m / a) if shape.is_complex else d


@entry
def shrink(
    a: Values, s: Values, shape: ThresholdShape, charge: Values, low: Values, high: Values, out: Array
) -> tuple[float, float]:
    """Write the shrunken magnitudes; return the means of the risk and of the derivative, in units of the noise.

    C. M. Stein, "Estimation of the mean of a multivariate normal distribution", Annals of Statistics 9(6), 1981: the
    risk of f at x + noise is the mean of (f(a) - a)^2 - 1 + 2 f'(a). `low`, `high` bound the magnitudes, empty for
    none.
    """
    risk = 0.0
    divergence = 0.0
    n = len(a)
    for i in range(n):
        cost = charge[i] if len(charge) > 0 else 1.0
        m, d = threshold(a[i], s[i], shape, cost)
        if len(low) > 0 and not (low[i] <= m <= high[i]):
            m = min(max(m, low[i]), high[i])
            d = 0.0
        risk += (m - a[i]) * (m - a[i]) - 1.0 + 2.0 * d
        divergence += d
        out[i] = m
    return risk / n, divergence / n
