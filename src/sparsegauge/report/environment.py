"""The templates of the pages, with the filters that they use."""

from __future__ import annotations

from pathlib import Path

import jinja2

from .typeset import label, typeset

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters["typeset"] = typeset
TEMPLATES.filters["label"] = label
