"""Numbers that carry their derivatives: what turns the formula of a metric into the influence of each coefficient.

The kernel of a metric is a formula of row statistics. Called with statistics that know how they change with the weight
of each coefficient, the same formula returns how the metric does, by the chain rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._arrays import Array
from ..errors import InvalidInput

Partials = Callable[..., tuple[Any, ...]]

# the derivatives of each function with respect to its arguments, from the result and the arguments
PARTIALS: dict[Any, Partials] = {
    np.add: lambda y, a, b: (1.0, 1.0),
    np.subtract: lambda y, a, b: (1.0, -1.0),
    np.multiply: lambda y, a, b: (b, a),
    np.divide: lambda y, a, b: (1.0 / b, -y / b),
    np.power: lambda y, a, b: (b * np.power(a, b - 1.0), y * np.log(np.where(a > 0.0, a, 1.0))),
    np.float_power: lambda y, a, b: (b * np.power(a, b - 1.0), y * np.log(np.where(a > 0.0, a, 1.0))),
    np.negative: lambda y, a: (-1.0,),
    np.positive: lambda y, a: (1.0,),
    np.absolute: lambda y, a: (np.sign(a),),
    np.square: lambda y, a: (2.0 * a,),
    np.sqrt: lambda y, a: (0.5 / y,),
    np.cbrt: lambda y, a: (1.0 / (3.0 * y * y),),
    np.reciprocal: lambda y, a: (-y * y,),
    np.exp: lambda y, a: (y,),
    np.expm1: lambda y, a: (y + 1.0,),
    np.exp2: lambda y, a: (y * math.log(2.0),),
    np.log: lambda y, a: (1.0 / a,),
    np.log1p: lambda y, a: (1.0 / (1.0 + a),),
    np.log2: lambda y, a: (1.0 / (a * math.log(2.0)),),
    np.log10: lambda y, a: (1.0 / (a * math.log(10.0)),),
    np.tanh: lambda y, a: (1.0 - y * y,),
    np.minimum: lambda y, a, b: (np.less_equal(a, b) * 1.0, np.less(b, a) * 1.0),
    np.maximum: lambda y, a, b: (np.greater_equal(a, b) * 1.0, np.greater(b, a) * 1.0),
    np.ldexp: lambda y, a, b: (np.ldexp(1.0, b), 0.0),
}
QUESTIONS = {
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.isfinite, np.isnan, np.isinf,
    np.sign, np.signbit,
}  # fmt: skip


class Dual(NDArrayOperatorsMixin):
    """One value per signal, and its derivative with respect to the weight of each coefficient: slopes[signal, k].

    Constants that are the same for all k of a signal may be missing in the slopes: the total weight stays as it is, so
    that they cancel.
    """

    def __init__(self, value: Array, slopes: Array) -> None:
        self.value = value
        self.slopes = slopes

    def __len__(self) -> int:
        """Return the number of signals."""
        return len(self.value)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a function of NumPy by the chain rule; a comparison gives an array of booleans."""
        values = [value_of(argument) for argument in inputs]
        if method != "__call__" or options or not (function in PARTIALS or function in QUESTIONS):
            raise InvalidInput(_unknown(function.__name__))
        result = function(*values)
        if function in QUESTIONS:
            return result
        partials = PARTIALS[function](result, *values)
        slopes = sum(
            _column(partial) * argument.slopes
            for partial, argument in zip(partials, inputs, strict=True)
            if isinstance(argument, Dual)
        )
        return Dual(np.asarray(result), np.asarray(slopes))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Choose by a condition with `np.where`; nothing else is known."""
        if function is not np.where or kwargs or len(args) != 3:
            raise InvalidInput(_unknown(function.__name__))
        condition, yes, no = value_of(args[0]), args[1], args[2]
        value = np.where(condition, value_of(yes), value_of(no))
        return Dual(value, np.where(_column(condition), _slopes_of(yes), _slopes_of(no)))


def value_of(argument: Any) -> Any:
    """Return the values without their derivatives."""
    return argument.value if isinstance(argument, Dual) else argument


def _slopes_of(argument: Any) -> Any:
    return argument.slopes if isinstance(argument, Dual) else 0.0


def _column(partial: Any) -> Any:
    """Return one number per signal so that it multiplies all slopes of the signal."""
    return partial[:, None] if np.ndim(partial) == 1 else partial


def _unknown(name: str) -> str:
    known = ", ".join(sorted(function.__name__ for function in PARTIALS))
    return (
        f"the formula of this metric calls NumPy's {name}, whose derivative is not known, so that it has no standard "
        f"error; write it with {known} and where"
    )
