"""A metric: one object that owns its kernel, exact formula, parameters, reference, meaning and proofs.

The public function of a metric, the catalogue, audits, tables and pages all read this object. `catalogue.metric` is
the decorator that makes one.
"""

from __future__ import annotations

import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array, Choice, Parameter, Signals, Switch, check_number, library_of, over_signals
from ..errors import InvalidInput
from .exact import Formula
from .lemmas import LEMMAS, Laws
from .scales import Scale

if TYPE_CHECKING:
    from .statistics import Rows

Kernel: TypeAlias = Callable[..., Array]
Proofs: TypeAlias = Laws | Callable[..., Laws]
Values: TypeAlias = float | Array
Axis: TypeAlias = int | tuple[int, ...] | None
Center: TypeAlias = Literal["mean", "median"] | None

NAN = math.nan
# Why a metric has no standard error
MAXIMUM = (
    "depends on the largest coefficient, whose error a signal cannot tell; use a metric that is made of means, such as "
    "gds, hoyer or kurtosis"
)
COUNT = "counts coefficients; scipy.stats.binomtest(k, n).proportion_ci() gives the error of a count of k among n"


class Options(TypedDict, total=False):
    """The options of every metric."""

    axis: Axis
    keepdims: bool
    nan_policy: str
    weights: ArrayLike | None
    center: Center
    zero: float
    dim: Any


# The same, as the public functions declare them: default and annotation.
OPTIONS: dict[str, tuple[Any, str]] = {
    "axis": (-1, "int | tuple[int, ...] | None"),
    "keepdims": (False, "bool"),
    "nan_policy": ("propagate", "str"),
    "weights": (None, "ArrayLike | None"),
    "center": (None, "Literal['mean', 'median'] | None"),
    "zero": (NAN, "float"),
    "dim": (None, "Any"),
}


class MetricFunction(Protocol):
    """The public function of a metric: one array, the metric's own parameters, and the options of all metrics."""

    __name__: str
    metric: Metric

    def __call__(self, x: ArrayLike, *parameters: float, **options: Any) -> Any: ...  # noqa: D102


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A sparsity metric with all facts about it. Calling the object measures an array.

    Metrics are made by the decorator `metric`, and looked up in `METRICS`.

    Attributes
    ----------
    name : str
        The name of the public function, and the key in `METRICS`.
    kernel : callable
        ``kernel(row, **parameters)``: a formula of `Rows`, one value per signal.
    formula, meaning, reference : str
        The formula in plain text, what the value says in plain words, and where it was published.
    parameters : mapping of str to Parameter
        The parameters with their defaults and ranges.
    sparser : {"larger", "smaller"}
        Whether sparser signals have larger or smaller values.
    proofs : mapping of str to str, or callable
        Which lemma proves which law, as {"P4": "homogeneous"}; or a function of the parameters that returns it.
    exact : callable or None
        ``exact(k, c, **parameters)``: the same formula in exact arithmetic, for audits.
    bounds : tuple of float
        The least and the largest value that the metric can have, whatever the length of the signal.
    error_growth : float or callable
        How much faster than in proportion the metric's error grows with its value, 0 for not at all; or a function of
        the parameters that returns it. Metrics of the p-th moment have p - 1.
    no_standard_error : str or callable
        Why there is no standard error, as "counts coefficients"; or a function of the parameters that returns it.
    title : str
        What the metric is called in lists, as "Gini index".
    function : callable
        The public function.
    """

    name: str
    kernel: Kernel
    formula: str
    meaning: str
    reference: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    sparser: Literal["larger", "smaller"] = "larger"
    proofs: Proofs = field(default_factory=dict)
    exact: Formula | None = None
    aliases: tuple[str, ...] = ()
    options: Mapping[str, Choice | Switch] = field(default_factory=dict)
    constraint: Callable[..., None] | None = None
    shortcut: Callable[..., Values | None] | None = None
    bounds: tuple[float, float] = (-math.inf, math.inf)
    error_growth: float | Callable[..., float] = 0.0
    no_standard_error: str | Callable[..., str] = ""
    title: str = ""
    function: MetricFunction = field(init=False)

    def __post_init__(self) -> None:
        """Make the public function, and a title where none was given."""
        object.__setattr__(self, "title", self.title or self.name.replace("_", " "))
        object.__setattr__(self, "function", _public_function(self))

    def __call__(self, x: ArrayLike, *args: Any, **options: Any) -> Values:
        """Measure an array: the same as calling the public function."""
        return self.function(x, *args, **options)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """Return the name and the formula."""
        return f"<Metric {self.name}: {self.formula}>"

    @property
    def defaults(self) -> dict[str, Any]:
        """The default value of each parameter."""
        return {name: parameter.default for name, parameter in self.parameters.items()}

    @property
    def claims(self) -> frozenset[str]:
        """The laws that the metric is proved to obey at its default parameters."""
        return frozenset(self.laws(**self.defaults))

    def laws(self, **parameters: float) -> Laws:
        """Return which lemma proves which law at these parameters."""
        return self.proofs(**parameters) if callable(self.proofs) else self.proofs

    def proof(self, law: str, **parameters: float) -> str | None:
        """Return the proof of a law at these parameters, in one sentence; None where there is none."""
        lemma = self.laws(**parameters).get(law)
        return None if lemma is None else LEMMAS.get(lemma, lemma)

    def scale(self, **parameters: Any) -> Scale:
        """Return the scale on which intervals are symmetric at these parameters."""
        growth = self.error_growth(**parameters) if callable(self.error_growth) else self.error_growth
        return Scale(*self.bounds, growth)

    def why_no_standard_error(self, **parameters: Any) -> str:
        """Return why there is no standard error at these parameters; nothing where there is one."""
        reason = self.no_standard_error
        return reason(**parameters) if callable(reason) else reason

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters: those given, which must be in range, and the defaults of the others."""
        for name in given:
            if name not in self.parameters:
                raise InvalidInput(self._unknown(name))
        checked = {
            name: parameter.check(given[name]) if name in given else parameter.default
            for name, parameter in self.parameters.items()
        }
        if self.constraint is not None:
            self.constraint(**checked)
        return checked

    def _unknown(self, parameter: str) -> str:
        import difflib

        if not self.parameters:
            return f"{self.name} has no parameters, got {parameter!r}; leave it out"
        close = difflib.get_close_matches(parameter, self.parameters, n=1)
        hint = f", did you mean {close[0]!r}?" if close else ""
        ranges = ", ".join(map(str, self.parameters.values()))
        return f"{self.name} has no parameter {parameter!r}{hint}; it has {ranges}"


