"""Numbers as text: CSV, TSV and white space, with or without a header, in pieces of a few megabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, reading
from .text_layout import Layout, find_layout, read_sample
from .text_numbers import parse_line, parse_rows
from .text_pieces import read_pieces

KIND = "a table of numbers"


def read_text(request: FileRequest) -> list[Contents]:
    """Return columns of numbers; a single line of numbers without a header is one signal."""
    with reading(request.path, KIND):
        sample = read_sample(request.path)
        if sample.is_long_line and request.key is None:
            return [_signal_on_one_line(find_layout(sample.beginning()))]
        layout, rows = find_layout(sample), sample.whole and len(sample.used) == 1
        numeric = [layout.names[i] for i in layout.columns]
        if not numeric:
            raise InvalidInput(f"{request.name} has no column of numbers; its first row is {sample.excerpt(layout)}")
        kept = set(layout.columns)
        left_out = [name for i, name in enumerate(layout.names) if i not in kept]
        if left_out:
            request.note(f"{request.name}: left out {_listed(left_out)}: no numbers in the first rows")
        chosen = [layout.columns[i] for i in choose(request, numeric, "column")]
    one_line = rows and not layout.named and request.key is None
    flat = one_line or (len(layout.names) == 1 and not layout.named)
    labels = () if flat else tuple(layout.names[i] for i in chosen)
    return [Contents(axis=0, stream=lambda: _tables(layout, chosen, flat), labels=labels)]


def _tables(layout: Layout, chosen: list[int], flat: bool) -> Iterator[NDArray[Any]]:
    with reading(layout.path, KIND):
        for line, piece in read_pieces(layout.path, layout.encoding, skip=layout.skip):
            table = parse_rows(piece, line, layout, chosen)
            if len(table):
                yield table.ravel() if flat else table


def _signal_on_one_line(layout: Layout) -> Contents:
    """Return a line that is too long to be cut into columns first."""

    def stream() -> Iterator[NDArray[Any]]:
        with reading(layout.path, KIND):
            for line, piece in read_pieces(layout.path, layout.encoding, skip=layout.skip):
                yield from parse_line(piece, line, layout)

    return Contents(axis=0, stream=stream)


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(repr(printable(name)) for name in names[:5])
    return quoted + (f" and {len(names) - 5} more" if len(names) > 5 else "")
