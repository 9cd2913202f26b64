"""The pieces that the page is made of: cards, texts, messages. Everything from outside is escaped here or before."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from ..errors import InvalidInput
from ..recovery.result import Recovery
from .drawings import LOWERS, RAISES
from .dropper import LimitedDropper
from .experiment import Frame
from .upload import MEGABYTE

RANKING = (
    "<p>The share of 27 reference signals (nine demo signals as samples, DCT and wavelet coefficients) that each "
    "metric calls less sparse than this one. Metrics that disagree are far apart.</p>"
)
TEXT = """
:host { color: inherit; font-size: 0.95rem; line-height: 1.5; }
p { margin: 0; }
h2 { margin: 0; font-size: 1.1rem; font-weight: 600; }
.number { font-size: 2.4rem; font-weight: 700; font-variant-numeric: tabular-nums; line-height: 1.2; }
.certified { font-weight: 700; }
.whole { white-space: nowrap; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.15rem 1rem; margin: 0; }
dt { opacity: 0.8; }
dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.mark { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin-right: 0.3em; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; }
"""
DROPPER = """
.filepond--root { font-family: inherit; margin-bottom: 0; }
.bk-input.filepond--root, .bk-input.filepond--root:hover { box-shadow: none !important; background: none;
  border-radius: 6px; outline: 1.5px dashed gray; outline-offset: -1px; }
.filepond--panel-root, .filepond--panel-root > div { background-color: transparent !important; }
.filepond--drop-label, .filepond--hopper { background: none !important; }
.filepond--item-panel { background-color: #4a5560 !important; }
.filepond--drop-label, .filepond--drop-label label { color: inherit; font-size: 0.95rem; cursor: pointer; }
.filepond--credits { display: none; }
.bk-input-group:has([data-filepond-item-state="load-invalid"])::after {
  content: "The file is too large: cut it, or start the page with a larger --max-upload-mb.";
  display: block; white-space: normal; color: #e0574f; font-size: 0.95rem; font-weight: 600; }
"""


def text(content: str = "", stylesheets: Sequence[str] = ()) -> Any:
    """Return a pane with the page's own HTML."""
    return pn.pane.HTML(content, stylesheets=[TEXT, *stylesheets], sizing_mode="stretch_width", margin=(4, 10))


def paragraph(content: str) -> str:
    """Make a paragraph."""
    return f"<p>{content}</p>"


def alert() -> Any:
    """Make a place for a complaint, hidden until there is one."""
    return pmui.Alert(object="", severity="error", visible=False, sizing_mode="stretch_width", margin=(8, 10))


def complain(place: Any, sentence: str) -> None:
    """Show what is wrong."""
    place.param.update(object=html.escape(" ".join(sentence.split())), visible=True)


def attempt(place: Any, work: Callable[[], None]) -> None:
    """Do some work; what goes wrong is a sentence in that place, and the page shows what it showed before."""
    place.visible = False
    try:
        work()
    except InvalidInput as error:
        complain(place, str(error))
    except Exception as error:  # an unexpected error must not end the page
        complain(place, f"That did not work ({type(error).__name__}: {error}).")


def take_dropped(dropper: Any, place: Any, take: Callable[[str, bytes], None]) -> None:
    """Call `take` with the newest file, or complain; a drop zone also calls this when it releases a file."""
    new = dropper.take()
    if dropper.complaint:
        complain(place, dropper.complaint)
    elif new is not None:
        attempt(place, lambda: take(*new))


def choose_first(select: Any, options: Sequence[str], load: Callable[[], None]) -> None:
    """Offer these options and choose the first; a choice of the same name as before is loaded, as no widget moves."""
    again = select.value == options[0]
    select.param.update(options=list(options), value=options[0])
    if again:
        load()


def card(title: str, *content: Any) -> Any:
    """Make a titled piece of the page."""
    return pmui.Paper(
        text(f"<h2>{title}</h2>"), *content, elevation=2, sizing_mode="stretch_width", margin=8, sx={"p": 1}
    )


def drawn(plot: Any) -> Any:
    """Show a figure."""
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width")


def dropper(max_mb: float) -> Any:
    """Return the place where files are dropped; browser and server both refuse files that are too large."""
    return LimitedDropper(
        limit=int(max_mb * MEGABYTE),
        label=f"Or a file of your own, up to {max_mb:g} MB",
        max_file_size=f"{max_mb * 1000:.0f}KB",  # whole numbers only
        chunk_size=1_000_000,
        previews=[],
        sizing_mode="stretch_width",
        width=None,
        stylesheets=[DROPPER],
        margin=(4, 10),
    )


def download(label: str, make: Callable[[], Any]) -> Any:
    """Return a button that saves what `make` returns, a file in memory, when it is pressed."""
    button = pmui.FileDownload(label=label, callback=make, filename="sparsegauge", sizing_mode="stretch_width")
    button.variant = "outlined"  # afterwards: its constructor warns of its own doing
    return button


def legend() -> Any:
    """Return what the colours mean."""
    marks = ((RAISES, "raises Sₚ"), (LOWERS, "lowers Sₚ"))
    entries = "".join(f'<span><span class="mark" style="background:{c}"></span>{words}</span>' for c, words in marks)
    return text(f'<div class="legend">{entries}</div>')


def reading(order: float, sparsity: float, standing: float, n: int, raised: float) -> str:
    """Return the number, and what it says."""
    return (
        f'<div aria-live="polite"><div>S<sub>p</sub> at p = {order:g}</div>'
        f'<div class="number" data-value="{sparsity!r}">{sparsity:.4f}</div>'
        f'<p>It is 0 for equal magnitudes and <span class="whole">1 − 1/{n:,}</span> for a single non-zero. '
        f"Coefficients that raise it add {raised:.4f}, those that lower it take off {max(0.0, raised - sparsity):.4f}. "
        f"Sparser than {standing:.0f} % of the references.</p></div>"
    )


def outcome(result: Recovery, last: Frame, solver: str) -> str:
    """Return the result of a recovery in words."""
    yes = "yes: this is the signal that was measured" if result.certified else "no"
    facts = {
        "Relative error": f'<span class="error" data-value="{last.error!r}">{last.error:.2e}</span>',
        "Sparsity S₂": f"{last.sparsity:.4f}",
        "Certified": f'<span class="certified">{yes}</span>',
        "Because": html.escape(result.certificate_reason or "the solver was stopped"),
        "Residual": f"{result.residual:.2e}",
        "Solver": f"{solver}, {result.nit:,} iterations; {html.escape(result.message)}",
    }
    rows = "".join(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in facts.items())
    return f'<dl class="outcome" aria-live="polite">{rows}</dl>'
