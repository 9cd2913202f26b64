"""Formulas in plain text, as the auditor writes them, and numbers, set for the page."""

from __future__ import annotations

import math
import re
from typing import Any

from markupsafe import Markup, escape

SIGNS = {
    "+-": "±",
    "&lt;=": "≤",
    "&gt;=": "≥",
    "-&gt;": "→",
    "||": "‖",
    " - ": " − ",
    "beta": "β",
    "sigma": "σ",
    "infinity": "∞",
}
_INDEX = re.compile(r"\b(S|c|β|σ|[01])_(?:\{([^}]*)\}|(\w+))")
_POWER = re.compile(r"\^(?:\(([^)]*)\)|(\w+))")
_TIMES = re.compile(r"(?<=[\dpk]) x (?=\d)")  # [3 x 20, 12]


def typeset(text: str) -> Markup:
    """Set S_p, c_i, 0_{N-1}, c^p, <= and similar parts of an escaped text as formulas."""
    html = str(escape(text))
    for plain, sign in SIGNS.items():
        html = html.replace(plain, sign)
    html = _INDEX.sub(lambda found: f"{found[1]}<sub>{_signs(found[2] or found[3])}</sub>", html)
    html = _POWER.sub(lambda found: f"<sup>{_signs(found[1] or found[2])}</sup>", html)
    return Markup(_TIMES.sub(" × ", html))


def _signs(index: str) -> str:
    return index.replace("-", "−")


def label(value: Any) -> str:
    """Return a value of an axis as a reader writes it."""
    if not isinstance(value, int | float):
        return str(value)
    return "∞" if value == math.inf else f"{value:g}"
