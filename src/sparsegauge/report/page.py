"""Results -> one HTML page that fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence

import jinja2

from .. import __version__
from .demos import REPRESENTATIONS, TABLE_ORDERS, Measured
from .figures import LINES, decay_chart, profile_chart, thumbnail

OFFSET_EXAMPLE = "aero"  # bright throughout, so its mean hides most of what differs

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("sparsegauge.report"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(demos: Sequence[Measured]) -> str:
    """The page as text.

    Parameters
    ----------
    demos : sequence of Measured
        What `measure_demos` gives, in the order in which the page shows it.

    Returns
    -------
    str
        An HTML document that holds its styles and its figures, and refers to nothing outside itself.
    """
    return _TEMPLATES.get_template("page.html").render(
        version=__version__,
        demos=demos,
        representations=list(REPRESENTATIONS),
        orders=TABLE_ORDERS,
        lines=LINES,
        thumbnails={demo.name: thumbnail(demo.name, demo.values) for demo in demos},
        profiles={demo.name: profile_chart(demo.name, demo.profiles) for demo in demos},
        decays={demo.name: decay_chart(demo.name, demo.decays) for demo in demos},
        wins=_wins(demos),
        offset=next((demo for demo in demos if demo.name == OFFSET_EXAMPLE), None),
    )


def _wins(demos: Sequence[Measured]) -> dict[float, dict[str, int]]:
    """For each order of the table, how many signals each representation makes the sparsest."""
    return {
        order: {label: sum(label in demo.sparsest(order) for demo in demos) for label in REPRESENTATIONS}
        for order in TABLE_ORDERS
    }
