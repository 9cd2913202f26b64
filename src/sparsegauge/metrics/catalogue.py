"""The catalogue: every metric by name, the decorator that adds one, and `measure`.

The laws that metrics are proved to obey are numbered as in the paper: P1 to P11, of which P3 to P8 are Hurley and
Rickard's Robin Hood, scaling, rising tide, cloning, Bill Gates and babies.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from .._arrays import Choice, Parameter, Switch
from ..errors import InvalidInput
from .exact import Formula
from .lemmas import NOTHING
from .metric import Axis, Center, Kernel, Metric, MetricFunction, Options, Proofs, Values

if TYPE_CHECKING:
    from .metric_table import MetricTable

# The modules that define the metrics of the package. Their order is the order of all tables.
FAMILIES = ("gds", "penalties", "norms", "gini_family", "entropies", "inequality", "diversity")


def _squeezed(name: str) -> str:
    """Return a name without the differences that a look-up ignores: case, spaces, hyphens, slashes, underscores."""
    name = name.strip().casefold().replace("−", "-").replace("'", "prime").replace("′", "prime")
    if name.startswith("-"):
        name = "neg" + name
    return re.sub(r"[\s\-/_]", "", name)


class Catalogue(Mapping[str, Metric]):
    """All metrics by name: those of the package family by family, then those registered with the decorator `metric`.

    Looking up a name ignores case, spaces, hyphens and slashes; a leading minus stands for "neg_"; and there are
    aliases ("Vinje-Gallant" for "treves_rolls"). Iterating gives the canonical names: those of the functions.
    """

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._canonical: dict[str, str] = {}
        self._complete = False

    def register(self, metric: Metric) -> None:
        """Add a metric, which then appears in tables, audits, reports and on the command line."""
        if _family(metric) == len(FAMILIES):
            self._load()
        names = {_squeezed(name) for name in (metric.name, *metric.aliases)}
        for name in names & self._canonical.keys():
            raise InvalidInput(
                f"there is a metric {self._canonical[name]!r} already, and the name or an alias of {metric.name!r} "
                "is the same; choose another one, or remove the other with METRICS.unregister(name)"
            )
        self._metrics[metric.name] = metric
        self._metrics = dict(sorted(self._metrics.items(), key=lambda item: _family(item[1])))
        self._canonical |= dict.fromkeys(names, metric.name)

    def unregister(self, name: str) -> Metric:
        """Remove a metric that was registered from outside the package, and return it."""
        metric = self.find(name)
        if _family(metric) < len(FAMILIES):
            raise InvalidInput(f"{metric.name} belongs to the package and cannot be removed")
        del self._metrics[metric.name]
        self._canonical = {key: value for key, value in self._canonical.items() if value != metric.name}
        return metric

    def find(self, name: Any) -> Metric:
        """Return the metric of that name or alias; an unknown name is refused with the nearest and all others."""
        if name not in self:
            nearest = self.nearest(name)
            hint = f", did you mean {nearest!r}?" if nearest else ""
            raise InvalidInput(f"there is no metric {name!r}{hint}; there are {', '.join(self)}")
        return self[name]

    def nearest(self, name: Any) -> str | None:
        """Return the canonical name of what looks most like `name`."""
        import difflib

        self._load()
        close = difflib.get_close_matches(_squeezed(str(name)), self._canonical, n=1)
        return self._canonical[close[0]] if close else None

    def _load(self) -> None:
        """Import the modules that define the metrics of the package, once."""
        if not self._complete:
            self._complete = True
            for family in FAMILIES:
                importlib.import_module(f".{family}", __package__)

    def __getitem__(self, name: str) -> Metric:
        """Return the metric of that name; an unknown one is a KeyError, as of any mapping (`find` explains more)."""
        self._load()
        if not isinstance(name, str) or _squeezed(name) not in self._canonical:
            raise KeyError(name)
        return self._metrics[self._canonical[_squeezed(name)]]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the canonical names."""
        self._load()
        return iter(tuple(self._metrics))

    def __len__(self) -> int:
        """Return how many metrics there are."""
        self._load()
        return len(self._metrics)

    def __repr__(self) -> str:
        """Return the names."""
        return f"METRICS({', '.join(self)})"


