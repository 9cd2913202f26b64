"""The axes of a study: each owns its values, its column in the table, and what a value changes in a trial.

A study's grid is a list of axes and a number of trials. Cells, seeds, the columns of parts, tables and figures are read
off that list. A new kind of axis is one entry of `KINDS`, and one key of `Study`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Damaged, InvalidInput
from ..recovery.solver import Solver

RECONSTRUCTIONS_PER_UNIT = 256  # about: what a crash may cost, and what Ctrl-C waits for

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class SolverSetting:
    """Everything that axes can change in a trial."""

    distribution: str = ""
    nonzeros: int = 0
    measurements: int = 0
    noise_db: float = math.inf
    solver: Solver | None = None

    @property
    def method(self) -> Solver:
        """The solver, which every setting of a run has."""
        assert self.solver is not None
        return self.solver


@dataclass(frozen=True)
class Kind:
    """What all axes of one kind share.

    Parameters
    ----------
    name : str
        The key of the study, and the column of the table.
    label, symbol : str
        How figures and pages call the axis and its values: "measurements M", "M".
    dtype : type
        Of the column.
    is_seeded : bool
        Whether the seed of a trial depends on the value. Trials are shared by all values of the other axes, so that
        every method and every level of noise meets the same signal and matrix.
    apply : callable
        Returns a `SolverSetting` with the value in place.
    """

    name: str
    label: str
    symbol: str
    dtype: Any
    is_seeded: bool
    apply: Callable[[SolverSetting, Any], SolverSetting]


def _set_field(field: str, setting: SolverSetting, value: Any) -> SolverSetting:
    return dataclasses.replace(setting, **{field: value})


def _set_option(option: str, setting: SolverSetting, value: Any) -> SolverSetting:
    return dataclasses.replace(setting, solver=dataclasses.replace(setting.method, **{option: value}))


def _field(name: str) -> Callable[[SolverSetting, Any], SolverSetting]:
    return functools.partial(_set_field, name)  # and no lambda, because workers are sent a pickle


def _option(name: str) -> Callable[[SolverSetting, Any], SolverSetting]:
    return functools.partial(_set_option, name)


# in the order of the columns; the options of a solver come before the orders
KINDS = {
    kind.name: kind
    for kind in (
        Kind("distributions", "distribution", "", object, True, _field("distribution")),
        Kind("nonzeros", "non-zeros K", "K", np.int64, True, _field("nonzeros")),
        Kind("measurements", "measurements M", "M", np.int64, True, _field("measurements")),
        Kind("noise_db", "signal-to-noise ratio (dB)", "SNR", np.float64, False, _field("noise_db")),
        Kind("solver", "solver", "", object, False, _field("solver")),
        Kind("orders", "order p", "order", np.float64, False, _option("order")),
    )
}


def option_kind(option: str, values: Sequence[Any]) -> Kind:
    """Return the kind of an axis over an option of the solver, such as the gain `a` of SPSA."""
    kinds = {type(value) for value in values}
    dtype = np.int64 if kinds == {int} else np.float64 if kinds <= {int, float} else object
    return Kind(option, option, option, dtype, False, _option(option))


def label_axis(name: str) -> str:
    """Return how figures and pages call an axis: "measurements M"."""
    return KINDS[name].label if name in KINDS else name.replace("_", " ")


def label_value(name: str, value: Any) -> str:
    """Return how figures and pages write a value of an axis: "M = 40", "order 2", "normal"."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if name == "orders":
        return f"order {text}"
    symbol = KINDS[name].symbol if name in KINDS else name
    return f"{symbol} = {text}" if symbol else text


def shorten_list(values: Sequence[Any]) -> str:
    """Return the first values in words: "1, 2, 3, 4, 5 and 95 more"."""
    return ", ".join(map(str, values[:5])) + (f" and {len(values) - 5} more" if len(values) > 5 else "")


