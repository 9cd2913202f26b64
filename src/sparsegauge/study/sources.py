"""Where the signals of a study come from: the paper's four distributions, real data, or a function of the user.

A piece of real data is n neighbouring samples, or a square of n pixels, from a random place. Before a transform its
mean is taken off, as one number that is measured separately. Of its coefficients the `nonzeros` largest are kept: n of
them leave it as it is, which is not sparse but only nearly so.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array
from ..errors import InvalidInput
from ..signals import check_transform, dct, demo, transform, wavelet
from ..simulate import DISTRIBUTIONS, sparse_signal, with_signs
from .external import import_by_path, is_data_file, is_import_path, load_data, split_data_file

ATTEMPTS_AT_A_VARYING_PIECE = 100  # there is nothing to recover of a piece of blank sky

Draw = Callable[[int, int, np.random.Generator], Any]


class Source(NamedTuple):
    """Real data, and the basis in which they are represented."""

    load: Callable[[], Array]  # (pieces, samples) or (pieces, rows, columns)
    transform: Callable[[Array], Array]

    def check(self, name: str, n: int) -> None:
        """Raise `InvalidInput` for a length that its pieces cannot have."""
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
        """Return the coefficients of one piece."""
        data = self.load()
        shape = (n,) if data.ndim == 2 else (math.isqrt(n), math.isqrt(n))
        for _ in range(ATTEMPTS_AT_A_VARYING_PIECE):
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


def find_source(name: Any, folder: Path) -> Source | Draw | None:
    """Return real data, or a user's function; None for a distribution of `sparse_signal`."""
    if not isinstance(name, str) or name in DISTRIBUTIONS:
        return None
    if name in SOURCES:
        return SOURCES[name]
    if is_import_path(name):
        found: Draw = import_by_path("distributions", name)
        return found
    if is_data_file(name):
        path, basis = split_data_file(name)
        return Source(functools.partial(load_data, folder / path), functools.partial(_in_basis, basis=basis))
    return None


def _in_basis(x: Array, basis: str) -> Array:
    """Return the coefficients of a piece without its mean; without a transform, the piece itself."""
    return np.array(x) if basis == "none" else np.asarray(transform(x - x.mean(), basis))


def check_source(name: Any, n: int, folder: Path) -> None:
    """Raise `InvalidInput` for a source that is not known, or that has no signals of this length."""
    source = find_source(name, folder)
    if isinstance(source, Source):
        if is_data_file(name):
            check_transform(split_data_file(name)[1])
        source.check(name, n)
    elif source is not None:
        if not callable(source):
            raise InvalidInput(f"distributions: {name} must be a function of (n, nonzeros, rng), got {source!r:.80}")
    elif name not in DISTRIBUTIONS:
        known = ", ".join(map(repr, KNOWN))
        raise InvalidInput(
            f"distributions must be among {known}, a data file such as 'heart.npy db4', or an import path such as "
            f"'mypackage.signals:spikes'; got {name!r}"
        )


def draw_signal(name: str, n: int, nonzeros: int, *, signs: str, rng: np.random.Generator, folder: str = "") -> Array:
    """Return one signal of n coefficients with at most the given number of non-zeros."""
    source = find_source(name, Path(folder))
    if source is None:
        return sparse_signal(n, nonzeros, name, signs=signs, rng=rng)
    if not isinstance(source, Source):
        return with_signs(_check_drawn(name, source(n, nonzeros, rng), n, nonzeros), signs, rng)
    x = source.piece(n, rng)
    x[np.argsort(-np.abs(x), kind="stable")[nonzeros:]] = 0.0
    return with_signs(x, signs, rng)


def _check_drawn(name: str, drawn: Any, n: int, nonzeros: int) -> Array:
    """Refuse what a user's function must not return."""
    x = np.array(drawn, np.float64)
    if x.shape != (n,) or not np.isfinite(x).all() or not 0 < np.count_nonzero(x) <= nonzeros:
        raise InvalidInput(
            f"{name} must return {n} finite numbers, 1 to {nonzeros} of them not zero; got an array of shape {x.shape} "
            f"with {np.count_nonzero(x)} non-zeros"
        )
    return x
