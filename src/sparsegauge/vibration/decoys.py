"""What a machine shows at frequencies that are none of its bearing's: the evidence that a fault must exceed.

A healthy machine is not noise: shafts, gears, belts and other bearings put families of lines into its envelope spectra.
The same search at frequencies that belong to no part of this bearing says how high such families score in this record.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Array
from .combs import HARMONICS, Lines, find_comb

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
QUANTILE = 0.97


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


def decoy_score(every: Sequence[Lines], orders: Sequence[float], shaft: float, tolerance: float) -> float | None:
    """Return the score that all but a few decoys stay below; None where there are too few to tell."""
    decoys = decoy_orders(orders, tolerance)
    if len(decoys) < FEWEST:
        return None
    scores = [best_score(every, order * shaft, tolerance) for order in decoys.tolist()]
    return float(np.quantile(scores, QUANTILE))


def best_score(every: Sequence[Lines], frequency: float, tolerance: float) -> float:
    """Return the score of the strongest family near a frequency among all bands; 0 where none shows it."""
    combs = (find_comb(lines, frequency, tolerance) for lines in every)
    return max((comb.score for comb in combs if comb is not None), default=0.0)
