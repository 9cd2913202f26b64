"""Parquet tables, through pyarrow, one row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, reading, refuse_expansion

BATCH_BYTES = 1 << 20  # pyarrow keeps several times as much


def read_parquet(request: FileRequest) -> list[Contents]:
    """Return the columns of numbers, with nan for nulls."""
    path, purpose = request.path, "reading Parquet"
    parquet, arrow = import_extra("pyarrow.parquet", purpose), import_extra("pyarrow", purpose)
    kind = "a Parquet table"
    with reading(path, kind), _opened(parquet, path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        columns = [field.name for field in schema if _numeric(arrow, field.type)]
    left_out = [field.name for field in schema if not _numeric(arrow, field.type)]
    if left_out:
        names = ", ".join(repr(printable(name)) for name in left_out)
        request.note(f"{request.name}: left out {names}, which hold no numbers")
    chosen = [columns[i] for i in choose(request, columns, "column")]
    if not chosen or rows == 0:
        raise InvalidInput(f"{printable(path)} has no numbers: {rows} rows, {len(chosen)} columns of numbers")
    refuse_expansion(request, 8 * rows * len(chosen))

    def stream() -> Iterator[NDArray[Any]]:
        with reading(path, kind), _opened(parquet, path) as file:
            batch = max(1, BATCH_BYTES // (8 * len(chosen)))
            for piece in file.iter_batches(batch_size=batch, columns=chosen, use_threads=False):
                yield np.column_stack([_values(arrow, piece.column(name)) for name in chosen])

    return [Contents(axis=0, stream=stream, length=rows, labels=tuple(map(printable, chosen)))]


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
