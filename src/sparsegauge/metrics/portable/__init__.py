"""The metrics as formulas over any array library that follows the array API standard."""

from .formulas import FORMULAS
from .row_statistics import Coefficients

__all__ = ["FORMULAS", "Coefficients"]
