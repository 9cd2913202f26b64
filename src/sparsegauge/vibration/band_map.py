"""Band maps: how sparse a record's envelope, or envelope spectrum, is in each frequency band."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from .._arrays import Array, check_choice, check_number, check_order
from .._platform.extras import import_extra
from ..errors import InvalidInput
from ..metrics.catalogue import METRICS
from ..metrics.metric import Metric
from .band_tree import LAYOUTS, Band, lay_out
from .filters import Bank, envelope_spectra, filter_bank, record_spectrum
from .quantities import FEWEST_SPECTRUM_LINES, FILTERS, KURTOGRAM, QUANTITIES, SMOOTH, BandSetting, measure_bands
from .record import check_rate, check_record, check_rpm, check_turns
from .significance import Threshold, find_threshold
from .whitening import whiten as flatten

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LOWEST_FREQUENCY = 10.0  # of the envelope spectrum, in hertz, where the speed is not known
HIGHEST_FREQUENCY = 1000.0
LOWEST_ORDER = 0.3  # the same in multiples of the shaft's speed, where it is known
HIGHEST_ORDER = 20.0


class Curve(NamedTuple):
    """Values over time in seconds, or over frequency in hertz."""

    x: Array
    values: Array


@dataclass(frozen=True)
class BandMap:
    """How sparse a record is in each frequency band.

    Attributes
    ----------
    bands : list of Band
        The bands with their limits in hertz and their level in the tree.
    values : ndarray
        The metric's value in each band; NaN where a band is not measured, such as one that is too narrow.
    rate : float
        The record's samples per second.
    setting : BandSetting
        What was measured: the quantity, the metric and its parameters, the range of the envelope spectrum.
    """

    bands: list[Band]
    values: Array
    rate: float
    setting: BandSetting
    samples: int
    spectrum_of_record: NDArray[np.complex128] = field(repr=False)
    groups: list[list[Band]] = field(repr=False)

    @property
    def best(self) -> Band:
        """The band that is sparsest by the metric."""
        return self.bands[self._best_index]

    @property
    def best_value(self) -> float:
        """The metric's value in the best band."""
        return float(self.values[self._best_index])

    @property
    def _best_index(self) -> int:
        choose = np.nanargmax if self.setting.sparser == "larger" else np.nanargmin
        return int(choose(self.values))

    def signal(self, band: Band | tuple[float, float] | None = None) -> Array:
        """Return the samples of a band, at the record's own rate; the best band by default."""
        band = self._chosen(band)
        spectrum = self.spectrum_of_record.copy()
        frequencies = np.arange(len(spectrum)) * self.rate / self.samples
        spectrum[(frequencies < band.low) | (frequencies >= band.high)] = 0.0
        samples: Array = scipy.fft.irfft(spectrum, self.samples)
        return samples

    def envelope(self, band: Band | tuple[float, float] | None = None) -> Curve:
        """Return the envelope of a band over time in seconds, at about 2.5 samples per period of its width."""
        bank = self._bank(self._chosen(band))
        values = np.sqrt(bank.squared_envelopes[0])
        return Curve(bank.start + np.arange(len(values)) / bank.rate, values)

    def spectrum(self, band: Band | tuple[float, float] | None = None) -> Curve:
        """Return the magnitudes of the squared envelope's spectrum in a band, from 0 to the end of the range."""
        chosen = self._chosen(band)
        spectra = envelope_spectra(self._bank(chosen), 0.0, self.setting.usable_range(chosen.width)[1])
        return Curve(spectra.frequencies, spectra.values[0])

    def threshold(self, level: float = 0.01, *, rng: Any = 0) -> Threshold:
        """Return what the best band exceeds by chance at this false-alarm level, and whether it does so here.

        Chance is noise with the record's own length and spectrum: the same magnitude at each frequency, and random
        phases. See `Threshold`.
        """
        return find_threshold(self.spectrum_of_record, self.samples, self.rate, self.groups, self.setting, level, rng)

    def stands_out(self, level: float = 0.01) -> bool:
        """Tell whether the best band is sparser than chance explains at this false-alarm level."""
        return self.threshold(level).exceeded

    def to_frame(self) -> DataFrame:
        """Return a pandas table with one row per band."""
        pd = import_extra("pandas", "to_frame")
        return pd.DataFrame(
            {
                "level": [band.level for band in self.bands],
                "low": [band.low for band in self.bands],
                "high": [band.high for band in self.bands],
                "centre": [band.centre for band in self.bands],
                "width": [band.width for band in self.bands],
                "value": self.values,
            }
        )

    def plot(
        self, *, rpm: float | None = None, orders: Any = None, band: Band | tuple[float, float] | None = None
    ) -> Figure:
        """Draw the map of level against frequency, and beside it the envelope spectrum of a band.

        Parameters
        ----------
        rpm : float, optional
            The speed of the shaft; the speed that was given to `band_map` by default.
        orders : BearingOrders, mapping or sequence of float, optional
            Fault frequencies in multiples of the shaft's speed; their harmonics are marked in the envelope spectrum.
        band : Band or (low, high), optional
            The band of the envelope spectrum; the best one by default.
        """
        drawing = importlib.import_module("sparsegauge.plots.band_figures")  # plots come after vibration
        figure: Figure = drawing.draw_band_map(self, rpm=rpm, orders=orders, band=band)
        return figure

    def _chosen(self, band: Band | tuple[float, float] | None) -> Band:
        if band is None:
            return self.best
        if isinstance(band, Band):
            return band
        return lay_out([band], None, self.rate, self.samples)[0][0]

    def _bank(self, band: Band) -> Bank:
        return filter_bank(self.spectrum_of_record, self.samples, self.rate, [band])


