"""The baselines: well-known solvers, in the same form as the package's own."""

from .greedy import OMP
from .iterative import IRLS, SBL, SL0
from .linear import BasisPursuit, DantzigSelector, MinimumNorm, ReweightedL1
from .path import LARS, Lasso

__all__ = [
    "IRLS",
    "LARS",
    "OMP",
    "SBL",
    "SL0",
    "BasisPursuit",
    "DantzigSelector",
    "Lasso",
    "MinimumNorm",
    "ReweightedL1",
]
