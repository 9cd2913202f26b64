"""Where the signals of a study come from: the paper's four distributions, or pieces of real data.

A piece of real data is n neighbouring samples, or a square of n pixels, from a random place. Before a transform its
mean is taken off, as one number that is measured by itself. Of its coefficients the `nonzeros` largest are kept: n of
them leave it as it is, which is not sparse but only nearly so.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from ..errors import InvalidInput
from ..signals import dct, demo, wavelet
from ..simulate import DISTRIBUTIONS, sparse_signal, with_signs

ATTEMPTS = 100  # at a piece that is not constant: there is nothing to recover of a piece of blank sky


class Source(NamedTuple):
    """Real data, and the basis that they are looked at in."""

    load: Callable[[], Array]  # (pieces, samples) or (pieces, rows, columns)
    transform: Callable[[Array], Array]

    def check(self, name: str, n: int) -> None:
        """Refuse a length that its pieces cannot have."""
        data = self.load()
        side = math.isqrt(n)
        square = data.ndim == 3
        if square and (side * side != n or side > min(data.shape[1:])):
            raise InvalidInput(f"distributions: {name} has squares of at most {min(data.shape[1:])} x "
                               f"{data.shape[2]} pixels, so n must be such a square; got n = {n}")  # fmt: skip
        if not square and n > data.shape[1]:
            raise InvalidInput(f"distributions: {name} has {data.shape[1]} samples, got n = {n}")
        try:
            self.transform(np.zeros((side, side) if square else n))
        except InvalidInput as error:
            raise InvalidInput(f"distributions: {name} cannot be cut into pieces of n = {n} ({error})") from error

    def piece(self, n: int, rng: np.random.Generator) -> Array:
        """The coefficients of one piece."""
        data = self.load()
        shape = (n,) if data.ndim == 2 else (math.isqrt(n), math.isqrt(n))
        for _ in range(ATTEMPTS):
            whole = data[rng.integers(len(data))]
            corner = [rng.integers(have - want + 1) for have, want in zip(whole.shape, shape, strict=True)]
            cut = whole[tuple(slice(first, first + want) for first, want in zip(corner, shape, strict=True))]
            if np.ptp(cut) > 0:
                return self.transform(cut).ravel()
        raise InvalidInput("these data are constant nearly everywhere; there is nothing to recover")


@functools.cache
def _demo(name: str) -> Array:
    return demo(name)[None]


@functools.cache
def _digits() -> Array:
    import sklearn.datasets

    return np.asarray(sklearn.datasets.load_digits().images, np.float64)


def _of_demo(name: str, transform: Callable[[Array], Array]) -> Source:
    return Source(functools.partial(_demo, name), transform)


def _wavelets(x: Array) -> Array:
    return wavelet(x - x.mean(), "db4")


def _cosines(x: Array) -> Array:
    return dct(x - x.mean())


SOURCES = {
    f"{name}-{basis}": _of_demo(name, transform)
    for name in ("ecg", "camera", "ascent", "aero")
    for basis, transform in (("db4", _wavelets), ("dct", _cosines))
} | {"digits-pixels": Source(_digits, np.copy), "digits-dct": Source(_digits, _cosines)}

KNOWN = (*DISTRIBUTIONS, *SOURCES)


def check_source(name: str, n: int) -> None:
    """Refuse a source that has no signals of this length."""
    if name in SOURCES:
        SOURCES[name].check(name, n)


def draw_signal(name: str, n: int, nonzeros: int, *, signs: str, rng: np.random.Generator) -> Array:
    """One signal of n coefficients, of which at most so many are not zero."""
    if name in DISTRIBUTIONS:
        return sparse_signal(n, nonzeros, name, signs=signs, rng=rng)
    x = SOURCES[name].piece(n, rng)
    x[np.argsort(-np.abs(x), kind="stable")[nonzeros:]] = 0.0
    return with_signs(x, signs, rng)
