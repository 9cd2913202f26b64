"""Every solver by its name: importing this module defines those of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .ascent import GDSAscent
from .baselines import IRLS, LARS, OMP, SBL, SL0, BasisPursuit, DantzigSelector, Lasso, MinimumNorm, ReweightedL1
from .ep import EP
from .message_passing import MessagePassing
from .portfolio import Portfolio
from .reweighted import GDSReweighted
from .solver import Solver, registered
from .spsa import SPSA

OWN = (Portfolio, GDSReweighted, GDSAscent, EP, MessagePassing, SPSA)
BASELINES = (MinimumNorm, BasisPursuit, ReweightedL1, OMP, Lasso, LARS, DantzigSelector, IRLS, SL0, SBL)


class SolverRegistry(Mapping[str, type[Solver]]):
    """All solvers by name: those of the package in a fixed order, then those of users in the order of their definition.

    It is a live view: a subclass of `Solver` appears in it as soon as it is defined, unless its name starts with an
    underscore. `recover`, studies, the command line and the interactive page take their solvers from here.

    >>> import sparsegauge as sg
    >>> list(sg.SOLVERS)[:2], sg.SOLVERS["OMP"] is sg.OMP
    (['Portfolio', 'GDSReweighted'], True)
    """

    def __getitem__(self, name: str) -> type[Solver]:
        return registered()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*(solver.__name__ for solver in (*OWN, *BASELINES)), *registered()]))

    def __len__(self) -> int:
        return len(registered())

    def __repr__(self) -> str:
        return f"<{len(self)} solvers: {', '.join(self)}>"


SOLVERS = SolverRegistry()
