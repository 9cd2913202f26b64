"""Check the values of a study's axes, as a file or a caller gives them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._arrays import check_count, check_number
from ..errors import InvalidInput
from ..rounding import WHOLE

_SHARE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


def check_axis(key: str, values: Any, check: Callable[[Any], Any], *, may_be_empty: bool = False) -> tuple[Any, ...]:
    """Return the checked values: numbers in ascending order, words in the order given."""
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
    return tuple(checked if any(isinstance(value, str) for value in checked) else sorted(checked))


def check_counts(key: str, values: Any, n: int, *, most: int) -> tuple[int, ...]:
    """Return counts out of n, of which some may be given as shares such as "10%"."""
    return check_axis(key, values, lambda value: _check_count(key, value, n, most))


def _check_count(key: str, value: Any, n: int, most: int) -> int:
    count = _count_of_share(key, value, n) if isinstance(value, str) else check_count(key, value, least=1)
    if count > most:
        why = "" if most == n else ": with n of them there is nothing to recover"
        raise InvalidInput(f"{key} must be at most {most}, got {value!r}{why}")
    return count


def _count_of_share(key: str, text: str, n: int) -> int:
    share = _share(key, text)
    count = round(share * n / 100)
    if count < 1:
        raise InvalidInput(f"{key} must be at least 1, got {text!r} of n = {n}, which is none; use a larger share or n")
    return count


def _share(key: str, text: str) -> float:
    found = _SHARE.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{key} must be a whole number, or a share of n such as '10%', got {text!r}")
    return float(found[1])


def check_ratio(value: Any) -> float:
    """Return a signal-to-noise ratio in decibels."""
    ratio = check_number("noise_db", value)
    if not ratio > -math.inf:
        raise InvalidInput(f"noise_db must be a ratio in decibels, or inf for no noise, got {value!r}")
    return ratio


def spread_range(key: str, values: Any) -> Any:
    """Write out { from = 1, to = 2, step = 0.1 }, both ends included; return lists as they are.

    The ends and the step of a range of counts may be shares: { from = "10%", to = "60%", step = "10%" }.
    """
    if not isinstance(values, Mapping):
        return values
    wrong = [name for name in values if name not in ("from", "to", "step")]
    if wrong or "from" not in values or "to" not in values:
        raise InvalidInput(f"{key}: a range is {{ from = ..., to = ..., step = ... }}, got the keys {list(values)}")
    if key in ("nonzeros", "measurements") and any(isinstance(value, str) for value in values.values()):
        shares = {name: _share(f"{key}.{name}", str(value)) for name, value in values.items()}
        return [f"{value:g}%" for value in _steps(key, shares)]
    return _steps(key, values)


def _steps(key: str, values: Mapping[str, Any]) -> list[Any]:
    start, stop, step = (check_number(f"{key}.{name}", values.get(name, 1)) for name in ("from", "to", "step"))
    if not (math.isfinite(start) and math.isfinite(stop) and 0 < step < math.inf and stop >= start):
        raise InvalidInput(f"{key}: a range goes up in finite steps above 0, got {dict(values)}")
    count = round((stop - start) / step)
    if abs(start + count * step - stop) > WHOLE * max(abs(stop), step):
        raise InvalidInput(f"{key}: whole steps of {step:g} from {start:g} do not end at {stop:g}")
    if all(isinstance(value, int) for value in values.values()):
        return list(range(int(start), int(stop) + 1, int(step)))
    return [round(start + k * step, 12) for k in range(count + 1)]  # 1.2 and not 1.2000000000000002
