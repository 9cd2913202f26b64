"""Numbers as text: CSV, TSV and white space, with or without a header, in pieces of a few megabytes.

NumPy's parser does the work. Where it stumbles (an empty field, a word, a row of another length) the piece is read
again field by field, which is slow and knows what to say.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from .contents import BLOCK_BYTES, Contents, choose, reading, shown

SAMPLE_BYTES = 1 << 16  # what the layout is guessed from
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


def read_text(path: Path, key: str | None, note: Callable[[str], None]) -> list[Contents]:
    """Columns of numbers; a single line of numbers without a header is one signal."""
    with reading(path, "a table of numbers"):
        layout, rows = _layout(path)
        numeric = [layout.names[i] for i in layout.columns]
        left_out = [name for i, name in enumerate(layout.names) if i not in layout.columns]
        if not numeric:
            raise InvalidInput(f"{shown(path)} has no column of numbers; its first row is {_excerpt(rows)}")
        if left_out:
            note(f"{shown(path)}: left out {_listed(left_out)}: no numbers in the first rows")
        chosen = [layout.columns[i] for i in choose(path, key, numeric, "column")]
    one_line = len(rows) == 1 and not layout.named and key is None and _fits_in_sample(layout)
    flat = one_line or (len(layout.names) == 1 and not layout.named)

    def stream() -> Iterator[NDArray[Any]]:
        with reading(path, "a table of numbers"):
            for table in _tables(layout, chosen):
                yield table.ravel() if flat else table

    return [Contents(axis=0, stream=stream, labels=() if flat else tuple(layout.names[i] for i in chosen))]


def _layout(path: Path) -> tuple[Layout, list[list[str]]]:
    """The layout and the first rows, guessed from the first lines."""
    encoding = _encoding(path)
    with path.open(encoding=encoding, errors="replace", newline=None) as file:
        lines = file.readlines(SAMPLE_BYTES)
    used = [i for i, line in enumerate(lines) if not _ignored(line)]
    if not used:
        raise InvalidInput(f"{shown(path)} has no numbers in its first {len(lines)} lines")
    sample = [lines[i] for i in used]
    delimiter = _delimiter(sample)
    rows = list(_fields(sample, delimiter))
    decimal = "," if delimiter == ";" and _decimal_commas(rows) else "."
    named = len(rows) > 1 and _is_header(rows, decimal)
    skip = used[1] if named else used[0]
    names = rows.pop(0) if named else _commented_names(lines[: used[0]], delimiter, len(rows[0]))
    named = named or bool(names)
    width = max(len(names), len(rows[0]))
    labels = tuple(shown(name.strip()) or f"column {i + 1}" for i, name in enumerate(_padded(names, width)))
    columns = tuple(i for i in range(width) if any(_is_number(row[i], decimal) for row in rows if i < len(row)))
    if len(rows) == 1 and columns and not named:
        columns = _with_missing(rows[0], columns)
    return Layout(path, encoding, delimiter, decimal, skip, labels, named, columns), rows


def _with_missing(row: Sequence[str], columns: tuple[int, ...]) -> tuple[int, ...]:
    """A missing number of a signal on one line is a place in it; nothing after the last delimiter is none."""
    last = len(row) - 1
    places = range(len(row) if row[last].strip() else last)
    return tuple(i for i in places if i in columns or _is_missing(row[i]))


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise InvalidInput(f"{shown(path)} is not text but binary data; give it the ending of what it is")
    return "utf-8-sig"


def _ignored(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENT)


def _delimiter(lines: Sequence[str]) -> str | None:
    """What most of the lines have."""
    return next((d for d in DELIMITERS if 2 * sum(d in line for line in lines) > len(lines)), None)


def _fields(lines: Sequence[str], delimiter: str | None) -> Iterator[list[str]]:
    if delimiter is None:
        return map(_words, lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _words(line: str) -> list[str]:
    """Without a remark at the end, which NumPy's parser leaves out too."""
    return (REMARK.split(line, 1)[0] if COMMENT in line else line).split()


def _decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    fields = [field for row in rows for field in row]
    commas = sum("," in field and _is_number(field, ",") for field in fields)
    return commas > sum("." in field and _is_number(field, ".") for field in fields)


def _is_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """All words; or a word on top of a column of numbers."""
    first, rest = rows[0], rows[1:]
    if not any(_is_number(field, decimal) for field in first):
        return not all(map(_is_missing, first))
    for i, field in enumerate(first):
        below = [row[i] for row in rest if i < len(row)]
        word = not _is_missing(field) and not _is_number(field, decimal)
        if word and below and all(_is_missing(f) or _is_number(f, decimal) for f in below):
            return True
    return False


