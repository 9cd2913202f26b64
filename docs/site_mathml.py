"""Formulas as MathML, which browsers draw by themselves: no script, no font and no image has to be fetched."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)

_SIZES = re.compile(r"\\[bB]igg?[lr]?(?![A-Za-z])")  # brackets stretch by themselves


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(visitor: Any, node: nodes.math) -> None:
    visitor.body.append(_mathml(node))
    raise nodes.SkipNode


def _block(visitor: Any, node: nodes.math_block) -> None:
    visitor.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    """A formula that docutils does not understand is a warning that names its page, and shown as it was written."""
    try:
        return tex2mathml(_SIZES.sub("", node.astext()), as_block=as_block)
    except MathError as error:
        _log.warning("%s in the formula %s", error, node.astext(), location=node, type="mathml")
        return html.escape(node.astext())
