"""The store of a study: a directory of Parquet parts that are only ever added, and never half written.

    manifest.json                    the study, and the versions that worked on it
    journal/<run>.txt                which parts each run has written, with their checksums
    lock                             held by the one process that writes (an OS lock: it dies with its owner)
    results/part-<checksum>.parquet  rows, finished work units in any order
    timings/part-<checksum>.parquet  how long they took: all that differs between two runs is in here

A part is written under another name, synced, and renamed; so it is there as a whole or not at all. Its name is the
checksum of its content, and inside it says which study it belongs to; so a part that was truncated, altered or brought
from elsewhere is known at once, and its rows are computed again. To resume is to skip the rows that are there.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from .._platform.extras import import_extra
from .._platform.writing import make_directory, sync_directory
from ..errors import StudyWarning
from .axes import Cell, Columns
from .disk import Lock, is_locked, refuse_links, write_to_store
from .journal import FOLDER, Journal, unlisted_parts
from .manifest import MANIFEST, PLACES, Manifest, versions_here
from .parts import (
    NEEDS,
    Results,
    empty_timings,
    encode_part,
    join_columns,
    part_name,
    read_parts,
    rows_of,
    timing_of,
)
from .plan import Study

SHARE, SHORTEST, LONGEST = 0.02, 0.2, 10.0  # a part holds the last 2 % of a run, in these seconds: what a kill may cost
MOST_ROWS = 100_000  # in one part


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
        """At the present rate; nan where there is none yet."""
        if self.done == self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate > 0 else float("nan")


@dataclass
class Store:
    """A store that is open for writing; use `Store.opened`."""

    path: Path
    manifest: Manifest
    results: Results
    journal: Journal
    session: float = field(default_factory=time.time)
    _rows: list[Columns] = field(default_factory=list)
    _timings: list[Columns] = field(default_factory=list)
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
        refuse_links(directory, (MANIFEST, FOLDER, *PLACES))
        with Lock(directory):
            manifest = Manifest.open(directory, study)
            _sweep(directory)
            results, damaged = _read_results(directory, manifest)
            _set_aside(directory, damaged | _read_timings(directory, manifest)[1])
            store = cls(directory, manifest, results, Journal(directory, manifest.fingerprint))
            try:
                yield store
            finally:
                store.flush()

    def add(
        self, cell: Cell, measured: Columns, seconds: float, worker: str, versions: Mapping[str, str] | None = None
    ) -> int:
        """Add a finished work unit, as arrays of the shape (shared axes, trial), and write a part when it is time to.

        `versions` are those of the worker that computed it; by default those of this process. Returns how many rows
        were not there before.
        """
        rows = rows_of(self.manifest.grid, cell, measured)
        new = self.results.put(rows)
        self._rows.append(rows)
        versions = versions or versions_here()
        self._timings.append(timing_of(self.manifest.grid, cell, seconds, worker, self.session, versions))
        now = time.monotonic()
        due = now - self._written >= min(max(SHARE * (now - self._opened), SHORTEST), LONGEST)
        self._waiting += len(rows["trial"])
        if due or self._waiting >= MOST_ROWS:
            self.flush()
        return new

    def flush(self) -> None:
        """Write what was added. Interrupted and called again, it writes the same parts again, under the same names."""
        if not self._rows:
            return
        for place, columns in (("results", self._rows), ("timings", self._timings)):
            data = encode_part(join_columns(columns), self.manifest.fingerprint)
            name = f"{place}/{part_name(data)}"
            self.journal.note(name, data)
            write_to_store(self.path / name, data)
        self._rows, self._timings, self._waiting, self._written = [], [], 0, time.monotonic()


def _sweep(directory: Path) -> None:
    """Remove what a killed writer left half written."""
    for place in (directory, *(directory / name for name in PLACES)):
        make_directory(place)
        for draft in place.glob(".*.tmp"):
            draft.unlink()
    sync_directory(directory)


def _set_aside(directory: Path, damaged: Mapping[str, str]) -> None:
    for name, reason in damaged.items():
        os.replace(directory / name, directory / f"{name}.damaged")
        what = "its rows are computed again" if name.startswith("results") else "its timings are lost"
        warnings.warn(f"{directory / name} {reason}; {what}", StudyWarning, stacklevel=6)


def _read_results(directory: Path, manifest: Manifest) -> tuple[Results, dict[str, str]]:
    results = Results.empty(manifest.grid)
    damaged = read_parts(directory, "results", results.template(), manifest.fingerprint, results.put)
    return results, damaged


def _read_timings(directory: Path, manifest: Manifest) -> tuple[Columns, dict[str, str]]:
    timings = [empty_timings(manifest.grid)]
    damaged = read_parts(directory, "timings", timings[0], manifest.fingerprint, timings.append)
    return join_columns(timings), damaged


def read_results(path: str | PathLike[str]) -> tuple[Results, dict[str, str]]:
    """Read what a store holds, whether or not somebody is writing to it; and the damaged parts, with what ails them."""
    return _read_results(Path(path), Manifest.read(Path(path)))


def read_timings(path: str | PathLike[str]) -> Columns:
    """Read one row per work unit, by when it was finished; a unit that had to be computed again is there again."""
    timings, _ = _read_timings(Path(path), Manifest.read(Path(path)))
    order = np.argsort(timings["finished"], kind="stable")
    return {name: column[order] for name, column in timings.items()}


def study_status(path: str | PathLike[str]) -> Progress:
    """Tell how far the study of a store is, how fast it goes, and which parts are damaged."""
    directory = Path(path)
    manifest = Manifest.read(directory)
    results, damaged = _read_results(directory, manifest)
    timings, also = _read_timings(directory, manifest)
    named = tuple(f"{name} {reason}" for name, reason in (damaged | also).items())
    rate = _rate(timings) * math.prod(manifest.grid.shared_shape)
    unlisted = unlisted_parts(directory, manifest.fingerprint, PLACES)
    versions = tuple(sorted(set(timings["versions"].tolist())))
    running = is_locked(directory)
    return Progress(results.done, manifest.grid.total, rate, named, running, unlisted, versions=versions)


def _rate(timings: Columns) -> float:
    """Return trials per second in the latest run; nan before the first."""
    if not len(timings["session"]):
        return float("nan")
    session = timings["session"].max()
    latest = timings["session"] == session
    return float(timings["trials"][latest].sum() / max(timings["finished"][latest].max() - session, 1e-3))
