"""The base class of all solvers: declared options, declared capabilities, one method to write, one registry."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._arrays import Parameter, as_rng, check_choice, check_count, check_order
from ..errors import InvalidInput
from .driver import Callback, Iterate, drive
from .problem import Problem
from .result import Recovery

_BY_NAME: dict[str, type[Solver]] = {}
BOUNDS = ("none", "x >= 0", "one sign", "any")


# --- options: each is declared once, with its default and its range, and checked by `Solver.__post_init__`


def real(default: float | None, **limits: Any) -> Any:
    """Declare an option that is a real number in a range: `low`, `high`, `low_included`, `high_included`.

    With None as the default, None is allowed, too.
    """

    def check(name: str, value: Any) -> None:
        if not (value is None and default is None):
            Parameter(name, float("nan") if default is None else default, **limits).check(value)

    return field(default=default, metadata={"check": check})


def count(default: int | None, *, least: int) -> Any:
    """Declare an option that is a whole number of at least `least`; None is allowed where it is the default."""

    def check(name: str, value: Any) -> None:
        if not (value is None and default is None):
            check_count(name, value, least=least)

    return field(default=default, metadata={"check": check})


def order_option(default: float | None, *, finite: bool = False) -> Any:
    """Declare an order p >= 1 of S_p, perhaps finite only; None is allowed where it is the default."""

    def check(name: str, value: Any) -> None:
        if value is None and default is None:
            return
        try:
            order = check_order(value)
        except InvalidInput as error:
            raise InvalidInput(str(error).replace("order", name, 1)) from error
        if finite and np.isinf(order):
            raise InvalidInput(f"{name} must be finite: the fraction of zeros (order=inf) has no gradient")

    return field(default=default, metadata={"check": check})


def choice(default: Any, allowed: tuple[Any, ...]) -> Any:
    """Declare an option that is one of a few values."""

    def check(name: str, value: Any) -> None:
        if value not in allowed or isinstance(value, bool) != isinstance(default, bool):
            raise InvalidInput(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")

    return field(default=default, metadata={"check": check})


def flag(default: bool) -> Any:
    """Declare an option that is True or False."""
    return choice(default, (True, False))


def choices(default: tuple[str, ...], allowed: tuple[str, ...]) -> Any:
    """Declare an option that is a sequence of one or more of a few words."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) or not value:
            raise InvalidInput(f"{name} must be a sequence of at least one of {allowed}, got {value!r}")
        for word in value:
            check_choice(name, word, allowed)

    return field(default=default, metadata={"check": check})


# --- capabilities


@dataclass(frozen=True)
class Capabilities:
    """What a solver supports.

    `bounds` is "none", "x >= 0", "one sign" (x >= 0 or x <= 0) or "any"; `bounds_with_operator` says whether bounds
    also work where A is not written out. `operators`: A may be a LinearOperator that is too large to write out.
    `noise`: the answer may differ from y by noise of a known size; `unknown_noise`: the solver estimates that size.
    """

    bounds: str = "none"
    complex: bool = False
    operators: bool = False
    noise: bool = True
    unknown_noise: bool = False
    bounds_with_operator: bool = False

    def __post_init__(self) -> None:
        check_choice("bounds", self.bounds, BOUNDS)


def missing_capability(solver: type[Solver], problem: Problem) -> str:
    """Return what a problem needs that a solver lacks, in words; empty if nothing."""
    has_operator, low_high = problem.system.matrix is None, problem.bounds
    needs: list[tuple[str, Callable[[Capabilities], bool]]] = []
    if problem.is_complex:
        needs.append(("solve complex systems", lambda can: can.complex))
    if has_operator:
        size = f"{problem.m} x {problem.n}"
        needs.append((f"use an operator that is too large to write out ({size})", lambda can: can.operators))
    if problem.noise > 0:
        needs.append(("allow for noise", lambda can: can.noise))
    if low_high is not None:
        weakest, words = _kind_of_bounds(problem)
        needs.append((f"keep to {words}", lambda can: can.bounds in BOUNDS[weakest:]))
        if has_operator:
            needs.append(("keep to bounds where A is an operator", lambda can: can.bounds_with_operator))
    return next((need for need, test in needs if not test(solver.supports)), "")


def _kind_of_bounds(problem: Problem) -> tuple[int, str]:
    """Return the index in BOUNDS of the weakest kind that covers the problem's bounds, and the bounds in words."""
    return {1: (1, "x >= 0"), -1: (2, "x <= 0"), 0: (3, "bounds on both sides")}[problem.sign]


# --- the base class


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """A solver: a frozen dataclass of options, what it supports, and `iterates`.

    A subclass is known by its name to `sg.SOLVERS`, the command line, studies and the interactive page as soon as it is
    defined. Its options are fields of the dataclass; those declared with `sg.Solver.count(5, least=1)`, or likewise
    with `real`, `choice`, `choices`, `flag` or `order_option`, are checked when a solver is made.

    Parameters
    ----------
    assume_generic : bool
        Set it if A is known to be generic although it looks structured, so that answers can be certified.
    check_dependence : bool
        Look for dependent columns before certifying an answer also where N > 2000, which may take longer than the
        recovery itself.
    """

    supports: ClassVar[Capabilities] = Capabilities()

    # how subclasses declare their options
    real = staticmethod(real)
    count = staticmethod(count)
    choice = staticmethod(choice)
    choices = staticmethod(choices)
    flag = staticmethod(flag)
    order_option = staticmethod(order_option)

    assume_generic: bool = flag(False)
    check_dependence: bool = flag(False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        known = _BY_NAME.get(cls.__name__)
        if known is not None and known.__module__.startswith(__package__) and cls.__module__ != known.__module__:
            raise InvalidInput(f"there is a solver called {cls.__name__} in sparsegauge; choose another name")
        if not cls.__name__.startswith("_"):
            _BY_NAME[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Check every option against its declaration."""
        for option in dataclasses.fields(self):
            if "check" in option.metadata:
                option.metadata["check"](option.name, getattr(self, option.name))

    @property
    def sparsity_order(self) -> float:
        """The order of the sparsity that the result reports: the solver's own, or 2."""
        return float(getattr(self, "order", 2.0))

    @abstractmethod
    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield iterates; those with a status are the answers to choose from, and there is at least one."""

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Turn an iterate into an answer, for instance by moving it to the nearest x that explains y."""
        return x

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver does not support, and name those that do."""
        lacking = missing_capability(type(self), problem)
        if not lacking:
            return
        able = [name for name, solver in all_solvers().items() if not missing_capability(solver, problem)]
        remedy = f"{', '.join(able)} can: use one of them" if able else "no solver can"
        option = ", or leave out the bounds" if "keep to" in lacking else ""
        raise InvalidInput(f"{type(self).__name__} cannot {lacking}; {remedy}{option}")

    def solve(self, problem: Problem, rng: Any = None, callback: Callback | None = None) -> Recovery:
        """Solve one problem with this solver alone; `recover` also searches for an exact solution and certifies it."""
        return drive(self, problem, as_rng(rng), callback)


def has_defaults(solver: type[Solver]) -> bool:
    """Return whether a solver can be made without any options."""
    missing, options = dataclasses.MISSING, dataclasses.fields(solver)
    return all(option.default is not missing or option.default_factory is not missing for option in options)


def registered() -> Mapping[str, type[Solver]]:
    """Return a live view of all solvers that have been defined, by name."""
    return MappingProxyType(_BY_NAME)


def all_solvers() -> Mapping[str, type[Solver]]:
    """Return every solver by its name: those of the package, and those that users defined."""
    from .registry import SOLVERS  # which imports every solver, and so this module

    return SOLVERS
