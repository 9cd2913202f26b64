"""Survey the vibration records in files: band maps, thresholds and diagnoses, as `sparsegauge bands` prints them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import Array
from .errors import InvalidInput
from .io import Contents, name_argument, open_file, opened
from .rounding import ROUNDED_TIMES
from .vibration.band_map import BandMap, band_map
from .vibration.bearings import FAULTS, BearingOrders, find_orders
from .vibration.diagnosis import Diagnosis, diagnose
from .vibration.significance import Threshold

RATE_NAMES = ("rate", "fs", "samplerate", "samplingrate", "samplingfrequency")
SPEED_NAMES = ("rpm",)
TIME_NAMES = ("t", "time", "times", "second", "seconds", "timestamp")
LARGEST_UNEVENNESS_OF_TIMES = 1e-3  # relative to the median step: with more, a column of times gives no rate
QUANTITY_NAMES = {"spectrum": "envelope spectrum", "envelope spectrum": "envelope spectrum", "envelope": "envelope"}
QUANTITY_NAMES |= {"squared": "squared envelope", "squared envelope": "squared envelope", "samples": "samples"}
PICTURES = (".png", ".jpg", ".jpeg")

Say = Callable[[str], None]


@dataclass(frozen=True)
class SurveyRequest:
    """What was asked for; `level` is None where no threshold is wanted."""

    rate: float | None = None
    rpm: float | None = None
    orders: BearingOrders | None = None
    metric: str = "gini"
    order: float | None = None
    on: str = "envelope spectrum"
    levels: int | None = None
    frequencies: tuple[float, float] | None = None
    level: float | None = 0.01
    key: str | None = None


@dataclass(frozen=True)
class Survey:
    """The results for one record."""

    file: str
    signal: str | None
    seconds: float
    rpm: float | None
    map: BandMap
    threshold: Threshold | None
    diagnosis: Diagnosis | None
    warnings: list[str]

    @property
    def title(self) -> str:
        """The file's name, and the signal's if it has one."""
        name = Path(self.file).name
        return name if self.signal is None else f"{name}: {self.signal}"

    @property
    def verdict(self) -> str:
        """The result in a few words, such as "outer fault" or "nothing found"."""
        if self.diagnosis is not None:
            return "nothing found" if self.diagnosis.fault is None else f"{self.diagnosis.fault} fault"
        if self.threshold is None:
            return ""
        return "stands out" if self.threshold.exceeded else "no band stands out"


def parse_orders(text: str) -> BearingOrders:
    """Return fault orders from "outer=3.585,inner=5.415", or from "3.585,5.415" in the order of `FAULTS`."""
    named: dict[str, float] = {}
    for name, part in zip(FAULTS, text.split(","), strict=False):
        fault, _, number = part.rpartition("=")
        try:
            named[fault.strip() or name] = float(number)
        except ValueError as error:
            raise InvalidInput(
                f"--orders takes multiples of the shaft's speed, such as 3.585,5.415 or outer=3.585, got {text!r}"
            ) from error
    if text.count(",") >= len(FAULTS):
        raise InvalidInput(f"--orders takes at most {len(FAULTS)} numbers ({', '.join(FAULTS)}), got {text!r}")
    return find_orders(named)


def parse_range(text: str) -> tuple[float, float]:
    """Return two frequencies from "10,1000"."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidInput(f"--frequencies takes two numbers in hertz, such as 10,1000, got {text!r}") from error
    return low, high


def survey_file(argument: str, request: SurveyRequest, show: Say, note: Say) -> list[Survey]:
    """Survey every record of one file; call `show` with the progress and `note` with what was left out."""
    show(f"reading {name_argument(argument)}")
    with opened(argument, key=request.key, note=note, singles=True) as file:
        records = list(find_records(file.label, file.contents))
        if request.key is not None and _lacks_facts(records, request):
            records = _with_facts_of_file(records, file.label, file.path)
        return list(_survey_records(file.label, records, request, show))


def _lacks_facts(records: list[FoundRecord], request: SurveyRequest) -> bool:
    """Return whether the rate or the speed is needed, and neither the user nor what was read says it."""
    no_rate = request.rate is None and any(record.rate is None for record in records)
    return no_rate or (request.orders is not None and request.rpm is None and records[0].rpm is None)


