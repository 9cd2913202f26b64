"""Measure the signals in files, one array, window or piece at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..io import Contents, OpenedFile, name_argument, opened
from ..metrics.accumulator import Accumulator
from ..metrics.catalogue import METRICS
from ..metrics.error_bars import confidence_interval
from ..metrics.gds import gds_profile
from ..profiles import MAP_ORDERS, MOST_LINES_PER_PLOT, Drawing, Map, Trace, compute_curves
from ..signals import stream_windows, transform
from .request import Length, Measure, Request, Say

VALUES_PER_BATCH = 1 << 20  # windows overlap, and metrics copy them
LARGEST_LOADED = 1 << 28  # bytes of a file: larger ones are measured piece by piece, where the result is the same
MOST_SIGNALS_NOTED = 64  # for their offsets
LARGEST_UNEVENNESS_OF_STEPS = 1e-6  # relative: times are rounded
DEVIATIONS_OF_A_DOMINANT_MEAN = 2.0


@dataclass(frozen=True)
class Measurement:
    """The values of one array of a file: values[measure, signal], or values[measure, signal, window].

    `intervals` are the limits of a 95 % confidence interval, [limit, measure, signal, ...], if they were asked for.
    """

    file: str
    signals: list[str | None]
    n: int
    measures: list[Measure]
    values: Array
    starts: NDArray[np.int64] | None = None
    rate: float | None = None
    drawings: list[Drawing] = field(default_factory=list)
    intervals: Array | None = None


def _count_samples(label: str, option: str, length: Length, rate: float | None) -> int:
    if isinstance(length, int):
        return length
    if rate is None:
        raise InvalidInput(f"{label} does not say its sampling rate, and {option} is {length}; add --rate")
    return max(1, round(length.value * rate))


@dataclass(frozen=True)
class LoadedSignals:
    """The signals of one array of a file as rows, transformed as the request says, with their names."""

    file: str
    names: list[str | None]
    rows: NDArray[Any]

    @property
    def titles(self) -> list[str]:
        """What the signals are called in notes and plots."""
        return [_title(self.file, name) for name in self.names]


def measure_file(argument: str, request: Request, show: Say, note: Say, *, offsets: bool = False) -> list[Measurement]:
    """Measure every array of one file; call `show` with the progress and `note` with what was left out.

    `offsets` asks for notes on signals whose mean dominates, and on those that look like time.
    """
    with opened_for_measuring(argument, request, show, note) as file:
        large = file.path.stat().st_size > LARGEST_LOADED and request.is_made_of_sums()
        noted = note if offsets else None
        return [_measure_contents(file.label, each, request, show, noted, large) for each in file.contents]


@contextmanager
def opened_for_measuring(argument: str, request: Request, show: Say, note: Say) -> Iterator[OpenedFile]:
    """Open a file or standard input; errors are worded as the options of the command line."""
    show(f"reading {name_argument(argument)}")
    with opened(argument, key=request.key, note=note) as file:
        try:
            yield file
        except np.exceptions.AxisError as error:
            raise InvalidInput(
                f"{file.label}: --axis {request.axis} is not there ({error}); use a smaller one"
            ) from error
        except MemoryError as error:
            raise InvalidInput(
                f"{file.label} does not fit into memory; measure windows of it, as in --window 4096, or even orders, "
                "as in --order 2,4"
            ) from error
        except InvalidInput as error:
            said = str(error).replace("nan_policy='omit'", "--nan-policy omit")
            raise InvalidInput(said.replace("'propagate' gives", "--nan-policy propagate gives")) from error


def _measure_contents(
    label: str, contents: Contents, request: Request, show: Say, note: Say | None, large: bool
) -> Measurement:
    axis = _axis_of(contents, request)
    if request.window is not None:
        return _measure_windows(label, contents, axis, request, show)
    if large:
        return _measure_pieces(label, contents, axis, request, show)
    show(f"reading {label}")
    return measure_signals(load_signals(label, contents, request, note), request, show)


def load_signals(label: str, contents: Contents, request: Request, note: Say | None) -> LoadedSignals:
    """Load an array of a file and return its signals, centred and transformed as the request says."""
    array = contents.array()
    axis = _axis_of(contents, request)
    if axis is not None:
        axis = normalize_axis_index(axis, array.ndim)
    names = _names(contents, array.shape, axis)
    if note is not None:
        note_offsets(label, names, _rows(array, axis), request, note)
    return LoadedSignals(
        label, names, _rows(transform(_centred(array, axis, request), request.transform, axis=axis), axis)
    )


def measure_signals(loaded: LoadedSignals, request: Request, show: Say) -> Measurement:
    """Measure the signals of one array."""
    show(f"measuring {loaded.file}")
    rows = loaded.rows
    values = _values(rows, request)
    drawn = zip(loaded.titles, rows[: MOST_LINES_PER_PLOT + 1] if request.curves else [], strict=False)
    drawings: list[Drawing] = [compute_curves(title, row, intervals=request.interval) for title, row in drawn]
    return Measurement(
        loaded.file,
        loaded.names,
        rows.shape[1],
        request.measures,
        values,
        drawings=drawings,
        intervals=_intervals(rows, request) if request.interval else None,
    )


def _axis_of(contents: Contents, request: Request) -> int | None:
    return contents.axis if request.axis == "usual" else None if request.axis == "none" else request.axis


def _centred(array: NDArray[Any], axis: int | None, request: Request) -> NDArray[Any]:
    """Return samples less their mean or median, if that is asked for."""
    if request.center is None:
        return array
    middle = np.nanmean if request.center == "mean" else np.nanmedian
    if request.center == "median" and array.dtype.kind == "c":
        raise InvalidInput("--center median needs real numbers, got complex ones; use --center mean")
    values = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
    return values - middle(values, axis=axis, keepdims=True)


def note_offsets(label: str, names: list[str | None], rows: NDArray[Any], request: Request, note: Say) -> None:
    """Note signals that are zero or look like time or an index, and signals whose mean is larger than what varies."""
    if rows.dtype.kind not in "iuf" or len(rows) > MOST_SIGNALS_NOTED:
        return
    for name, row in zip(names, rows, strict=True):
        title = label if name is None else f"{label}: {name}"
        if not row.any():
            note(f"{title} is zero everywhere, so that its sparsity is not defined")
        elif increases_evenly(row):
            note(f"{title} increases in equal steps, like time or an index; measure the others with --key")
        else:
            _note_offset(title, row, request, note)


def _note_offset(title: str, row: NDArray[Any], request: Request, note: Say) -> None:
    """Note a mean that is larger than what varies."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = abs(float(np.nanmean(row, dtype=np.float64))), float(np.nanstd(row, dtype=np.float64))
    if request.center is None and mean > DEVIATIONS_OF_A_DOMINANT_MEAN * deviation > 0:
        note(f"{title}: its mean is {mean / deviation:.3g} times its standard deviation; see --center mean")


