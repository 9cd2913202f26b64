"""Standard errors and confidence intervals of metrics, from what each coefficient contributes.

A signal is taken for N draws from the distribution of its coefficients; the standard error says how far the metric of
another such signal would be. Everything comes from one number per coefficient, how much the metric would change with
its weight; `docs/error_bars.md` has the formulas, and how often the intervals are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import gather_signals, library_of
from ..errors import InvalidInput
from .containers import Reduction, measure_elsewhere
from .contributions import Blocks, Contributions, ErrorEstimator, Method, Spread
from .metric import Axis, Center, Metric, MetricFunction, Values
from .scales import LINEAR, Scale

LABELLED = ("xarray", "pandas")


class ConfidenceInterval(NamedTuple):
    """The lower and the upper limit of an interval, as in SciPy."""

    low: Any
    high: Any


def standard_error(
    x: ArrayLike,
    metric: str | Metric | MetricFunction,
    *,
    method: Method = "infinitesimal",
    blocks: Blocks = None,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    dim: Any = None,
    **parameters: Any,
) -> Values:
    r"""Return the standard error of a metric: how much it would vary between signals of the same kind and length.

    .. math:: \widehat{\mathrm{se}}^2 = \frac{1}{N (N - 1)} \sum_k \mathrm{IF}_k^2

    where :math:`\mathrm{IF}_k`, the influence of coefficient k, is the derivative of the metric as the share of this
    coefficient grows from :math:`1/N`. It is computed from the metric's formula by the chain rule, exactly, at the cost
    of a few times the metric itself.

    Parameters
    ----------
    x : array_like
        The signals, as every metric takes them. xarray and pandas objects keep their labels; anything else but arrays
        of NumPy or SciPy is converted to one.
    metric : str, Metric or function
        A metric of the catalogue, by its name, its object or its function. Metrics that count coefficients or depend on
        the largest one have no standard error.
    method : {"infinitesimal", "jackknife"}
        ``infinitesimal`` uses the influence; ``jackknife`` what the metric would be without each coefficient, which is
        as exact and fast. It is larger for short signals with few large coefficients, and closer to the truth. Weights
        that are not whole are always infinitesimal.
    blocks : int or "auto", optional
        For signals whose neighbouring coefficients depend on each other, such as samples over time: the length of the
        blocks that are about independent, or "auto" to find it from the autocorrelation of the influence. None takes
        all coefficients to be independent.
    axis, keepdims, nan_policy, weights, center, dim
        The options of every metric; see `gds`. Weights say how often a coefficient was observed;
        ``center="median"`` is refused.
    **parameters
        Those of the metric.

    Returns
    -------
    float or ndarray
        0 where all magnitudes are equal; nan for a signal of one coefficient, and where the metric is not finite.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> round(sg.standard_error([1, 2, 3, 4, 5, 6, 7, 8], "gini"), 6)
    0.073929
    >>> round(sg.standard_error([1, 2, 3, 4, 5, 6, 7, 8], "gds", order=4, method="jackknife"), 6)
    0.067853
    """
    estimate = ErrorEstimator(metric, method, blocks, weights, center, parameters)
    if dim is not None or library_of(x) in LABELLED:
        own = {"metric": estimate.metric, "method": method, "blocks": blocks, **parameters}
        options = {"axis": axis, "keepdims": keepdims, "nan_policy": nan_policy, "weights": weights, "center": center}
        return measure_elsewhere(Reduction("standard_error", standard_error, own, options, dim), x)  # type: ignore[no-any-return]
    signals, finish = gather_signals(x, axis, nan_policy, keepdims, weights, center)
    estimate.check_signals(x, axis, signals)
    errors = [math.sqrt(estimate.spread(one).variance) for one in estimate.contributions(signals, LINEAR)]
    return finish(np.array(errors, dtype=np.float64))  # type: ignore[no-any-return]


def confidence_interval(
    x: ArrayLike,
    metric: str | Metric | MetricFunction,
    *,
    level: float = 0.95,
    method: Method = "jackknife",
    blocks: Blocks = None,
    axis: Axis = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    weights: ArrayLike | None = None,
    center: Center = None,
    dim: Any = None,
    **parameters: Any,
) -> ConfidenceInterval:
    """Return an interval that holds the metric's limit for ever longer signals of the same kind, with a probability.

    The interval is symmetric on a scale without bounds: the complementary log-log of metrics between 0 and 1, the
    logarithm of positive ones. For metrics of high moments, such as `gds` of order 4, the scale ends above: where the
    signal sets no upper limit, the interval ends at the metric's own bound. On the scale, the jackknife's estimate of
    the bias is taken off, and the quantile is Student's, with the degrees of freedom that the kurtosis of the
    contributions leaves (Satterthwaite).

    Parameters
    ----------
    x : array_like
        The signals, as every metric takes them.
    metric : str, Metric or function
        A metric of the catalogue, by its name, its object or its function.
    level : float
        The probability, between 0 and 1.
    method : {"infinitesimal", "jackknife"}
        As in `standard_error`; ``infinitesimal`` does not correct the bias.
    blocks, axis, keepdims, nan_policy, weights, center, dim, **parameters
        As in `standard_error`.

    Returns
    -------
    ConfidenceInterval
        The limits ``low`` and ``high``, each a float or an array. Both are the metric itself where all magnitudes are
        equal, and nan where there is no standard error. A metric that depends on the length of the signal has the limit
        that it would have at this length.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> low, high = sg.confidence_interval([1, 2, 3, 4, 5, 6, 7, 8], "gini")
    >>> round(low, 3), round(high, 3)
    (0.174, 0.578)
    """
    level = check_level(level)
    estimate = ErrorEstimator(metric, method, blocks, weights, center, parameters)
    if dim is not None or library_of(x) in LABELLED:
        own = {"metric": estimate.metric, "level": level, "method": method, "blocks": blocks, **parameters}
        options = {"axis": axis, "keepdims": keepdims, "nan_policy": nan_policy, "weights": weights, "center": center}
        ends = [Reduction(name, _end(k), own, options, dim) for k, name in enumerate(ConfidenceInterval._fields)]
        return ConfidenceInterval(*(measure_elsewhere(call, x) for call in ends))
    signals, finish = gather_signals(x, axis, nan_policy, keepdims, weights, center)
    estimate.check_signals(x, axis, signals)
    scale = estimate.metric.scale(**estimate.arguments)
    found = estimate.contributions(signals, scale)
    limits = np.array([_limits(one, estimate.spread(one), scale, level) for one in found], dtype=np.float64)
    low, high = limits.reshape(-1, 2).T.copy()
    return ConfidenceInterval(finish(low), finish(high))


def _end(k: int) -> Callable[..., Any]:
    """Return what computes the lower (0) or the upper (1) limit alone."""
    return lambda x, metric, **options: confidence_interval(x, metric, **options)[k]


def check_level(level: Any) -> float:
    """Return a probability between 0 and 1."""
    if isinstance(level, bool | np.bool_) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise InvalidInput(f"level is a probability between 0 and 1, such as 0.95, got {level!r}")
    return float(level)


def _limits(one: Contributions, spread: Spread, scale: Scale, level: float) -> tuple[float, float]:
    """Return the limits of an interval, in the metric's own unit."""
    from scipy.special import stdtrit

    if not spread.variance > 0.0:
        value = float(scale.backward(np.array(one.value))) if spread.variance == 0.0 else math.nan
        return value, value
    bias = one.bias * spread.inflation
    reach = float(stdtrit(spread.freedom, 0.5 + level / 2)) * math.sqrt(spread.variance)
    middle = one.value - bias
    with np.errstate(over="ignore"):  # of a few coefficients the interval may be without an end
        low, high = scale.backward(np.array([middle - reach, middle + reach]))
    return float(low), float(high)
