"""Compute everything that the page shows, section by section."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidInput, StudyWarning
from ..profiles import OverTime, measure_over_time
from ..study.summary import SHIPPED, shipped, summarise
from ..vibration.band_map import BandMap, band_map
from . import measured_signals
from .comparisons import Comparison, compare_solvers
from .headline import summarise_signals
from .laws import Laws, gather_laws
from .measured_signals import MeasuredSignal
from .own_recoveries import recover_own
from .own_signals import OwnSignal, read_signals
from .rankings import Ranking, rank_signals
from .study_view import StudyView, view_study

Progress = Callable[[str], None]


def ignore(_: str) -> None:
    """Take the name of a step and do nothing with it."""


SHOWN_STUDY = "spsa"
MOST_BAND_MAPS = 6
BAND_LEVELS = 4
STEPS = {
    "reading": "reading",
    "signals": "measuring signals",
    "ranking": "ranking them by every metric",
    "recoveries": "recovering signals from few measurements",
    "laws": "checking laws and claims",
}


@dataclass(frozen=True)
class Sections:
    """The data of the sections; `SECTIONS` says which sections are shown with them."""

    signals: list[MeasuredSignal] = field(default_factory=list)
    rankings: tuple[Ranking, ...] = ()
    laws: Laws | None = None
    recoveries: tuple[Comparison, ...] = ()
    study: StudyView | None = None
    summary: tuple[str, ...] = ()
    over_time: tuple[OverTime, ...] = ()
    band_maps: dict[str, BandMap] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    about_demos: bool = True  # whether the signals are those of the package


class Section(NamedTuple):
    """One section of the page: its anchor, its title in the navigation, its template, and when it is shown."""

    anchor: str
    title: str
    template: str
    is_shown: Callable[[Sections], bool]


# In the order of the page. A template sees every field of `Sections` by its name.
SECTIONS = (
    Section("reading", "How to read this", "reading.html", lambda of: bool(of.signals)),
    Section("signals", "Signals", "signals.html", lambda of: bool(of.signals)),
    Section("recoveries", "Recoveries", "recoveries.html", lambda of: bool(of.recoveries)),
    Section("profiles", "Profiles", "profiles.html", lambda of: bool(of.signals)),
    Section("time", "Over time", "time.html", lambda of: bool(of.signals and of.over_time)),
    Section("bands", "Bands", "bands_of_signals.html", lambda of: bool(of.band_maps)),
    Section("table", "Which transform?", "table.html", lambda of: bool(of.signals)),
    Section("ranking", "Ranking", "ranking.html", lambda of: bool(of.rankings)),
    Section("decay", "Decay", "decay.html", lambda of: bool(of.signals)),
    Section("paper", "The paper’s claims", "paper.html", lambda of: of.laws is not None),
    Section("study", "Study", "study.html", lambda of: of.study is not None),
    Section("order", "Which order?", "order.html", lambda of: of.study is not None and of.study.has_choice),
    Section("laws", "Laws", "laws.html", lambda of: of.laws is not None),
)


def gather_demos(*, progress: Progress = ignore) -> Sections:
    """Return the page about the demo signals: measured, ranked, and recovered from few measurements."""
    progress("signals")
    signals = measured_signals.measure_demos()
    progress("ranking")
    rankings = rank_signals(signals)
    progress("recoveries")
    recoveries = compare_solvers()
    over_time = _over_time(signals, [None] * len(signals))
    return Sections(
        signals, rankings, recoveries=recoveries, summary=summarise_signals(signals, rankings), over_time=over_time
    )


def gather_files(
    paths: Sequence[str], *, rate: float | None = None, key: str | None = None, progress: Progress = ignore
) -> Sections:
    """Return the page about the signals in a user's files; `rate` is that of files which do not state one."""
    notes: list[str] = []
    progress("reading")
    own = read_signals(paths, note=notes.append, rate=rate, key=key)
    progress("signals")
    signals = [
        measured_signals.measure_values(signal.name, signal.description, signal.values, intervals=True)
        for signal in own
    ]
    progress("ranking")
    rankings = rank_signals(signals)
    progress("recoveries")
    recoveries = recover_own(signals)
    return Sections(
        signals,
        rankings,
        recoveries=recoveries,
        summary=summarise_signals(signals, rankings, [signal.missing for signal in own]),
        over_time=_over_time(signals, [signal.rate for signal in own]),
        band_maps=map_bands(own),
        notes=tuple(notes),
        about_demos=False,
    )


def gather_study(store: str | PathLike[str], *, progress: Progress = ignore) -> Sections:
    """Return the page about a study in a store."""
    progress("reading")
    return Sections(study=read_study(store))


def gather_paper(*, progress: Progress = ignore) -> Sections:
    """Return the page about the paper: its claims, the laws of every metric, and its experiment."""
    progress("laws")
    laws = gather_laws()
    progress("reading")
    return Sections(laws=laws, study=read_study(None))


def map_bands(signals: Sequence[OwnSignal]) -> dict[str, BandMap]:
    """Return the band maps of the first signals that have a rate and are long enough for one."""
    found: dict[str, BandMap] = {}
    for signal in signals:
        if signal.rate is None or signal.values.ndim != 1 or len(found) == MOST_BAND_MAPS:
            continue
        with contextlib.suppress(InvalidInput):  # too short or constant: the page is about sparsity first
            found[signal.name] = band_map(signal.values, signal.rate, levels=BAND_LEVELS)
    return found


def _over_time(signals: Sequence[MeasuredSignal], rates: Sequence[float | None]) -> tuple[OverTime, ...]:
    measured = (measure_over_time(s.name, s.values, rate) for s, rate in zip(signals, rates, strict=True))
    return tuple(trace for trace in measured if trace is not None)


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
