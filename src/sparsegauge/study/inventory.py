"""Summarise the parts of a store from their footers: which rows are there, when they were written, what is damaged.

Every part is read and its checksum compared, so that damage is known at once. What it holds is then taken from its
footer, if a journal of the store lists the part: the store's own runs have written it. The rows of any other part,
copied from elsewhere or written by an older version, are decoded and checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._platform import threads
from ..errors import Damaged
from .axes import Columns
from .coverage import Coverage
from .journal import listed_parts
from .manifest import PART_FOLDERS, Manifest
from .parts import Facts, PartReader, empty_results, empty_timings
from .units import Units


@dataclass
class Sessions:
    """A summary of timings: trials and last moment of each session, and the versions of all workers."""

    trials: dict[float, int] = field(default_factory=dict)
    finished: dict[float, float] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, columns: Columns) -> Sessions:
        """Return the summary of rows of timings."""
        found = cls(versions=set(columns["versions"].tolist()))
        for session in np.unique(columns["session"]).tolist():
            rows = columns["session"] == session
            found.trials[session] = int(columns["trials"][rows].sum())
            found.finished[session] = float(columns["finished"][rows].max())
        return found

    @classmethod
    def read(cls, about: Mapping[str, Any]) -> Sessions:
        """Return what `note` wrote."""
        trials = {float(session): int(count) for session, count, _ in about["sessions"]}
        finished = {float(session): float(moment) for session, _, moment in about["sessions"]}
        return cls(trials, finished, {str(words) for words in about["versions"]})

    def note(self) -> dict[str, Any]:
        """Return the summary as the footer of a part holds it."""
        rows = [[session, count, self.finished[session]] for session, count in self.trials.items()]
        return {"sessions": rows, "versions": sorted(self.versions)}

    def add(self, other: Sessions) -> None:
        """Add the summary of other timings."""
        for session, count in other.trials.items():
            self.trials[session] = self.trials.get(session, 0) + count
            self.finished[session] = max(self.finished.get(session, -np.inf), other.finished[session])
        self.versions |= other.versions

    @property
    def rate(self) -> float:
        """Trials per second in the latest session; nan before the first."""
        if not self.trials:
            return float("nan")
        latest = max(self.trials)
        return self.trials[latest] / max(self.finished[latest] - latest, 1e-3)


@dataclass(frozen=True)
class Inspected:
    """The parts in one directory of a store, as described by their footers.

    Parameters
    ----------
    reader : PartReader
        Reads the parts.
    own : dict of str to Facts
        Those that the store's own runs have written, by name.
    others : list of str
        Those that no journal lists: copied from elsewhere without their journal, or forged.
    damaged : dict of str to str
        What is wrong with the parts that cannot be trusted.
    replaced : list of str
        Those whose rows are in another part, which was written when a run put small parts together.
    """

    reader: PartReader
    own: dict[str, Facts]
    others: list[str]
    damaged: dict[str, str]
    replaced: list[str]


@dataclass(frozen=True)
class Inventory:
    """What a store holds: which rows, when they came, and the state of its parts by place."""

    coverage: Coverage
    sessions: Sessions
    places: dict[str, Inspected]
    damaged: dict[str, str]

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The parts that no journal lists, as place/name."""
        return tuple(sorted(f"{place}/{name}" for place, found in self.places.items() for name in found.others))


def inspect_parts(directory: Path, manifest: Manifest, place: str) -> Inspected:
    """Check every part of one place: its checksum, its study, its columns."""
    units = Units(manifest.grid)
    template = empty_results(units) if place == "results" else empty_timings(units)
    reader = PartReader(directory / place, template, manifest.fingerprint)
    facts, damaged = _check_parts(reader)
    listed = listed_parts(directory, manifest.fingerprint)
    own = {name: held for name, held in facts.items() if f"{place}/{name}" in listed}
    gone = {name for held in own.values() for name in held.replaces}
    return Inspected(
        reader,
        own={name: held for name, held in own.items() if name not in gone},
        others=[name for name in facts if name not in own],
        damaged={name: reason for name, reason in damaged.items() if name not in gone},
        replaced=[name for name in own if name in gone],
    )


