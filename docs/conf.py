"""How the site is built: `make docs`, or `sphinx-build -W -b html docs build/docs`. Nothing is ever fetched."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the site's own directives

REPOSITORY = "https://github.com/sparsegauge/sparsegauge"
project = "sparsegauge"
author = "The sparsegauge developers"
copyright = author
release = version = importlib.metadata.version("sparsegauge")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "site_mathml",
    "site_notebooks",
    "site_reference",
    "site_sources",
]
exclude_patterns = ["_build"]
nitpicky = True
default_role = "code"  # in docstrings, as readers of Python expect

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

autodoc_typehints = "none"  # the docstrings say what is allowed, in words
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"sparsegauge {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": ""}],
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
