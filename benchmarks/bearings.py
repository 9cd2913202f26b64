"""Band selection and diagnoses on real bearings: `python -m benchmarks.bearings FOLDER [PART ...]`.

FOLDER has index.csv (record, file, fault, rpm, rate, ...; fault is OR, IR, B, or N for healthy) and one .npy file per
record. The data are those of the Case Western Reserve University Bearing Data Center,
https://engineering.case.edu/bearingdatacenter: drive end, 12 kHz. They are not part of this repository.

PART is any of metrics, diagnoses, robustness, other_bearings, thresholds, speed, agreement; all by default. Markdown
goes to standard output. docs/vibration.md has the tables. The comparison with PySDKit needs `make peers`. Simulated
records are in bearings_simulated.py and bearings_healthy.py; bearings_validation.py chooses limits on some records for
the others.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import csv  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import scipy.signal  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.vibration.band_tree import Band, lay_out  # noqa: E402
from sparsegauge.vibration.combs import Known, find_comb, find_lines  # noqa: E402
from sparsegauge.vibration.diagnosis import SCORE_WITHOUT_DECOYS  # noqa: E402
from sparsegauge.vibration.filters import Bank, envelope_spectra, filter_bank, record_spectrum  # noqa: E402

FAULTS = {"OR": "outer", "IR": "inner", "B": "ball", "N": "none"}
ORDERS = tuple(range(1, 17))
LOW, HIGH, NARROWEST = 10.0, 1000.0, 350.0  # hertz
SIMPLE = (1, 1 / 2, 2, 3 / 2, 2 / 3, 3, 1 / 3)
LINE, WINDOW = 8.0, 0.02  # the loose criterion: so many times the median, so near


class Record(NamedTuple):
    name: str
    fault: str
    load: str
    size: str
    rpm: float
    rate: float
    x: np.ndarray


def read(folder: Path) -> list[Record]:
    with (folder / "index.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        Record(
            row["record"],
            FAULTS[row["fault"]],
            row.get("load_hp", ""),
            row.get("size_mil", ""),
            float(row["rpm"]),
            float(row["rate"]),
            np.load(folder / row["file"]).astype(np.float64),
        )
        for row in rows
    ]


def scale_free() -> list[str]:
    """The metrics of the catalogue that do not change with the unit, at their default parameters."""
    x = np.random.default_rng(0).exponential(size=200)
    return [name for name in sg.METRICS if name != "gds" and np.isclose(sg.measure(x, name), sg.measure(7 * x, name))]


def values_of(rows: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
    """The value of every metric and order in each row, larger for sparser."""
    found = {f"S_{p}": value for p, value in zip(ORDERS, sg.gds_profile(rows, ORDERS), strict=True)}
    for name in names:
        sign = 1 if sg.METRICS[name].sparser == "larger" else -1
        found[name] = sign * np.asarray(sg.measure(rows, name))
    return found


def criteria(record: Record, bank: Bank, index: int, band: Band) -> tuple[bool, bool]:
    """Whether the true fault shows in a band: by the loose criterion, and by the one of `diagnose`."""
    shaft = record.rpm / 60
    truth = dict(sg.BEARINGS["6205"].orders.items())[record.fault] * shaft
    one = bank._replace(values=bank.values[index : index + 1])
    high = min(HIGH, 0.9 * band.width)
    spectra = envelope_spectra(one, LOW, high)
    heights = spectra.values[0]
    near = [heights[np.abs(spectra.frequencies / (h * truth) - 1) < WINDOW].max(initial=0.0) for h in (1, 2)]
    lines = find_lines(one, [band], high, [Known(shaft, 0.001)])
    scores = {
        fault: comb.score
        for fault, order in sg.BEARINGS["6205"].orders.items()
        if fault != "cage" and (comb := find_comb(lines, order * shaft, 0.01)) is not None
    }
    strict = (
        scores.get(record.fault, 0.0) >= SCORE_WITHOUT_DECOYS and max(scores, key=lambda k: scores[k]) == record.fault
    )
    return max(near) > LINE * np.median(heights), strict


def metrics(records: list[Record]) -> Iterator[str]:
    """In how many records the band that each metric chooses shows the fault."""
    names = scale_free()
    counts: dict[tuple[str, str], np.ndarray] = {}
    damaged = [record for record in records if record.fault != "none"]
    for record in damaged:
        spectrum = record_spectrum(record.x - record.x.mean())
        values: dict[tuple[str, str], list[float]] = {}
        hits: list[tuple[bool, bool]] = []
        for group in lay_out("1/3-binary", 5, record.rate, len(record.x)):
            if group[0].width < NARROWEST:
                continue
            bank = filter_bank(spectrum, len(record.x), record.rate, group)
            rows = {
                "envelope": np.sqrt(bank.squared_envelopes),
                "envelope spectrum": envelope_spectra(bank, LOW, min(HIGH, 0.9 * group[0].width)).values,
            }
            for on, row in rows.items():
                for name, value in values_of(row, names).items():
                    values.setdefault((on, name), []).extend(value)
            hits += [criteria(record, bank, k, band) for k, band in enumerate(group)]
        chosen = {key: hits[int(np.nanargmax(value))] for key, value in values.items()}
        chosen["no band", "all of the record"] = hits[0]
        for key, hit in chosen.items():
            race = record.fault != "ball"
            counts.setdefault(key, np.zeros(4, int))
            counts[key] += [hit[0], hit[0] and race, hit[1], hit[1] and race]
    races = sum(record.fault != "ball" for record in damaged)
    yield (
        f"| measured on | metric | a line at the fault, of {len(damaged)} | of {races} races | named by the lines, of "
        f"{len(damaged)} | of {races} races |"
    )
    yield "|---|---|--:|--:|--:|--:|"
    for (on, name), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1][2], -item[1][0])):
        yield f"| {on} | {name} | " + " | ".join(map(str, count)) + " |"


def diagnoses(records: list[Record]) -> Iterator[str]:
    """What `diagnose` says of each record."""
    yield "| truth | load | records | named right | nothing found | named wrong |"
    yield "|---|---|--:|--:|--:|--:|"
    tally: dict[tuple[str, str], list[str | None]] = {}
    for record in records:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sg.SpeedWarning)
            found = sg.diagnose(record.x, record.rate, record.rpm, "6205")
        tally.setdefault((record.fault, record.load), []).append(found.fault)
        print(f"{record.name} {record.fault}: {found}", file=sys.stderr, flush=True)
    for (fault, load), said in sorted(tally.items()):
        right = sum((one or "none") == fault for one in said)
        nothing = sum(one is None for one in said) if fault != "none" else 0
        yield f"| {fault} | {load} | {len(said)} | {right} | {nothing} | {len(said) - right - nothing} |"


def said(x: np.ndarray, rate: float, rpm: float, bearing: Any) -> str | None:
    """Return the fault that `diagnose` names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.SpeedWarning)
        return sg.diagnose(x, rate, rpm, bearing).fault