def _family(metric: Metric) -> int:
    """Return the place of the metric's module among the families; those from outside the package come last."""
    package, _, family = (metric.kernel.__module__ or "").rpartition(".")
    return FAMILIES.index(family) if package == __package__ and family in FAMILIES else len(FAMILIES)


METRICS = Catalogue()


def metric(
    *,
    formula: str,
    meaning: str,
    reference: str,
    parameters: Iterable[Parameter] = (),
    sparser: Literal["larger", "smaller"] = "larger",
    proofs: Proofs = NOTHING,
    exact: Formula | None = None,
    aliases: Iterable[str] = (),
    options: Iterable[Choice | Switch] = (),
    constraint: Callable[..., None] | None = None,
    shortcut: Callable[..., Values | None] | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    error_growth: float | Callable[..., float] = 0.0,
    no_standard_error: str | Callable[..., str] = "",
    title: str = "",
) -> Callable[[Kernel], MetricFunction]:
    r"""Turn a formula of row statistics into a metric, and register it.

    The decorated function takes the statistics of the signals (`Rows`) and the metric's parameters, and returns one
    value per signal. Its name is the metric's name. What the decorator returns is the public function, which takes
    arrays: it handles axes, NaN, masked and sparse arrays, and signals of zeros. The metric is then known to
    `METRICS`, `measure`, `audit`, the solver `SPSA`, the command line, the report and the interactive page.

    Parameters
    ----------
    formula : str
        The formula in plain text, with c = abs(x), as "max c / mean c".
    meaning : str
        What the value says, in plain words.
    reference : str
        Where the metric was published.
    parameters : iterable of Parameter
        Its parameters, each with its default and range.
    sparser : {"larger", "smaller"}
        Whether sparser signals have larger or smaller values.
    proofs : mapping of str to str, or callable
        Which laws it is proved to obey: the key of a law, and the name of a lemma or a sentence. A function of the
        parameters, where that depends on them.
    exact : callable, optional
        ``exact(k, c, **parameters)``, the formula in exact arithmetic. Without it, audits call the function itself.
    aliases : iterable of str
        Other names.
    options : iterable of Choice or Switch
        How to compute the value, where there are several ways.
    constraint : callable, optional
        Called with all parameters as keywords; raises `InvalidInput` where they do not go together.
    shortcut : callable, optional
        ``shortcut(x, **parameters)`` returns the values of a plain array along its last axis, or None.
    bounds : tuple of float
        The least and the largest value that the metric can have; a confidence interval stays inside.
    error_growth : float or callable
        How much faster than in proportion the error grows with the metric, which makes confidence intervals longer
        above: 0 for not at all, p - 1 for metrics of the p-th moment; a function of the parameters, where that depends
        on them. The metric needs a finite lower bound then.
    no_standard_error : str or callable
        Why there is no standard error, as "counts coefficients"; a function of the parameters, where that depends on
        them.
    title : str
        What the metric is called in lists, as "Gini index"; by default the name of the function, with spaces.

    Returns
    -------
    callable
        A decorator. What it returns has the metric as its attribute ``metric``.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> @sg.metric(formula="max c / mean c", meaning="how far the largest coefficient stands out", reference="none")
    ... def peak_to_mean(row):
    ...     return row.top * row.N / row.l1
    >>> peak_to_mean([[0, 0, 0, 5], [1, 1, 1, 1]])
    array([4., 1.])
    >>> sg.measure([1, -3], "peak to mean")
    1.5
    >>> sg.METRICS.unregister("peak_to_mean").formula
    'max c / mean c'
    """

    def decorate(kernel: Kernel) -> MetricFunction:
        made = Metric(
            kernel.__name__,
            kernel,
            formula,
            meaning,
            reference,
            {parameter.name: parameter for parameter in parameters},
            sparser,
            proofs,
            exact,
            tuple(aliases),
            {option.name: option for option in options},
            constraint,
            shortcut,
            bounds,
            error_growth,
            no_standard_error,
            title,
        )
        METRICS.register(made)
        return made.function

    return decorate


