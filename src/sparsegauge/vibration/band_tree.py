"""Frequency bands: the trees of the kurtogram, and bands of the user's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .._arrays import check_choice, check_count, check_number
from ..errors import InvalidInput
from ..rounding import AT_LIMIT

LAYOUTS = ("1/3-binary", "binary")
LARGEST_DEFAULT_LEVELS = 6  # 2^6 = 64 bands
FEWEST_BAND_SAMPLES = 256  # complex ones, in the narrowest band by default
MOST_BANDS = 100_000


class Band(NamedTuple):
    """A frequency band, in hertz, and its level in the tree: log2 of how many such bands fill the range.

    Examples
    --------
    >>> from sparsegauge.vibration.band_tree import Band
    >>> band = Band(1500.0, 3000.0, 2.0)
    >>> band.width, band.centre
    (1500.0, 2250.0)
    """

    low: float
    high: float
    level: float

    @property
    def width(self) -> float:
        """The width in hertz."""
        return self.high - self.low

    @property
    def centre(self) -> float:
        """The centre frequency in hertz."""
        return 0.5 * (self.low + self.high)

    @property
    def limits(self) -> str:
        """The limits to about a hundredth of the width, as in "1500 to 3000"."""
        decimals = max(0, 2 - math.floor(math.log10(self.high - self.low)))
        return " to ".join(f"{round(end, decimals):.10g}" for end in (self.low, self.high))

    def __str__(self) -> str:
        """Return the limits, as in "1500 to 3000 Hz"."""
        return f"{self.limits} Hz"


def lay_out(bands: Any, levels: Any, rate: float, samples: int) -> list[list[Band]]:
    """Return the bands asked for, in groups of equal width: one group per level of a tree."""
    if isinstance(bands, str):
        check_choice("bands", bands, LAYOUTS)
        depth = _default_depth(samples) if levels is None else check_count("levels", levels, least=0)
        _check_depth(depth, samples)
        return [list(_level(parts, rate)) for parts in _parts(depth, thirds=bands == "1/3-binary")]
    if levels is not None:
        raise InvalidInput(f"levels is for the trees {' and '.join(LAYOUTS)}, got a list of bands too; leave it out")
    return [[band] for band in _custom(bands, rate, samples)]


def _default_depth(samples: int) -> int:
    return max(
        0, min(LARGEST_DEFAULT_LEVELS, int(math.log2(samples / 2 / FEWEST_BAND_SAMPLES)) if samples >= 512 else 0)
    )


def _check_depth(depth: int, samples: int) -> None:
    narrowest = samples // 2 >> min(depth, 60)
    if narrowest < 16:
        deepest = int(math.log2(samples / 32))
        raise InvalidInput(
            f"levels={depth} leaves {narrowest} samples per band; with {samples} samples at most levels={deepest}"
        )


def _parts(depth: int, *, thirds: bool) -> Iterator[int]:
    """Return into how many bands each level cuts the range: 1, 2, 3, 4, 6, 8, ..."""
    yield 1
    for k in range(1, depth + 1):
        yield 2**k
        if thirds and k < depth:
            yield 3 * 2 ** (k - 1)


def _level(parts: int, rate: float) -> Iterator[Band]:
    width, level = rate / 2 / parts, math.log2(parts)
    return (Band(k * width, (k + 1) * width, level) for k in range(parts))


def _custom(bands: Any, rate: float, samples: int) -> list[Band]:
    """Read pairs (low, high) and triples (low, high, width): the latter are cut into bands of that width."""
    if isinstance(bands, tuple) and len(bands) in (2, 3) and not any(isinstance(entry, Sequence) for entry in bands):
        bands = [bands]
    try:
        entries = [tuple(entry) for entry in bands]
    except TypeError as error:
        raise InvalidInput(
            f"bands must be one of {', '.join(map(repr, LAYOUTS))} or a list of (low, high) or (low, high, width) in "
            f"hertz, got {bands!r}"
        ) from error
    found = [band for entry in entries for band in _cut(entry, rate, samples)]
    if not found:
        raise InvalidInput("bands is empty; give at least one (low, high) in hertz")
    return found


def _cut(entry: tuple[Any, ...], rate: float, samples: int) -> Iterator[Band]:
    if len(entry) not in (2, 3):
        raise InvalidInput(f"a band is (low, high) or (low, high, width) in hertz, got {entry!r}")
    low, high, *rest = (check_number("a band's frequency", value) for value in entry)
    if not 0 <= low < high <= rate / 2 * (1 + AT_LIMIT):
        raise InvalidInput(f"a band must lie within 0 to {rate / 2:g} Hz, half the rate, got {low:g} to {high:g} Hz")
    width = rest[0] if rest else high - low
    if not width > 0 or width > (high - low) * (1 + AT_LIMIT):
        raise InvalidInput(f"bands from {low:g} to {high:g} Hz cannot be {width:g} Hz wide")
    if width * samples / rate < 16:
        raise InvalidInput(
            f"a band of {width:g} Hz has {width * samples / rate:.3g} samples in this record and needs 16; make it "
            "wider, or record for longer"
        )
    count = int((high - low) / width * (1 + AT_LIMIT))
    if count > MOST_BANDS:
        raise InvalidInput(f"{count:,} bands of {width:g} Hz are too many; at most {MOST_BANDS:,}, so make them wider")
    level = math.log2(max(1.0, rate / 2 / width))
    return (Band(low + k * width, low + (k + 1) * width, level) for k in range(count))
