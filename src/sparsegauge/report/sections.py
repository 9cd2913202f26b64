"""Compute everything that the page shows, section by section."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..errors import StudyWarning
from ..study.summary import SHIPPED, shipped, summarise
from . import demo_signals
from .comparisons import Comparison, compare_solvers
from .demo_ranks import Ranking, rank_demos
from .demo_signals import DemoSignal
from .laws import Laws, gather_laws
from .study_view import StudyView, view_study

SHOWN_STUDY = "spsa"
STEPS = {
    "study": "reading the study",
    "signals": "measuring the demo signals",
    "ranking": "ranking them by every metric",
    "laws": "checking laws and claims",
    "recoveries": "recovering signals from few measurements",
}


@dataclass(frozen=True)
class Sections:
    """The data of the sections; a section without data is left out of the page."""

    demos: list[DemoSignal]
    rankings: tuple[Ranking, ...] = ()
    laws: Laws | None = None
    recoveries: tuple[Comparison, ...] = ()
    study: StudyView | None = None


def gather(
    store: str | PathLike[str] | None = None, *, progress: Callable[[str], None] = lambda step: None
) -> Sections:
    """Compute all sections, which takes about half a minute.

    Parameters
    ----------
    store : path, optional
        The store of the study to show; by default the study that ships with the package.
    progress : callable
        Called with each key of `STEPS` before that step begins.
    """
    progress("study")  # first, because it is quick and a wrong store should not cost a wait
    study = read_study(store)
    progress("signals")
    demos = demo_signals.measure_demos()
    progress("ranking")
    rankings = rank_demos(demos)
    progress("laws")
    laws = gather_laws()
    progress("recoveries")
    return Sections(demos, rankings, laws, compare_solvers(), study)


def read_study(store: str | PathLike[str] | None) -> StudyView:
    """Return the study of a store, with warnings about it as notes; without a store, the shipped study."""
    if store is None:
        return view_study(shipped(SHOWN_STUDY), title=f"{SHIPPED[SHOWN_STUDY]}; it comes with the package")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StudyWarning)
        summary = summarise(store)
    notes = []
    for warning in caught:
        if issubclass(warning.category, StudyWarning):
            notes.append(str(warning.message))
        else:  # it does not concern the page
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return view_study(summary, title=f"the study in {Path(store).resolve().name}", notes=notes)
