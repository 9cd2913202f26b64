"""Demo signals, and the transforms in which they are sparse.

Every demo signal ships with PyWavelets, so nothing is downloaded. Both transforms are orthonormal: they keep the number
of coefficients and the energy, so that the sparsity of a signal in one can be compared with its sparsity in another.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pywt
import scipy.fft

from ._arrays import Array, as_finite_array
from .errors import InvalidInput

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
    return lambda: pywt.data.demo_signal(name, SYNTHETIC_LENGTH)


_LOADERS: dict[str, Callable[[], Any]] = {
    "ecg": pywt.data.ecg,
    "nino": lambda: pywt.data.nino()[1],  # [0] is the time axis
    "camera": pywt.data.camera,
    "ascent": pywt.data.ascent,
    "aero": pywt.data.aero,
    "doppler": _synthetic("Doppler"),
    "bumps": _synthetic("Bumps"),
    "blocks": _synthetic("Blocks"),
    "heavisine": _synthetic("HeaviSine"),
}


def demo(name: str) -> Array:
    """A real or classic signal to try things on.

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


def dct(x: Any) -> Array:
    """Orthonormal discrete cosine transform (type II) over all axes.

    Parameters
    ----------
    x : array_like
        A real signal or image.

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
    coefficients: Array = scipy.fft.dctn(as_finite_array(x), norm="ortho")
    return coefficients


def wavelet(x: Any, name: str = "db4") -> Array:
    """All coefficients of a full periodised wavelet decomposition, as one flat vector.

    The decomposition goes on while every length is even, which is as deep as it stays orthonormal: to a single
    approximation coefficient for lengths that are powers of two, to 33 of them for a length of 264.

    Parameters
    ----------
    x : array_like
        A real signal of one or two dimensions, whose lengths are even.
    name : str
        An orthogonal wavelet of PyWavelets: ``haar``, ``db1`` to ``db38``, ``sym2`` to ``sym20``, ``coif1`` to
        ``coif17``, ``dmey``.

    Returns
    -------
    ndarray of float64
        As many coefficients as x has samples, of the same energy: the approximation first, then details from coarse
        to fine.

    Examples
    --------
    >>> from sparsegauge.signals import wavelet
    >>> wavelet([3.0, 3.0, 3.0, 3.0], "haar").round(12)
    array([6., 0., 0., 0.])
    """
    filters = _orthogonal_wavelet(name)
    approximation = as_finite_array(x)
    if approximation.ndim > 2 or not _halves(approximation):
        raise InvalidInput(
            f"a periodised wavelet transform needs one or two dimensions of even length, got shape "
            f"{approximation.shape}; cut or pad the signal to an even length"
        )
    pieces: list[Array] = []
    while _halves(approximation):
        bands = pywt.dwtn(approximation, filters, mode="periodization")
        approximation = bands.pop("a" * approximation.ndim)
        pieces[:0] = [bands[key].ravel() for key in sorted(bands)]
    return np.concatenate([approximation.ravel(), *pieces])


def _halves(x: Array) -> bool:
    return all(length % 2 == 0 for length in x.shape)


def _orthogonal_wavelet(name: str) -> Any:
    known = pywt.wavelist(kind="discrete")
    if name not in known:
        raise InvalidInput(
            f"there is no wavelet {name!r}{_did_you_mean(name, known)} pywt.wavelist(kind='discrete') lists them"
        )
    filters = pywt.Wavelet(name)
    if not filters.orthogonal:
        raise InvalidInput(f"wavelet {name!r} is not orthogonal, so it does not keep the energy; use 'db4' or 'sym8'")
    return filters


def _did_you_mean(name: object, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(str(name).lower(), known, n=1)
    return f": did you mean {nearest[0]!r}?" if nearest else ";"