def _with_facts_of_file(records: list[FoundRecord], label: str, path: Path) -> list[FoundRecord]:
    """Add the rate and the speed that stand beside the one array or column that was asked for."""
    try:
        beside = next(find_records(label, open_file(path, singles=True)))
    except InvalidInput:  # the rest of the file is of no use: what is missing is reported as such
        return records
    return [record._replace(rate=record.rate or beside.rate, rpm=record.rpm or beside.rpm) for record in records]


def _survey_records(label: str, records: list[FoundRecord], request: SurveyRequest, show: Say) -> Iterator[Survey]:
    for record in records:
        show(f"surveying {label}" + (f": {record.signal}" if record.signal else ""))
        rate, rpm = request.rate or record.rate, request.rpm or record.rpm
        yield _survey(label, record.signal, record.samples, rate, rpm, request)


class FoundRecord(NamedTuple):
    """One record of a file: its name, its samples, and what the file says about its rate and the shaft's speed."""

    signal: str | None
    samples: NDArray[Any]
    rate: float | None
    rpm: float | None


def find_records(label: str, found: list[Contents]) -> Iterator[FoundRecord]:
    """Yield every record of a file that was opened; single numbers and columns of times are none."""
    single = {_squeeze(contents.name): _only_number(contents) for contents in found if contents.name is not None}
    numbers = {name: value for name, value in single.items() if value is not None}
    rate, rpm = _named(numbers, RATE_NAMES), _named(numbers, SPEED_NAMES)
    surveyed = 0
    for contents in found:
        if contents.name is not None and _squeeze(contents.name) in numbers:
            continue
        records, own_rate, own_rpm = _records(contents)
        for signal, samples in records:
            yield FoundRecord(signal, samples, rate or own_rate, rpm or own_rpm)
            surveyed += 1
    if not surveyed:
        raise InvalidInput(f"{label} has no record: only single numbers and columns of times")


def find_rate(found: list[Contents]) -> float | None:
    """Return the sampling rate that a file states, in a header, a number or a column of times; None if it does not."""
    single = {_squeeze(contents.name): _only_number(contents) for contents in found if contents.name is not None}
    stated = _named({name: value for name, value in single.items() if value is not None}, RATE_NAMES)
    for contents in found:
        if stated is None and contents.axis is not None and (contents.rate is not None or contents.labels):
            with contextlib.suppress(InvalidInput):  # times that are not evenly spaced give no rate
                stated = _records(contents)[1]
    return stated


def _squeeze(name: str | None) -> str:
    return "".join(c for c in (name or "").lower() if c.isalnum())


def _only_number(contents: Contents) -> float | None:
    if contents.values is None or contents.values.size != 1 or contents.values.dtype.kind not in "iuf":
        return None
    return float(contents.values.ravel()[0])


def _named(numbers: dict[str, float], endings: tuple[str, ...]) -> float | None:
    """Return the number whose name ends like this: MATLAB files have names such as X105RPM."""
    return next((value for name, value in numbers.items() if name.endswith(endings)), None)


def _records(contents: Contents) -> tuple[list[tuple[str | None, NDArray[Any]]], float | None, float | None]:
    """Return the signals of an array with their names, and the rate and the speed where the file knows them."""
    array = contents.array()
    if contents.axis is None:
        raise InvalidInput("it is a picture, and bands are measured in vibration records")
    if array.ndim == 1:
        label = contents.name or (contents.labels[0] if len(contents.labels) == 1 else None)
        return [(label, array)], contents.rate, None
    rows = np.moveaxis(array, contents.axis, -1).reshape(-1, array.shape[contents.axis])
    if len(rows) > 64 and not contents.labels:
        raise InvalidInput(
            f"it has {len(rows)} signals of {rows.shape[1]} samples; save one record per row, or transpose the array"
        )
    names = contents.labels or tuple(f"{contents.name or ''}[{k}]" for k in range(len(rows)))
    rate, rpm, kept = contents.rate, None, []
    for name, row in zip(names, rows, strict=True):
        if (from_times := _rate_of_times(name, row)) is not None:
            rate = from_times
        elif (number := _number_of_column(name, RATE_NAMES, row)) is not None:
            rate = rate or number
        elif (number := _number_of_column(name, SPEED_NAMES, row)) is not None:
            rpm = number
        else:
            kept.append((name if contents.labels or len(rows) > 1 else contents.name, row))
    return kept, rate, rpm


