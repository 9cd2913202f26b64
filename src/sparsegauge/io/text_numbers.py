"""From pieces of text to numbers.

Three parsers give the same numbers. pyarrow's is the fastest where it is installed; NumPy's knows comments. Where both
stumble (a word, a row of another length) the piece is read again field by field, which is slow and says what is wrong.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .text_layout import COMMENT, MISSING, Layout, is_ignored, split_lines, split_words, to_number
from .text_pieces import TEXT_BLOCK_BYTES

Table = NDArray[np.float64]

WIDEST_FOR_COLUMNS = 1000  # pyarrow takes time and memory for each column of each piece
NO_DELIMITER = "\x1f"  # a character that does not occur in numbers
NEWLINE = ord("\n")
SPACES = b" \t"
COLUMN = "x"


def parse_rows(piece: bytes, first: int, layout: Layout, chosen: list[int]) -> Table:
    """Return the chosen columns of whole lines; `first` is the number of the first of them."""
    if not piece.endswith(b"\n"):
        piece += b"\n"
    table = _with_arrow(piece, layout, chosen)
    if table is not None:
        return table
    lines = piece.decode(errors="replace").split("\n")[:-1]
    try:
        return _with_numpy(lines, layout, chosen)
    except ValueError:
        return _with_care(lines, first, layout, chosen)


def parse_line(line: bytes, number: int, layout: Layout) -> Iterator[Table]:
    """Yield the numbers of a signal on one line, a few megabytes of text at a time."""
    delimiters = SPACES if layout.delimiter is None else layout.delimiter.encode()
    line = line.strip(b"\n" if layout.delimiter else None)
    if layout.delimiter and line.endswith(delimiters):
        line = line[:-1]  # an empty field after the last delimiter is no number
    start, place = 0, 1
    while start < len(line):
        end = _cut(line, start, delimiters)
        values = _fields(line[start:end], layout, number, place)
        yield values
        start, place = end + 1, place + len(values)


def _cut(line: bytes, start: int, delimiters: bytes) -> int:
    """Return where a piece that begins at `start` ends: at a delimiter, or at the end."""
    if start + TEXT_BLOCK_BYTES >= len(line):
        return len(line)
    cut = max(line.rfind(bytes([d]), start, start + TEXT_BLOCK_BYTES) for d in delimiters)
    if cut < start:  # one field of megabytes
        found = [at for d in delimiters if (at := line.find(bytes([d]), start)) >= 0]
        return min(found, default=len(line))
    return cut


def _fields(piece: bytes, layout: Layout, line: int, place: int) -> Table:
    values = _one_column(_one_field_per_line(piece + b"\n", layout), spaced=layout.delimiter is None)
    count = None if layout.delimiter is None else piece.count(layout.delimiter.encode()) + 1
    if values is not None and count in (None, len(values)):
        return values
    text = piece.decode(errors="replace")
    fields = text.split(layout.delimiter)
    return np.array([_cell(field, line, f"field {place + i}", layout) for i, field in enumerate(fields)])


def _with_arrow(piece: bytes, layout: Layout, chosen: list[int]) -> Table | None:
    """Return the table if pyarrow can be trusted with this piece, else None."""
    if COMMENT.encode() in piece or not _has_arrow():
        return None
    if len(chosen) == len(layout.names) and b'"' not in piece:
        if not _is_regular(piece, layout):
            return None
        values = _one_column(_one_field_per_line(piece, layout), spaced=layout.delimiter is None)
        whole = values is not None and values.size % len(chosen) == 0
        return values.reshape(-1, len(chosen)) if values is not None and whole else None
    if layout.delimiter is None or len(layout.names) > WIDEST_FOR_COLUMNS:
        return None
    names = [str(i) for i in range(len(layout.names))]
    columns = _arrow_columns(
        piece, names, [names[i] for i in chosen], delimiter=layout.delimiter, decimal_point=layout.decimal
    )
    return None if columns is None else np.column_stack(columns)


def _is_regular(piece: bytes, layout: Layout) -> bool:
    """Return whether every line has as many fields as the first lines; empty ones are allowed between words only."""
    characters = np.frombuffer(piece, np.uint8)
    ends = characters == NEWLINE
    width = len(layout.names)
    if layout.delimiter is None:
        spaces = ends | (characters == SPACES[0]) | (characters == SPACES[1])
        starts = ~spaces
        starts[1:] &= spaces[:-1]
        lines = np.concatenate([[0], np.flatnonzero(ends)[:-1] + 1])
        words = np.add.reduceat(starts, lines, dtype=np.int64)
        return bool(np.all((words == width) | (words == 0)))
    separators = characters[ends | (characters == ord(layout.delimiter))]
    if separators.size % width:
        return False
    last = separators.reshape(-1, width) == NEWLINE
    empty = piece.startswith(b"\n") or b"\n\n" in piece
    return not empty and bool(last[:, -1].all()) and not bool(last[:, :-1].any())


def _one_field_per_line(piece: bytes, layout: Layout) -> bytes:
    """Return the same fields, each on a line of its own: pyarrow is slow with many columns, and fast with one."""
    separators = SPACES if layout.delimiter is None else layout.delimiter.encode()
    if layout.decimal == ",":
        return piece.translate(bytes.maketrans(separators + b",", b"\n" * len(separators) + b"."))
    return piece.translate(bytes.maketrans(separators, b"\n" * len(separators)))


def _one_column(lines: bytes, *, spaced: bool) -> Table | None:
    if not _has_arrow():
        return None
    columns = _arrow_columns(lines, [COLUMN], [COLUMN], delimiter=NO_DELIMITER, empty_lines=not spaced, quotes=False)
    return None if columns is None else columns[0]


@functools.cache
def _has_arrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


@functools.cache
def _missing() -> list[str]:
    """Return what stands for a missing number, in the ways of writing that occur; others are read with care."""
    return sorted(set(itertools.chain.from_iterable((m, m.upper(), m.capitalize()) for m in MISSING)))


def _arrow_columns(
    piece: bytes,
    names: list[str],
    wanted: list[str],
    *,
    delimiter: str,
    decimal_point: str = ".",
    empty_lines: bool = False,
    quotes: bool = True,
) -> list[Table] | None:
    """Return the columns that are wanted; None where pyarrow finds a word, or a row of another length."""
    pa, csv = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.csv")
    try:
        table = csv.read_csv(
            pa.BufferReader(piece),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(piece) + 1),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quotes else False, ignore_empty_lines=not empty_lines
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.float64()),
                include_columns=wanted,
                null_values=_missing(),
                decimal_point=decimal_point,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    columns = [table.column(name) for name in wanted]
    if b"(" in piece and any(_has_nan(column) for column in columns):
        return None  # "nan(1)" is a number for pyarrow alone
    return [column.to_numpy() for column in columns]


def _has_nan(column: Any) -> bool:
    """Return whether a column has NaN other than for missing numbers."""
    return bool(np.count_nonzero(np.isnan(column.to_numpy())) > column.null_count)


def _with_numpy(lines: list[str], layout: Layout, chosen: list[int]) -> Table:
    width = len(layout.names)
    if len(chosen) < width and any(_width(line, layout) != width and not is_ignored(line) for line in lines):
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
    """Return the number of fields; too many where a delimiter is quoted, which is for `_with_care` to see."""
    return len(split_words(line)) if layout.delimiter is None else line.count(layout.delimiter) + 1


def _with_care(lines: list[str], first: int, layout: Layout, chosen: list[int]) -> Table:
    kept = [(first + i, line) for i, line in enumerate(lines) if not is_ignored(line)]
    rows = []
    for number, fields in zip(
        (n for n, _ in kept), split_lines([text for _, text in kept], layout.delimiter), strict=False
    ):
        if len(fields) != len(layout.names):
            raise InvalidInput(
                f"{printable(layout.path)}, line {number}: {len(fields)} fields where the first lines have "
                f"{len(layout.names)}; all rows must be of one length"
            )
        rows.append([_cell(fields[i], number, layout.names[i], layout) for i in chosen])
    return np.array(rows, dtype=np.float64).reshape(-1, len(chosen))


def _cell(field: str, line: int, column: str, layout: Layout) -> float:
    try:
        return to_number(field, layout.decimal)
    except ValueError:
        raise InvalidInput(
            f"{printable(layout.path)}, line {line}, {printable(column)}: {printable(field)[:40]!r} is not a number; "
            "correct it, or leave the field empty and use --nan-policy omit"
        ) from None