def _rows_of(signals: Signals) -> Rows:
    """Return the statistics of signals; loaded when they are first needed, since even orders do without them."""
    if signals.weights is None:
        from .statistics import Rows

        return Rows(signals)
    from .weighted import WeightedRows

    return WeightedRows(signals)


def measure_signals(metric: Metric, signals: Signals, zero: float, arguments: Mapping[str, Any]) -> Array:
    """Return one value per signal; `zero` for signals whose coefficients are all zero."""
    if signals.rows == 0:
        return np.empty(0)
    return measure_rows(metric, _rows_of(signals), zero, arguments)


def measure_rows(metric: Metric, row: Rows, zero: float, arguments: Mapping[str, Any]) -> Array:
    """Return one value per signal from its statistics."""
    with np.errstate(all="ignore"):  # signals of zeros may come to 0/0; and infinite results are results
        values = metric.kernel(row, **arguments) + 0.0  # which makes 0.0 of -0.0
    if np.count_nonzero(row.all_zero):
        values[row.all_zero] = zero
    return values


# A shortcut serves these options alone.
_IS_PLAIN = (
    'type(axis) is int and axis == -1 and type(nan_policy) is str and nan_policy == "propagate" '
    "and keepdims is False and weights is None and center is None"
)


def _measure_elsewhere(
    x: Any, function: MetricFunction, arguments: dict[str, Any], options: tuple[Any, ...], dim: Any
) -> Any:
    """Return a metric of an array that is not one of NumPy, as an array of its own library."""
    from .containers import Reduction, measure_elsewhere

    named = dict(zip(OPTIONS, options, strict=False))
    return measure_elsewhere(Reduction(function.metric.name, function, arguments, named, dim), x)


_SOURCE = """
def make(metric, check_number, over_signals, measure_signals, constraint, shortcut, checks, is_elsewhere, elsewhere):
    {unpack}
    def function(x, {signature}):
        {check}
        zero = check_number("zero", zero)
        if is_elsewhere(x) or dim is not None:
            options = axis, keepdims, nan_policy, weights, center, zero
            return elsewhere(x, function, dict({arguments}), options, dim)
        if {is_plain}:
            value = shortcut(x, {names})
            if value is not None:
                return value
        return over_signals(
            x,
            axis,
            nan_policy,
            lambda signals: measure_signals(metric, signals, zero, dict({arguments})),
            keepdims,
            weights,
            center,
        )
    return function
"""


