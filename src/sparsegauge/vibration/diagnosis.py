"""Which part of a bearing is damaged: families of lines in envelope spectra, compared with the bearing's geometry."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import Parameter
from ..errors import SpeedWarning
from .band_map import BandMap, band_map
from .band_tree import Band, lay_out
from .bearings import BearingOrders, find_orders
from .combs import HARMONICS, Families, Known, Lines, find_families, find_lines
from .decoys import Chance, decoy_chance
from .filters import filter_bank, record_spectrum
from .quantities import USABLE_WIDTH_SHARE
from .record import check_rate, check_record, check_rpm, check_turns
from .speed import check_speed, refine_speed
from .whitening import whiten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORE_THAT_NAMES_A_FAULT = 10.0  # noise alone reaches 8.2 once in several thousand searches
SCORE_WITHOUT_DECOYS = 12.0  # the same where there are no decoys to compare with
SCORE_THAT_NAMES_THE_CAGE = 24.0  # which modulates the lines of all other parts, healthy or not
PROMINENT_HEIGHT = 3.0  # in units of the floor: such a harmonic counts as present
FEWEST_PROMINENT = 3
MAINS = (Known(50.0, 0.001), Known(60.0, 0.001))  # multiples of either count as electrical noise
SPEED_UNCERTAINTY = 0.002  # relative
HARMONICS_IN_NARROWEST_BAND = 2.0  # of the highest fault frequency
DEEPEST = 8
TOLERANCE = Parameter("tolerance", 0.01, low=0.0, high=0.05, high_included=True)


class Harmonic(NamedTuple):
    """A line of the envelope spectrum: its number, its frequency in hertz, and its height over the floor."""

    number: int
    frequency: float
    prominence: float


@dataclass(frozen=True)
class Finding:
    """The evidence for one fault.

    Attributes
    ----------
    fault : str
        "outer", "inner", "ball" or "cage".
    named : bool
        Whether the evidence is enough to name the fault.
    score, needed : float
        The sum of log(1 + u) over the harmonics, where noise has lines beyond u with probability exp(-u), and the score
        that names this fault in this band of this record.
    expected, frequency : float
        The fault's frequency in hertz by geometry and speed, and the one found near it.
    harmonics : list of Harmonic
        The lines at the frequency found and at its multiples.
    side_bands : list of Harmonic
        The lines beside the first harmonic, at a distance of the shaft's frequency (the cage's for balls), below (-1)
        and above (+1): an inner race or a ball passes through the load zone.
    band : Band
        The band in which the score exceeds most what other frequencies score in the same band.
    """

    fault: str
    named: bool
    score: float
    needed: float
    expected: float
    frequency: float
    harmonics: list[Harmonic]
    side_bands: list[Harmonic]
    band: Band

    @property
    def prominent(self) -> int:
        """How many harmonics stand out of the floor."""
        return sum(harmonic.prominence >= PROMINENT_HEIGHT for harmonic in self.harmonics)

    def __str__(self) -> str:
        """Return the evidence in one line."""
        heights = ", ".join(f"{harmonic.prominence:.1f}" for harmonic in self.harmonics)
        return (
            f"{self.fault}: {self.frequency:.2f} Hz (expected {self.expected:.2f}), {self.prominent} of "
            f"{len(self.harmonics)} harmonics, {heights} times the floor, in {self.band}; score {self.score:.1f}, "
            f"needed {self.needed:.1f}"
        )


@dataclass(frozen=True)
class Diagnosis:
    """What a record says about a bearing.

    Attributes
    ----------
    fault : str or None
        The fault with the strongest evidence, or None: nothing found.
    findings : list of Finding
        The evidence for every fault, strongest first.
    orders : BearingOrders
        The fault frequencies as multiples of the shaft's speed.
    rpm, measured_rpm : float
        The speed of the shaft as given, and as the record's own harmonics say, at which faults are looked for; the same
        where these are not clear.
    """

    fault: str | None
    findings: list[Finding]
    orders: BearingOrders
    rpm: float
    measured_rpm: float
    rate: float
    x: Any = field(repr=False)

    def __str__(self) -> str:
        """Return the verdict and the evidence, one line per fault."""
        verdict = "nothing found" if self.fault is None else f"{self.fault} fault"
        return "\n".join([verdict, *(f"  {finding}" for finding in self.findings)])

    def band_map(self, **options: Any) -> BandMap:
        """Return the record's band map; options as of `sparsegauge.band_map`."""
        return band_map(self.x, self.rate, **{"rpm": self.measured_rpm, **options})

    def plot(self) -> Figure:
        """Draw the envelope spectrum of the strongest finding's band, with its harmonics."""
        drawing = importlib.import_module("sparsegauge.plots.band_figures")  # plots come after vibration
        figure: Figure = drawing.draw_diagnosis(self)
        return figure


