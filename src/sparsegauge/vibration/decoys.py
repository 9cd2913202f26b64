"""What a machine shows at frequencies that are none of its bearing's: the evidence that a fault must exceed.

A healthy machine is not noise: shafts, gears, belts and other bearings put families of lines into its envelope spectra.
The same search at frequencies that belong to no part of this bearing says how high such families score in this record.
Each band has its own: where another part knocks loudly, every frequency scores high, and a fault must score higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from .combs import HARMONICS, Lines, find_families

GRID = 160
LOWEST_DECOY = 0.5  # in units of the lowest fault frequency
HIGHEST_DECOY = (HARMONICS + 0.5) / HARMONICS  # of the highest one, so that all harmonics are shown
CLEARANCE_IN_TOLERANCES = 1.2  # between a decoy and what a fault may excite
SIDE_BANDS_BY_MULTIPLE = {  # of the shaft, on either side of each multiple of a fault's frequency
    1.0: 3,
    2.0: 2,
    0.5: 1,
    **dict.fromkeys((1 / 3, 2 / 3, 3 / 4, 4 / 3, 3 / 2, 3.0), 0),
}
LARGEST_TOLERANCE_SHARE = 0.25  # of the shaft's speed: with more, every frequency is near a multiple of it
FEWEST_DECOYS = 24
QUANTILE = 0.98


def decoy_orders(orders: Sequence[float], tolerance: float) -> Array:
    """Return multiples of the shaft's speed that no fault with these orders excites, nor the shaft itself."""
    grid = np.geomspace(LOWEST_DECOY * min(orders), HIGHEST_DECOY * max(orders), GRID)
    reach = CLEARANCE_IN_TOLERANCES * tolerance
    kept = np.ones(GRID, dtype=bool)
    for order in orders:
        for multiple, sides in SIDE_BANDS_BY_MULTIPLE.items():
            middle = multiple * order
            for side in range(-sides, sides + 1):
                kept &= np.abs(grid - (middle + side)) > reach * np.maximum(grid, middle)
    of_shaft = np.abs(grid - np.maximum(1.0, np.rint(grid))) <= tolerance * grid
    kept &= ~of_shaft | (tolerance * grid > LARGEST_TOLERANCE_SHARE)
    found: Array = grid[kept]
    return found


class Chance(NamedTuple):
    """What decoys score: usual[level][band], and how far each exceeds that in its best band: leads[decoy]."""

    usual: list[Array]
    leads: Array

    @property
    def lead(self) -> float:
        """By how much all but a few decoys exceed at most what is usual."""
        return float(np.quantile(self.leads, QUANTILE))


def decoy_chance(every: Sequence[Lines], orders: Sequence[float], shaft: float, tolerance: float) -> Chance | None:
    """Return what decoys usually score in each band, and how far each exceeds that; None where they are too few."""
    decoys = decoy_orders(orders, tolerance) * shaft
    if len(decoys) < FEWEST_DECOYS:
        return None
    scores = [np.stack([_scores(lines, decoy, tolerance) for decoy in decoys.tolist()]) for lines in every]
    usual = [np.median(level, axis=0) for level in scores]
    leads = np.hstack([level - middle for level, middle in zip(scores, usual, strict=True)]).max(axis=1)
    return Chance(usual, leads)


def _scores(lines: Lines, frequency: float, tolerance: float) -> Array:
    """Return the score of the strongest family near a frequency in each band; 0 where the bands do not show it."""
    families = find_families(lines, frequency, tolerance)
    return np.zeros(len(lines.bands)) if families is None else families.scores
