"""Limits chosen on some real bearings and tried on the others: `python -m benchmarks.bearings_validation FOLDER`.

FOLDER is that of bearings.py. The limits of `diagnose` (what tones are limited to, the score that names a fault, and
the share of other frequencies that it exceeds) are chosen anew on all records but those of one load, or of one size of
fault, and tried on these. Markdown goes to standard output; docs/vibration.md has the table. Two minutes.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import itertools  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402
from unittest import mock  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.bearings import Record, read, said, strangers  # noqa: E402
from sparsegauge.vibration import diagnosis, whitening  # noqa: E402
from sparsegauge.vibration.bearings import find_orders  # noqa: E402
from sparsegauge.vibration.combs import find_families  # noqa: E402
from sparsegauge.vibration.decoys import QUANTILE, decoy_chance  # noqa: E402
from sparsegauge.vibration.record import check_record  # noqa: E402
from sparsegauge.vibration.speed import refine_speed  # noqa: E402

TOLERANCE = 0.01
TONE_LIMITS, SCORES, SHARES = (4.0, 8.0, 16.0), (8.0, 9.0, 10.0, 11.0, 12.0, 14.0), (0.9, 0.95, 0.97, 0.98, 0.99)
OTHERS = 6  # bearings that are not there


class Limits(NamedTuple):
    tones: float
    score: float
    share: float


class Evidence(NamedTuple):
    """What decides about one record and bearing: how far decoys lead, and each fault's score, lead and lines."""

    leads: np.ndarray
    faults: dict[str, tuple[float, float, int]]


def gather(record: Record, bearing: Any, tone_limit: float) -> Evidence:
    """Return the evidence, once for all scores and shares."""
    x, orders = check_record(record.x), find_orders(bearing)
    speed = refine_speed(x, record.rate, record.rpm / 60)
    shaft = speed.frequency if speed.clear else record.rpm / 60
    with mock.patch.object(whitening, "TONE_LIMIT", tone_limit):
        highest = max(order for _, order in orders.items()) * shaft
        every = list(diagnosis._all_lines(x, record.rate, {shaft, speed.frequency}, highest))
    chance = decoy_chance(every, orders[:3], shaft, TOLERANCE)
    assert chance is not None
    faults = {}
    for fault, order in orders.items():
        rows = [find_families(lines, order * shaft, TOLERANCE) for lines in every]
        scores = np.concatenate([row.scores for row in rows])
        places = np.concatenate([row.scores - usual for row, usual in zip(rows, chance.usual, strict=True)])
        at = int(places.argmax())
        prominent = np.concatenate([(row.prominences >= diagnosis.PROMINENT_HEIGHT).sum(axis=1) for row in rows])
        faults[fault] = float(scores[at]), float(places[at]), int(prominent[at])
    return Evidence(chance.leads, faults)


def judge(evidence: Evidence, limits: Limits) -> str | None:
    """Return the fault that `diagnose` would name with these limits."""
    lead = float(np.quantile(evidence.leads, limits.share))
    found = []
    for fault, (score, exceeds, prominent) in evidence.faults.items():
        least = max(limits.score, diagnosis.SCORE_THAT_NAMES_THE_CAGE if fault == "cage" else 0.0)
        needed = max(least, score - exceeds + lead)
        found.append((score >= needed and prominent >= diagnosis.FEWEST_PROMINENT, score - needed, fault))
    named, _, fault = max(found)
    return fault if named else None


class Case(NamedTuple):
    """A record and its evidence: by what tones are limited to, for its own bearing and for those that are not there."""

    record: Record
    own: dict[float, Evidence]
    others: dict[float, list[Evidence]]


def outcome(cases: list[Case], limits: Limits) -> tuple[int, int, int, int, int]:
    """Return races, those named right, those named wrong, diagnoses of other bearings, and faults named there."""
    races = [case for case in cases if case.record.fault in ("outer", "inner")]
    answers = [(case.record.fault, judge(case.own[limits.tones], limits)) for case in races]
    elsewhere = [judge(one, limits) for case in cases for one in case.others[limits.tones]]
    right = sum(truth == answer for truth, answer in answers)
    wrong = sum(answer not in (None, truth) for truth, answer in answers)
    return len(races), right, wrong, len(elsewhere), sum(answer is not None for answer in elsewhere)


def choose(cases: list[Case]) -> Limits:
    """Return the limits with the fewest mistakes, and the strictest of these.

    A race that is missed and one that is named wrong are mistakes; so is the share of other bearings with a fault.
    """

    def mistakes(limits: Limits) -> float:
        races, right, wrong, others, named = outcome(cases, limits)
        return races - right + wrong + OTHERS * named / max(others, 1)

    every = [Limits(*limits) for limits in itertools.product(TONE_LIMITS, SCORES, SHARES)]
    return min(every, key=lambda limits: (round(mistakes(limits), 9), -limits.share, -limits.score, -limits.tones))


def validate(cases: list[Case]) -> Iterator[str]:
    """Choose on all but one part, try on it, for every load and every size."""
    yield "| tried on | tones, score, share | races | named right | named wrong | other bearings | named there |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    parts: dict[str, Callable[[Record], str]] = {"load": lambda r: r.load, "size": lambda r: r.size}
    for label, part in parts.items():
        total = np.zeros(5, int)
        for value in sorted({part(case.record) for case in cases}, key=float):
            limits = choose([case for case in cases if part(case.record) != value])
            tried = outcome([case for case in cases if part(case.record) == value], limits)
            total += tried
            yield f"| {label} {value} | {', '.join(f'{one:g}' for one in limits)} | {' | '.join(map(str, tried))} |"
        yield f"| every {label} | | {' | '.join(map(str, total))} |"
    as_they_are = Limits(whitening.TONE_LIMIT, diagnosis.SCORE_THAT_NAMES_A_FAULT, QUANTILE)
    cells = " | ".join(map(str, outcome(cases, as_they_are)))
    yield f"| all, as `diagnose` does | {', '.join(f'{one:g}' for one in as_they_are)} | {cells} |"


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not (Path(arguments[0]) / "index.csv").is_file():
        sys.exit(__doc__)
    records, others = read(Path(arguments[0])), list(strangers(OTHERS))
    cases = [
        Case(
            record,
            {limit: gather(record, "6205", limit) for limit in TONE_LIMITS},
            {limit: [gather(record, other, limit) for other in others] for limit in TONE_LIMITS},
        )
        for record in records
    ]
    shipped = Limits(whitening.TONE_LIMIT, diagnosis.SCORE_THAT_NAMES_A_FAULT, QUANTILE)
    for case in cases:
        expected = said(case.record.x, case.record.rate, case.record.rpm, "6205")
        assert judge(case.own[shipped.tones], shipped) == expected, case.record.name
    for line in validate(cases):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
