"""WAV files: channels as signals between -1 and 1, read in pieces."""

from __future__ import annotations

import warnings
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import BLOCK_BYTES, Contents, FileRequest, choose, reading

Stream = Callable[[], Iterator[NDArray[Any]]]


def read_wav(request: FileRequest) -> list[Contents]:
    """Return one signal per channel; whole numbers are divided by the largest that their format holds."""
    path = request.path
    with reading(path, "a WAV file"):
        rate, channels, frames, stream = _opened(path)
    if frames == 0 or channels == 0:
        raise InvalidInput(f"{printable(path)} has no samples; record it again")
    names = [f"channel {i + 1}" for i in range(channels)]
    chosen = choose(request, names, "channel")
    labels = tuple(names[i] for i in chosen) if channels > 1 else ()

    def scaled() -> Iterator[NDArray[Any]]:
        with reading(path, "a WAV file"):
            for block in stream():
                samples = _scaled(block)[:, chosen]
                yield samples if channels > 1 else samples[:, 0]

    return [Contents(axis=0, stream=scaled, length=frames, labels=labels, rate=rate)]


def _opened(path: Path) -> tuple[float, int, int, Stream]:
    """Return samples per second, channels, samples per channel, and the samples as they are stored."""
    try:
        rate, mapped = _scipy(path, mmap=True)
    except ValueError as error:
        if "mmap=True not compatible" not in str(error):
            raise
        return _three_bytes(path)
    table = mapped.reshape(len(mapped), -1)
    rows = max(1, BLOCK_BYTES // (8 * table.shape[1]))

    def stream() -> Iterator[NDArray[Any]]:
        yield from (table[start : start + rows] for start in range(0, len(table), rows))

    return rate, table.shape[1], len(table), stream


def _scipy(path: Path, *, mmap: bool) -> tuple[float, NDArray[Any]]:
    import scipy.io.wavfile

    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.io.wavfile.WavFileWarning)
        warnings.filterwarnings("ignore", message="Chunk .non-data. not understood")  # notes of editors and cameras
        rate, samples = scipy.io.wavfile.read(path, mmap=mmap)
    return float(rate), samples


def _three_bytes(path: Path) -> tuple[float, int, int, Stream]:
    """Return 24-bit samples, which NumPy has no type for, widened to 32 bits."""
    try:
        with wave.open(str(path), "rb") as file:
            channels, width, rate, frames, *_ = file.getparams()
        if width != 3:
            raise wave.Error("not 24 bits")
        if frames * channels * width > path.stat().st_size:
            raise InvalidInput(f"{printable(path)} is cut off: its header promises {frames:,} samples; record it again")
    except wave.Error:  # extensible headers, before Python 3.12
        whole_rate, samples = _scipy(path, mmap=False)
        table = samples.reshape(len(samples), -1)
        return whole_rate, table.shape[1], len(table), lambda: iter([table])

    def stream() -> Iterator[NDArray[Any]]:
        with wave.open(str(path), "rb") as file:
            while data := file.readframes(max(1, BLOCK_BYTES // (8 * channels))):
                wide = np.zeros((len(data) // 3, 4), np.uint8)
                wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
                yield wide.view("<i4").reshape(-1, channels)

    return float(rate), channels, frames, stream


def _scaled(samples: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one, which is what is wanted
        values = samples.astype(np.float64)
    if samples.dtype.kind == "u":
        return (values - 128) / 128  # 8 bits are stored from 0 to 255
    return values / 2.0 ** (8 * samples.dtype.itemsize - 1) if samples.dtype.kind == "i" else values
