"""Parquet tables, through pyarrow, one row group at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, reading, refuse_expansion

BATCH_BYTES = 1 << 20  # pyarrow keeps several times as much
LARGEST_DICTIONARY = 1 << 24  # bytes of one column in one row group, of which pyarrow keeps almost three copies
PAGE_HEAD = re.compile(rb"\x15([\x80-\xff]*[\0-\x7f])\x15([\x80-\xff]{0,4}[\0-\x7f])")  # type, size when unpacked


def read_parquet(request: FileRequest) -> list[Contents]:
    """Return the columns of numbers, with nan for nulls."""
    path, purpose = request.path, "reading Parquet"
    parquet, arrow = import_extra("pyarrow.parquet", purpose), import_extra("pyarrow", purpose)
    kind = "a Parquet table"
    with reading(path, kind), _opened(parquet, path) as file:
        schema, metadata, rows = file.schema_arrow, file.metadata, file.metadata.num_rows
        columns = [field.name for field in schema if _numeric(arrow, field.type)]
    left_out = [field.name for field in schema if not _numeric(arrow, field.type)]
    if left_out:
        names = ", ".join(repr(printable(name)) for name in left_out)
        request.note(f"{request.name}: left out {names}, which hold no numbers")
    chosen = [columns[i] for i in choose(request, columns, "column")]
    if not chosen or rows == 0:
        raise InvalidInput(f"{printable(path)} has no numbers: {rows} rows, {len(chosen)} columns of numbers")
    refuse_expansion(request, 8 * rows * len(chosen))
    _refuse_large_dictionaries(request, metadata, set(chosen))

    def stream() -> Iterator[NDArray[Any]]:
        with reading(path, kind), _opened(parquet, path) as file:
            batch = max(1, BATCH_BYTES // (8 * len(chosen)))
            for piece in file.iter_batches(batch_size=batch, columns=chosen, use_threads=False):
                yield np.column_stack([_values(arrow, piece.column(name)) for name in chosen])

    return [Contents(axis=0, stream=stream, length=rows, labels=tuple(map(printable, chosen)))]


def _refuse_large_dictionaries(request: FileRequest, metadata: Any, columns: set[str]) -> None:
    """Refuse a table whose distinct values take much memory beside the numbers, before it is read."""
    places = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path in columns]
    with reading(request.path, "a Parquet table"), request.path.open("rb") as file:
        for group in range(metadata.num_row_groups):
            for place in places:
                chunk = metadata.row_group(group).column(place)
                if not chunk.has_dictionary_page:
                    continue
                size = _unpacked_page(file, chunk.dictionary_page_offset)
                if size > LARGEST_DICTIONARY:
                    column = printable(chunk.path_in_schema)
                    raise InvalidInput(
                        f"{request.name} has a dictionary of {size:,} bytes in column {column!r}, "
                        f"and {LARGEST_DICTIONARY:,} are read; save it without dictionaries, or in smaller row groups"
                    )


def _unpacked_page(file: BinaryIO, offset: int) -> int:
    """Return how many bytes a page has when it is unpacked: the second field of its head, in compact Thrift."""
    file.seek(offset)
    found = PAGE_HEAD.match(file.read(16))
    if found is None:
        raise ValueError("a page has a damaged head")
    number: int = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(found[2]))
    return number >> 1  # zigzag, and not negative


def _opened(parquet: Any, path: Path) -> Any:
    return parquet.ParquetFile(path, memory_map=False, pre_buffer=False)


def _numeric(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _values(arrow: Any, column: Any) -> NDArray[np.float64]:
    if arrow.types.is_boolean(column.type):
        column = column.cast(arrow.int8())
    floats: NDArray[np.float64] = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats
