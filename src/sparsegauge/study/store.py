"""The store of a study: a directory of Parquet parts that are never half written.

    manifest.json                    the study, and the versions that worked on it
    journal/<run>.txt                which parts each run has written, with their checksums
    lock                             held by the one process that writes (an OS lock: it dies with its owner)
    failed.json                      cells that ended every worker that computed them; only if there are any
    results/part-<checksum>.parquet  rows, finished work units in any order
    timings/part-<checksum>.parquet  how long they took: all that differs between two runs is in here

A part is written under another name, synced, and renamed; so it is there as a whole or not at all. Its name is the
checksum of its content, and inside it says which study it belongs to; so a part that was truncated, altered or brought
from elsewhere is known at once, and its rows are computed again. To resume is to skip the rows that are there, which
the parts' footers tell: no rows are decoded. Small parts are put together when there are many (`compaction`).
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.writing import make_directory, sync_directory
from ..errors import StudyWarning
from .axes import Columns
from .compaction import choose_group, merge_results, merge_timings, mergeable
from .coverage import Coverage
from .disk import Lock, is_locked, refuse_links, write_to_store
from .failures import FAILED, Failures
from .inventory import Inspected, Sessions, begin_again, read_rows, take_inventory
from .journal import FOLDER, Journal
from .manifest import MANIFEST, PART_FOLDERS, Manifest, versions_here
from .parts import (
    NEEDS,
    Facts,
    Timings,
    empty_timings,
    encode_part,
    join_columns,
    note_units,
    part_name,
    result_columns,
    to_table,
)
from .plan import Study
from .units import Numbers, Units

SHARE_OF_RUN_PER_PART = 0.02  # which is what a kill may cost
SHORTEST_PART_SECONDS = 0.2
LONGEST_PART_SECONDS = 10.0
MOST_ROWS_PER_PART = 250_000


@dataclass(frozen=True)
class Progress:
    """How far a study is, in reconstructions; `rate` is per second, of the latest run."""

    done: int
    total: int
    rate: float = float("nan")
    damaged: tuple[str, ...] = ()
    running: bool = False
    unlisted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    @property
    def seconds_left(self) -> float:
        """The seconds that remain at the present rate; nan before the first cell."""
        if self.done == self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate > 0 else float("nan")


@dataclass
class Store:
    """A store that is open for writing; use `Store.opened`."""

    path: Path
    manifest: Manifest
    coverage: Coverage
    failures: Failures
    journal: Journal
    places: dict[str, Inspected]
    session: float = field(default_factory=time.time)
    _parts: dict[str, dict[str, Facts]] = field(default_factory=dict)  # that may be put together
    _numbers: list[Numbers] = field(default_factory=list)
    _measured: list[Columns] = field(default_factory=list)
    _timings: list[Timings] = field(default_factory=list)
    _waiting: int = 0
    _opened: float = field(default_factory=time.monotonic)
    _written: float = field(default_factory=time.monotonic)

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: str | PathLike[str], study: Study) -> Iterator[Store]:
        """Lock, check, sweep and read the store; what is added is written, however the block ends."""
        import_extra("pyarrow", NEEDS)
        directory = Path(path)
        make_directory(directory)
        refuse_links(directory, (MANIFEST, FOLDER, FAILED, *PART_FOLDERS))
        with Lock(directory):
            manifest = Manifest.open(directory, study)
            _sweep(directory)
            held = take_inventory(directory, manifest)
            _set_aside(directory, held.damaged)
            for place, found in held.places.items():
                _delete(directory / place, found.replaced)
            units = held.coverage.units
            store = cls(
                directory,
                manifest,
                held.coverage,
                Failures.read(directory, units),
                Journal(directory, manifest.fingerprint),
                held.places,
                _parts={place: mergeable(found.own, units) for place, found in held.places.items()},
            )
            try:
                yield store
            finally:
                store.flush()

    @property
    def units(self) -> Units:
        """The work units of the study, by their numbers."""
        return self.coverage.units

    def add(
        self,
        numbers: Numbers,
        measured: Columns,
        seconds: NDArray[np.float64],
        worker: str,
        versions: Mapping[str, str] | None = None,
    ) -> int:
        """Add finished work units, and write a part when it is time to; return how many rows were not there before.

        Parameters
        ----------
        numbers : ndarray of int
            Which units, each once.
        measured : mapping of str to ndarray
            One value per row and column, one unit after the other, each in the order (shared axes, trial).
        seconds : ndarray
            How long each unit took.
        worker : str
            Who computed them.
        versions : mapping, optional
            Of that worker; by default those of this process.
        """
        words = ", ".join(f"{name} {value}" for name, value in (versions or versions_here()).items())
        new = self.coverage.add_units(numbers)
        self._numbers.append(numbers)
        self._measured.append(measured)
        self._timings.append(Timings(numbers, seconds, worker, words, self.session, time.time()))
        if self.failures.reasons:
            self.failures.clear(set(numbers.tolist()))
        now = time.monotonic()
        due = now - self._written >= min(
            max(SHARE_OF_RUN_PER_PART * (now - self._opened), SHORTEST_PART_SECONDS), LONGEST_PART_SECONDS
        )
        self._waiting += len(measured["mse"])
        if due or self._waiting >= MOST_ROWS_PER_PART:
            self.flush()
        return new

    def flush(self) -> None:
        """Write what was added. Interrupted and called again, it writes the same parts again, under the same names."""
        if not self._numbers:
            return
        numbers = np.concatenate(self._numbers)
        rows = result_columns(self.units, numbers, join_columns(self._measured))
        timings = join_columns([some.columns(self.units) for some in self._timings])
        self._write("results", rows, note_units(numbers))
        self._write("timings", timings, Sessions.of(timings).note())
        self._numbers, self._measured, self._timings, self._waiting = [], [], [], 0
        self._written = time.monotonic()
        for place in PART_FOLDERS:
            self._put_together(place)

    def _write(self, place: str, columns: Columns, about: dict[str, object]) -> None:
        data = encode_part(to_table(columns), self.manifest.fingerprint, about)
        self._parts[place][self._save(place, data)] = Facts(len(next(iter(columns.values()))), about)

    def _save(self, place: str, data: bytes) -> str:
        name = part_name(data)
        self.journal.note(f"{place}/{name}", data)
        write_to_store(self.path / place / name, data)
        return name

    def _put_together(self, place: str) -> None:
        """Put some small parts of one place together, if there are many."""
        parts, reader = self._parts[place], self.places[place].reader
        names = choose_group(parts)
        if not names:
            return
        results = place == "results"
        merged = merge_results(reader, parts, names, self.units) if results else merge_timings(reader, parts, names)
        name = self._save(place, merged.data)
        kept = {old: facts for old, facts in parts.items() if old not in merged.old}
        self._parts[place] = kept | {name: merged.facts}
        _delete(self.path / place, merged.old)


def _sweep(directory: Path) -> None:
    """Remove what a killed writer left half written."""
    for place in (directory, *(directory / name for name in PART_FOLDERS)):
        make_directory(place)
        for draft in place.glob(".*.tmp"):
            draft.unlink()
    sync_directory(directory)


def _delete(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _set_aside(directory: Path, damaged: Mapping[str, str]) -> None:
    for name, reason in damaged.items():
        os.replace(directory / name, directory / f"{name}.damaged")
        what = "its rows are computed again" if name.startswith("results") else "its timings are lost"
        warnings.warn(f"{directory / name} {reason}; {what}", StudyWarning, stacklevel=6)


def read_timings(path: str | PathLike[str]) -> Columns:
    """Return one row per work unit, by when it was finished; a unit that had to be computed again is there again."""
    directory = Path(path)
    manifest = Manifest.read(directory)

    def read() -> list[Columns]:
        timings = [empty_timings(Units(manifest.grid))]
        read_rows(directory, manifest, "timings", timings.append)
        return timings

    joined = join_columns(begin_again(read))
    order = np.argsort(joined["finished"], kind="stable")
    return {name: column[order] for name, column in joined.items()}


def study_status(path: str | PathLike[str]) -> Progress:
    """Return how far the study of a store is, how fast it goes, which parts are damaged and which cells failed."""
    directory = Path(path)
    manifest = Manifest.read(directory)
    held = begin_again(lambda: take_inventory(directory, manifest))
    return Progress(
        held.coverage.done,
        manifest.grid.total,
        held.sessions.rate * math.prod(manifest.grid.shared_shape),
        tuple(f"{name} {reason}" for name, reason in held.damaged.items()),
        is_locked(directory),
        held.unlisted,
        Failures.read(directory, held.coverage.units).describe(),
        tuple(sorted(held.sessions.versions)),
    )
