"""Write results as one HTML page that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import fields

from markupsafe import Markup

from .. import __version__
from ..plots.band_figures import band_chart
from ..plots.charts import decay_chart, profile_chart, thumbnail, time_chart
from ..plots.svg import LINES
from ..signals import REPRESENTATIONS
from .comparisons import draw_comparison
from .environment import TEMPLATES
from .measured_signals import TABLE_ORDERS, MeasuredSignal
from .sections import SECTIONS, Sections

OFFSET_EXAMPLE = "aero"  # bright throughout, so its mean hides most of what differs


def render(sections: Sections) -> str:
    """Return the page as text.

    Parameters
    ----------
    sections : Sections
        What a function of `sections.py` gathered; the sections whose data are missing are left out.

    Returns
    -------
    str
        An HTML document that holds its styles, its script and its figures, and refers to nothing outside itself.
    """
    signals = sections.signals
    script = Markup(TEMPLATES.get_template("page.js").render())
    return TEMPLATES.get_template("page.html").render(
        {each.name: getattr(sections, each.name) for each in fields(sections)},
        sections=[section for section in SECTIONS if section.is_shown(sections)],
        version=__version__,
        representations=list(REPRESENTATIONS),
        orders=TABLE_ORDERS,
        lines=LINES,
        thumbnails={signal.name: thumbnail(signal.name, signal.values) for signal in signals},
        profiles={signal.name: profile_chart(signal.name, signal.profiles, signal.intervals) for signal in signals},
        with_intervals=any(signal.intervals for signal in signals),
        decays={signal.name: decay_chart(signal.name, signal.decays) for signal in signals},
        wins=_count_wins(signals),
        offset=next((signal for signal in signals if signal.name == OFFSET_EXAMPLE), None),
        drawn={comparison.name: draw_comparison(comparison) for comparison in sections.recoveries},
        time_charts={trace.name: time_chart(trace) for trace in sections.over_time},
        band_charts={name: band_chart(name, found) for name, found in sections.band_maps.items()},
        title=_title(sections),
        script=script,
        script_hash=_hash(script),
    )


def _title(sections: Sections) -> str:
    if sections.signals:
        return "How sparse are these signals?"
    return "The paper: laws, claims and experiment" if sections.laws else "A study of recoveries"


def _hash(script: str) -> str:
    """Return the hash by which the page's policy allows this script, and no other, to run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _count_wins(signals: Sequence[MeasuredSignal]) -> dict[float, dict[str, int]]:
    """Count, for each order of the table, how many signals each representation makes the sparsest."""
    return {
        order: {label: sum(label in signal.sparsest(order) for signal in signals) for label in REPRESENTATIONS}
        for order in TABLE_ORDERS
    }
