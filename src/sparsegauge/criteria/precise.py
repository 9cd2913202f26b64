"""Numbers of many digits that NumPy's functions can work with, and that record whether float64 has touched them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

from .numbers import as_fraction

_CONTEXTS = threading.local()
DIGITS_OF_SHORT_DECIMALS = 8  # a float with so few stands for the decimal fraction that a reader sees


class Precise:
    """np.sqrt(array of objects) calls the objects' method sqrt: so a metric written for floats works on these.

    A float constant such as np.sqrt(5) is wrong in its 17th digit, and what it is combined with is no longer precise:
    `tainted` remembers that. 0.5 and 1e-3 are what they look like.
    """

    __slots__ = ("number", "tainted")

    def __init__(self, number: Any, tainted: bool = False) -> None:
        self.number = number
        self.tainted = tainted

    def __hash__(self) -> int:
        return hash(self.number)

    def __abs__(self) -> Precise:
        return Precise(abs(self.number), self.tainted)

    def __neg__(self) -> Precise:
        return Precise(-self.number, self.tainted)

    def __bool__(self) -> bool:
        return bool(self.number)


def maker(digits: int) -> Callable[[Fraction], Precise]:
    """Return a function that makes numbers of this many digits, in a context that no other thread uses."""
    contexts: dict[str, Any] = _CONTEXTS.__dict__
    context = contexts.get(str(digits))
    if context is None:
        context = contexts[str(digits)] = MPContext()  # takes milliseconds, so one per precision and thread
        context.dps = digits
    return lambda x: Precise(context.mpf(x.numerator) / x.denominator)


def as_floats(array: Any) -> Any:
    """Return an array of fractions, of precise numbers or of floats as float64."""
    return np.array([float(v.number) if isinstance(v, Precise) else float(v) for v in array])


def _operand(other: Any, context: Any) -> tuple[Any, bool]:
    """Return a number of the context, and whether it is tainted."""
    if isinstance(other, Precise):
        return other.number, other.tainted
    if isinstance(other, int | np.integer):
        return context.mpf(int(other)), False
    if isinstance(other, Fraction):
        return context.mpf(other.numerator) / other.denominator, False
    exact = as_fraction(float(other))
    digits = repr(float(other)).lower().split("e")[0].replace(".", "").strip("-0")
    return context.mpf(exact.numerator) / exact.denominator, len(digits) > DIGITS_OF_SHORT_DECIMALS


def _binary(name: str, wrap: bool) -> Callable[[Precise, Any], Any]:
    def method(self: Precise, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        number, tainted = _operand(other, self.number.context)
        result = getattr(self.number, name)(number)
        return Precise(result, self.tainted or tainted) if wrap and result is not NotImplemented else result

    return method


def _unary(name: str) -> Callable[[Precise], Precise]:
    def method(self: Precise) -> Precise:
        return Precise(getattr(self.number.context, name)(self.number), self.tainted)

    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"):
    setattr(Precise, f"__{_name}__", _binary(f"__{_name}__", wrap=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Precise, f"__{_name}__", _binary(f"__{_name}__", wrap=False))
for _name, _function in {
    "sqrt": "sqrt", "log": "log", "exp": "exp", "tanh": "tanh", "log1p": "log1p", "expm1": "expm1", "log10": "log10",
    "fabs": "fabs", "cbrt": "cbrt", "sin": "sin", "cos": "cos", "arctan": "atan", "conjugate": "convert",
}.items():  # fmt: skip
    setattr(Precise, _name, _unary(_function))
setattr(Precise, "square", lambda self: self * self)  # noqa: B010 (mypy knows no method that is set so)
setattr(Precise, "log2", lambda self: self.log() / Precise(self.number.context.log(2)))  # noqa: B010