def upsampled(x: np.ndarray) -> np.ndarray:
    """Return a record at four times its rate, with noise in what is above."""
    noise = np.random.default_rng(len(x)).standard_normal(4 * len(x))
    return scipy.signal.resample(x, 4 * len(x)) + 0.05 * x.std() * noise


def noisy(x: np.ndarray, decibels: float) -> np.ndarray:
    """Return a record with white noise so far above its own power."""
    noise = np.random.default_rng(len(x)).standard_normal(len(x))
    return x + 10 ** (decibels / 20) * x.std() * noise


def strangers(count: int = 12, seed: int = 2024) -> Iterator[dict[str, float]]:
    """Draw bearings whose frequencies are none of a 6205's, nor their side bands or simple multiples."""
    rng, known = np.random.default_rng(seed), sg.BEARINGS["6205"].orders[:3]
    related = np.array([q * order + side for order in known for q in SIMPLE for side in (-1, 0, 1)])
    while count:
        balls, ratio = int(rng.integers(6, 17)), rng.uniform(0.12, 0.3)
        orders = sg.bearing_orders(balls, ratio, 1.0) if balls * ratio < 3.1 else None
        if orders is None or max(orders[:3]) > 9:
            continue
        if all(np.abs(order - related).min() > 0.015 * order for order in orders[:3]):
            count -= 1
            yield dict(orders.items())


