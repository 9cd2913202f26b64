"""Parquet tables, through pyarrow, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from ..errors import InvalidInput
from .contents import BLOCK_BYTES, Contents, choose, reading, refuse_bomb, shown


def read_parquet(path: Path, key: str | None, note: Callable[[str], None]) -> list[Contents]:
    """The columns of numbers, nulls as nan."""
    purpose = "reading Parquet"
    parquet, arrow = import_extra("pyarrow.parquet", purpose), import_extra("pyarrow", purpose)
    kind = "a Parquet table"
    with reading(path, kind), _opened(parquet, path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        columns = [field.name for field in schema if _numeric(arrow, field.type)]
    left_out = [name for name in schema.names if name not in columns]
    if left_out:
        note(f"{shown(path)}: left out {', '.join(map(repr, map(shown, left_out)))}, which hold no numbers")
    chosen = [columns[i] for i in choose(path, key, columns, "column")]
    if not chosen or rows == 0:
        raise InvalidInput(f"{shown(path)} has no numbers: {rows} rows, {len(chosen)} columns of numbers")
    refuse_bomb(path, 8 * rows * len(chosen))

    def stream() -> Iterator[NDArray[Any]]:
        with reading(path, kind), _opened(parquet, path) as file:
            batch = max(1, BLOCK_BYTES // (8 * len(chosen)))
            for piece in file.iter_batches(batch_size=batch, columns=chosen):
                yield np.column_stack([_values(arrow, piece.column(name)) for name in chosen])

    return [Contents(axis=0, stream=stream, labels=tuple(map(shown, chosen)))]


def _opened(parquet: Any, path: Path) -> Any:
    return parquet.ParquetFile(path, memory_map=False)


def _numeric(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _values(arrow: Any, column: Any) -> NDArray[np.float64]:
    if arrow.types.is_boolean(column.type):
        column = column.cast(arrow.int8())
    floats: NDArray[np.float64] = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats
