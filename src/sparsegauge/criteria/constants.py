"""The numbers that are written in a function's own code: where it changes its mind, if it does so anywhere.

A function may break a law at one length or beyond one threshold only. Random signals rarely come there, but the number
is usually in its code: among the constants of its code objects, in its defaults, its closure, the attributes of a
callable object, or the module-level names that it uses. Whatever cannot be read is left out.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

MOST_CONSTANTS = 24
MOST_OBJECTS = 300  # that are looked into
LARGEST_ARRAY = 50
TRIVIAL = frozenset((0.0, 1.0, 2.0, 0.5))
LARGEST = 1e16  # and one over it the smallest


def numbers_in(function: Any) -> list[Fraction]:
    """Return the magnitudes of the numbers in a function's code, up to a limit; of a compiled function there are none.

    Examples
    --------
    >>> from sparsegauge.criteria.constants import numbers_in
    >>> numbers_in(lambda x: x.sum() + (len(x) > 1000))
    [Fraction(1000, 1)]
    """
    useful = (number for number in _numbers(function) if 1 / LARGEST <= number <= LARGEST and number not in TRIVIAL)
    nearest = list(dict.fromkeys(useful))[:MOST_CONSTANTS]
    return [Fraction(repr(number)) for number in sorted(nearest)]


def _numbers(function: Any) -> Iterator[float]:
    """Yield magnitudes, those of the function itself first."""
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_OBJECTS:
        item = waiting.pop(0)
        if isinstance(item, bool | np.bool_) or id(item) in seen:
            continue
        if isinstance(item, int | float | np.number):
            if -LARGEST <= item <= LARGEST:
                yield abs(float(item))
            continue
        seen.add(id(item))
        waiting.extend(_parts(item))


def _parts(item: Any) -> Iterable[Any]:
    """Return what an object is made of, as far as numbers may be in it."""
    if isinstance(item, types.CodeType):
        return item.co_consts
    if isinstance(item, types.FunctionType):
        return _parts_of_function(item)
    if isinstance(item, types.MethodType):
        return (item.__func__, item.__self__)
    if isinstance(item, functools.partial):
        return (item.func, item.args, item.keywords)
    if isinstance(item, np.ndarray):
        return item.ravel().tolist() if item.size <= LARGEST_ARRAY and item.dtype.kind in "iuf" else ()
    if isinstance(item, dict):
        return list(item.values())[:LARGEST_ARRAY]
    if isinstance(item, tuple | list | set | frozenset):
        return list(item)[:LARGEST_ARRAY]
    if isinstance(item, type | types.ModuleType | types.BuiltinFunctionType | str | bytes) or not callable(item):
        return ()
    attributes = getattr(item, "__dict__", {})
    return (type(item).__call__, getattr(item, "__wrapped__", None), attributes)


def _parts_of_function(function: types.FunctionType) -> Iterable[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    own = [x for x in used if not isinstance(x, types.FunctionType) or x.__module__ == function.__module__]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, *cells, *own]


def _names(code: types.CodeType) -> list[str]:
    nested = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names(part)]
    return [*code.co_names, *nested]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # an empty cell
        return False
