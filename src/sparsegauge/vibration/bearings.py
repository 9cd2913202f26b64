"""Rolling bearings: how often each of their parts is passed per turn of the shaft."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._arrays import check_count, check_number
from ..errors import InvalidInput

FAULTS = ("outer", "inner", "ball", "cage")


class BearingOrders(NamedTuple):
    """Fault frequencies as multiples of the shaft's speed, and how many balls there are.

    `outer` and `inner` are the rates at which balls pass a spot on a race, `ball` is that at which a spot on a ball
    meets either race (twice the ball's spin), `cage` that at which the cage turns.
    """

    outer: float
    inner: float
    ball: float
    cage: float
    balls: int

    def items(self) -> list[tuple[str, float]]:
        """Return each fault's name and order."""
        return [(fault, float(getattr(self, fault))) for fault in FAULTS]


def bearing_orders(balls: int, ball_diameter: float, pitch_diameter: float, angle: float = 0.0) -> BearingOrders:
    r"""Return the fault frequencies of a bearing as multiples of the shaft's speed.

    With n balls of diameter d on a pitch circle of diameter D, contact angle :math:`\alpha` and
    :math:`r = (d / D) \cos \alpha`, for a fixed outer race and balls that roll without slip:

    .. math:: outer = n (1 - r) / 2, \quad inner = n (1 + r) / 2, \quad cage = (1 - r) / 2, \quad
        ball = (D / d) (1 - r^2)

    Parameters
    ----------
    balls : int
        The number of balls or rollers.
    ball_diameter, pitch_diameter : float
        Both in the same unit.
    angle : float
        The contact angle in degrees.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> orders = sg.bearing_orders(9, 0.3126, 1.537)
    >>> round(orders.outer, 4), round(orders.inner, 4), round(orders.ball, 4), round(orders.cage, 4)
    (3.5848, 5.4152, 4.7134, 0.3983)
    """
    count = check_count("balls", balls, least=3)
    ball = _diameter("ball_diameter", ball_diameter)
    pitch = _diameter("pitch_diameter", pitch_diameter)
    degrees = check_number("angle", angle)
    if not 0 <= degrees < 90:
        raise InvalidInput(f"angle is the contact angle in degrees, from 0 to less than 90, got {angle!r}")
    if ball >= pitch or count * ball >= math.pi * pitch:
        raise InvalidInput(
            f"{count} balls of diameter {ball:g} do not fit on a pitch circle of diameter {pitch:g}; the order of the "
            "arguments is balls, ball_diameter, pitch_diameter"
        )
    ratio = ball / pitch * math.cos(math.radians(degrees))
    return BearingOrders(
        outer=count * (1 - ratio) / 2,
        inner=count * (1 + ratio) / 2,
        ball=pitch / ball * (1 - ratio**2),
        cage=(1 - ratio) / 2,
        balls=count,
    )


def _diameter(name: str, value: Any) -> float:
    diameter = check_number(name, value)
    if not 0 < diameter < math.inf:
        raise InvalidInput(f"{name} must be a positive length, got {value!r}")
    return diameter


@dataclass(frozen=True)
class Bearing:
    """A bearing by its dimensions; `source` says where they are from."""

    name: str
    balls: int
    ball_diameter: float
    pitch_diameter: float
    angle: float
    source: str

    @property
    def orders(self) -> BearingOrders:
        """The fault frequencies as multiples of the shaft's speed."""
        return bearing_orders(self.balls, self.ball_diameter, self.pitch_diameter, self.angle)


BEARINGS: Mapping[str, Bearing] = {
    bearing.name: bearing
    for bearing in (
        Bearing("6205", 9, 0.3126, 1.537, 0.0, "SKF 6205-2RS JEM, drive end, CWRU Bearing Data Center (inches)"),
        Bearing("6203", 8, 0.2656, 1.122, 0.0, "SKF 6203-2RS JEM, fan end, CWRU Bearing Data Center (inches)"),
        Bearing("ZA-2115", 16, 0.331, 2.815, 15.17, "Rexnord ZA-2115, NASA IMS bearing data (inches)"),
        Bearing("UER204", 8, 7.92, 34.55, 0.0, "LDK UER204, XJTU-SY bearing data (millimetres)"),
        Bearing("6804", 13, 3.5, 25.6, 0.0, "NSK 6804RS, FEMTO-ST PRONOSTIA data (millimetres)"),
    )
}


def find_orders(bearing: Any) -> BearingOrders:
    """Return the orders of a bearing by its name, or those that are given.

    Parameters
    ----------
    bearing : str, Bearing, BearingOrders or mapping
        A key of `BEARINGS` ("SKF 6205-2RS" finds "6205"), or orders: a `BearingOrders`, or a mapping from any of
        "outer", "inner", "ball", "cage" to multiples of the shaft's speed. Faults that are left out are NaN.
    """
    if isinstance(bearing, BearingOrders):
        return bearing
    if isinstance(bearing, Bearing):
        return bearing.orders
    if isinstance(bearing, str):
        return _by_name(bearing)
    if isinstance(bearing, Mapping):
        return _by_mapping(bearing)
    raise InvalidInput(
        f"bearing must be a name ({', '.join(BEARINGS)}), the result of bearing_orders, or a mapping such as "
        f"{{'outer': 3.585, 'inner': 5.415}}, got {bearing!r}"
    )


def _by_name(name: str) -> BearingOrders:
    squeezed = "".join(name.split()).upper()
    found = [known for known in BEARINGS if known in squeezed or known.replace("-", "") in squeezed.replace("-", "")]
    if not found:
        raise InvalidInput(
            f"there is no bearing {name!r}; there are {', '.join(BEARINGS)}: for others use bearing_orders(balls, "
            "ball_diameter, pitch_diameter), or give the orders themselves"
        )
    return BEARINGS[max(found, key=len)].orders


def _by_mapping(orders: Mapping[Any, Any]) -> BearingOrders:
    unknown = [name for name in orders if name not in FAULTS]
    if unknown or not orders:
        raise InvalidInput(
            f"fault orders are a mapping from {', '.join(FAULTS)} to multiples of the shaft's speed, got "
            f"{dict(orders)!r}"
        )
    checked = {name: check_number(name, value) for name, value in orders.items()}
    for name, value in checked.items():
        if not 0 < value < 1000:
            raise InvalidInput(f"a fault's order is a positive multiple of the shaft's speed, got {name}={value!r}")
    outer, inner, ball, cage = (checked.get(fault, math.nan) for fault in FAULTS)
    return BearingOrders(outer, inner, ball, cage, balls=0)
