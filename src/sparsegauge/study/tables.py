"""Read what a store holds as tables: rows in canonical order, whatever order they were computed in."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.writing import draft_of
from ..errors import InvalidInput, StudyWarning
from .axes import Grid
from .inventory import begin_again, read_rows
from .lazy_tables import RowsOfGrid, frame_of, scan_study, warn_of_damage
from .manifest import Manifest
from .parts import MEASURED, NEEDS, Results
from .store import read_timings

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

AVERAGED = ("mse", "relative_error", "nit")
FORMATS = (".parquet", ".csv", ".nc")


def load_study(
    store: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    lazy: bool = False,
) -> pd.DataFrame:
    """Return the results of a study as a tidy table: one row per combination of the axes and trial.

    The columns are the study's axes (`distributions`, `nonzeros`, `measurements`, and `noise_db`, `solver`, options of
    the solver and `orders` where it has them), `trial`, and `mse`, `relative_error`, `success` and `nit`; the rows are
    sorted by the axes, in their order. Two runs of a study give equal tables. Of a study that is not finished, the rows
    that are there so far come with a `StudyWarning`, and so does a damaged part.

    Parameters
    ----------
    store : path
        The directory that `run_study` wrote to.
    columns : sequence of str, optional
        Which columns, in this order; all by default.
    where : mapping of str to values, optional
        One value or several of some axes, such as ``{"distributions": "normal", "orders": [1, 2]}``; other rows are
        left out, and no memory is taken for them.
    lazy : bool
        Return a ``dask.dataframe.DataFrame`` that reads one part of the store at a time, when it is asked for. Its rows
        are in the order of the parts.

    Examples
    --------
    >>> import tempfile
    >>> import sparsegauge as sg
    >>> study = sg.Study(
    ...     n=20, distributions=["normal", "uniform"], nonzeros=[2], measurements=[8, 12], signs="random",
    ...     solver=sg.OMP(), repeats=3, seed=0,
    ... )
    >>> with tempfile.TemporaryDirectory() as store:
    ...     done = sg.run_study(study, store).done
    ...     table = sg.load_study(store, columns=["distributions", "trial", "success"], where={"measurements": 12})
    >>> table.shape
    (6, 3)
    """
    import_extra("pandas", NEEDS)
    directory = Path(store)
    manifest = Manifest.read(directory)
    grid = manifest.grid.at(where or {})
    chosen = _check_columns(columns, [*grid.coordinates, *MEASURED])
    if lazy:
        return scan_study(directory, manifest, grid, chosen)
    results = read(store, grid, [name for name in MEASURED if name in chosen])
    *codes, trial = np.nonzero(results.present)
    frame = frame_of(grid, (*codes, trial), {name: array[results.present] for name, array in results.values.items()})
    return frame[chosen]


def _check_columns(columns: Sequence[str] | None, known: list[str]) -> list[str]:
    if columns is None:
        return known
    chosen = [columns] if isinstance(columns, str) else list(columns)
    strange = [name for name in chosen if name not in known]
    if strange or not chosen or len(set(chosen)) < len(chosen):
        raise InvalidInput(f"columns must be some of {', '.join(known)}, each once, got {columns!r:.80}")
    return chosen


def study_dataset(store: str | PathLike[str]) -> xr.Dataset:
    """Return the results of a study on its named axes, with their means over the trials.

    `mse`, `relative_error`, `success` and `nit` have the dimension `trial` too, and NaN where a trial is not there yet;
    `mse_mean` and `mse_standard_error` (and so for `relative_error` and `nit`), `mse_median`, `success_rate` and
    `success_rate_standard_error` are over the trials, of which there are `trials`. ``drop_dims("trial")`` leaves these.

    Parameters
    ----------
    store : path
        The directory that `run_study` wrote to.

    Examples
    --------
    >>> import tempfile
    >>> import sparsegauge as sg
    >>> study = sg.Study(
    ...     n=20, distributions=["normal"], nonzeros=[2], measurements=[8, 12], signs="random",
    ...     solver=sg.OMP(), repeats=3, seed=0,
    ... )
    >>> with tempfile.TemporaryDirectory() as store:
    ...     done = sg.run_study(study, store).done
    ...     found = sg.study_dataset(store)
    >>> dict(found.success.sizes)
    {'distributions': 1, 'nonzeros': 1, 'measurements': 2, 'trial': 3}
    """
    xarray = import_extra("xarray", NEEDS)
    results = read(store)
    axes = results.grid.coordinates
    present, arrays = results.present, results.values
    means = averages(results)
    if not present.all():
        arrays = {name: np.where(present, array, np.nan) for name, array in arrays.items()}
    dimensions = tuple(axes)
    variables = {name: (dimensions, array) for name, array in arrays.items()}
    variables |= {name: (dimensions[:-1], array) for name, array in means.items()}
    dataset: xr.Dataset = xarray.Dataset(variables, coords={name: list(values) for name, values in axes.items()})
    return dataset


def averages(results: Results) -> dict[str, NDArray[Any]]:
    """Return means, standard errors and success rates over the trials, and how many there are."""
    present, arrays = results.present, results.values
    means = {f"{name}_{word}": value for name in AVERAGED for word, value in _summary(arrays[name], present).items()}
    rate = _summary(arrays["success"], present)
    means |= {"success_rate": rate["mean"], "success_rate_standard_error": rate["standard_error"]}
    means["mse_median"] = _median(arrays["mse"], present)  # a single iterate that diverged can dominate the mean
    if "orders" in results.grid.coordinates:
        along = list(results.grid.coordinates).index("orders")
        means["mse_lead_error"] = _lead_error(arrays["mse"], present, means["mse_mean"], along)
    return means | {"trials": np.count_nonzero(present, axis=-1)}


def _lead_error(values: NDArray[Any], present: NDArray[np.bool_], mean: NDArray[Any], along: int) -> NDArray[Any]:
    """Return the standard error of the paired difference between each order and the best one, trial by trial."""
    best = np.argmin(np.where(np.isnan(mean), np.inf, mean), axis=along, keepdims=True)[..., None]
    with np.errstate(invalid="ignore", over="ignore"):
        difference = values - np.take_along_axis(values, best, axis=along)
    both = present & np.take_along_axis(present, best, axis=along)
    return _summary(difference, both)["standard_error"]


def _median(values: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the median over the trials that are there; NaN where there are none."""
    ordered = np.sort(np.where(present, values, np.inf), axis=-1)
    count = np.count_nonzero(present, axis=-1)[..., None]
    middle = [np.take_along_axis(ordered, np.maximum(place, 0), axis=-1) for place in ((count - 1) // 2, count // 2)]
    return np.where(count > 0, (middle[0] + middle[1]) / 2, np.nan)[..., 0]


def timings(store: str | PathLike[str]) -> pd.DataFrame:
    """Return how long each work unit took, on which worker, and when: all that differs between two runs of a study.

    One row per unit: `distributions`, `nonzeros`, `measurements`, `first_trial`, `trials`, `seconds` (of all methods
    and levels of noise), `worker` (host:process), `session` (when the run began) and `finished`, both in Unix time.
    """
    return import_extra("pandas", NEEDS).DataFrame(read_timings(store))


def export(store: str | PathLike[str], path: str | PathLike[str]) -> None:
    """Write the table as ``.parquet`` or ``.csv``, or the dataset as ``.nc``; an old file is replaced in one step."""
    target = Path(path)
    check_format(target)
    with draft_of(target) as draft:
        if target.suffix == ".nc":
            study_dataset(store).to_netcdf(draft, engine="scipy")
        elif target.suffix == ".csv":
            load_study(store).to_csv(draft, index=False)
        else:
            load_study(store).to_parquet(draft, index=False)


def check_format(path: Path) -> None:
    """Raise `InvalidInput` unless `export` knows the format of the file."""
    if path.suffix not in FORMATS:
        raise InvalidInput(f"{path} must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def read(store: str | PathLike[str], grid: Grid | None = None, measured: Sequence[str] = tuple(MEASURED)) -> Results:
    """Return everything that can be trusted, with a `StudyWarning` about the rest.

    `grid` is the part of the study's grid that is wanted, `measured` the columns besides the axes.
    """
    directory = Path(store)
    manifest = Manifest.read(directory)
    wanted = RowsOfGrid.of(manifest.grid, grid or manifest.grid)

    def attempt() -> tuple[Results, dict[str, str]]:
        results = Results.empty(wanted.part, measured)
        columns = [*wanted.part.coordinates, *measured]
        take = wanted.picked(results.put)
        return results, read_rows(directory, manifest, "results", take, columns=columns, keep=wanted.may_hold)

    results, damaged = begin_again(attempt)
    warn_of_damage(directory, damaged)
    if results.done < results.grid.total:
        text = f"{store} is not finished: it has {results.done:,} of {results.grid.total:,} rows"
        warnings.warn(text, StudyWarning, stacklevel=3)
    return results


def _summary(values: NDArray[Any], present: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return the mean over the trials that are there, and its standard error s / sqrt(trials); NaN where unknown."""
    trials = np.count_nonzero(present, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.sum(values, axis=-1, where=present, dtype=float) / trials
        squares = np.sum((values - mean[..., None]) ** 2, axis=-1, where=present)
        error = np.sqrt(squares / (trials - 1.0) / trials)
    return {"mean": mean, "standard_error": np.where(trials > 1, error, np.nan)}
