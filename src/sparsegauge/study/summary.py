"""Summaries of studies over their trials: means, standard errors and success rates on named axes.

The package carries summaries of the studies in `studies/` (`SHIPPED` names them); the raw tables behind them do not fit
into it. A summary is one ``.npz`` file that needs NumPy alone, with the manifest of the store that it was made from.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import check_choice
from .._platform.writing import replace_file
from ..errors import InvalidInput
from .manifest import Manifest
from .tables import AVERAGED, averages, read

SHIPPED = {
    "spsa": "the paper's whole grid with its own solver, 100 trials per cell; paired errors at M = 10, 20, ..., 90",
    "reweighted": "the same grid with GDSReweighted at three orders, 5 trials per cell",
    "real_orders": "SPSA at orders 1.0, 1.1, ..., 2.0",
    "gains": "SPSA with other gains a and c",
    "paper_gains": "the paper's whole grid at c = 0.01 and a = 0.2 or 0.4, 10 trials per cell",
    "paper_short_steps": "the paper's whole grid at a = 0.2 and c = 0.1, 10 trials per cell",
    "paper_long_steps": "the paper's whole grid at a = 1.6 and c = 0.1, 10 trials per cell",
    "literal": "SPSA with the point projected and absolute gains, 10 trials per cell",
    "random_signs": "SPSA on some cells of the paper's grid with random signs",
    "convergence": "SPSA with 100 to 100,000 iterations",
    "solvers": "other solvers on a coarser grid",
    "ascent": "the exact gradient in place of SPSA, on a coarser grid",
    "noise": "GDSReweighted with noise",
    "noise_spsa": "SPSA with noise",
    "real_data": "GDSReweighted on an electrocardiogram, photographs and digits",
    "real_data_spsa": "SPSA on the same data",
}


def kept_values(axes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the values that a summary with these axes keeps."""
    means = [f"{name}_{word}" for name in AVERAGED for word in ("mean", "standard_error")]
    leads = ["mse_lead_error"] if "orders" in axes else []
    return (*means, *leads, "mse_median", "success_rate", "success_rate_standard_error", "trials")