def increases_evenly(row: NDArray[Any]) -> bool:
    """Return whether numbers increase in equal steps, as times and indices do."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(row.astype(np.float64))
        return bool(
            steps.size > 1
            and steps.min() > 0
            and steps.max() - steps.min() <= LARGEST_UNEVENNESS_OF_STEPS * steps.max()
        )


def _measure_pieces(label: str, contents: Contents, axis: int | None, request: Request, show: Say) -> Measurement:
    """Measure a large file piece by piece, without loading it; the mean takes a pass of its own."""
    middle = _mean(contents, axis) if request.center == "mean" else None
    columns = [(measure.metric, measure.parameters) for measure in request.measures]
    sums = Accumulator(orders=(), metrics=columns, nan_policy=request.nan_policy)
    samples, shape = 0, ()
    for block in contents.blocks(axis):
        sums.update(block if middle is None else block - middle)
        samples, shape = samples + block.shape[-1], block.shape[:-1]
        show(f"measuring {label}: {samples:,} samples")
    values = np.array([np.ravel(column) for column in sums.value().values()])
    if axis is not None:
        axis = normalize_axis_index(axis, len(shape) + 1)
    names = _names(contents, (*shape[:axis], samples, *shape[axis or 0 :]), axis)
    return Measurement(label, names, samples, request.measures, values)


def _mean(contents: Contents, axis: int | None) -> NDArray[Any]:
    """Return the mean of each signal, without NaN, with a last dimension of length 1."""
    total: Any = 0.0
    count: Any = 0.0
    for block in contents.blocks(axis):
        wide = np.complex128 if block.dtype.kind == "c" else np.float64
        total = total + np.nansum(block, axis=-1, keepdims=True, dtype=wide)
        count = count + np.count_nonzero(block == block, axis=-1, keepdims=True)  # NaN differs from itself
    return np.asarray(total / np.maximum(count, 1))


def _rows(array: NDArray[Any], axis: int | None) -> NDArray[Any]:
    if axis is None:
        return array.reshape(1, -1)
    moved = np.moveaxis(array, axis, -1)
    return moved.reshape(-1, moved.shape[-1])


def _values(signals: NDArray[Any], request: Request) -> Array:
    """Return values[measure, ...] of signals[..., coefficient]."""
    orders = [measure.parameters["order"] for measure in request.measures if measure.metric == "gds"]
    profile = iter(gds_profile(signals, orders, nan_policy=request.nan_policy))  # sorts once for all orders
    return np.array(
        [
            next(profile)
            if measure.metric == "gds"
            else METRICS[measure.metric].function(signals, nan_policy=request.nan_policy, **measure.parameters)
            for measure in request.measures
        ]
    )


def _intervals(signals: NDArray[Any], request: Request) -> Array:
    """Return intervals[limit, measure, ...]; nan of metrics that have none. Samples may depend on their neighbours."""
    limits = np.full((2, len(request.measures), *signals.shape[:-1]), math.nan)
    for j, measure in enumerate(request.measures):
        if not METRICS[measure.metric].why_no_standard_error(**measure.parameters):
            own: dict[str, Any] = dict(measure.parameters)
            policy = request.nan_policy
            limits[:, j] = confidence_interval(signals, measure.metric, blocks="auto", nan_policy=policy, **own)
    return limits


def split_signals(contents: Contents) -> list[tuple[str | None, NDArray[Any]]]:
    """Return the signals of an array along the axis that is usual for its kind of file, each with its name."""
    array = contents.array()
    axis = None if contents.axis is None else normalize_axis_index(contents.axis, array.ndim)
    return list(zip(_names(contents, array.shape, axis), _rows(array, axis), strict=True))


def _names(contents: Contents, shape: tuple[int, ...], axis: int | None) -> list[str | None]:
    """Return one name per signal: its column, or its place in the array; None if the file is the signal."""
    if axis is None or len(shape) == 1:
        return [contents.name or (contents.labels[0] if len(contents.labels) == 1 else None)]
    if contents.labels and axis == 0:
        return list(contents.labels)
    others = shape[:axis] + shape[axis + 1 :]
    return [f"{contents.name or ''}[{', '.join(map(str, index))}]" for index in np.ndindex(others)]


def _title(label: str, name: str | None) -> str:
    return Path(label).name if name is None else f"{Path(label).name}: {name}"


def _measure_windows(label: str, contents: Contents, axis: int | None, request: Request, show: Say) -> Measurement:
    assert request.window is not None
    if axis is None:
        raise InvalidInput(f"{label} is a picture: windows slide along one axis of it; add --axis 0 or --axis 1")
    along = axis
    rate = request.rate or contents.rate
    window = _count_samples(label, "--window", request.window, rate)
    hop = -(-window // 2) if request.hop is None else _count_samples(label, "--hop", request.hop, rate)
    values, profiles, starts, intervals = [], [], [], []
    shape: tuple[int, ...] = ()
    samples = 0

    def blocks() -> Iterator[NDArray[Any]]:
        nonlocal samples, shape
        for block in contents.blocks(along):
            samples, shape = samples + block.shape[-1], block.shape
            yield block

    for start, batch in _batches(blocks(), window, hop):
        coefficients = transform(_centred(batch, -1, request), request.transform, axis=-1)
        values.append(_values(coefficients, request))
        if request.interval:
            intervals.append(_intervals(coefficients, request))
        if request.curves and any(measure.metric == "gds" for measure in request.measures):
            profiles.append(
                gds_profile(coefficients[: MOST_LINES_PER_PLOT + 1], MAP_ORDERS, nan_policy=request.nan_policy)
            )
        starts.append(start + hop * np.arange(batch.shape[1]))
        show(f"measuring {label}: {samples:,} samples")
    if not starts:
        raise InvalidInput(
            f"{label}: a window of {window} samples is longer than the signal, which has {samples}; use a "
            "shorter --window"
        )
    where = np.concatenate(starts)
    axis = normalize_axis_index(along, len(shape))
    names = _names(contents, (*shape[:axis], samples, *shape[axis:-1]), axis)
    joined = np.concatenate(values, axis=-1)
    limits = np.concatenate(intervals, axis=-1) if intervals else None
    measurement = Measurement(label, names, window, request.measures, joined, where, rate, intervals=limits)
    if request.curves:
        measurement.drawings.extend(_drawings(measurement, profiles, rate))
    return measurement


def _drawings(measurement: Measurement, profiles: list[Array], rate: float | None) -> Iterator[Drawing]:
    """Yield one map per signal where S_p was asked for, and one trace per other metric."""
    assert measurement.starts is not None
    middles = measurement.starts + 0.5 * np.float64(measurement.n)
    titles = [_title(measurement.file, name) for name in measurement.signals[: MOST_LINES_PER_PLOT + 1]]
    if profiles:
        maps = np.concatenate(profiles, axis=-1)
        yield from (Map(title, middles, maps[:, i], rate) for i, title in enumerate(titles))
    for measure, values in zip(measurement.measures, measurement.values, strict=True):
        if measure.metric != "gds":
            yield Trace(str(measure), titles, middles, values, rate)


def _batches(blocks: Iterator[NDArray[Any]], window: int, hop: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield windows as [signal, window, sample], a few at a time."""
    for start, view in stream_windows(blocks, window, hop):
        count = view.shape[-2]
        signals = view.size // (count * window)
        step = max(1, VALUES_PER_BATCH // (signals * window))
        for i in range(0, count, step):
            part = view[..., i : i + step, :]
            yield start + i * hop, part.reshape(signals, -1, window)
