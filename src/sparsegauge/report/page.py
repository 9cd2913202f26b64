"""Write results as one HTML page that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from markupsafe import Markup

from .. import __version__
from ..plots.charts import decay_chart, profile_chart, thumbnail
from ..plots.svg import LINES
from ..signals import REPRESENTATIONS
from .comparisons import draw_comparison
from .demo_signals import TABLE_ORDERS, DemoSignal
from .environment import TEMPLATES
from .sections import Sections

OFFSET_EXAMPLE = "aero"  # bright throughout, so its mean hides most of what differs


def render(sections: Sections) -> str:
    """Return the page as text.

    Parameters
    ----------
    sections : Sections
        What `gather` gives; the sections whose data are missing are left out.

    Returns
    -------
    str
        An HTML document that holds its styles, its script and its figures, and refers to nothing outside itself.
    """
    demos = sections.demos
    script = Markup(TEMPLATES.get_template("page.js").render())
    return TEMPLATES.get_template("page.html").render(
        version=__version__,
        demos=demos,
        representations=list(REPRESENTATIONS),
        orders=TABLE_ORDERS,
        lines=LINES,
        thumbnails={demo.name: thumbnail(demo.name, demo.values) for demo in demos},
        profiles={demo.name: profile_chart(demo.name, demo.profiles) for demo in demos},
        decays={demo.name: decay_chart(demo.name, demo.decays) for demo in demos},
        wins=_count_wins(demos),
        offset=next((demo for demo in demos if demo.name == OFFSET_EXAMPLE), None),
        rankings=sections.rankings,
        laws=sections.laws,
        recoveries=sections.recoveries,
        drawn={comparison.name: draw_comparison(comparison) for comparison in sections.recoveries},
        study=sections.study,
        script=script,
        script_hash=_hash(script),
    )


def _hash(script: str) -> str:
    """Return the hash by which the page's policy allows this script, and no other, to run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _count_wins(demos: Sequence[DemoSignal]) -> dict[float, dict[str, int]]:
    """Count, for each order of the table, how many signals each representation makes the sparsest."""
    return {
        order: {label: sum(label in demo.sparsest(order) for demo in demos) for label in REPRESENTATIONS}
        for order in TABLE_ORDERS
    }
