"""Read the signals of a user's files, and prepare them for the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..io import Contents, expand, opened
from ..measurements.file_signals import increases_evenly, split_signals

MOST_SIGNALS = 12  # on one page
MOST_SAMPLES = 1 << 20  # of one signal
FEWEST_SAMPLES = 8
HALVINGS = 6  # how often the length can be halved, so that a wavelet transform has that many levels

Note = Callable[[str], None]


@dataclass(frozen=True)
class OwnSignal:
    """One signal of a file: real samples, or the grey levels of a picture; `rate` in samples per second, if known.

    `missing` is the number of NaN and infinite samples that were left out.
    """

    name: str
    values: Array
    rate: float | None = None
    missing: int = 0

    @property
    def description(self) -> str:
        """The size in words, such as "48,000 samples, 4 s at 12,000 Hz"."""
        if self.values.ndim == 2:
            return f"{self.values.shape[0]} × {self.values.shape[1]} pixels"
        text = f"{self.values.size:,} samples"
        if self.rate is not None:
            text += f", {self.values.size / self.rate:.4g} s at {self.rate:,.6g} Hz"
        return text


def read_signals(paths: Sequence[str], *, note: Note) -> list[OwnSignal]:
    """Return the signals of files and folders; call `note` with what is left out.

    A file that cannot be read is left out with a note; if nothing can be read, that is an `InvalidInput`.
    """
    found: list[OwnSignal] = []
    more = 0
    for path in expand(paths):
        name = Path(path).name
        try:
            with opened(path, label=name, note=note) as file:
                signals = [signal for contents in file.contents for signal in _signals(name, contents, note)]
        except (InvalidInput, OSError) as error:
            note(f"{name} is left out: {str(error).removeprefix(f'{name}: ')}")
            continue
        room = MOST_SIGNALS - len(found)
        found += signals[:room]
        more += len(signals[room:])
    if more:
        note(f"the page has room for {MOST_SIGNALS} signals; {more} more are left out")
    if not found:
        raise InvalidInput("there is no signal to report on: every file was left out")
    return _with_own_names(found)


def _signals(file: str, contents: Contents, note: Note) -> list[OwnSignal]:
    if contents.axis is None:
        return [OwnSignal(file, _even_shape(np.asarray(contents.array(), np.float64)))]
    prepared = []
    rows = list(split_signals(contents))
    for name, row in rows:
        label = file if name is None else f"{file}: {name}"
        if len(rows) > 1 and row.dtype.kind in "iuf" and increases_evenly(row):
            note(f"{label} is left out: it increases in equal steps, like time or an index")
            continue
        signal = _prepare(label, row, contents.rate)
        if isinstance(signal, str):
            note(f"{label} is left out: {signal}")
        else:
            prepared.append(signal)
    return prepared


def _prepare(name: str, row: NDArray[Any], rate: float | None) -> OwnSignal | str:
    """Return a signal of finite samples whose length can be halved, or why there is none."""
    values = np.abs(row) if row.dtype.kind == "c" else row.astype(np.float64)
    finite = values[np.isfinite(values)]
    cut = finite[:MOST_SAMPLES]
    cut = cut[: _even_length(cut.size)]
    if cut.size < FEWEST_SAMPLES:
        return f"it has {finite.size} finite samples, and {FEWEST_SAMPLES} are needed"
    if not cut.any():
        return "it is zero everywhere, so that its sparsity is not defined"
    return OwnSignal(name, np.ascontiguousarray(cut), rate, int(values.size - finite.size))


def _even_length(n: int) -> int:
    """Return the largest length up to n that can be halved as often as `HALVINGS`, or less often if n is short."""
    step = 1 << min(HALVINGS, max(n.bit_length() - 4, 1))
    return n - n % step


def _even_shape(picture: Array) -> Array:
    rows, columns = map(_even_length, picture.shape)
    return np.ascontiguousarray(picture[:rows, :columns])


def _with_own_names(signals: list[OwnSignal]) -> list[OwnSignal]:
    """Return the signals with distinct names: files of the same name in several folders are numbered."""
    seen: dict[str, int] = {}
    named = []
    for signal in signals:
        seen[signal.name] = seen.get(signal.name, 0) + 1
        number = f" ({seen[signal.name]})" if seen[signal.name] > 1 else ""
        named.append(OwnSignal(signal.name + number, signal.values, signal.rate, signal.missing))
    return named
