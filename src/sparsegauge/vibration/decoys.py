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
LOWEST, HIGHEST = 0.5, (HARMONICS + 0.5) / HARMONICS  # of the lowest and the highest fault: all harmonics are shown
CLEARANCE = 1.2  # tolerances between a decoy and what a fault may excite
RELATED = {  # multiples of a fault's frequency, and how many of the shaft's side bands on either side of each
    1.0: 3,
    2.0: 2,
    0.5: 1,
    **dict.fromkeys((1 / 3, 2 / 3, 3 / 4, 4 / 3, 3 / 2, 3.0), 0),
}
WIDEST_SHARE = 0.25  # of the shaft's speed: wider tolerances reach a multiple of it from everywhere
FEWEST = 24  # decoys that tell something
QUANTILE = 0.98


def decoy_orders(orders: Sequence[float], tolerance: float) -> Array:
    """Return multiples of the shaft's speed that no fault with these orders excites, nor the shaft itself."""
    grid = np.geomspace(LOWEST * min(orders), HIGHEST * max(orders), GRID)
    reach = CLEARANCE * tolerance
    kept = np.ones(GRID, dtype=bool)
    for order in orders:
        for multiple, sides in RELATED.items():
            middle = multiple * order
            for side in range(-sides, sides + 1):
                kept &= np.abs(grid - (middle + side)) > reach * np.maximum(grid, middle)
    of_shaft = np.abs(grid - np.maximum(1.0, np.rint(grid))) <= tolerance * grid
    kept &= ~of_shaft | (tolerance * grid > WIDEST_SHARE)
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
    if len(decoys) < FEWEST:
        return None
    scores = [np.stack([_scores(lines, decoy, tolerance) for decoy in decoys.tolist()]) for lines in every]
    usual = [np.median(level, axis=0) for level in scores]
    leads = np.hstack([level - middle for level, middle in zip(scores, usual, strict=True)]).max(axis=1)
    return Chance(usual, leads)


def _scores(lines: Lines, frequency: float, tolerance: float) -> Array:
    """Return the score of the strongest family near a frequency in each band; 0 where the bands do not show it."""
    families = find_families(lines, frequency, tolerance)
    return np.zeros(len(lines.bands)) if families is None else families.scores