@dataclass(frozen=True)
class Axis:
    """One axis of a grid: a kind, and its values in the order of the table.

    `objects` are what the values stand for, where a value is only a name: the solvers of the axis `solver`.
    """

    kind: Kind
    values: tuple[Any, ...]
    objects: Mapping[Any, Any] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key of the study, and the column of the table."""
        return self.kind.name

    def apply(self, setting: SolverSetting, value: Any) -> SolverSetting:
        """Return the setting with one value of this axis in place."""
        return self.kind.apply(setting, self.objects.get(value, value))

    def column(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Return the values at some positions, with the type of the column."""
        return self._held[codes]

    @functools.cached_property
    def _held(self) -> NDArray[Any]:
        held = np.empty(len(self.values), self.kind.dtype)
        held[:] = self.values
        return held

    @functools.cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self._held, kind="stable")

    @functools.cached_property
    def _positions(self) -> dict[Any, int]:
        return {value: i for i, value in enumerate(self.values)}

    def position(self, value: Any) -> int:
        """Return where a value stands among those of the axis."""
        return self._positions[value]

    def at(self, wanted: Iterable[Any]) -> Axis:
        """Return the axis with some of its values alone, in their order."""
        chosen = set(wanted)
        strange = [value for value in chosen if value not in self._positions]
        if strange or not chosen:
            came = f"has no {strange[0]!r}" if strange else "must keep at least one value"
            raise InvalidInput(f"{self.name} {came}; it has {shorten_list(self.values)}")
        return dataclasses.replace(self, values=tuple(value for value in self.values if value in chosen))

    def codes(self, column: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each value of a column; the inverse of `column`."""
        ordered = self._held[self._order]
        places = np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)
        strange = np.flatnonzero(ordered[places] != column)
        if len(strange):
            raise Damaged(f"has {self.name} = {column[strange[0]]}, which the study has not")
        return self._order[places]


@dataclass(frozen=True)
class Cell:
    """A work unit: some trials at one value of each seeded axis, shared by all values of the other axes."""

    values: tuple[Any, ...]
    first: int
    trials: int


@dataclass(frozen=True)
class Grid:
    """Every combination of the values of the axes, with the same number of trials for each."""

    axes: tuple[Axis, ...]
    repeats: int

    @classmethod
    def of(cls, keys: Mapping[str, Any], solvers: Mapping[str, Solver] | None = None) -> Grid:
        """Return the grid of a study from its keys, as `Study.to_dict` writes them.

        The solvers themselves are only needed to run it: a store can be read without the modules that define them.
        """
        axes = []
        missing = [name for name in ("distributions", "nonzeros", "measurements") if not keys[name]]
        if missing or not isinstance(keys["repeats"], int) or keys["repeats"] < 1:
            raise ValueError(f"{missing[0] if missing else 'repeats'} must have a value")
        for name, kind in KINDS.items():
            if name == "orders":
                options = keys.get("options", {})
                axes += [Axis(option_kind(option, values), tuple(values)) for option, values in options.items()]
            values = keys.get("solvers" if name == "solver" else name, ())
            if len(values):
                axes.append(Axis(kind, tuple(values), (solvers or {}) if name == "solver" else {}))
        return cls(tuple(axes), keys["repeats"])

    @functools.cached_property
    def seeded(self) -> tuple[Axis, ...]:
        """The axes that decide a trial's seed."""
        return tuple(axis for axis in self.axes if axis.kind.is_seeded)

    @functools.cached_property
    def shared(self) -> tuple[Axis, ...]:
        """The axes whose values all meet the same trials."""
        return tuple(axis for axis in self.axes if not axis.kind.is_seeded)

    @property
    def coordinates(self) -> dict[str, tuple[Any, ...]]:
        """The values by the names of the axes, in the order of the table's rows; the trial comes last."""
        return {axis.name: axis.values for axis in self.axes} | {"trial": tuple(range(self.repeats))}

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has; then the number of trials."""
        return (*(len(axis.values) for axis in self.axes), self.repeats)

    @property
    def shared_shape(self) -> tuple[int, ...]:
        """How many values each shared axis has."""
        return tuple(len(axis.values) for axis in self.shared)

    @property
    def seeded_shape(self) -> tuple[int, ...]:
        """How many values each seeded axis has."""
        return tuple(len(axis.values) for axis in self.seeded)

    @property
    def total(self) -> int:
        """How many reconstructions there are."""
        return math.prod(self.shape)

    @functools.cached_property
    def edges(self) -> NDArray[np.intp]:
        """Where the trials of a combination of seeded values are cut into work units, evenly; from 0 to `repeats`."""
        most = max(1, RECONSTRUCTIONS_PER_UNIT // math.prod(self.shared_shape))
        return np.linspace(0, self.repeats, math.ceil(self.repeats / most) + 1).astype(np.intp)

    def cells(self) -> Iterator[Cell]:
        """Yield the work units, in the order of the table; trials of a large cell are shared out evenly."""
        edges = self.edges.tolist()
        for values in itertools.product(*(axis.values for axis in self.seeded)):
            for first, last in itertools.pairwise(edges):
                yield Cell(values, first, last - first)

    def at(self, where: Mapping[str, Any]) -> Grid:
        """Return the grid of some values alone: one value or several of each axis that is named."""
        axes = {axis.name: axis for axis in self.axes}
        for name, wanted in where.items():
            if name not in axes:
                raise InvalidInput(f"there is no axis {name!r}; the axes are {', '.join(axes)}")
            axes[name] = axes[name].at((wanted,) if isinstance(wanted, str) or not np.iterable(wanted) else wanted)
        return Grid(tuple(axes.values()), self.repeats)

    def describe(self, cell: Cell) -> str:
        """Return a cell in words."""
        where = [f"{axis.name} {value}" for axis, value in zip(self.seeded, cell.values, strict=True)]
        return ", ".join([*where, f"trials {cell.first}..{cell.first + cell.trials - 1}"])

    def drawn(self, cell: Cell) -> SolverSetting:
        """Return what the trials of a cell are drawn with: the values of the seeded axes alone."""
        setting = SolverSetting()
        for axis, value in zip(self.seeded, cell.values, strict=True):
            setting = axis.apply(setting, value)
        return setting

    def settings(self, cell: Cell, solver: Solver | None) -> list[SolverSetting]:
        """Return what is done to each trial of a cell: one setting per combination of the shared axes."""
        settings = [dataclasses.replace(self.drawn(cell), solver=solver)]
        for axis in self.shared:
            settings = [axis.apply(before, value) for before in settings for value in axis.values]
        return settings

    def codes(self, rows: Columns) -> tuple[NDArray[np.intp], ...]:
        """Return where rows belong in an array of the grid's shape."""
        trial = rows["trial"]
        strange = np.flatnonzero((trial < 0) | (trial >= self.repeats))
        if len(strange):
            raise Damaged(f"has trial = {trial[strange[0]]}, which the study has not")
        return (*(axis.codes(rows[axis.name]) for axis in self.axes), trial.astype(np.intp))