@functools.cache
def _function_maker(
    positional: tuple[str, ...],
    keywords: tuple[str, ...],
    words: tuple[str, ...],
    constrained: bool,
    has_shortcut: bool,
) -> Callable[..., Any]:
    """Return what makes public functions of metrics whose parameters and options have these names."""
    names = (*positional, *keywords, *words)
    arguments = ", ".join(f"{name}={name}" for name in names)
    check = [f"{name} = check_{name}({name})" for name in names] + [f"constraint({arguments})"] * constrained
    source = _SOURCE.format(
        unpack="".join(f"check_{name}, " for name in names) + "= checks" if names else "",
        signature=", ".join(f"{name}=None" for name in (*positional, "*", *keywords, *OPTIONS, *words)).replace(
            "*=None", "*"
        ),
        check="; ".join(check),
        is_plain=_IS_PLAIN if has_shortcut else "False",
        names=", ".join(names),
        arguments=arguments,
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    maker: Callable[..., Any] = namespace["make"]
    return maker


def _public_function(metric: Metric) -> MetricFunction:
    """Return the function that users call, with the signature and the docstring of the metric.

    Its source is written out and compiled, as dataclasses do, so that Python itself binds the arguments: to bind them
    at each call would take longer than to measure a short signal.
    """
    checked: dict[str, Parameter | Choice | Switch] = {**metric.parameters, **metric.options}
    positional = tuple(name for name, parameter in metric.parameters.items() if not parameter.keyword_only)
    keywords = tuple(name for name in metric.parameters if name not in positional)
    words = tuple(metric.options)
    make = _function_maker(positional, keywords, words, metric.constraint is not None, metric.shortcut is not None)
    checks = [checked[name].check for name in (*positional, *keywords, *words)]
    shared = check_number, over_signals, measure_signals
    function = make(metric, *shared, metric.constraint, metric.shortcut, checks, library_of, _measure_elsewhere)
    function.__defaults__ = tuple(checked[name].default for name in positional)
    function.__kwdefaults__ = {name: checked[name].default for name in (*keywords, *words)}
    function.__kwdefaults__ |= {name: default for name, (default, _) in OPTIONS.items()}
    function.__annotations__ = {
        "x": "ArrayLike",
        **dict.fromkeys(metric.parameters, "float"),
        **{name: annotation for name, (_, annotation) in OPTIONS.items()},
        **{name: type(option.default).__name__ for name, option in metric.options.items()},
        "return": "float | NDArray[np.float64]",
    }
    function.__name__ = function.__qualname__ = metric.name
    function.__module__ = metric.kernel.__module__
    function.__doc__ = document(metric)
    function.metric = metric
    public: MetricFunction = function
    return public


COMMON = """axis : int, tuple of ints or None
    The dimension or dimensions that hold the coefficients of a signal; None measures the whole array.
keepdims : bool
    Whether the result keeps the dimensions of `axis`, with size 1.
nan_policy : {"propagate", "omit", "raise"}
    What to do with NaN: return nan, leave it out, or raise `InvalidInput`.
weights : array_like, optional
    How often each coefficient counts: not negative, whole or not, one number per coefficient of a signal or in the
    shape of x. A weight of 3 equals three copies of the coefficient, and a weight of 0 its absence.
center : {"mean", "median"}, optional
    What to subtract from each signal before its magnitudes are measured.
zero : float
    The value for a signal whose coefficients are all zero, for which the metric is not defined.
dim : str or several
    The same as `axis`, by name, for xarray objects."""

INPUT = """x : array_like
    Real or complex numbers of any shape; masked arrays (masked entries are left out) and SciPy sparse arrays (never
    made dense) too. Tensors of torch, JAX arrays, dask arrays and xarray and pandas objects are measured where they
    are."""

RETURNS = """float or ndarray
    A float for one signal, else an array of float64 in the shape of x without `axis`, whatever the type of its
    numbers. Tensors give tensors, dask arrays lazy ones, xarray objects labelled ones, and a DataFrame a Series."""


def document(metric: Metric) -> str:
    """Return the docstring of the public function: the author's text, with sections for what all metrics share."""
    text = inspect.cleandoc(metric.kernel.__doc__ or f"Return {metric.formula}.")
    text, _, examples = text.partition("\n\nExamples\n--------\n")
    own = [_entry(f"{p.name} : float, default {p.default:g}", p.meaning) for p in metric.parameters.values()]
    own_options = [_entry(f"{o.name} : {o.words}", o.meaning) for o in metric.options.values()]
    sections = {
        "Parameters": "\n".join([INPUT, *own, COMMON, *own_options]),
        "Returns": RETURNS,
        "References": metric.reference,
        "Examples": examples,
    }
    parts = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items() if body]
    return "\n\n".join([text, *parts]) + "\n"


def _entry(title: str, meaning: str) -> str:
    return title + "\n" + textwrap.fill(meaning, 110, initial_indent="    ", subsequent_indent="    ")