@dataclass(frozen=True)
class Summary:
    """Arrays over named axes.

    Parameters
    ----------
    axes : mapping of str to tuple
        The values along each axis, in the order of the arrays' dimensions.
    values : mapping of str to ndarray
        `mse_mean`, `mse_standard_error` and so on, and `trials`: how many each mean is over. `mse_lead_error` is the
        standard error of the paired difference between the error of an order and that of the best order of its cell;
        it is NaN where it was not computed.
    manifest : mapping
        Of the store: the study with every option, and the versions that worked on it. Of several studies put
        together, the list of theirs is under `studies`.
    """

    axes: Mapping[str, tuple[Any, ...]]
    values: Mapping[str, NDArray[Any]]
    manifest: Mapping[str, Any]

    def at(self, **where: Any) -> Summary:
        """Return the part at some values, of which a single one drops its axis and a sequence keeps it.

        Examples
        --------
        >>> from sparsegauge.study.summary import shipped
        >>> part = shipped("spsa").at(distributions="normal", nonzeros=20, measurements=[10, 50])
        >>> part.axes["measurements"], part.values["mse_mean"].shape
        ((10, 50), (2, 10))
        """
        found = self
        for axis, wanted in where.items():
            many = not isinstance(wanted, str) and np.iterable(wanted)
            found = found._cut(axis, tuple(wanted) if many else (wanted,), drop=not many)
        return found

    def _cut(self, axis: str, wanted: tuple[Any, ...], *, drop: bool) -> Summary:
        if axis not in self.axes:
            raise InvalidInput(f"there is no axis {axis!r}; the axes are {', '.join(self.axes)}")
        missing = [value for value in wanted if value not in self.axes[axis]]
        if missing:
            raise InvalidInput(f"{axis} has no {missing[0]!r}; it has {', '.join(map(str, self.axes[axis]))}")
        dimension = list(self.axes).index(axis)
        places = [self.axes[axis].index(value) for value in wanted]
        index: Any = places[0] if drop else places
        values = {name: np.take(array, index, dimension) for name, array in self.values.items()}
        axes = {name: wanted if name == axis else held for name, held in self.axes.items()}
        return Summary({name: held for name, held in axes.items() if name != axis or not drop}, values, self.manifest)

    def mean_over(self, name: str, *, keep: Sequence[str]) -> NDArray[Any]:
        """Return the mean of a value over all axes but those in `keep`, in the order of `keep`."""
        names = list(self.axes)
        mean = self.values[name].mean(axis=tuple(k for k, axis in enumerate(names) if axis not in keep))
        left = [axis for axis in names if axis in keep]
        return np.asarray(mean.transpose([left.index(axis) for axis in keep]))

    def save(self, path: str | PathLike[str]) -> None:
        """Write one ``.npz`` file in one step; numbers keep six digits, more than their standard errors justify."""
        about = json.dumps({"axes": {name: list(held) for name, held in self.axes.items()}, "manifest": self.manifest})
        kinds = {name: np.int32 if name == "trials" else np.float32 for name in self.values}
        arrays: dict[str, Any] = {name: array.astype(kinds[name]) for name, array in self.values.items()}
        file = io.BytesIO()
        np.savez_compressed(file, about=np.array(about), **arrays)
        replace_file(Path(path), file.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Summary:
        """Read what `save` wrote."""
        return cls._read(Path(path).read_bytes())

    @classmethod
    def _read(cls, data: bytes) -> Summary:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        axes = {name: tuple(held) for name, held in about["axes"].items()}
        widened = {name: array if name == "trials" else array.astype(np.float64) for name, array in arrays.items()}
        return cls(axes, widened, about["manifest"])


def summarise(store: str | PathLike[str]) -> Summary:
    """Summarise a store; of one that is not finished, what is there so far, with a `StudyWarning`.

    Parameters
    ----------
    store : path
        The directory that `run_study` wrote to. A store without any results is an `InvalidInput`.
    """
    results = read(store)
    means = averages(results)
    if not means["trials"].any():
        raise InvalidInput(f"{store} has no results yet; compute some first: `sparsegauge study run`, or `run_study`")
    axes = {axis.name: axis.values for axis in results.grid.axes}
    manifest = Manifest.read(Path(store))
    about: dict[str, Any] = {"study": manifest.keys, "versions": manifest.versions}
    about |= {"external": manifest.external} if manifest.external else {}
    return Summary(axes, {name: means[name] for name in kept_values(axes)}, about)


def put_together(axis: str, summaries: Mapping[Any, Summary]) -> Summary:
    """Put studies that differ in one thing along a new first axis of that name; they must share all other axes."""
    first = next(iter(summaries.values()))
    for value, summary in summaries.items():
        if dict(summary.axes) != dict(first.axes):
            raise InvalidInput(f"{axis} = {value} has other axes than the rest: {dict(summary.axes)}")
    values = {name: np.stack([summary.values[name] for summary in summaries.values()]) for name in first.values}
    manifest = {"studies": {str(value): summary.manifest for value, summary in summaries.items()}}
    return Summary({axis: tuple(summaries)} | dict(first.axes), values, manifest)


@functools.cache
def shipped(name: str) -> Summary:
    """Return a summary that comes with the package.

    Parameters
    ----------
    name : str
        A key of `SHIPPED`.

    Examples
    --------
    >>> from sparsegauge.study.summary import shipped
    >>> shipped("spsa").axes["nonzeros"]
    (10, 20, 30, 40, 50, 60)
    """
    check_choice("name", name, tuple(SHIPPED))
    return Summary._read((resources.files("sparsegauge.study") / "shipped" / f"{name}.npz").read_bytes())


def first_study(summary: Summary) -> Mapping[str, Any]:
    """Return the keys of the study behind a summary; of several put together, those of the first."""
    manifest = summary.manifest
    while "studies" in manifest:
        manifest = next(iter(manifest["studies"].values()))
    study: Mapping[str, Any] = manifest["study"]
    return study