def diagnose(x: Any, rate: float, rpm: float, bearing: Any, *, tolerance: float = 0.01) -> Diagnosis:
    """Diagnose which part of a bearing is damaged, if any.

    The record's spectrum is flattened and its tones are limited. In each band of a 1/3-binary tree, the spectrum of the
    squared envelope is divided by its local median, and multiples of the shaft's and the mains' frequency are left out.
    A fault is named if four harmonics of its frequency, or those of them that the band shows, together stand out more
    than noise explains, and exceed what is usual in their band by more than 98 % of the frequencies that belong to no
    part of the bearing; at least three of them must stand out by themselves. The speed must be constant: a
    `SpeedWarning` says where it plainly is not.

    Parameters
    ----------
    x : array_like
        One channel of a vibration record.
    rate : float
        Samples per second.
    rpm : float
        The speed of the shaft, to 2 %; to 0.5 % where its harmonics do not show in the record.
    bearing : str, BearingOrders or mapping
        A key of `BEARINGS`, the result of `bearing_orders`, or a mapping such as ``{"outer": 3.585, "inner": 5.415}``.
    tolerance : float
        How far the frequency may be from the expected one, relative to it: slip, load and contact angle change it.

    Returns
    -------
    Diagnosis
        The named fault or None, and the evidence for each, strongest first.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> record = sg.bearing_record("inner", rng=1)
    >>> sg.diagnose(record.x, record.rate, record.rpm, "6205").fault
    'inner'
    >>> healthy = sg.bearing_record("none", rng=1)
    >>> print(sg.diagnose(healthy.x, healthy.rate, healthy.rpm, "6205").fault)
    None
    """
    samples, rate, rpm = check_record(x), check_rate(rate), check_rpm(rpm)
    check_turns(len(samples), rate, rpm)
    tolerance = TOLERANCE.check(tolerance)
    orders = find_orders(bearing)
    notice = check_speed(samples, rate, rpm / 60)
    if notice:
        warnings.warn(notice, SpeedWarning, stacklevel=2)
    measured = refine_speed(samples, rate, rpm / 60)
    shaft = measured.frequency if measured.clear else rpm / 60
    known = {fault: order for fault, order in orders.items() if not math.isnan(order)}
    every = list(_all_lines(samples, rate, {shaft, measured.frequency}, max(known.values()) * shaft))
    chance = _chance(every, known, shaft, tolerance)
    findings = [
        finding
        for fault, order in known.items()
        if (finding := _find(every, chance, fault, order * shaft, tolerance, _side_spacing(fault, orders, shaft)))
        is not None
    ]
    findings.sort(key=lambda finding: (not finding.named, finding.needed - finding.score))
    fault = findings[0].fault if findings and findings[0].named else None
    return Diagnosis(fault, findings, orders, rpm, 60 * shaft, rate, samples)


def _chance(every: list[Lines], known: dict[str, float], shaft: float, tolerance: float) -> Chance:
    """Return what the machine shows at frequencies of no part, or what noise does where there are too few of these."""
    others = [order for fault, order in known.items() if fault != "cage"] or list(known.values())
    chance = decoy_chance(every, others, shaft, tolerance)
    if chance is not None:
        return chance
    return Chance([np.zeros(len(lines.bands)) for lines in every], np.array([SCORE_WITHOUT_DECOYS]))


def _side_spacing(fault: str, orders: BearingOrders, shaft: float) -> float:
    """Return how far the side bands of a fault are from its harmonics; NaN if the bearing's cage is not known."""
    return orders.cage * shaft if fault == "ball" else shaft


def _all_lines(x: Any, rate: float, speeds: set[float], highest_fault: float) -> Iterator[Lines]:
    """Return the lines of every band that is wide enough to show a few harmonics of every fault.

    Lines at multiples of any of the shaft's `speeds` are left out: 1797 rpm on paper may be 1793 in the record.
    """
    spectrum = whiten(record_spectrum(x))
    highest = (HARMONICS + 0.5) * highest_fault
    narrowest = HARMONICS_IN_NARROWEST_BAND * highest_fault / USABLE_WIDTH_SHARE
    most = int(math.log2(len(x) / 32))
    levels = max(0, min(DEEPEST, most, int(math.log2(max(1.0, rate / 2 / narrowest)))))
    known = [*(Known(speed, SPEED_UNCERTAINTY) for speed in sorted(speeds)), *MAINS]
    for group in lay_out("1/3-binary", levels, rate, len(x)):
        bank = filter_bank(spectrum, len(x), rate, group)
        yield find_lines(bank, group, min(highest, USABLE_WIDTH_SHARE * group[0].width), known)


def _find(
    every: list[Lines], chance: Chance, fault: str, expected: float, tolerance: float, spacing: float
) -> Finding | None:
    """Return the evidence for one fault in the band where it exceeds most what is usual there."""
    best: tuple[float, float, Families, Lines, int] | None = None
    for lines, usual in zip(every, chance.usual, strict=True):
        families = find_families(lines, expected, tolerance)
        if families is None:
            continue
        leads = families.scores - usual
        at = int(leads.argmax())
        if best is None or leads[at] > best[0]:
            best = float(leads[at]), float(usual[at]), families, lines, at
    if best is None:
        return None
    _, usual_score, families, lines, at = best
    score, fundamental = float(families.scores[at]), float(families.fundamentals[at])
    prominences = families.prominences[at]
    needed = max(SCORE_THAT_NAMES_THE_CAGE if fault == "cage" else SCORE_THAT_NAMES_A_FAULT, usual_score + chance.lead)
    harmonics = [
        Harmonic(number, number * fundamental, float(prominence)) for number, prominence in enumerate(prominences, 1)
    ]
    named = score >= needed and int((prominences >= PROMINENT_HEIGHT).sum()) >= FEWEST_PROMINENT
    shown = math.isfinite(spacing) and spacing < fundamental
    sides = _side_bands(lines, at, fundamental, spacing) if shown else []
    return Finding(fault, named, score, needed, expected, fundamental, harmonics, sides, lines.bands[at])


def _side_bands(lines: Lines, band: int, fundamental: float, spacing: float) -> list[Harmonic]:
    places = np.array([fundamental - spacing, fundamental + spacing])
    return [
        Harmonic(number, float(place), float(peak))
        for number, place, peak in zip((-1, 1), places, lines.peaks(places)[band], strict=True)
    ]