def _number_of_column(name: str, names: tuple[str, ...], column: Array) -> float | None:
    """Return the number that a column repeats on every line, such as the rate; None if it is another column."""
    if _squeeze(name.split("(")[0].split("[")[0]) not in names or column.min() != column.max():
        return None
    return float(column[0])


def _rate_of_times(name: str, column: Array) -> float | None:
    """Return the sampling rate that a column of times gives; None if it is none."""
    if _squeeze(name.split("(")[0].split("[")[0]) not in TIME_NAMES or len(column) < 3:
        return None
    steps = np.diff(column.astype(np.float64))
    middle = float(np.median(steps))
    if not middle > 0:
        return None
    if (
        float(np.abs(steps - middle).max())
        > max(LARGEST_UNEVENNESS_OF_TIMES * middle, ROUNDED_TIMES * float(np.abs(column).max())) * 50
    ):
        raise InvalidInput(f"the times in column {name!r} are not evenly spaced; resample the record, or give --rate")
    return (len(column) - 1) / float(column[-1] - column[0])


def _survey(
    label: str, signal: str | None, samples: Array, rate: float | None, rpm: float | None, request: SurveyRequest
) -> Survey:
    if rate is None:
        raise InvalidInput(f"{label} does not say its sampling rate; add --rate, such as --rate 12000")
    if request.orders is not None and rpm is None:
        raise InvalidInput(f"{label}: a diagnosis needs the speed of the shaft; add --rpm, such as --rpm 1797")
    found = band_map(
        samples,
        rate,
        metric=request.metric,
        order=request.order,
        on=request.on,
        levels=request.levels,
        frequencies=request.frequencies,
        rpm=rpm,
    )
    threshold = None if request.level is None else found.threshold(request.level)
    heard: list[str] = []
    diagnosis = None
    if request.orders is not None and rpm is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            diagnosis = diagnose(samples, rate, rpm, request.orders)
        heard = [str(warning.message) for warning in caught]
    return Survey(label, signal, len(samples) / rate, rpm, found, threshold, diagnosis, heard)


def survey_facts(survey: Survey) -> dict[str, Any]:
    """Return the plain data of a survey, for JSON."""
    best, setting = survey.map.best, survey.map.setting
    facts: dict[str, Any] = {
        "file": survey.file,
        "signal": survey.signal,
        "seconds": survey.seconds,
        "rate": survey.map.rate,
        "rpm": survey.rpm,
        "metric": setting.metric,
        "parameters": dict(setting.parameters),
        "on": setting.on,
        "best": {"low": best.low, "high": best.high, "value": survey.map.best_value},
        "bands": [
            {"low": band.low, "high": band.high, "level": band.level, "value": float(value)}
            for band, value in zip(survey.map.bands, survey.map.values, strict=True)
        ],
        "warnings": survey.warnings,
    }
    if survey.threshold is not None:
        threshold = survey.threshold
        facts["threshold"] = {
            "level": threshold.level,
            "value": threshold.value,
            "p_value": threshold.p_value,
            "exceeded": threshold.exceeded,
        }
    if survey.diagnosis is not None:
        facts["fault"] = survey.diagnosis.fault
        facts["measured_rpm"] = survey.diagnosis.measured_rpm
        facts["findings"] = [
            {
                "fault": finding.fault,
                "named": finding.named,
                "score": finding.score,
                "needed": finding.needed,
                "expected": finding.expected,
                "frequency": finding.frequency,
                "harmonics": [line._asdict() for line in finding.harmonics],
                "side_bands": [line._asdict() for line in finding.side_bands],
                "band": {"low": finding.band.low, "high": finding.band.high},
            }
            for finding in survey.diagnosis.findings
        ]
    return facts
