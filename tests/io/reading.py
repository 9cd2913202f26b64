"""Files to read, and how they are read or refused."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from sparsegauge import InvalidInput
from sparsegauge.io import open_file

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write_24_bit(path, samples, rate=8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(3)
        file.setframerate(rate)
        file.writeframes(np.ascontiguousarray(samples.astype("<i4")).view(np.uint8).reshape(-1, 4)[:, 1:].tobytes())


def read(path, **options):
    return {found.name: found.array() for found in open_file(Path(path), **options)}


def only(path, **options):
    (found,) = open_file(Path(path), **options)
    return found


def refuse(path, match, error=InvalidInput, **options):
    with pytest.raises(error, match=match) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return str(caught.value)
