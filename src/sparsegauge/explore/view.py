"""The page: two halves, three columns on a desk and one on a phone, in light or in dark."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.util.parameters import edit_readonly
from panel_material_ui.template.base import Page

from . import layout
from .recovery_panel import RecoveryPanel
from .signal_panel import SignalPanel
from .soon import Soon
from .vibration_panel import ABOUT as ABOUT_VIBRATION
from .vibration_panel import VibrationPanel

TITLE = "sparsegauge explore"
ABOUT = (
    "See how sparse a signal is, which of its coefficients make it so, and whether a few random sums of it are enough "
    "to recover it."
)
NO_SCRIM = "#loader { background: none !important; }"  # the page can be read while it is being built
PALETTE = {
    "light": {"palette": {"primary": {"main": "#0b5cad"}}},
    "dark": {
        "palette": {"primary": {"main": "#7dbbff"}},
        "components": {"MuiAppBar": {"styleOverrides": {"root": {"backgroundColor": "#0d335c", "color": "#ffffff"}}}},
    },
}
LEFT, MIDDLE, RIGHT = {"xs": 12, "md": 4, "lg": 3}, {"xs": 12, "md": 8, "lg": 5}, {"xs": 12, "md": 12, "lg": 4}


def make_page(max_upload_mb: float) -> Any:
    """Make a new page, for one visitor."""
    recovering = RecoveryPanel()
    measuring = SignalPanel(max_upload_mb=max_upload_mb, on_signal=recovering.take)
    left = pn.Column(measuring.controls(), measuring.gauge(), sizing_mode="stretch_width")
    shaking = VibrationPanel(max_upload_mb=max_upload_mb)
    sparsity = pn.Column(
        layout.text(layout.paragraph(ABOUT)),
        _row(left, measuring.figures(), measuring.standing()),
        _row(recovering.controls(), recovering.picture(), recovering.curves()),
        sizing_mode="stretch_width",
    )
    vibration = pn.Column(
        layout.text(layout.paragraph(ABOUT_VIBRATION)),
        _row(shaking.controls(), shaking.figures(), shaking.chosen()),
        sizing_mode="stretch_width",
    )
    tabs = pmui.Tabs(("Sparsity and recovery", sparsity), ("Vibration", vibration), sizing_mode="stretch_width")
    opened = Soon(pn.state.curdoc)
    tabs.param.watch(lambda event: opened(shaking.start) if event.new == 1 else None, "active")
    page = Page(
        title=TITLE,
        meta_description=ABOUT,
        theme_config=PALETTE,
        raw_css=[NO_SCRIM],
        main=[tabs],
    )
    _follow_the_browser(page)
    _forget_other_pages(page)
    pn.state.on_session_destroyed(lambda _: recovering.close())
    pn.state.on_session_destroyed(lambda _: shaking.close())
    return page


def _forget_other_pages(page: Any) -> None:
    """Let the page's busy indicator follow the page itself.

    It follows `pn.state.busy` otherwise, which belongs to the process. That object would keep every page with its
    document for as long as the server runs, and show to one visitor that another one waits. A plain value would not
    end this: param stops watching only when a parameter is set to follow another one.
    """
    with edit_readonly(page):
        page.busy = page.param.loading


def _row(*columns: Any) -> Any:
    cells = [
        pmui.Grid(column, size=size, sizing_mode="stretch_width")
        for column, size in zip(columns, (LEFT, MIDDLE, RIGHT), strict=True)
    ]
    return pmui.Grid(*cells, container=True, spacing=0, sizing_mode="stretch_width")


def _follow_the_browser(page: Any) -> None:
    """Show the dark page where the browser is dark; the button in the corner decides from then on."""
    browser = pn.state.browser_info
    if browser is None:
        return

    def follow(*_: Any) -> None:
        page.dark_theme = bool(browser.dark_mode)

    def start() -> None:  # once the page is there: it misses messages while it is being drawn
        follow()
        browser.param.watch(follow, "dark_mode")

    pn.state.onload(start)