@overload
def measure(  # type: ignore[overload-overlap]
    x: ArrayLike,
    metric: str,
    *,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    zero: float = math.nan,
    dim: Any = None,
    **parameters: float,
) -> Values: ...


@overload
def measure(
    x: ArrayLike,
    metric: Sequence[str | tuple[str, Mapping[str, float]]],
    *,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    zero: float = math.nan,
    dim: Any = None,
    **parameters: float,
) -> MetricTable: ...


def measure(
    x: ArrayLike,
    metric: str | Sequence[str | tuple[str, Mapping[str, float]]],
    *,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    zero: float = math.nan,
    dim: Any = None,
    **parameters: float,
) -> Values | MetricTable:
    """Measure an array by one metric of the catalogue `METRICS`, or by several.

    Parameters
    ----------
    x : array_like
        The signals, as every metric takes them.
    metric : str or sequence
        The name or an alias of a metric; or several of them, each a name or a pair of a name and its parameters.
    axis, keepdims, nan_policy, weights, center, zero, dim
        The options of every metric; see `gds`.
    **parameters : float
        The parameters of the metric, if it is a single one.

    Returns
    -------
    float, ndarray or MetricTable
        What the metric returns; for several metrics, a mapping from names to values that prints as a table.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.measure([0, 0, 0, 5], "Gini")
    0.75
    >>> sg.measure([0, 0, 0, 5], "pq index", p=0.5, q=2)
    0.875
    >>> print(sg.measure([[0, 0, 0, 5], [0, 0, 3, 4]], ["gini", "hoyer", ("gds", {"order": 4})]))
        gini  hoyer  gds order=4
        0.75      1         0.75
    0.535714    0.6     0.500742
    """
    if parameters and not isinstance(metric, str):
        raise InvalidInput(
            f"parameters of several metrics go into the list, as in [('gds', {{'order': 4}})]; got {parameters}"
        )
    options = Options(axis=axis, keepdims=keepdims, nan_policy=nan_policy, weights=weights, center=center, zero=zero)
    if isinstance(metric, str):
        found = METRICS.find(metric)
        return found.function(x, dim=dim, **options, **found.check(parameters))  # type: ignore[no-any-return]
    from .metric_table import MetricTable

    chosen = choose_metrics(metric)
    return MetricTable({label: found.function(x, dim=dim, **options, **own) for label, (found, own) in chosen.items()})


def choose_metrics(metrics: Any) -> dict[str, tuple[Metric, dict[str, Any]]]:
    """Return several metrics with all their parameters, by the label of their column: "gini", "gds order=4"."""
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Iterable):
        raise InvalidInput(f"metrics are a sequence of names, or of (name, parameters), got {metrics!r}; pass a list")
    chosen = {}
    for entry in metrics:
        name, given = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, {})
        if not isinstance(given, Mapping):
            raise InvalidInput(f"a metric is a name or a pair (name, parameters), got {entry!r}")
        found = METRICS.find(name)
        label = " ".join([found.name, *(f"{key}={value:g}" for key, value in given.items())])
        chosen[label] = found, found.check(given)
    if not chosen:
        raise InvalidInput(f"at least one metric is needed, got {metrics!r}; there are {', '.join(METRICS)}")
    return chosen


def choose_columns(metrics: Any, orders: Sequence[float]) -> dict[str, tuple[Metric, dict[str, Any]]]:
    """Return the same with `gds` at several orders behind them."""
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Iterable):
        return choose_metrics(metrics)  # which refuses it
    return choose_metrics([*metrics, *(("gds", {"order": order}) for order in orders)])
