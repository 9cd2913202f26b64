"""Demo signals, the transforms in which they are sparse, and windows that slide over them.

Every demo signal ships with PyWavelets, so nothing is downloaded. Both transforms are orthonormal: they keep the number
of coefficients and the energy, so that the sparsity of a signal in one can be compared with its sparsity in another.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ._arrays import Array, advise_on_conversion, as_finite_array, check_axis, check_count, is_sparse
from .errors import InvalidInput
from .rounding import LARGEST_SAFE, ORTHONORMAL, SMALLEST_SAFE


def _pywt() -> Any:
    """Return PyWavelets, loaded when the first wavelet or demo signal is asked for."""
    import pywt
    import pywt.data

    return pywt


SYNTHETIC_LENGTH = 1024

DEMOS = {
    "ecg": "electrocardiogram, 1024 samples (PyWavelets)",
    "nino": "sea surface temperature, Niño 3 region, quarterly 1950 to 2015, standardised (NOAA ERSSTv4, PyWavelets)",
    "camera": "photograph of a cameraman, 512 × 512 pixels (Lav Varshney, CC0, PyWavelets)",
    "ascent": "photograph of a staircase, 512 × 512 pixels (public domain, PyWavelets)",
    "aero": "aerial photograph, 512 × 512 pixels (PyWavelets)",
    "doppler": "sine of falling frequency, 1024 points (Donoho and Johnstone 1994, PyWavelets)",
    "bumps": "eleven peaks on a flat line, 1024 points (Donoho and Johnstone 1994, PyWavelets)",
    "blocks": "piecewise constant, eleven jumps, 1024 points (Donoho and Johnstone 1994, PyWavelets)",
    "heavisine": "sine with two jumps, 1024 points (Donoho and Johnstone 1994, PyWavelets)",
}


def _synthetic(name: str) -> Callable[[], Any]:
    return lambda: _pywt().data.demo_signal(name, SYNTHETIC_LENGTH)


_LOADERS: dict[str, Callable[[], Any]] = {
    "ecg": lambda: _pywt().data.ecg(),
    "nino": lambda: _pywt().data.nino()[1],  # [0] is the time axis
    "camera": lambda: _pywt().data.camera(),
    "ascent": lambda: _pywt().data.ascent(),
    "aero": lambda: _pywt().data.aero(),
    "doppler": _synthetic("Doppler"),
    "bumps": _synthetic("Bumps"),
    "blocks": _synthetic("Blocks"),
    "heavisine": _synthetic("HeaviSine"),
}


def demo(name: str) -> Array:
    """Return a real or classic signal to try things on.

    Parameters
    ----------
    name : str
        A key of `DEMOS`, which says what each signal is and where it comes from.

    Returns
    -------
    ndarray of float64
        One dimension for a signal, two for an image. A new array each time: change it as you like.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.demo("ecg").shape
    (1024,)
    >>> sg.demo("camera").shape
    (512, 512)
    """
    if not isinstance(name, str) or name not in DEMOS:
        raise InvalidInput(
            f"there is no demo signal {name!r}{_did_you_mean(name, DEMOS)} the names are {', '.join(DEMOS)}"
        )
    return np.array(_LOADERS[name](), dtype=np.float64)


def dct(x: Any, *, axis: int | None = None) -> Array:
    """Return the orthonormal discrete cosine transform (type II) over all axes, or along one.

    Parameters
    ----------
    x : array_like
        A real signal or image.
    axis : int, optional
        The dimension that holds a signal, where x holds many; all of them by default.

    Returns
    -------
    ndarray of float64
        Coefficients of the same shape and energy as x; the first one is the mean times the root of the size.

    Examples
    --------
    >>> from sparsegauge.signals import dct
    >>> dct([3.0, 3.0, 3.0, 3.0]).round(12)
    array([6., 0., 0., 0.])
    """
    array = as_finite_array(x)
    along = check_axis(axis, array.ndim, array.shape)
    import scipy.fft

    def cosines(scaled: Array) -> Array:
        coefficients: Array = scipy.fft.dctn(scaled, axes=None if along is None else [along], norm="ortho")
        return coefficients

    return _at_safe_scale(cosines, array)


def _at_safe_scale(linear: Callable[[Array], Array], x: Array) -> Array:
    """Return linear(x), computed at a scale at which no sum overflows or loses digits to subnormal numbers."""
    largest = float(np.max(np.abs(x), initial=0.0))
    if not largest or SMALLEST_SAFE <= largest <= LARGEST_SAFE:
        return linear(x)
    exponent = math.frexp(largest)[1]
    with np.errstate(over="ignore"):
        coefficients = np.ldexp(linear(np.ldexp(x, -exponent)), exponent)
    if not np.isfinite(coefficients).all():
        raise InvalidInput(
            f"the coefficients of a signal that reaches {largest:.3g} exceed the largest float64 "
            f"({np.finfo(float).max:.3g}); divide the signal by its largest magnitude first"
        )
    return coefficients


def wavelet(x: Any, name: str = "db4", *, axis: int | None = None) -> Array:
    """Return all coefficients of a periodised wavelet decomposition, as one flat vector or along one axis.

    The decomposition goes on while every length is even, which is as deep as it stays orthonormal: to a single
    approximation coefficient for lengths that are powers of two, to 33 of them for a length of 264.

    Parameters
    ----------
    x : array_like
        A real signal of one or two dimensions, whose lengths are even.
    name : str
        An orthogonal wavelet of PyWavelets: ``haar``, ``db1`` to ``db38``, ``sym2`` to ``sym20``, ``coif1`` to
        ``coif17``. (``dmey`` is refused: its filters are orthonormal to 0.2 % only.)
    axis : int, optional
        The dimension that holds a signal, where x holds many; it alone has to be even, and x may have any number of
        dimensions. By default x is one signal or image.

    Returns
    -------
    ndarray of float64
        As many coefficients as x has samples, of the same energy: the approximation first, then details from coarse
        to fine. A flat vector, or an array of the shape of x if `axis` is given.

    Examples
    --------
    >>> from sparsegauge.signals import wavelet
    >>> wavelet([3.0, 3.0, 3.0, 3.0], "haar").round(12)
    array([6., 0., 0., 0.])
    """
    filters = orthogonal_wavelet(name)
    approximation = as_finite_array(x)
    along = check_axis(axis, approximation.ndim, approximation.shape)
    if along is not None:
        return _at_safe_scale(lambda scaled: _wavelet_along(scaled, filters, along), approximation)
    if approximation.ndim > 2 or not _halves(approximation):
        raise InvalidInput(
            f"a periodised wavelet transform needs one or two dimensions of even length, got shape "
            f"{approximation.shape}; cut or pad the signal to an even length"
        )
    return _at_safe_scale(lambda scaled: _wavelet_of_all(scaled, filters), approximation)


def _wavelet_of_all(approximation: Array, filters: Any) -> Array:
    pieces: list[Array] = []
    while _halves(approximation):
        bands = _pywt().dwtn(approximation, filters, mode="periodization")
        approximation = bands.pop("a" * approximation.ndim)
        pieces[:0] = [bands[key].ravel() for key in sorted(bands)]
    return np.concatenate([approximation.ravel(), *pieces])


def _wavelet_along(approximation: Array, filters: Any, axis: int) -> Array:
    if approximation.shape[axis] % 2:
        raise InvalidInput(
            f"a periodised wavelet transform needs signals of even length, got {approximation.shape[axis]}; cut or pad "
            "them to an even length"
        )
    approximation = np.require(approximation, requirements="W")  # PyWavelets takes no read-only signal
    pieces: list[Array] = []
    while approximation.shape[axis] % 2 == 0:
        approximation, detail = _pywt().dwt(approximation, filters, mode="periodization", axis=axis)
        pieces.insert(0, detail)
    return np.concatenate([approximation, *pieces], axis=axis)


def _halves(x: Array) -> bool:
    return all(length % 2 == 0 for length in x.shape)


def orthogonal_wavelet(name: str) -> Any:
    """Return the filters of an orthogonal wavelet, or say which there are."""
    known = _pywt().wavelist(kind="discrete")
    if name not in known:
        raise InvalidInput(
            f"there is no wavelet {name!r}{_did_you_mean(name, known)} pywt.wavelist(kind='discrete') lists them"
        )
    filters = _pywt().Wavelet(name)
    if not filters.orthogonal:
        raise InvalidInput(f"wavelet {name!r} is not orthogonal, so it does not keep the energy; use 'db4' or 'sym8'")
    error = _departure_from_orthonormal(np.asarray(filters.dec_lo))
    if error > ORTHONORMAL:
        raise InvalidInput(
            f"the filters of wavelet {name!r} are orthonormal to {error:.1g} only, so it does not keep the energy; use "
            "'db4' or 'sym8'"
        )
    return filters


def _departure_from_orthonormal(low_pass: Array) -> float:
    """Return the largest error of sum_k h_k h_(k+2m) = 1 for m = 0, else 0."""
    products = np.correlate(low_pass, low_pass, mode="full")[len(low_pass) - 1 :: 2]
    return float(np.max(np.abs(products - (np.arange(len(products)) == 0))))


TRANSFORMS: dict[str, Callable[..., Any]] = {"none": lambda x, axis: x, "dct": dct}

REPRESENTATIONS: dict[str, Callable[[Array], Array]] = {"samples": np.asarray, "DCT": dct, "wavelet": wavelet}


def transform(x: Any, name: str, *, axis: int | None = None) -> Any:
    """Return the coefficients of x under a transform that is given by its name.

    Parameters
    ----------
    x : array_like
        A real signal or image; ``none`` gives back anything.
    name : str
        ``none``, ``dct``, or an orthogonal wavelet of PyWavelets such as ``db4``.
    axis : int, optional
        The dimension that holds a signal, where x holds many; by default x is one signal or image.

    Returns
    -------
    ndarray of float64
        As many coefficients as x has samples, of the same energy.

    Examples
    --------
    >>> from sparsegauge.signals import transform
    >>> transform([[1.0, 1.0], [1.0, -1.0]], "haar", axis=-1).round(6)
    array([[1.414214, 0.      ],
           [0.      , 1.414214]])
    """
    check_transform(name)
    return TRANSFORMS[name](x, axis=axis) if name in TRANSFORMS else wavelet(x, name, axis=axis)


def check_transform(name: str) -> None:
    """Refuse a name that `transform` does not know, with the nearest one that it does."""
    if name in TRANSFORMS:
        return
    known = [*TRANSFORMS, *_pywt().wavelist(kind="discrete")]
    if name not in known:
        raise InvalidInput(
            f"there is no transform {name!r}{_did_you_mean(name, known)} there are none, dct, and the orthogonal "
            "wavelets of PyWavelets, such as haar, db4 and sym8"
        )
    orthogonal_wavelet(name)


def windows(x: Any, length: int, hop: int, *, axis: int = -1) -> NDArray[Any]:
    """Return the windows that slide over a signal, as a view: nothing is copied.

    Window number k holds x[k hop], ..., x[k hop + length - 1]. What is left at the end and does not fill a window is in
    none of them.

    Parameters
    ----------
    x : array_like
        Numbers of any shape; an array that is mapped from a file stays on disk until a window of it is used.
    length : int
        The number of samples in a window.
    hop : int
        The number of samples from the start of a window to the start of the next: less than `length` for windows that
        overlap.
    axis : int
        The dimension over which windows slide.

    Returns
    -------
    ndarray
        A read-only view, whose `axis` counts the windows and whose new last axis runs inside a window.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegauge.signals import windows
    >>> windows(np.arange(7), 4, 2)
    array([[0, 1, 2, 3],
           [2, 3, 4, 5]])
    """
    if is_sparse(x) or isinstance(x, np.ma.MaskedArray):
        raise InvalidInput(f"windows are views of a plain array, got {type(x).__name__}; use x.toarray() or x.filled()")
    try:
        array = np.asarray(x)
    except Exception as error:  # whatever the object's own conversion raises
        advice = advise_on_conversion(x, "x", "pass rows of equal length")
        raise InvalidInput(f"x cannot be made into an array ({error}); {advice}") from error
    length, hop = check_count("length", length, least=1), check_count("hop", hop, least=1)
    along = check_axis(axis, array.ndim, array.shape)
    if along is None:
        raise InvalidInput("windows slide along one axis, got axis=None; flatten x first: x.ravel()")
    if length > array.shape[along]:
        raise InvalidInput(
            f"a window of {length} samples is longer than the signal, which has {array.shape[along]}; use a shorter one"
        )
    every = sliding_window_view(array, length, axis=along)
    return every[(slice(None),) * along + (slice(None, None, hop),)]


def stream_windows(blocks: Iterable[NDArray[Any]], length: int, hop: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the windows of a signal that comes in pieces along its last axis, and where the first of each batch starts.

    Joined, the batches are ``windows(x, length, hop)`` of the pieces joined; held at a time are a piece and a window.
    """
    start, gap = 0, 0
    rest: NDArray[Any] | None = None
    for block in blocks:
        rest = block if rest is None else np.concatenate([rest, block], axis=-1)
        skipped = min(gap, rest.shape[-1])  # a hop longer than the window may lead past what has come so far
        rest, gap = rest[..., skipped:], gap - skipped
        count = max(0, (rest.shape[-1] - length) // hop + 1)
        if count and not gap:
            yield start, windows(rest, length, hop)
            used = count * hop
            start, gap = start + used, max(0, used - rest.shape[-1])
            rest = rest[..., used:]


def _did_you_mean(name: object, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(str(name).lower(), known, n=1)
    return f": did you mean {nearest[0]!r}?" if nearest else ";"
