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
from ..surveys import find_rate

MOST_SIGNALS_PER_PAGE = 12
MOST_SAMPLES_PER_SIGNAL = 1 << 20
FEWEST_SAMPLES = 8
WAVELET_LEVELS = 6  # signals are cut to a length that can be halved so often

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


def read_signals(
    paths: Sequence[str], *, note: Note, rate: float | None = None, key: str | None = None
) -> list[OwnSignal]:
    """Return the signals of files and folders; call `note` with what is left out.

    A file that cannot be read is left out with a note; if nothing can be read, that is an `InvalidInput`. `rate` is
    that of files which do not state one, and `key` names the array, column or channel to read.
    """
    files: list[list[OwnSignal]] = []
    complaints: list[str] = []
    for path in expand(paths):
        name = Path(path).name
        said: list[str] = []
        try:
            files.append(_read_file(path, name, rate, key, said.append))
        except (InvalidInput, OSError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            said.append(f"{name} is left out: {reason.removeprefix(f'{name}: ')}")
        for text in said:
            note(text)
        complaints += said
    found = _share_room(files)
    if not found:
        raise InvalidInput(f"there is no signal to report on; {'; '.join(complaints)}")
    more = sum(map(len, files)) - len(found)
    if more:
        note(
            f"the page has room for {MOST_SIGNALS_PER_PAGE} signals; {more} more {'is' if more == 1 else 'are'} left "
            "out (name fewer files, or choose with --key)"
        )
    return _with_own_names(found)


def _read_file(path: str, name: str, rate: float | None, key: str | None, note: Note) -> list[OwnSignal]:
    with opened(path, label=name, key=key, note=note, singles=True) as file:
        stated = find_rate(file.contents) or rate
        several = len(file.contents) > 1
        arrays = [each for each in file.contents if not (several and each.values is not None and each.values.size == 1)]
        return [signal for contents in arrays for signal in _signals(name, contents, stated, note)]


def _share_room(files: Sequence[list[OwnSignal]]) -> list[OwnSignal]:
    """Return as many signals as the page has room for, shared equally among the files."""
    taken = [0] * len(files)
    while sum(taken) < MOST_SIGNALS_PER_PAGE:
        open_files = [k for k, signals in enumerate(files) if taken[k] < len(signals)]
        if not open_files:
            break
        for k in open_files[: MOST_SIGNALS_PER_PAGE - sum(taken)]:
            taken[k] += 1
    return [signal for signals, count in zip(files, taken, strict=True) for signal in signals[:count]]


def _signals(file: str, contents: Contents, rate: float | None, note: Note) -> list[OwnSignal]:
    if contents.axis is None:
        return [OwnSignal(file, _even_shape(np.asarray(contents.array(), np.float64)))]
    prepared = []
    rows = list(split_signals(contents))
    for name, row in rows:
        label = file if name is None else f"{file}: {name}"
        if len(rows) > 1 and row.dtype.kind in "iuf" and increases_evenly(row):
            note(f"{label} is left out: it increases in equal steps, like time or an index")
            continue
        signal = _prepare(label, row, rate)
        if isinstance(signal, str):
            note(f"{label} is left out: {signal}")
        else:
            prepared.append(signal)
    return prepared


def _prepare(name: str, row: NDArray[Any], rate: float | None) -> OwnSignal | str:
    """Return a signal of finite samples whose length can be halved, or why there is none."""
    values = np.abs(row) if row.dtype.kind == "c" else row.astype(np.float64)
    finite = values[np.isfinite(values)]
    cut = finite[:MOST_SAMPLES_PER_SIGNAL]
    cut = cut[: _even_length(cut.size)]
    if cut.size < FEWEST_SAMPLES:
        samples = "sample" if finite.size == 1 else "samples"
        return f"it has {finite.size} finite {samples}, and {FEWEST_SAMPLES} are needed"
    if not cut.any():
        return "it is zero everywhere, so that its sparsity is not defined"
    return OwnSignal(name, np.ascontiguousarray(cut), rate, int(values.size - finite.size))


def _even_length(n: int) -> int:
    """Return the largest length up to n that can be halved `WAVELET_LEVELS` times, or less often if n is short."""
    step = 1 << min(WAVELET_LEVELS, max(n.bit_length() - 4, 1))
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
