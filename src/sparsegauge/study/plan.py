"""A study: TOML -> Study -> cells. Everything that decides a result is in here; docs/studies.md has every key.

The seed of a trial comes from the values of its cell and not from the solver, the order, the noise or the place in the
grid: every method meets the same x0 and A, and a study with more axes repeats the trials of a smaller one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import check_choice, check_count, check_number, check_order
from ..errors import InvalidInput
from ..recovery.registry import SOLVERS
from ..recovery.solver import Solver
from ..simulate import SIGNS
from .sources import KNOWN, check_source

WORK_UNIT = 256  # reconstructions that a worker is given at once, about: what a crash may cost, and Ctrl-C wait for
SUCCESS = 1e-3  # the largest relative error of a success, as in the benchmarks


@dataclass(frozen=True)
class Cell:
    """A work unit: some trials at one place of the grid, shared by all orders and all levels of noise."""

    distribution: str
    nonzeros: int
    measurements: int
    first: int
    trials: int

    def __str__(self) -> str:
        last = self.first + self.trials - 1
        return (
            f"distribution {self.distribution}, {self.nonzeros} nonzeros, {self.measurements} measurements, "
            f"trials {self.first}..{last}"
        )


@dataclass(frozen=True, kw_only=True)
class Study:
    """A grid of recoveries: every distribution x nonzeros x measurements x noise_db x order, so many times over.

    Parameters
    ----------
    n : int
        The length of the signals.
    distributions : sequence of str
        Of the non-zeros, as `sparse_signal` names them: "binomial", "uniform", "normal", "exponential"; or real data
        in a basis, such as "ecg-db4", "camera-dct" or "digits-pixels", of which `nonzeros` are the coefficients kept.
    nonzeros, measurements : sequence of int
        Counts out of n; 1 <= nonzeros <= n and 1 <= measurements < n.
    orders : sequence of float
        Of a solver that has an order; a solver without one takes no orders.
    signs : {"natural", "positive", "random"}
        As drawn (N(0, 1) has both signs, the others are positive), all positive, or each by the toss of a coin.
    solver : Solver
        What is studied; its own `order` gives way to the axis.
    repeats : int
        Trials in each cell.
    seed : int
        Of all randomness.
    noise_db : sequence of float
        Signal-to-noise ratios of the measurements in decibels, inf for none; the solver is told the standard
        deviation. Empty: no noise and no such axis.
    success_below : float
        The largest relative error that counts as a success.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> study = sg.Study(
    ...     n=20, distributions=["normal"], nonzeros=[2, 4], measurements=range(5, 20, 5), orders=[1, 2],
    ...     signs="random", solver=sg.SPSA(iterations=100), repeats=3, seed=0,
    ... )
    >>> study.total
    36
    """

    n: int
    distributions: Sequence[str]
    nonzeros: Sequence[int]
    measurements: Sequence[int]
    orders: Sequence[float] = ()
    signs: str
    solver: Solver
    repeats: int
    seed: int
    noise_db: Sequence[float] = ()
    success_below: float = SUCCESS

    def __post_init__(self) -> None:
        """Every key is checked here."""
        n = check_count("n", self.n, least=2)
        checked: dict[str, Any] = {
            "n": n,
            "distributions": _words("distributions", self.distributions, n),
            "nonzeros": _axis("nonzeros", self.nonzeros, lambda value: _count_up_to("nonzeros", value, n)),
            "measurements": _axis("measurements", self.measurements, lambda v: _count_up_to("measurements", v, n - 1)),
            "orders": self._checked_orders(),
            "noise_db": _axis("noise_db", self.noise_db, _ratio, may_be_empty=True),
            "repeats": check_count("repeats", self.repeats, least=1),
            "seed": check_count("seed", self.seed, least=0),
            "success_below": _tolerance(self.success_below),
        }
        check_choice("signs", self.signs, SIGNS)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _checked_orders(self) -> tuple[float, ...]:
        _check_solver(self.solver)
        name = type(self.solver).__name__
        orders: tuple[float, ...] = _axis("orders", self.orders, check_order, may_be_empty=True)
        if orders and not has_order(self.solver):
            raise InvalidInput(f"orders: {name} has no order; leave the key out")
        if not orders and has_order(self.solver):
            raise InvalidInput(f"orders must have at least one value, since {name} has an order; got none")
        for order in orders:
            try:
                dataclasses.replace(self.solver, order=order)  # type: ignore[call-arg]
            except InvalidInput as error:
                raise InvalidInput(f"orders: {name} refuses {order:g} ({error})") from error
        return orders

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Study:
        """The study that a TOML file describes; errors name the key."""
        try:
            with Path(path).open("rb") as file:
                keys = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} is not valid TOML: {error}") from error
        try:
            return cls.from_dict(keys)
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from error

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any]) -> Study:
        """The same from the keys of such a file."""
        fields = {field.name: field for field in dataclasses.fields(cls)}
        unknown = [key for key in keys if key not in fields]
        if unknown:
            raise InvalidInput(f"{unknown[0]} is no key of a study; the keys are {', '.join(fields)}")
        missing = [name for name, field in fields.items() if field.default is dataclasses.MISSING and name not in keys]
        if missing:
            raise InvalidInput(f"{missing[0]} is missing; docs/studies.md has a complete example")
        for name in ("orders", "noise_db"):
            if name in keys and keys[name] == []:
                raise InvalidInput(f"{name} must have at least one value, got []; leave the key out for no such axis")
        values = {name: _spread(name, value) if name in AXES else value for name, value in keys.items()}
        if isinstance(values.get("noise_db"), int | float):
            values["noise_db"] = [values["noise_db"]]
        return cls(**values | {"solver": _solver_from(values["solver"])})

    def to_dict(self) -> dict[str, Any]:
        """Every key, with every option of the solver written out: what a store remembers the study by."""
        keys = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        keys |= {name: list(keys[name]) for name in AXES if keys[name]} | {"solver": _options_of(self.solver)}
        return {name: value for name, value in keys.items() if value != ()}

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes that the study has, by name, in the order of the table's rows; the trial comes last."""
        axes = {name: tuple(getattr(self, name)) for name in AXES}
        return {name: values for name, values in axes.items() if values} | {"trial": tuple(range(self.repeats))}

    @property
    def shape(self) -> tuple[int, int, int, int, int, int]:
        """How many values each of AXES has, one for those that are absent; then the number of trials."""
        counts = [max(len(getattr(self, name)), 1) for name in AXES]
        return (counts[0], counts[1], counts[2], counts[3], counts[4], self.repeats)

    @property
    def total(self) -> int:
        """How many reconstructions there are."""
        return math.prod(self.shape)

    @property
    def solvers(self) -> list[Solver]:
        """The solver at each order."""
        if not self.orders:
            return [self.solver]
        return [dataclasses.replace(self.solver, order=order) for order in self.orders]  # type: ignore[call-arg]

    def cells(self) -> Iterator[Cell]:
        """The work units, in the order of the table; trials of a large cell are shared out evenly."""
        most = max(1, WORK_UNIT // (self.shape[3] * self.shape[4]))
        edges = np.linspace(0, self.repeats, math.ceil(self.repeats / most) + 1).astype(int).tolist()
        for distribution in self.distributions:
            for nonzeros in self.nonzeros:
                for measurements in self.measurements:
                    for first, last in itertools.pairwise(edges):
                        yield Cell(distribution, nonzeros, measurements, first, last - first)

    def trial_seed(self, cell: Cell, trial: int) -> np.random.SeedSequence:
        """Where a trial's randomness comes from."""
        values = (self.n, self.signs, cell.distribution, cell.nonzeros, cell.measurements, trial)
        digest = hashlib.sha256(repr(values).encode()).digest()
        return np.random.SeedSequence([self.seed, *np.frombuffer(digest, "<u4").tolist()])


AXES = ("distributions", "nonzeros", "measurements", "noise_db", "orders")


def _axis(key: str, values: Any, check: Callable[[Any], Any], *, may_be_empty: bool = False) -> tuple[Any, ...]:
    """The checked values in ascending order."""
    if isinstance(values, str | bytes | Mapping) or not np.iterable(values):
        raise InvalidInput(f"{key} must be a list, or a table such as {{ from = 1, to = 9 }}, got {values!r}")
    try:
        checked = [check(value) for value in values]
    except InvalidInput as error:
        raise error if str(error).startswith(key) else InvalidInput(f"{key}: {error}") from error
    if not checked and not may_be_empty:
        raise InvalidInput(f"{key} must have at least one value, got none")
    if len(set(checked)) < len(checked):
        twice = next(value for value in checked if checked.count(value) > 1)
        raise InvalidInput(f"{key} has {twice} more than once; give each value once")
    return tuple(sorted(checked))


def _words(key: str, values: Any, n: int) -> tuple[str, ...]:
    """Distributions, in the order given: they have none of their own."""
    chosen = _axis(key, values, lambda value: check_choice(key, value, KNOWN))
    for name in chosen:
        check_source(name, n)
    return tuple(value for value in values if value in chosen)


def _count_up_to(key: str, value: Any, most: int) -> int:
    if check_count(key, value, least=1) > most:
        why = "" if key == "nonzeros" else ": with n of them there is nothing to recover"
        raise InvalidInput(f"{key} must be at most {most}, got {value!r}{why}")
    return int(value)


def _ratio(value: Any) -> float:
    ratio = check_number("noise_db", value)
    if not ratio > -math.inf:
        raise InvalidInput(f"noise_db must be a ratio in decibels, or inf for no noise, got {value!r}")
    return ratio


def _tolerance(value: Any) -> float:
    if not 0 < check_number("success_below", value) < math.inf:
        raise InvalidInput(f"success_below must be a number above 0, got {value!r}; the default is {SUCCESS:g}")
    return float(value)


def _spread(key: str, values: Any) -> Any:
    """{ from = 1, to = 2, step = 0.1 } written out, both ends included; lists are left as they are."""
    if not isinstance(values, Mapping):
        return values
    wrong = [name for name in values if name not in ("from", "to", "step")]
    if wrong or "from" not in values or "to" not in values:
        raise InvalidInput(f"{key}: a range is {{ from = ..., to = ..., step = ... }}, got the keys {list(values)}")
    start, stop, step = (check_number(f"{key}.{name}", values.get(name, 1)) for name in ("from", "to", "step"))
    if not (math.isfinite(start) and math.isfinite(stop) and 0 < step < math.inf and stop >= start):
        raise InvalidInput(f"{key}: a range goes up in finite steps above 0, got {dict(values)}")
    count = round((stop - start) / step)
    if abs(start + count * step - stop) > 1e-9 * max(abs(stop), step):
        raise InvalidInput(f"{key}: whole steps of {step:g} from {start:g} do not end at {stop:g}")
    if all(isinstance(value, int) for value in values.values()):
        return list(range(int(start), int(stop) + 1, int(step)))
    return [round(start + k * step, 12) for k in range(count + 1)]  # 1.2 and not 1.2000000000000002


def has_order(solver: Solver | type[Solver]) -> bool:
    """Whether a solver, or a kind of solver, has the option `order`."""
    return "order" in {field.name for field in dataclasses.fields(solver)}


def _check_solver(solver: Any) -> None:
    """One that a file can describe and whose results do not depend on the clock."""
    name = type(solver).__name__
    if not isinstance(solver, Solver) or SOLVERS.get(name) is not type(solver):
        raise InvalidInput(f"solver must be one of {', '.join(SOLVERS)}, with its options; got {solver!r:.80}")
    if getattr(solver, "time_limit", math.inf) < math.inf:
        raise InvalidInput("solver.time_limit: results of a study must not depend on the clock; set other options")
    if callable(getattr(solver, "metric", None)):
        raise InvalidInput("solver.metric must be the name of a metric: a store cannot remember a function")


def _solver_from(table: Any) -> Solver:
    if not isinstance(table, Mapping):
        raise InvalidInput(f'solver must be a table: [solver], then name = "SPSA" and options; got {table!r}')
    name = table.get("name")
    if not isinstance(name, str) or name not in SOLVERS:
        raise InvalidInput(f"solver.name must be one of {', '.join(SOLVERS)}, got {name!r}")
    kind = SOLVERS[name]
    options = {key: value for key, value in table.items() if key != "name"}
    known = {field.name: field for field in dataclasses.fields(kind)}
    for key, value in options.items():
        if key == "order" and key in known:
            raise InvalidInput("solver.order: the orders of a study are an axis; use the key orders")
        if key not in known:
            allowed = [option for option in known if option != "order"]
            raise InvalidInput(f"solver.{key} is no option of {name}; the options are {', '.join(allowed)}")
        _check_kind(key, value, known[key])
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    try:
        return kind(**options)
    except InvalidInput as error:
        raise InvalidInput(f"solver.{error}") from error


def _check_kind(key: str, value: Any, field: dataclasses.Field[Any]) -> None:
    """Of the same kind as the default; the solver checks the value."""
    default = field.default_factory() if callable(field.default_factory) else field.default
    kinds: dict[type, tuple[str, type | tuple[type, ...]]] = {
        bool: ("true or false", bool),
        int: ("a whole number", int),
        float: ("a number", (int, float)),
        str: ("a word", str),
        tuple: ("a list", list | tuple),  # type: ignore[dict-item]
        dict: ("a table", dict),
        type(None): ("a number", (int, float)),
    }
    word, kind = kinds[type(default)]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InvalidInput(f"solver.{key} must be {word}, got {value!r}")


def _options_of(solver: Solver) -> dict[str, Any]:
    """As in a file; what a file cannot hold (None, no limit of time) is what a solver does by default."""
    left_out = ("order", "time_limit", "check_dependence")  # the last one changes no answer
    fields = [field for field in dataclasses.fields(solver) if field.name not in left_out]
    options = {field.name: _plain(getattr(solver, field.name), field.default) for field in fields}
    return {"name": type(solver).__name__} | {key: value for key, value in options.items() if value is not None}


def _plain(value: Any, default: Any) -> Any:
    """One way to write each value: 500 and 500.0 are the same option."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: float(number) for key, number in sorted(value.items())}
    return float(value) if isinstance(default, float) else value