def band_map(
    x: Any,
    rate: float,
    *,
    metric: str | Metric | Callable[[Array], float] = "gini",
    order: float | None = None,
    on: str = "envelope spectrum",
    bands: str | Sequence[Sequence[float]] = "1/3-binary",
    levels: int | None = None,
    frequencies: tuple[float, float] | None = None,
    rpm: float | None = None,
    whiten: bool = False,
    filters: str = "smooth",
    **parameters: float,
) -> BandMap:
    """Measure how sparse a vibration record is in each frequency band.

    The knocks of a damaged bearing stand out in the band where the structure rings: there the envelope is sparse in
    time, and its spectrum, which has a line at the fault's frequency and at its multiples, is sparse in frequency.

    Parameters
    ----------
    x : array_like
        One channel of a vibration record, taken at constant speed.
    rate : float
        Samples per second.
    metric : str, Metric or callable
        A metric of the catalogue `METRICS`, by its name or itself, or a function from a vector of magnitudes to a
        number, larger for sparser.
    order : float, optional
        The order of ``metric="gds"``, which it implies.
    on : str
        What is measured: the magnitudes of the squared envelope's ``"envelope spectrum"``, the ``"envelope"``, the
        ``"squared envelope"``, or the ``"samples"`` of the band.
    bands : str or sequence
        ``"1/3-binary"`` (1, 2, 3, 4, 6, 8, ... bands of equal width, as in the fast kurtogram), ``"binary"`` (1, 2, 4,
        8, ...), or a list of (low, high) and (low, high, width) in hertz; the latter are cut into bands of that width.
    levels : int, optional
        The depth of the tree: the narrowest band is 2**-levels of the range. By default 6, less for short records.
    frequencies : (low, high), optional
        The range of the envelope spectrum in hertz; by default 10 to 1000, or 0.3 to 20 times the shaft's speed.
    rpm : float, optional
        The speed of the shaft. Lines of the envelope spectrum at its multiples, which healthy machines have as well,
        are then left out.
    whiten : bool
        Flatten the record's spectrum and limit its tones first, so that strong tones and resonances count no more than
        weak ones.
    filters : str
        ``"smooth"``, or ``"fast kurtogram"``: those of Antoni (2007), to compare with the maps of other packages. Of
        n bands, the latter measure one sample in n, and the undivided record is left out. `signal`, `envelope` and
        `spectrum` show the band by smooth filters in either case.
    **parameters : float
        The metric's other parameters.

    Returns
    -------
    BandMap
        Bands, values, the best band; `signal`, `envelope`, `spectrum`, `threshold`, `plot` and `to_frame`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> record = sg.bearing_record("outer", rng=1)
    >>> best = sg.band_map(record.x, record.rate).best
    >>> best.low < record.resonance < best.high
    True
    """
    record, rate = check_record(x), check_rate(rate)
    shaft = None if rpm is None else check_rpm(rpm) / 60
    if rpm is not None:
        check_turns(len(record), rate, float(rpm))
    name, function, sparser, used = _metric(metric, order, parameters)
    setting = BandSetting(
        on=check_choice("on", on, QUANTITIES),
        metric=name,
        parameters=used,
        function=function,
        sparser=sparser,
        frequencies=_frequencies(frequencies, rate, len(record), shaft),
        shaft=shaft,
        filters=check_choice("filters", filters, FILTERS),
    )
    if filters == KURTOGRAM and (on == QUANTITIES[0] or not (isinstance(bands, str) and bands == LAYOUTS[0])):
        raise InvalidInput(
            f"filters={KURTOGRAM!r} measure bands='1/3-binary' and on='envelope', 'squared envelope' or 'samples', got "
            f"bands={bands!r} and on={on!r}: they keep too few samples for an envelope spectrum; use filters={SMOOTH!r}"
        )
    groups = lay_out(bands, levels, rate, len(record))
    spectrum = flatten(record_spectrum(record)) if whiten else record_spectrum(record)
    values = measure_bands(spectrum, len(record), rate, groups, [setting])[0]
    if np.isnan(values).all():
        raise InvalidInput(_nothing_measured(setting, len(record), rate))
    return BandMap([band for group in groups for band in group], values, rate, setting, len(record), spectrum, groups)


