"""Everything that the page shows, worked out section by section."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..study.manifest import StudyWarning
from ..study.summary import SHIPPED, shipped, summarise
from . import demos
from .demos import Measured
from .laws import Laws, gather_laws
from .ranking import Ranking, rank_demos
from .recoveries import Comparison, make_recoveries
from .study import StudyView, view_study

SHOWN = "spsa"  # of the summaries that ship
STEPS = {
    "study": "reading the study",
    "signals": "measuring the demo signals (compiling, the first time)",
    "ranking": "ranking them by every metric",
    "laws": "checking laws and claims",
    "recoveries": "recovering signals from few measurements",
}


@dataclass(frozen=True)
class Contents:
    """The sections' data; a section without any is left out of the page."""

    demos: list[Measured]
    rankings: tuple[Ranking, ...] = ()
    laws: Laws | None = None
    recoveries: tuple[Comparison, ...] = ()
    study: StudyView | None = None


def gather(
    store: str | PathLike[str] | None = None, *, progress: Callable[[str], None] = lambda step: None
) -> Contents:
    """Work everything out; half a minute, and about two where nothing is compiled yet.

    Parameters
    ----------
    store : path, optional
        Of the study to show; by default the one that ships with the package.
    progress : callable
        Hears each of `STEPS` before it begins.
    """
    progress("study")  # first, because it is quick and a wrong store should not cost a wait
    study = read_study(store)
    progress("signals")
    measured = demos.measure_demos()
    progress("ranking")
    rankings = rank_demos(measured)
    progress("laws")
    laws = gather_laws()
    progress("recoveries")
    return Contents(measured, rankings, laws, make_recoveries(), study)


def read_study(store: str | PathLike[str] | None) -> StudyView:
    """The study of a store, with the warnings that reading it gave as notes; without a store, the shipped one."""
    if store is None:
        return view_study(shipped(SHOWN), title=f"{SHIPPED[SHOWN]}; it comes with the package")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StudyWarning)
        summary = summarise(store)
    notes = []
    for warning in caught:
        if issubclass(warning.category, StudyWarning):
            notes.append(str(warning.message))
        else:  # not the page's business
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return view_study(summary, title=f"the study in {Path(store).resolve().name}", notes=notes)
