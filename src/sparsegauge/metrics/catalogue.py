"""The catalogue: every metric by name, with its formula, parameters, source and the criteria it is said to satisfy.

The criteria are numbered as in the paper: P1 to P11, of which P3 to P8 are Hurley and Rickard's Robin Hood, scaling,
rising tide, cloning, Bill Gates and babies.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .._arrays import Parameter
from ..errors import InvalidInput
from . import entropies, gini_family, inequality, norms
from .gds import gds


@dataclass(frozen=True)
class Metric:
    """A sparsity metric: its function, and what one has to know before one uses it.

    `claims` are the criteria that it is claimed to satisfy at its default parameters, and `sparser` says whether
    sparser signals have larger or smaller values.
    """

    name: str
    function: Callable[..., Any]
    formula: str
    reference: str
    claims: frozenset[str]
    parameters: Mapping[str, Parameter] = field(default_factory=dict, hash=False)
    sparser: Literal["larger", "smaller"] = "larger"


HURLEY = "Hurley and Rickard (2009), Comparing measures of sparsity, IEEE Trans. Inf. Theory 55(10), 4723-4741"
RAO = "Rao and Kreutz-Delgado (1999), IEEE Trans. Signal Process. 47(1), 187-200"
KARVANEN = "Karvanen and Cichocki (2003), Measuring sparseness of noisy signals"
HOU = "Hou, Wang et al., generalised Gini indices, Mech. Syst. Signal Process."
GDS = (
    "Maronidis, Chatzilari, Nikolopoulos and Kompatsiaris, A generalised differential framework for measuring signal "
    "sparsity, section IV"
)


def _metric(
    function: Callable[..., Any],
    formula: str,
    reference: str,
    claims: str,
    *parameters: Parameter,
    sparser: Literal["larger", "smaller"] = "larger",
) -> Metric:
    named = {parameter.name: parameter for parameter in parameters}
    claimed = frozenset(f"P{k}" for k in claims.split())
    return Metric(function.__name__, function, formula, reference, claimed, named, sparser)


_ORDER = Parameter("order", 2.0, low=1, high=math.inf, low_included=True, high_included=True)

_ALL = (
    _metric(gds, "sum_{i<j} (c_j - c_i)^p / (N sum c^p)", GDS, "1 2 3 4 5 6 7 8 9 10 11", _ORDER),
    _metric(norms.l0, "#{c = 0}", HURLEY, "2 4 8 9 10 11"),
    _metric(norms.l0_eps, "#{c <= eps}", HURLEY, "2 8 9 10", norms.EPS),
    _metric(norms.neg_l1, "-sum c", HURLEY, "1 2 5 9"),
    _metric(norms.neg_lp, "-(sum c^p)^(1/p)", HURLEY, "1 2 3 5 9", norms.LP_P),
    _metric(norms.l2_l1, "|c|_2 / |c|_1", HURLEY, "1 2 3 4 5 7 9 10 11"),
    _metric(norms.neg_tanh, "-sum tanh((a c)^b)", f"{HURLEY}; {KARVANEN}", "1 2 3 5 9", norms.TANH_A, norms.TANH_B),
    _metric(norms.neg_log, "-sum log(1 + c^2)", HURLEY, "1 2 5 9"),
    _metric(norms.kappa4, "sum c^4 / (sum c^2)^2", HURLEY, "1 2 4 5 7 9 10 11"),
    _metric(
        gini_family.u_theta,
        "1 - min_i (c_(i+m-1) - c_(i)) / (c_(N) - c_(1)), m = ceil(theta N)",
        f"{HURLEY}; {KARVANEN}",
        "2 4 6 9 10 11",
        gini_family.THETA,
    ),
    _metric(norms.neg_lp_neg, "-sum_{c != 0} c^p, p < 0", f"{HURLEY}; {RAO}", "2 7 9", norms.NEGATIVE_P),
    _metric(entropies.h_g, "-sum log c^2", f"{HURLEY}; {RAO}", "1 2 3 5"),
    _metric(
        entropies.neg_h_s, "sum t log t^2, t = c^2/|c|_2^2", f"{HURLEY}; {RAO}, with its sign turned", "1 2 4 5 7 10 11"
    ),
    _metric(entropies.h_s, "-sum t log t^2, t = c^2/|c|_2^2", f"{HURLEY}; {RAO}", "1 2 4", sparser="smaller"),
    _metric(entropies.neg_h_s_prime, "sum c log c^2", f"{HURLEY}; {RAO}, with its sign turned", "1 2 3 7"),
    _metric(entropies.h_s_prime, "-sum c log c^2", f"{HURLEY}; {RAO}", "1 2", sparser="smaller"),
    _metric(
        norms.hoyer,
        "(sqrt N - |c|_1/|c|_2) / (sqrt N - 1)",
        "Hoyer (2004), J. Mach. Learn. Res. 5, 1457-1469",
        "1 2 3 4 5 7 8 9 10 11",
    ),
    _metric(
        norms.pq_mean,
        "-(mean c^p)^(1/p) (mean c^q)^(-1/q)",
        HURLEY,
        "1 2 3 4 5 6 7 8 9 10 11",
        norms.MEAN_P,
        norms.MEAN_Q,
    ),
    _metric(
        gini_family.gini,
        "1 - 2 sum_i (c_(i)/|c|_1) (N - i + 1/2)/N",
        "Gini (1921), Measurement of inequality of incomes, Economic Journal 31(121), 124-126",
        "1 2 3 4 5 6 7 8 9 10 11",
    ),
    _metric(norms.kurtosis, "N sum c^4 / (sum c^2)^2 - 3", HURLEY, "1 2 4 5 6 7 8 9 10 11"),
    _metric(
        norms.pastor,
        "1 - |c|_1 / (sqrt N |c|_2)",
        "Pastor et al. (2013), reconstructed: the source could not be read",
        "1 2 3 4 5 6 7 8 9 10 11",
    ),
    _metric(gini_family.gi2, "2G/(1 + G), G the Gini index", HOU, "1 2 3 4 5 6 7 8 9 10 11"),
    _metric(gini_family.gi3, "G/(1 + G), G the Gini index", HOU, "1 2 3 4 5 6 7 8 9 10 11"),
    _metric(
        gini_family.ggi,
        "1 - (w . c)/mean c, w ~ (2N-1, 2N-3, ..., 1)^a",
        HOU,
        "1 2 3 4 5 7 8 9 10 11",
        gini_family.GGI_A,
    ),
    _metric(
        gini_family.fggi,
        "1 - ((w . c^p)/mean c^p)^(1/p), w ~ (2N-1, 2N-3, ..., 1)^a",
        HOU,
        "1 2 4 5 7 8 9 10 11",
        gini_family.GGI_A,
        gini_family.POWER_P,
    ),
    _metric(
        gini_family.pfgi1,
        "1 - (1 - G_p)^(1/p), G_p the Gini index of c^p",
        HOU,
        "1 2 4 5 6 7 8 9 10 11",
        gini_family.POWER_P,
    ),
    _metric(
        gini_family.pfgi2,
        "1 - ((1 - G_p)/(1 + G_p))^(1/p), G_p the Gini index of c^p",
        HOU,
        "1 2 4 5 6 7 8 9 10 11",
        gini_family.POWER_P,
    ),
    _metric(
        gini_family.pfgi3,
        "1 - (1 + G_p)^(-1/p), G_p the Gini index of c^p",
        HOU,
        "1 2 4 5 6 7 8 9 10 11",
        gini_family.POWER_P,
    ),
    _metric(
        gini_family.s_gini,
        "1 - sum_i (((N-i+1)/N)^v - ((N-i)/N)^v) c_(i) / mean c",
        "Donaldson and Weymark (1980), J. Econ. Theory 22(1), 67-86",
        "1 2 3 4 5 6 7 8 9 10 11",
        gini_family.S_GINI_V,
    ),
    _metric(
        entropies.negentropy,
        "mean(z log z), z = c^2/mean c^2",
        "Antoni (2016), The infogram, Mech. Syst. Signal Process. 74, 73-94",
        "1 2 4 5 6 7 8 9 10 11",
    ),
    _metric(
        entropies.box_cox,
        "mean(z (z^l - 1)/l), z = c^2/mean c^2",
        "the Box-Cox transformation of the negentropy of Antoni (2016)",
        "1 2 4 5 6 7 8 9 10 11",
        entropies.BOX_COX_L,
    ),
    _metric(
        inequality.gm_am,
        "1 - GM/AM, the geometric over the arithmetic mean",
        "Atkinson (1970), at epsilon = 1",
        "1 2 4 5 6 9 10 11",
    ),
    _metric(norms.d_norm, "max c / |c|_2", "the ratio of the norms of orders inf and 2", "1 2 4 5 7 9 10 11"),
    _metric(
        norms.pq_index,
        "1 - N^(1/q - 1/p) |c|_p/|c|_q",
        "Diao et al. (2023), Pruning deep neural networks from a sparsity perspective, ICLR",
        "1 2 3 4 5 6 7 8 9 10 11",
        norms.INDEX_P,
        norms.INDEX_Q,
    ),
    _metric(
        norms.neg_numerical_sparsity,
        "-|c|_1^2 / |c|_2^2",
        "Lopes (2013), Estimating unknown sparsity in compressed sensing, ICML",
        "1 2 3 4 5 7 9 10 11",
    ),
    _metric(
        norms.treves_rolls,
        "(1 - (mean c)^2/mean c^2) / (1 - 1/N)",
        "Treves and Rolls (1991), Network 2; normalised as in Vinje and Gallant (2000), Science 287",
        "1 2 3 4 5 7 8 9 10 11",
    ),
    _metric(inequality.hoover, "sum |c - mean c| / (2 sum c)", "Hoover (1936)", "1 2 4 5 6 7 8 9 10 11"),
    _metric(
        inequality.atkinson,
        "1 - (mean c^(1-epsilon))^(1/(1-epsilon)) / mean c",
        "Atkinson (1970), On the measurement of inequality, J. Econ. Theory 2(3), 244-263",
        "1 2 3 4 5 6 7 8 9 10 11",
        inequality.EPSILON,
    ),
    _metric(
        inequality.theil,
        "mean(z log z), z = c/mean c",
        "Theil (1967), Economics and Information Theory, North-Holland",
        "1 2 3 4 5 6 7 8 9 10 11",
    ),
)

_ALIASES = {
    "l1": "neg_l1",
    "lp": "neg_lp",
    "tanh": "neg_tanh",
    "log": "neg_log",
    "κ4": "kappa4",
    "lp_neg": "neg_lp_neg",
    "gaussian_entropy": "h_g",
    "shannon_entropy": "neg_h_s",
    "modified_shannon_entropy": "neg_h_s_prime",
    "hoyer_index": "hoyer",
    "gini_index": "gini",
    "gi": "gini",
    "excess_kurtosis": "kurtosis",
    "generalised_gini": "ggi",
    "generalized_gini": "ggi",
    "donaldson_weymark": "s_gini",
    "1-gm/am": "gm_am",
    "numerical_sparsity": "neg_numerical_sparsity",
    "vinje_gallant": "treves_rolls",
    "hoover_index": "hoover",
    "robin_hood_index": "hoover",
    "atkinson_index": "atkinson",
    "theil_index": "theil",
    "generalised_differential_sparsity": "gds",
}


def _squeezed(name: str) -> str:
    """What is left of a name when case, spaces, hyphens, slashes and underscores do not matter."""
    name = name.strip().casefold().replace("−", "-").replace("'", "prime").replace("′", "prime")
    if name.startswith("-"):
        name = "neg" + name
    return re.sub(r"[\s\-/_]", "", name)


class Catalogue(Mapping[str, Metric]):
    """All metrics by name, in a fixed order.

    A look-up forgives: case, spaces, hyphens and slashes do not matter, a leading minus stands for "neg_", and there
    are aliases ("Vinje-Gallant" for "treves_rolls"). Iterating gives the canonical names: those of the functions.
    """

    def __init__(self, metrics: tuple[Metric, ...], aliases: Mapping[str, str]) -> None:
        """Names are squeezed once, here."""
        self._metrics = {metric.name: metric for metric in metrics}
        self._canonical = {_squeezed(alias): name for alias, name in aliases.items()}
        self._canonical |= {_squeezed(name): name for name in self._metrics}

    def __getitem__(self, name: str) -> Metric:
        """The metric of that name; a KeyError as of any mapping (`measure` explains more)."""
        if not isinstance(name, str) or _squeezed(name) not in self._canonical:
            raise KeyError(name)
        return self._metrics[self._canonical[_squeezed(name)]]

    def __iter__(self) -> Iterator[str]:
        """The canonical names."""
        return iter(self._metrics)

    def __len__(self) -> int:
        """How many metrics there are."""
        return len(self._metrics)

    def __repr__(self) -> str:
        """The names."""
        return f"METRICS({', '.join(self)})"

    def nearest(self, name: Any) -> str | None:
        """The canonical name of what looks most like `name`."""
        close = difflib.get_close_matches(_squeezed(str(name)), self._canonical, n=1)
        return self._canonical[close[0]] if close else None


METRICS = Catalogue(_ALL, _ALIASES)


def measure(
    x: Any,
    name: str,
    *,
    axis: int | None = -1,
    nan_policy: str = "propagate",
    zero: float = math.nan,
    **parameters: float,
) -> Any:
    """The metric of that name, or alias, in the catalogue `METRICS`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> sg.measure([0, 0, 0, 5], "Gini")
    0.75
    >>> sg.measure([0, 0, 0, 5], "pq index", p=0.5, q=2)
    0.875
    """
    metric = find_metric(name)
    return metric.function(x, axis=axis, nan_policy=nan_policy, zero=zero, **check_parameters(metric, parameters))


def find_metric(name: Any) -> Metric:
    """The metric of that name or alias; an unknown one is refused with the nearest and all others."""
    if name not in METRICS:
        raise InvalidInput(f"there is no metric {name!r}{_hint(METRICS.nearest(name))}; there are {', '.join(METRICS)}")
    return METRICS[name]


def check_parameters(metric: Metric, parameters: Mapping[str, Any]) -> dict[str, float]:
    """All parameters of a metric: those given, which must be in range, and the defaults of the others."""
    for name in parameters:
        if name not in metric.parameters:
            raise InvalidInput(_unknown_parameter(metric, name))
    checked = {
        name: parameter.check(parameters[name]) if name in parameters else parameter.default
        for name, parameter in metric.parameters.items()
    }
    if metric.name == "pq_index":
        norms.check_index(**checked)
    return checked


def _unknown_parameter(metric: Metric, parameter: str) -> str:
    if not metric.parameters:
        return f"{metric.name} has no parameters, got {parameter!r}; leave it out"
    close = difflib.get_close_matches(parameter, metric.parameters, n=1)
    ranges = ", ".join(map(str, metric.parameters.values()))
    return f"{metric.name} has no parameter {parameter!r}{_hint(close[0] if close else None)}; it has {ranges}"


def _hint(nearest: str | None) -> str:
    return f", did you mean {nearest!r}?" if nearest else ""