def _nothing_measured(setting: BandSetting, samples: int, rate: float) -> str:
    if setting.filters == KURTOGRAM:
        return f"filters={KURTOGRAM!r} measure parts of a record, and there are none; use levels=1 or more"
    low, high = setting.frequencies
    return (
        f"no band has {FEWEST_SPECTRUM_LINES} lines of its envelope spectrum between {low:g} and {high:g} Hz: the "
        f"record lasts {samples / rate:.3g} s; widen frequencies=(low, high), use wider bands, or record for longer"
    )


def _metric(
    metric: Any, order: Any, parameters: dict[str, float]
) -> tuple[str, Callable[[Array], Array], str, dict[str, Any]]:
    """Return the metric's name, its function over rows, what sparser signals have, and all its parameters."""
    if order is not None:
        if metric not in ("gini", "gds"):  # gini is the default, and gds of order 1
            raise InvalidInput(f"order is a parameter of metric='gds', and the metric is {metric!r}; leave it out")
        metric, parameters = "gds", {**parameters, "order": check_order(order)}
    metric = getattr(metric, "metric", metric)  # of a public function, such as sparsegauge.hoyer
    if callable(metric) and not isinstance(metric, Metric):
        if parameters:
            raise InvalidInput(f"parameters {', '.join(parameters)} are for metrics of the catalogue, got a function")
        called = metric

        def apply(rows: Array) -> Array:
            return np.array([float(called(row)) for row in rows])

        return getattr(metric, "__name__", "function"), apply, "larger", {}
    found = metric if isinstance(metric, Metric) else METRICS.find(metric)
    used = found.check(parameters)

    def measure(rows: Array) -> Array:
        values: Array = np.asarray(found(rows, axis=-1, **used), dtype=np.float64)
        return values

    return found.name, measure, found.sparser, used


def _frequencies(frequencies: Any, rate: float, samples: int, shaft: float | None) -> tuple[float, float]:
    """Return the range of the envelope spectrum, in hertz."""
    if frequencies is None:
        if shaft is not None:
            return LOWEST_ORDER * shaft, min(HIGHEST_ORDER * shaft, rate / 2)
        high = min(HIGHEST_FREQUENCY, rate / 4)
        return min(LOWEST_FREQUENCY, high / 20), high
    try:
        low, high = (check_number("frequencies", value) for value in frequencies)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"frequencies is a pair (low, high) in hertz, got {frequencies!r}") from error
    if not 0 <= low < high <= rate / 2:
        raise InvalidInput(
            f"frequencies must satisfy 0 <= low < high <= {rate / 2:g} Hz, half the rate, got {frequencies!r}"
        )
    return max(low, 1.5 * rate / samples), high  # the frequency 0 is the mean