def robustness(records: list[Record]) -> Iterator[str]:
    """What `diagnose` says of the races at other speeds, rates and lengths, and under noise."""
    races = [record for record in records if record.fault in ("outer", "inner")]
    variations: dict[str, Callable[[Record], list[tuple[np.ndarray, float, float]]]] = {
        "as they are": lambda r: [(r.x, r.rate, r.rpm)],
        "speed 0.5 % too high": lambda r: [(r.x, r.rate, 1.005 * r.rpm)],
        "speed 0.5 % too low": lambda r: [(r.x, r.rate, 0.995 * r.rpm)],
        "speed 1.5 % too high": lambda r: [(r.x, r.rate, 1.015 * r.rpm)],
        "speed 1.5 % too low": lambda r: [(r.x, r.rate, 0.985 * r.rpm)],
        "at four times the rate, speed 0.2 % too high": lambda r: [(upsampled(r.x), 4 * r.rate, 1.002 * r.rpm)],
        "at half the rate": lambda r: [(scipy.signal.decimate(r.x, 2, ftype="fir"), r.rate / 2, r.rpm)],
        "reversed": lambda r: [(r.x[::-1], r.rate, r.rpm)],
        "cut into halves": lambda r: [(piece, r.rate, r.rpm) for piece in np.array_split(r.x, 2)],
        "cut into thirds": lambda r: [(piece, r.rate, r.rpm) for piece in np.array_split(r.x, 3)],
        "2 s from two places": lambda r: [(r.x[start : start + 24_000], r.rate, r.rpm) for start in (10_000, 60_000)],
        "white noise of the same power": lambda r: [(noisy(r.x, 0.0), r.rate, r.rpm)],
        "white noise 6 dB above": lambda r: [(noisy(r.x, 6.0), r.rate, r.rpm)],
        "white noise 12 dB above": lambda r: [(noisy(r.x, 12.0), r.rate, r.rpm)],
    }
    yield "| variation | diagnoses | named right | nothing found | named wrong |"
    yield "|---|--:|--:|--:|--:|"
    for label, vary in variations.items():
        found = [(r.fault, said(*case, "6205")) for r in races for case in vary(r)]
        right, nothing = sum(a == b for a, b in found), sum(b is None for _, b in found)
        yield f"| {label} | {len(found)} | {right} | {nothing} | {len(found) - right - nothing} |"


def other_bearings(records: list[Record]) -> Iterator[str]:
    """How often `diagnose` names a fault of a bearing that is not there."""
    choices: dict[str, list[Any]] = {
        "a 6203": ["6203"],
        "12 bearings drawn at random": list(strangers()),
        "12 others": list(strangers(seed=77)),
    }
    yield "| instead of the 6205 | diagnoses | a fault named |"
    yield "|---|--:|--:|"
    for label, bearings in choices.items():
        answers = [said(r.x, r.rate, r.rpm, bearing) for r in records for bearing in bearings]
        yield f"| {label} | {len(answers)} | {sum(fault is not None for fault in answers)} |"


def thresholds(records: list[Record]) -> Iterator[str]:
    """In how many records the best band stands out of chance."""
    yield "| metric of the envelope spectrum | truth | records | stand out at 1 % |"
    yield "|---|---|--:|--:|"
    for label, options in {"Gini index": {}, "S_4": {"order": 4}}.items():
        for fault in FAULTS.values():
            chosen = [record for record in records if record.fault == fault]
            if chosen:
                alarms = sum(sg.band_map(r.x, r.rate, levels=5, **options).stands_out() for r in chosen)
                yield f"| {label} | {fault} | {len(chosen)} | {alarms} |"


def speed(records: list[Record]) -> Iterator[str]:
    """Processor time beside PySDKit's fast_kurtogram, and how far the two maps of kurtosis agree."""
    from pysdkit.utils import fast_kurtogram

    x = sg.bearing_record("outer", seconds=10, rate=48_000, amplitude=3, rng=0).x

    def measure(function: Callable[[], Any]) -> float:
        start = time.process_time()
        function()
        return time.process_time() - start

    choices: dict[str, dict[str, Any]] = {
        "kurtosis of the envelope": {"metric": "kurtosis", "on": "envelope"},
        "Gini index of the envelope": {"on": "envelope"},
        "Gini index of the envelope spectrum": {},
        "S_4 of the envelope spectrum": {"order": 4},
    }
    yield "| 10 s of 48 kHz, 220 bands down to 1/64 | processor time, relative to `fast_kurtogram` |"
    yield "|---|--:|"
    for label, choice in choices.items():
        ratios = [
            measure(lambda choice=choice: sg.band_map(x, 48_000, levels=6, **choice))
            / measure(lambda: fast_kurtogram(x, 6, 48_000.0))
            for _ in range(5)
        ]
        yield f"| {label} | {np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"


