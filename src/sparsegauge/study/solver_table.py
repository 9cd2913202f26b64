"""Solvers as tables of a study's file: a name or an import path, and options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidInput
from ..recovery.registry import SOLVERS
from ..recovery.solver import Solver
from .external import import_by_path, import_path_of, is_import_path

NOT_WRITTEN = ("time_limit", "check_dependence")  # the first is refused in a study, the second changes no answer


def has_option(solver: Solver | type[Solver], option: str) -> bool:
    """Return whether a solver, or a class of solvers, has an option of that name."""
    return option in {field.name for field in dataclasses.fields(solver)}


def has_order(solver: Solver | type[Solver]) -> bool:
    """Return whether a solver, or a class of solvers, has the option `order`."""
    return has_option(solver, "order")


def check_solver(solver: Any) -> None:
    """Raise `InvalidInput` unless a file can describe the solver and its results do not depend on the clock."""
    kind = type(solver)
    if not isinstance(solver, Solver) or (SOLVERS.get(kind.__name__) is not kind and import_path_of(kind) is None):
        raise InvalidInput(
            f"solver must be one of {', '.join(SOLVERS)}, with its options, or of a class of your own that can be "
            f"imported; got {solver!r:.80}"
        )
    if getattr(solver, "time_limit", math.inf) < math.inf:
        raise InvalidInput("solver.time_limit: results of a study must not depend on the clock; set other options")
    metric = getattr(solver, "metric", None)
    if callable(metric) and import_path_of(metric) is None:
        raise InvalidInput(
            "solver.metric must be the name of a metric, or a function of a module: a store cannot remember this one"
        )


def read_solver(table: Any, *, key: str = "solver", has_orders: bool) -> Solver:
    """Return the solver of a table: ``{"name": "SPSA", "iterations": 1000}``; a word is a table with a name alone.

    Parameters
    ----------
    table : mapping or str
        `name` is a solver of `SOLVERS` or an import path; the other keys are options.
    key : str
        Where the table is, for messages.
    has_orders : bool
        Whether the study has an axis of orders, so that the solver must not have an order of its own.
    """
    if isinstance(table, str):
        table = {"name": table}
    if not isinstance(table, Mapping):
        raise InvalidInput(f'{key} must be a table: [{key}], then name = "SPSA" and options; got {table!r}')
    kind = _solver_class(table.get("name"), key)
    options = {name: value for name, value in table.items() if name != "name"}
    known = {field.name: field for field in dataclasses.fields(kind)}
    for option, value in options.items():
        if option == "order" and option in known and has_orders:
            raise InvalidInput(f"{key}.order: the orders of a study are an axis; use the key orders, or leave that out")
        if option not in known:
            allowed = [name for name in known if name != "order" or not has_orders]
            raise InvalidInput(f"{key}.{option} is no option of {kind.__name__}; the options are {', '.join(allowed)}")
        _check_type(f"{key}.{option}", value, known[option])
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    if is_import_path(options.get("metric")):
        options["metric"] = import_by_path(f"{key}.metric", options["metric"])
    try:
        return kind(**options)
    except InvalidInput as error:
        raise InvalidInput(f"{key}.{error}") from error


def _solver_class(name: Any, key: str) -> type[Solver]:
    if is_import_path(name):
        kind = import_by_path(f"{key}.name", name)
        if not (isinstance(kind, type) and issubclass(kind, Solver)):
            raise InvalidInput(f"{key}.name: {name} must be a subclass of sparsegauge.Solver, got {kind!r:.80}")
        return kind
    if not isinstance(name, str) or name not in SOLVERS:
        raise InvalidInput(
            f"{key}.name must be one of {', '.join(SOLVERS)}, or an import path such as 'mypackage.solvers:Mine'; "
            f"got {name!r}"
        )
    return SOLVERS[name]


def _check_type(name: str, value: Any, field: dataclasses.Field[Any]) -> None:
    """Refuse a value of another type than the default; the solver checks the value itself."""
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
    word, kind = kinds.get(type(default), ("a value of its type", object))
    if not isinstance(value, kind) or (isinstance(value, bool) and kind not in (bool, object)):
        raise InvalidInput(f"{name} must be {word}, got {value!r}")


def write_solver(solver: Solver, *, has_orders: bool, without: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the table of a solver, with every option written out but those that are axes of the study.

    What a file cannot hold (None, no limit of time) is what a solver does by default, and is left out.
    """
    left_out = {*NOT_WRITTEN, *(without or ()), *(("order",) if has_orders else ())}
    fields = [field for field in dataclasses.fields(solver) if field.name not in left_out]
    fields = [field for field in fields if not _is_left_out(field, getattr(solver, field.name))]
    options = {field.name: plain_option(getattr(solver, field.name), field.default) for field in fields}
    return {"name": name_of_class(type(solver))} | {key: value for key, value in options.items() if value is not None}


def _is_left_out(field: dataclasses.Field[Any], value: Any) -> bool:
    """Return whether an option is as it was before there was such an option, so that older stores can be continued."""
    return bool(field.metadata.get("written_if_changed")) and value == field.default


def name_of_class(kind: type[Solver]) -> str:
    """Return the name of a solver of the package, else the import path, else the name under which it is registered."""
    if kind.__module__.startswith("sparsegauge."):
        return kind.__name__
    return import_path_of(kind) or kind.__name__


def plain_option(value: Any, default: Any) -> Any:
    """Write each value in one way: 500 and 500.0 are the same option, and a function is its import path."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: float(number) for key, number in sorted(value.items())}
    if callable(value):
        return import_path_of(value)
    return float(value) if isinstance(default, float) else value
