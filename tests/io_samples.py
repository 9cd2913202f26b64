"""A small file of every kind that sparsegauge reads, as bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.io.wavfile
from PIL import Image

X = np.random.default_rng(0).standard_normal(40)
TABLE = X.reshape(10, 4)
SOUND = (1000 * TABLE[:, :2]).astype(np.int16)
GREY = np.arange(80, dtype=np.uint8).reshape(8, 10)


def write_parquet(path: Path, **columns: Any) -> None:
    pq.write_table(pa.table(columns), path)


def write_hdf5(path: Path, **arrays: Any) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, compression="gzip")


WRITERS: dict[str, Callable[[Path], object]] = {
    ".npy": lambda path: np.save(path, X),
    ".npz": lambda path: np.savez_compressed(path, a=X, b=TABLE),
    ".csv": lambda path: np.savetxt(path, TABLE, delimiter=",", header="a,b,c,d", comments=""),
    ".tsv": lambda path: np.savetxt(path, TABLE, delimiter="\t"),
    ".txt": lambda path: np.savetxt(path, X),
    ".parquet": lambda path: write_parquet(path, a=X, t=["x"] * 40),
    ".mat": lambda path: scipy.io.savemat(path, {"a": X, "b": TABLE}, do_compression=True),
    ".h5": lambda path: write_hdf5(path, a=X, b=TABLE),
    ".hdf5": lambda path: write_hdf5(path, a=X, b=TABLE),
    ".wav": lambda path: scipy.io.wavfile.write(path, 8000, SOUND),
    ".png": lambda path: Image.fromarray(GREY).save(path),
    ".jpg": lambda path: Image.fromarray(GREY).save(path),
    ".jpeg": lambda path: Image.fromarray(GREY).save(path),
}


def whole(ending: str) -> bytes:
    """Return the content of a file of that kind."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"x{ending}"
        WRITERS[ending](path)
        return path.read_bytes()


SAMPLES = {ending: whole(ending) for ending in WRITERS}
