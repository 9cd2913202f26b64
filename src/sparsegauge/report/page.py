"""Results -> one HTML page that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from .. import __version__
from .demos import REPRESENTATIONS, TABLE_ORDERS, Measured
from .figures import LINES, decay_chart, profile_chart, thumbnail
from .typeset import label, typeset

if TYPE_CHECKING:
    from .contents import Contents

OFFSET_EXAMPLE = "aero"  # bright throughout, so its mean hides most of what differs

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["typeset"] = typeset
_TEMPLATES.filters["label"] = label


def render(contents: Contents) -> str:
    """The page as text.

    Parameters
    ----------
    contents : Contents
        What `gather` gives; the sections whose data are missing are left out.

    Returns
    -------
    str
        An HTML document that holds its styles, its script and its figures, and refers to nothing outside itself.
    """
    from .recovery_figures import drawn  # here, because other pages take their templates from this file

    demos = contents.demos
    script = Markup(_TEMPLATES.get_template("page.js").render())
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
        rankings=contents.rankings,
        laws=contents.laws,
        recoveries=contents.recoveries,
        drawn={comparison.name: drawn(comparison) for comparison in contents.recoveries},
        study=contents.study,
        script=script,
        script_hash=_hash(script),
    )


def _hash(script: str) -> str:
    """What the page's policy allows to run: this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _wins(demos: Sequence[Measured]) -> dict[float, dict[str, int]]:
    """For each order of the table, how many signals each representation makes the sparsest."""
    return {
        order: {label: sum(label in demo.sparsest(order) for demo in demos) for label in REPRESENTATIONS}
        for order in TABLE_ORDERS
    }