def _check_parts(reader: PartReader) -> tuple[dict[str, Facts], dict[str, str]]:
    """Return what the footers of all parts say, and what is wrong with those that cannot be trusted.

    A run may put parts together meanwhile: the folder is listed until nothing new is there.
    """
    facts: dict[str, Facts] = {}
    damaged: dict[str, str] = {}
    seen: set[str] = set()
    while new := sorted(reader.names() - seen):
        seen |= set(new)
        for name, outcome in zip(new, threads.run(lambda name: _check(reader, name), new), strict=True):
            if isinstance(outcome, Facts):
                facts[name] = outcome
            elif outcome is not None:
                damaged[name] = outcome
    return facts, damaged


def _check(reader: PartReader, name: str) -> Facts | str | None:
    """Return what a part's footer says, what is wrong with it, or None if it is not there any more."""
    try:
        return reader.facts(name)
    except FileNotFoundError:
        return None
    except Damaged as error:
        return str(error)


def take_inventory(directory: Path, manifest: Manifest) -> Inventory:
    """Check every part of a store, also while a process is writing to it."""
    places = {place: inspect_parts(directory, manifest, place) for place in PART_FOLDERS}
    coverage, sessions = Coverage.empty(manifest.grid), Sessions()
    damaged = {f"{place}/{name}": why for place, found in places.items() for name, why in found.damaged.items()}
    strange: dict[str, list[str]] = {place: list(found.others) for place, found in places.items()}
    for name, facts in places["results"].own.items():
        numbers = facts.unit_numbers(coverage.units)
        if numbers is None:
            strange["results"].append(name)
        else:
            coverage.add_units(np.unique(numbers))
    for name, facts in places["timings"].own.items():
        if "sessions" in facts.about:
            sessions.add(Sessions.read(facts.about))
        else:
            strange["timings"].append(name)
    takers: dict[str, Callable[[Columns], object]] = {
        "results": coverage.add_rows,
        "timings": lambda columns: sessions.add(Sessions.of(columns)),
    }
    for place, names in strange.items():
        ailing = _decode(places[place].reader, names, takers[place])
        damaged |= {f"{place}/{name}": why for name, why in ailing.items()}
    return Inventory(coverage, sessions, places, damaged)


def _decode(
    reader: PartReader,
    names: Iterable[str],
    take: Callable[[Columns], object],
    columns: Iterable[str] | None = None,
) -> dict[str, str]:
    """Call `take` with the rows of some parts; return what is wrong with those that cannot be trusted."""
    damaged = {}
    wanted = None if columns is None else list(columns)
    for name in names:
        try:
            take(reader.columns(name, wanted))
        except Damaged as error:
            damaged[name] = str(error)
    return damaged


def read_rows(
    directory: Path,
    manifest: Manifest,
    place: str,
    take: Callable[[Columns], object],
    *,
    columns: Iterable[str] | None = None,
    keep: Callable[[Facts], bool] = lambda _: True,
) -> dict[str, str]:
    """Call `take` with the rows of every part that can be trusted; return what is wrong with the others.

    Parameters
    ----------
    directory, manifest
        The store.
    place : str
        "results" or "timings".
    take : callable
        Gets the columns of one part. Rows that are in two parts come twice.
    columns : iterable of str, optional
        Which columns to decode; all by default.
    keep : callable
        Whether a part of this store's own is wanted, from what its footer says.

    Raises
    ------
    FileNotFoundError
        If a run that is writing put parts together meanwhile: begin again.
    """
    found = inspect_parts(directory, manifest, place)
    names = [name for name, facts in found.own.items() if keep(facts)] + found.others
    damaged = found.damaged | _decode(found.reader, sorted(names), take, columns)
    return {f"{place}/{name}": why for name, why in damaged.items()}


Answer = TypeVar("Answer")


def begin_again(read: Callable[[], Answer]) -> Answer:
    """Return what `read` returns, and call it again if parts were put together while it was reading."""
    while True:
        try:
            return read()
        except FileNotFoundError:
            continue
