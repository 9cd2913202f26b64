"""How a file of text is to be read, guessed from its first lines: delimiter, header, columns of numbers."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .._platform.terminal import printable
from ..errors import InvalidInput
from .text_pieces import find_encoding, read_pieces

SAMPLE_BYTES = 1 << 16
FEWEST_SAMPLE_ROWS = 3  # a header, and two rows below it
DELIMITERS = ("\t", ";", ",")  # else white space; a semicolon goes before a comma, which may be a decimal one
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
COMMENT = "#"
REMARK = re.compile(rf"\s{COMMENT}")


@dataclass(frozen=True)
class Layout:
    """How a file of text is to be read; `skip` lines come before the first row."""

    path: Path
    encoding: str
    delimiter: str | None
    decimal: str
    skip: int
    names: tuple[str, ...]
    named: bool
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """The first lines of a file; `used` are those that are neither empty nor comments, `whole` if there are no more."""

    path: Path
    encoding: str
    lines: list[str]
    used: list[int]
    whole: bool

    @property
    def is_long_line(self) -> bool:
        """Return whether the file is a single line longer than a sample, and plain enough to be cut at delimiters."""
        if not self.whole or len(self.used) != 1:
            return False
        line = self.lines[self.used[0]]
        return len(line) > SAMPLE_BYTES and not any(mark in line for mark in (COMMENT, '"'))

    def beginning(self) -> Sample:
        """Return the sample with the fields at the beginning of its only line that is used."""
        (used,) = self.used
        line = self.lines[used]
        delimiter = find_delimiter([line]) or " "
        end = line.rfind(delimiter, 0, SAMPLE_BYTES)
        return replace(self, lines=[*self.lines[:used], line[:end] if end > 0 else line])

    def excerpt(self, layout: Layout) -> str:
        """Return the beginning of the first row, to be shown."""
        first = [i for i in self.used if i >= layout.skip]
        if not first:
            return "all there is"
        fields = next(iter(split_lines([self.lines[first[0]][:SAMPLE_BYTES]], layout.delimiter)), [])
        return repr(printable(" ".join(fields))[:60])


def read_sample(path: Path) -> Sample:
    """Return the first lines: 64 KiB of them, and at least three that are used."""
    encoding = find_encoding(path)
    lines: list[str] = []
    used: list[int] = []
    size, whole = 0, True
    for _, piece in read_pieces(path, encoding, size=SAMPLE_BYTES):
        if size >= SAMPLE_BYTES and len(used) >= FEWEST_SAMPLE_ROWS:
            whole = False
            break
        size += len(piece)
        first = len(lines)
        lines += [line.decode(errors="replace") for line in piece.splitlines()]
        used += [i for i in range(first, len(lines)) if not is_ignored(lines[i])]
    return Sample(path, encoding, lines, used, whole)


def find_layout(sample: Sample) -> Layout:
    """Return the layout that the first lines suggest."""
    if not sample.used:
        raise InvalidInput(f"{printable(sample.path)} has no numbers in its first {len(sample.lines)} lines")
    used, lines = sample.used, sample.lines
    kept = [lines[i] for i in used]
    delimiter = find_delimiter(kept)
    rows = list(split_lines(kept, delimiter))
    decimal = "," if delimiter == ";" and _decimal_commas(rows) else "."
    named = len(rows) > 1 and _is_header(rows, decimal)
    skip = used[1] if named else used[0]
    names = rows.pop(0) if named else _commented_names(lines[: used[0]], delimiter, len(rows[0]))
    named = named or bool(names)
    width = max(len(names), len(rows[0]))
    padded = [*names, *[""] * (width - len(names))]
    labels = tuple(printable(name.strip()) or f"column {i + 1}" for i, name in enumerate(padded))
    columns = tuple(i for i in range(width) if any(_is_number(row[i], decimal) for row in rows if i < len(row)))
    if len(rows) == 1 and columns and not named:
        columns = _with_missing(rows[0], columns)
    return Layout(sample.path, sample.encoding, delimiter, decimal, skip, labels, named, columns)


def _with_missing(row: Sequence[str], columns: tuple[int, ...]) -> tuple[int, ...]:
    """Return the columns and those that are missing: a place in a signal on one line, unless it is the empty last."""
    last = len(row) - 1
    places = range(len(row) if row[last].strip() else last)
    known = set(columns)
    return tuple(i for i in places if i in known or is_missing(row[i]))


def is_ignored(line: str) -> bool:
    """Return whether a line is empty or a comment."""
    start = line.lstrip()
    return not start or start.startswith(COMMENT)


def find_delimiter(lines: Sequence[str]) -> str | None:
    """Return what most of the lines have; None for white space."""
    return next((d for d in DELIMITERS if 2 * sum(d in line for line in lines) > len(lines)), None)


def split_lines(lines: Sequence[str], delimiter: str | None) -> Iterator[list[str]]:
    """Yield the fields of each line."""
    if delimiter is None:
        return map(split_words, lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def split_words(line: str) -> list[str]:
    """Return the words of a line without a remark at its end, which NumPy's parser leaves out too."""
    return (REMARK.split(line, maxsplit=1)[0] if COMMENT in line else line).split()


def _decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    fields = [field for row in rows for field in row]
    commas = sum("," in field and _is_number(field, ",") for field in fields)
    return commas > sum("." in field and _is_number(field, ".") for field in fields)


def _is_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Return whether the first row is all words, or has a word on top of a column of numbers."""
    first, rest = rows[0], rows[1:]
    if not any(_is_number(field, decimal) for field in first):
        return not all(map(is_missing, first))
    for i, field in enumerate(first):
        if is_missing(field) or _is_number(field, decimal):
            continue
        below = [row[i] for row in rest if i < len(row)]
        if below and all(is_missing(f) or _is_number(f, decimal) for f in below):
            return True
    return False


def _commented_names(comments: Sequence[str], delimiter: str | None, width: int) -> list[str]:
    """Return the last comment above the numbers, if it has a word for each column: the header of np.savetxt."""
    if not comments or not comments[-1].lstrip().startswith(COMMENT):
        return []
    words = next(iter(split_lines([comments[-1].lstrip().lstrip(COMMENT).strip()], delimiter)), [])
    return words if len(words) == width > 1 else []


def is_missing(field: str) -> bool:
    """Return whether a field stands for a number that is not there."""
    return field.strip().lower() in MISSING


def _is_number(field: str, decimal: str) -> bool:
    try:
        return not math.isnan(to_number(field, decimal))
    except ValueError:
        return False


def to_number(field: str, decimal: str) -> float:
    """Return a number, nan for what stands for a missing one; raise a ValueError for anything else."""
    try:
        value = float(field.replace(",", ".") if decimal == "," else field)
    except ValueError:
        if is_missing(field):
            return math.nan
        raise
    if "_" in field:  # which float() takes
        raise ValueError(field)
    return value