def _commented_names(comments: Sequence[str], delimiter: str | None, width: int) -> list[str]:
    """The last comment above the numbers, if it has a word for each column: what np.savetxt writes as a header."""
    if not comments or not comments[-1].lstrip().startswith(COMMENT):
        return []
    words = next(iter(_fields([comments[-1].lstrip().lstrip(COMMENT).strip()], delimiter)), [])
    return words if len(words) == width > 1 else []


def _padded(names: Sequence[str], width: int) -> list[str]:
    return [*names, *[""] * (width - len(names))]


def _is_missing(field: str) -> bool:
    return field.strip().lower() in MISSING


def _is_number(field: str, decimal: str) -> bool:
    try:
        return not math.isnan(_number(field, decimal))
    except ValueError:
        return False


def _number(field: str, decimal: str) -> float:
    """A number, nan for what stands for a missing one; a ValueError for anything else."""
    if _is_missing(field):
        return math.nan
    if "_" in field:  # which float() would take
        raise ValueError
    return float(field.replace(",", ".") if decimal == "," else field)


def _fits_in_sample(layout: Layout) -> bool:
    """Whether there is nothing after the lines that the layout was guessed from."""
    with layout.path.open(encoding=layout.encoding, errors="replace", newline=None) as file:
        file.readlines(SAMPLE_BYTES)
        return not file.readline()


def _tables(layout: Layout, chosen: list[int]) -> Iterator[NDArray[np.float64]]:
    with layout.path.open(encoding=layout.encoding, errors="replace", newline=None) as file:
        for _ in range(layout.skip):
            file.readline()
        line = layout.skip + 1
        while lines := file.readlines(BLOCK_BYTES):
            table = _table(lines, line, layout, chosen)
            if len(table):
                yield table
            line += len(lines)


def _table(lines: list[str], first: int, layout: Layout, chosen: list[int]) -> NDArray[np.float64]:
    try:
        return _fast(lines, layout, chosen)
    except ValueError:
        return _careful(lines, first, layout, chosen)


def _fast(lines: list[str], layout: Layout, chosen: list[int]) -> NDArray[np.float64]:
    width = len(layout.names)
    if len(chosen) < width and any(_width(line, layout) != width and not _ignored(line) for line in lines):
        raise ValueError  # NumPy checks the length of rows only where it reads all of them
    if layout.decimal == ",":
        lines = [line.replace(",", ".") for line in lines]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a piece of comments and empty lines alone
        table = np.loadtxt(
            lines,
            dtype=np.float64,
            comments=COMMENT,
            delimiter=layout.delimiter,
            usecols=chosen if len(chosen) < width else None,
            quotechar='"',
            ndmin=2,
        )
    if table.size and table.shape[1] != len(chosen):
        raise ValueError
    return table.reshape(-1, len(chosen))


def _width(line: str, layout: Layout) -> int:
    """The number of fields; too many where a delimiter is quoted, which is for `_careful` to see."""
    return len(_words(line)) if layout.delimiter is None else line.count(layout.delimiter) + 1


def _careful(lines: list[str], first: int, layout: Layout, chosen: list[int]) -> NDArray[np.float64]:
    kept = [(first + i, line) for i, line in enumerate(lines) if not _ignored(line)]
    rows = []
    for number, fields in zip(
        (n for n, _ in kept), _fields([text for _, text in kept], layout.delimiter), strict=False
    ):
        if len(fields) != len(layout.names):
            raise InvalidInput(
                f"{shown(layout.path)}, line {number}: {len(fields)} fields where the first lines have "
                f"{len(layout.names)}; all rows must be of one length"
            )
        rows.append([_cell(fields[i], number, i, layout) for i in chosen])
    return np.array(rows, dtype=np.float64).reshape(-1, len(chosen))


def _cell(field: str, line: int, column: int, layout: Layout) -> float:
    try:
        return _number(field, layout.decimal)
    except ValueError:
        raise InvalidInput(
            f"{shown(layout.path)}, line {line}, {layout.names[column]}: {shown(field)[:40]!r} is not a number; mend "
            "it, or leave the field empty and use --nan-policy omit"
        ) from None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _excerpt(rows: Sequence[Sequence[str]]) -> str:
    return repr(shown(" ".join(rows[0]))[:60]) if rows else "all there is"
