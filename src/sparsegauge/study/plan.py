"""A study: TOML -> Study -> grid of cells. Everything that decides a result is in here; docs/studies.md has every key.

The seed of a trial comes from the values of its cell and not from the solver, the order, the noise or the place in the
grid: every method meets the same x0 and A, and a study with more axes repeats the trials of a smaller one.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import check_choice, check_count, check_number, check_order
from ..errors import InvalidInput
from ..recovery.solver import Solver
from ..simulate import SIGNS
from .axes import Cell, Grid, SolverSetting
from .axis_values import check_axis, check_counts, check_ratio, spread_range
from .external import describe_import, file_hash, import_by_path, is_data_file, is_import_path, split_data_file
from .solver_table import check_solver, has_option, plain_option, read_solver, write_solver
from .sources import check_source

DEFAULT_SUCCESS_BELOW = 1e-3  # relative error, as in the benchmarks
GAUSSIAN = "gaussian"
NUMERIC_AXES = ("nonzeros", "measurements", "noise_db", "orders")


@dataclass(frozen=True, kw_only=True)
class Study:
    """A grid of recoveries: every combination of the values of its axes, repeated with different signals.

    Parameters
    ----------
    n : int
        The length of the signals.
    distributions : sequence of str
        The distributions of the non-zeros, as `sparse_signal` names them: "binomial", "uniform", "normal",
        "exponential"; or real data in a basis, such as "ecg-db4", "camera-dct" or "digits-pixels", of which `nonzeros`
        are the coefficients kept; or a data file with a transform, such as "heart.npy db4"; or the import path of a
        function of (n, nonzeros, rng), such as "mypackage.signals:spikes".
    nonzeros, measurements : sequence of int or str
        Counts out of n, or shares of it such as "10%"; 1 <= nonzeros <= n and 1 <= measurements < n.
    orders : sequence of float
        An axis over the order of the solver. Without it, a solver that has an order uses its own.
    signs : {"natural", "positive", "random"}
        As drawn (N(0, 1) has both signs, the others are positive), all positive, or each by the toss of a coin.
    solver : Solver or mapping of str to Solver
        The solver to study; or several solvers by label, which make an axis `solver`.
    repeats : int
        The number of trials per cell.
    seed : int
        The seed of all randomness.
    noise_db : sequence of float
        Signal-to-noise ratios of the measurements in decibels, inf for none; the solver gets the standard
        deviation. Empty: no noise and no such axis.
    success_below : float
        The largest relative error that counts as a success.
    options : mapping of str to sequence
        Axes over options of the solver, such as ``{"a": [0.2, 0.4], "c": [0.01, 0.1]}`` for the gains of SPSA.
    matrix : str
        "gaussian", or the import path of a function of (m, n, rng) that returns an array or a LinearOperator.
    folder : str
        The directory of data files with relative paths; it is not part of the study's identity.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> study = sg.Study(
    ...     n=20, distributions=["normal"], nonzeros=["10%", "20%"], measurements=range(5, 20, 5), orders=[1, 2],
    ...     signs="random", solver=sg.SPSA(iterations=100), repeats=3, seed=0,
    ... )
    >>> study.nonzeros, study.total
    ((2, 4), 36)
    """

    n: int
    distributions: Sequence[str]
    nonzeros: Sequence[int | str]
    measurements: Sequence[int | str]
    orders: Sequence[float] = ()
    signs: str
    solver: Solver | Mapping[str, Solver]
    repeats: int
    seed: int
    noise_db: Sequence[float] = ()
    success_below: float = DEFAULT_SUCCESS_BELOW
    options: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    matrix: str = GAUSSIAN
    folder: str = dataclasses.field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check every key."""
        n = check_count("n", self.n, least=2)
        checked: dict[str, Any] = {
            "n": n,
            "distributions": self._check_distributions(n),
            "nonzeros": check_counts("nonzeros", self.nonzeros, n, most=n),
            "measurements": check_counts("measurements", self.measurements, n, most=n - 1),
            "solver": self._check_solvers(),
            "noise_db": check_axis("noise_db", self.noise_db, check_ratio, may_be_empty=True),
            "repeats": check_count("repeats", self.repeats, least=1),
            "seed": check_count("seed", self.seed, least=0),
            "success_below": _check_tolerance(self.success_below),
        }
        check_choice("signs", self.signs, SIGNS)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "orders", self._check_orders())
        object.__setattr__(self, "options", self._check_options())
        self._check_matrix()

    def _check_distributions(self, n: int) -> tuple[str, ...]:
        """Return the distributions in the order given: they have none of their own."""

        def check(name: Any) -> Any:
            check_source(name, n, Path(self.folder))
            return name

        return check_axis("distributions", self.distributions, check)

    def _check_solvers(self) -> Solver | dict[str, Solver]:
        if not isinstance(self.solver, Mapping):
            check_solver(self.solver)
            return self.solver
        if not self.solver or not all(isinstance(label, str) and label for label in self.solver):
            raise InvalidInput(f"solver must have a label per solver, at least one, got {list(self.solver)}")
        for solver in self.solver.values():
            check_solver(solver)
        return dict(self.solver)

    def _check_orders(self) -> tuple[float, ...]:
        orders: tuple[float, ...] = check_axis("orders", self.orders, check_order, may_be_empty=True)
        for solver in self.solvers.values():
            name = type(solver).__name__
            if orders and not has_option(solver, "order"):
                raise InvalidInput(f"orders: {name} has no order; leave the key out, or this solver")
            _try_values("orders", solver, "order", orders)
        return orders

    def _check_options(self) -> dict[str, tuple[Any, ...]]:
        if not isinstance(self.options, Mapping):
            raise InvalidInput(f"options must be a table of lists, such as a = [0.2, 0.4], got {self.options!r:.80}")
        return {option: self._check_option(option, values) for option, values in self.options.items()}

    def _check_option(self, option: str, values: Any) -> tuple[Any, ...]:
        key = f"options.{option}"
        if option == "order":
            raise InvalidInput("options.order: use the key orders")
        for solver in self.solvers.values():
            if not has_option(solver, option):
                raise InvalidInput(f"{key} is no option of {type(solver).__name__}, which has {_options_of(solver)}")
        default = next(f.default for f in dataclasses.fields(next(iter(self.solvers.values()))) if f.name == option)
        checked = check_axis(key, values, lambda value: plain_option(value, default))
        for solver in self.solvers.values():
            _try_values(key, solver, option, checked)
        return checked

    def _check_matrix(self) -> None:
        if self.matrix == GAUSSIAN:
            return
        if not is_import_path(self.matrix):
            raise InvalidInput(
                f"matrix must be {GAUSSIAN!r} or an import path such as 'mypackage.matrices:dft', got {self.matrix!r}"
            )
        if not callable(import_by_path("matrix", self.matrix)):
            raise InvalidInput(f"matrix: {self.matrix} must be a function of (m, n, rng)")

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Study:
        """Return the study that a TOML file describes; errors name the key.

        Modules and data files are also looked for in the directory of the file.
        """
        folder = Path(path).resolve().parent
        try:
            with Path(path).open("rb") as file:
                keys = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} is not valid TOML: {error}") from error
        if str(folder) not in sys.path:
            sys.path.append(str(folder))  # at the end: it hides no other module
        try:
            return cls.from_dict(keys, folder=str(folder))
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from error

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any], *, folder: str = "") -> Study:
        """Return a study from the keys of a study file."""
        fields = {field.name: field for field in dataclasses.fields(cls) if field.name != "folder"}
        unknown = [key for key in keys if key not in fields and key != "solvers"]
        if unknown:
            raise InvalidInput(f"{unknown[0]} is no key of a study; the keys are {', '.join([*fields, 'solvers'])}")
        missing = [name for name, field in fields.items() if name not in {*keys, "solver"} and _is_required(field)]
        if missing:
            raise InvalidInput(f"{missing[0]} is missing; docs/studies.md has a complete example")
        if "solver" not in keys and "solvers" not in keys:
            raise InvalidInput("solver is missing; give one table [solver], or several [solvers.LABEL] for an axis")
        if "solver" in keys and "solvers" in keys:
            raise InvalidInput("solver and solvers are both there; keep one of them")
        for name in ("orders", "noise_db"):
            if name in keys and keys[name] == []:
                raise InvalidInput(f"{name} must have at least one value, got []; leave the key out for no such axis")
        values = {name: value for name, value in keys.items() if name not in ("solver", "solvers")}
        values |= {name: spread_range(name, values[name]) for name in NUMERIC_AXES if name in values}
        if isinstance(values.get("noise_db"), int | float):
            values["noise_db"] = [values["noise_db"]]
        return cls(**values, solver=_read_solvers(keys), folder=folder)

    def to_dict(self) -> dict[str, Any]:
        """Return every key, with every option of the solver written out: what a store remembers the study by."""
        write = functools.partial(write_solver, has_orders=bool(self.orders), without=self.options)
        tables = {label: write(solver) for label, solver in self.solvers.items()}
        keys: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "solver":
                keys |= {"solvers": tables} if isinstance(value, Mapping) else {"solver": tables[""]}
            elif field.name == "options":
                keys |= {"options": {name: list(values) for name, values in value.items()}} if value else {}
            elif field.name not in ("folder", "matrix") or (field.name == "matrix" and value != GAUSSIAN):
                keys[field.name] = list(value) if isinstance(value, tuple) else value
        return {name: value for name, value in keys.items() if value != []}

    @property
    def external(self) -> dict[str, dict[str, str]]:
        """What the study takes from outside the package, each with its version or the hash of its file."""
        names = [name for name in (*self.distributions, self.matrix) if is_import_path(name)]
        for solver in self.solvers.values():
            table = write_solver(solver, has_orders=False)
            names += [table[key] for key in ("name", "metric") if is_import_path(table.get(key))]
        found = {name: describe_import(name) for name in dict.fromkeys(names)}
        files = [name for name in self.distributions if not is_import_path(name) and is_data_file(name)]
        return found | {name: {"sha256": file_hash(Path(self.folder, split_data_file(name)[0]))} for name in files}

    @property
    def solvers(self) -> dict[str, Solver]:
        """The solvers by their labels; a single one has the label ""."""
        return dict(self.solver) if isinstance(self.solver, Mapping) else {"": self.solver}

    @functools.cached_property
    def grid(self) -> Grid:
        """The axes and the number of trials."""
        return Grid.of(self.to_dict(), self.solvers)

    @property
    def total(self) -> int:
        """How many reconstructions there are."""
        return self.grid.total

    def cells(self) -> Iterator[Cell]:
        """Yield the work units, in the order of the table."""
        return self.grid.cells()

    def settings(self, cell: Cell) -> list[SolverSetting]:
        """Return what is done to each trial of a cell, in the order of the axes that share trials."""
        return self.grid.settings(cell, None if isinstance(self.solver, Mapping) else self.solver)

    def trial_seed(self, cell: Cell, trial: int) -> np.random.SeedSequence:
        """Return where a trial's randomness comes from."""
        values = (self.n, self.signs, *cell.values, trial)
        digest = hashlib.sha256(repr(values).encode()).digest()
        return np.random.SeedSequence([self.seed, *np.frombuffer(digest, "<u4").tolist()])


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _read_solvers(keys: Mapping[str, Any]) -> Solver | dict[str, Solver]:
    has_orders = "orders" in keys
    if "solver" in keys:
        return read_solver(keys["solver"], has_orders=has_orders)
    tables = keys["solvers"]
    if not isinstance(tables, Mapping) or not tables:
        raise InvalidInput(f"solvers must be tables [solvers.LABEL], one per solver, got {tables!r:.80}")
    return {label: read_solver(table, key=f"solvers.{label}", has_orders=has_orders) for label, table in tables.items()}


def _options_of(solver: Solver) -> str:
    return ", ".join(field.name for field in dataclasses.fields(solver))


def _try_values(key: str, solver: Solver, option: str, values: Sequence[Any]) -> None:
    """Refuse values of an option that the solver refuses."""
    for value in values:
        try:
            dataclasses.replace(solver, **{option: value})
        except InvalidInput as error:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            raise InvalidInput(f"{key}: {type(solver).__name__} refuses {text} ({error})") from error


def _check_tolerance(value: Any) -> float:
    if not 0 < check_number("success_below", value) < math.inf:
        raise InvalidInput(
            f"success_below must be a number above 0, got {value!r}; the default is {DEFAULT_SUCCESS_BELOW:g}"
        )
    return float(value)