def kurtogram_responses(levels: int, frequencies: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """PySDKit's cascade of filters as one response per band, with the row of its map, from the lowest band up.

    Decimation by 2 doubles frequencies, and the upper half of a split is then turned by half a turn per sample.
    """
    from pysdkit.utils._kurtogram import analytic_filters

    low, high, *thirds = analytic_filters()

    def response(taps: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.polynomial.polynomial.polyval(np.exp(-2j * np.pi * at), taps)

    def split(level: int, at: np.ndarray, gain: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        if level + 1 < levels:
            for taps in thirds:
                yield 2 * level + 2, gain * response(taps, at)
        if level < levels:
            for taps, turn in ((low, 0.0), (high, 0.5)):
                below = gain * response(taps, at)
                yield 2 * level + 1, below
                yield from split(level + 1, 2 * at + turn, below)

    yield from split(0, frequencies, np.ones(len(frequencies), dtype=complex))


def agreement(records: list[Record]) -> Iterator[str]:
    """How far PySDKit's map of kurtosis is from ours: by the same filters and samples, by either's, and by our own."""
    from pysdkit.utils import fast_kurtogram

    levels = 4
    damaged = [record for record in records if record.fault in ("outer", "inner")]
    found: dict[int, list[tuple[float, ...]]] = {}
    for record in damaged[::5]:
        x = record.x - record.x.mean()
        theirs = fast_kurtogram(x, levels, record.rate)[0]
        options: dict[str, Any] = {"metric": "kurtosis", "on": "envelope", "levels": levels}
        same = kurtosis_by_count(sg.band_map(x, record.rate, filters="fast kurtogram", **options))
        smooth = kurtosis_by_count(sg.band_map(x, record.rate, **options))
        spectrum, places, cut = np.fft.fft(x), np.fft.fftfreq(len(x)), 1000
        every: dict[int, list[float]] = {}
        for row, response in kurtogram_responses(levels, places):
            envelope = np.abs(np.fft.ifft(spectrum * response))[cut:-cut]  # the ends see the jump between them
            every.setdefault(row, []).append(float(sg.kurtosis(envelope)) + 3)
        for row, values in every.items():
            count = len(values)
            columns = theirs.shape[1] // count
            for k, value in enumerate(values):
                peer = theirs[row, k * columns + columns // 2] + 2
                if peer > 2:  # it writes 0 for all that is below
                    ours = same[count][k], value, smooth[count][k]
                    found.setdefault(count, []).append(tuple(abs(one / peer - 1) for one in ours))
    yield "| bands of the level | compared | its filters, its samples | its filters, all samples | our filters |"
    yield "|--:|--:|--:|--:|--:|"
    everything = [row for rows in found.values() for row in rows]
    for count, rows in [*sorted(found.items()), ("all", everything)]:
        differences = np.array(rows)
        assert differences[:, 0].max() < 1e-9, "the fast kurtogram's own filters give its map"
        pairs = zip(np.median(differences, axis=0), differences.max(axis=0), strict=True)
        cells = " | ".join(f"{middle:.2g}, {largest:.2g}" for middle, largest in pairs)
        yield f"| {count} | {len(rows)} | {cells} |"


def kurtosis_by_count(found: sg.BandMap) -> dict[int, list[float]]:
    """Return E x^4 / (E x^2)^2 of the bands, by how many of them there are."""
    by_count: dict[int, list[float]] = {}
    for band, value in zip(found.bands, found.values, strict=True):
        by_count.setdefault(round(found.rate / 2 / band.width), []).append(float(value) + 3)
    return by_count


PARTS = {part.__name__: part for part in (metrics, diagnoses, robustness, other_bearings, thresholds, speed, agreement)}


def main(arguments: list[str]) -> None:
    if not arguments or not (Path(arguments[0]) / "index.csv").is_file() or set(arguments[1:]) - set(PARTS):
        sys.exit(__doc__)
    records = read(Path(arguments[0]))
    for part in arguments[1:] or PARTS:
        print(f"\n### {part}\n", flush=True)
        for line in PARTS[part](records):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
