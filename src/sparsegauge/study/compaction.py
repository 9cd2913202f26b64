"""Put small parts together, so that a long study does not leave thousands of files.

The new part is noted in the journal, written, synced and renamed before the old ones are deleted, and its footer says
which parts it replaces. A run that is killed in between leaves both; readers then leave the old ones out, and the next
run deletes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._platform.extras import import_extra
from .inventory import Sessions
from .parts import NEEDS, Facts, PartReader, encode_part, note_units
from .units import Units

MOST_ROWS_PER_MERGED_PART = 500_000
SMALL_PARTS_BEFORE_MERGING = 64


@dataclass(frozen=True)
class Merged:
    """Parts put together: the content of the new part, what it says about itself, and the names of the old ones."""

    data: bytes
    facts: Facts
    old: tuple[str, ...]


def choose_group(parts: Mapping[str, Facts]) -> list[str]:
    """Return the names of small parts to put together, in the order of the grid or of time; empty if there are few."""
    small = [name for name, facts in parts.items() if facts.rows <= MOST_ROWS_PER_MERGED_PART // 2]
    if len(small) < SMALL_PARTS_BEFORE_MERGING:
        return []
    small.sort(key=lambda name: _place(parts[name]))
    rows = np.cumsum([parts[name].rows for name in small])
    return small[: max(2, int(np.searchsorted(rows, MOST_ROWS_PER_MERGED_PART, side="right")))]


def _place(facts: Facts) -> float:
    """Return where a part begins: in the grid, or in time."""
    starts = facts.about.get("units") or facts.about.get("sessions")
    return float(starts[0][0]) if starts else -1.0


def mergeable(parts: Mapping[str, Facts], units: Units) -> dict[str, Facts]:
    """Return the parts whose footers say enough to put them together with others."""
    return {
        name: facts
        for name, facts in parts.items()
        if "sessions" in facts.about or facts.unit_numbers(units) is not None
    }


def merge_results(reader: PartReader, parts: Mapping[str, Facts], names: list[str], units: Units) -> Merged:
    """Put parts of results together: each unit once, in the order of the grid."""
    table = _concatenate(reader, names)
    every = np.concatenate([held for name in names if (held := parts[name].unit_numbers(units)) is not None])
    kept, first = np.unique(every, return_index=True)
    sizes = units.sizes(every)
    starts = (np.cumsum(sizes) - sizes)[first]
    lengths = sizes[first]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return _merged(reader, table.take(np.repeat(starts, lengths) + within), note_units(kept), names)


def merge_timings(reader: PartReader, parts: Mapping[str, Facts], names: list[str]) -> Merged:
    """Put parts of timings together."""
    sessions = Sessions()
    for name in names:
        sessions.add(Sessions.read(parts[name].about))
    return _merged(reader, _concatenate(reader, names), sessions.note(), names)


def _concatenate(reader: PartReader, names: list[str]) -> Any:
    return import_extra("pyarrow", NEEDS).concat_tables([reader.table(name) for name in names])


def _merged(reader: PartReader, table: Any, note: dict[str, Any], names: list[str]) -> Merged:
    about = note | {"replaces": sorted(names)}
    data = encode_part(table.combine_chunks(), reader.fingerprint, about)
    return Merged(data, Facts(table.num_rows, about), tuple(names))
