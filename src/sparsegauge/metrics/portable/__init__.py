"""The metrics as formulas over any array library that follows the array API standard."""

from .coefficients import Coefficients
from .formulas import FORMULAS

__all__ = ["FORMULAS", "Coefficients"]
