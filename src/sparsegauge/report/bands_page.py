"""Write surveys of vibration records as a picture, or as one page that fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from .._platform.writing import replace_file
from ..plots.band_figures import draw_surveys, make_picture
from ..plots.svg import STYLE, to_svg
from ..surveys import Survey
from .environment import TEMPLATES

MOST_RECORDS_PER_PICTURE = 8
MOST_RECORDS_PER_PAGE = 100


def write_bands(path: Path, surveys: Sequence[Survey], *, note: Callable[[str], None] = lambda text: None) -> None:
    """Draw into a .png, .svg or .html file; call `note` with what is left out."""
    kind = path.suffix.lower().removeprefix(".")
    most = MOST_RECORDS_PER_PAGE if kind == "html" else MOST_RECORDS_PER_PICTURE
    if len(surveys) > most:
        note(f"the plot shows the first {most} of {len(surveys)} records")
    shown = surveys[:most]
    replace_file(path, _page(shown) if kind == "html" else make_picture(shown, kind))


def _page(surveys: Sequence[Survey]) -> str:
    """Return one page with a verdict, a chart and the evidence per record."""
    charts = [
        to_svg(draw_surveys([survey], style=STYLE), f"record-{k}", describe(survey)) for k, survey in enumerate(surveys)
    ]
    page: str = TEMPLATES.get_template("bands.html").render(
        version=__version__, records=list(zip(surveys, charts, strict=True)), describe=describe
    )
    return page


def describe(survey: Survey) -> str:
    """Say in sentences what was found in a record."""
    best, setting = survey.map.best, survey.map.setting
    words = [f"The {setting.metric} of the {setting.on} is sparsest from {best.low:g} to {best.high:g} Hz."]
    if survey.threshold is not None:
        threshold = survey.threshold
        limit = f"chance exceeds {threshold.value:.3f} in {100 * threshold.level:g} % of records"
        verb = "stands out" if threshold.exceeded else "does not stand out"
        words.append(f"Its value, {threshold.best:.3f}, {verb}: {limit} with this spectrum.")
    if survey.diagnosis is not None:
        named = survey.diagnosis.fault
        words.append("No fault was found." if named is None else f"The evidence names the fault: {named}.")
    return " ".join(words + survey.warnings)
