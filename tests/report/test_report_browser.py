"""The report in a browser: no errors, controls that work by mouse and keys, contrast, and room on a phone."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sparsegauge as sg
from browser import DESKTOP, PHONE, chromium, expect, open_page, screenshot  # noqa: F401 (a fixture)
from report_example import example_summary, small_picture
from sparsegauge.report import comparisons
from sparsegauge.report.laws import gather_laws
from sparsegauge.report.measured_signals import measure_demos
from sparsegauge.report.page import render
from sparsegauge.report.rankings import rank_signals
from sparsegauge.report.sections import Sections
from sparsegauge.report.study_view import view_study
from sparsegauge.study.summary import Summary, shipped

TABLES = {"spsa": example_summary()}

pytestmark = pytest.mark.browser

AA = 4.5  # WCAG 2.1, 1.4.3: text
AA_LARGE = 3.0  # ... from 24 pixels on, or 18.66 in bold; and 1.4.11: what one needs to see of a control

# Every piece of text that is shown, with the ratio of its colour to what is behind it.
CONTRASTS = """() => {
  const pixel = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const pen = pixel.getContext("2d", {willReadFrequently: true});
  const rgba = css => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const cache = new Map();
  const parsed = css => cache.get(css) || (cache.set(css, rgba(css)), cache.get(css));
  const over = (top, below) => [0, 1, 2].map(k => top[k] * top[3] / 255 + below[k] * (1 - top[3] / 255)).concat(255);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parsed(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 255) break;
    }
    const paper = parsed(getComputedStyle(document.body).backgroundColor);
    return layers.reverse().reduce((below, top) => over(top, below), paper);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, .unseen")) continue;
    const style = getComputedStyle(element);
    const back = behind(element);
    const front = over(parsed(element.closest("svg") ? style.fill : style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.push([(a + 0.05) / (b + 0.05), large, walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    demos = measure_demos(["nino", "bumps"])
    study = view_study(example_summary(), title="an example", notes=["it is not finished"])
    contents = Sections(demos, rank_signals(demos), gather_laws(), (comparisons.sparse(), small_picture()), study)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(contents), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def desktop(chromium, url):  # noqa: F811
    with open_page(chromium, url) as visit:
        yield visit
        visit.assert_clean()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_page_fits_and_has_contrast(chromium, url, tmp_path, width, height, dark):  # noqa: F811
    with open_page(chromium, url, width=width, height=height, dark=dark) as visit:
        page = visit.page
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.locator(".laws .violated button").first.click()
        expect(page.locator("[popover]:popover-open")).to_be_visible()
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 500
        poor = [entry for entry in contrasts if entry[0] < (AA_LARGE if entry[1] else AA)]
        assert poor == []
        assert screenshot(visit, tmp_path / "page.png").stat().st_size > 50_000
        visit.assert_clean()


def test_slider_repaints_the_maps_and_says_its_value(desktop):
    page = desktop.page
    slider = page.get_by_label("non-zeros K =")
    picture = "document.querySelector('.map canvas').toDataURL()"
    slider.focus()
    seen = set()
    for value in ("10", "20", "40"):
        page.keyboard.press("Home" if value == "10" else "ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", f"non-zeros K {value}")
        expect(page.locator("#slider-0-value")).to_have_text(value)
        page.wait_for_function(f"seen => !seen.includes({picture})", arg=sorted(seen))
        seen.add(page.evaluate(picture))
    assert len(seen) == 3


def test_pointing_at_a_cell_shows_its_error_in_all_maps(desktop):
    page, summary = desktop.page, example_summary()
    page.get_by_label("non-zeros K =").fill("1")
    box = page.locator("#map-0").bounding_box()
    columns, rows = len(summary.axes["measurements"]), len(summary.axes["orders"])
    page.mouse.move(box["x"] + box["width"] * 7.5 / columns, box["y"] + box["height"] * (rows - 2.5) / rows)
    part = summary.at(nonzeros=20, measurements=summary.axes["measurements"][7], orders=3.0)
    for k, (mean, error) in enumerate(zip(part.values["mse_mean"], part.values["mse_standard_error"], strict=True)):
        readout = page.locator(f"#readout-{k}")
        expect(readout).to_have_text(re.compile("^M = 40, order 3: "))
        numbers = readout.text_content().split(": ")[1]
        shown = [float(number) for number in numbers.split(" ± ")]
        assert shown == pytest.approx([mean, error], rel=0.05)


def test_arrow_keys_move_over_the_cells_and_are_read_out(desktop):
    page = desktop.page
    page.locator("#map-3").focus()
    for key in ("Home", *["ArrowDown"] * 9, "ArrowUp"):
        page.keyboard.press(key)
    live = page.locator("#map-live")
    expect(live).to_have_text("exponential: M = 5, order 2: no result yet")
    for key in ("End", "ArrowLeft"):
        page.keyboard.press(key)
    expect(live).to_have_text(re.compile(r"^exponential: M = 55, order 2: 0\.00"))
    expect(live).to_have_attribute("role", "status")
    expect(page.locator("#map-2")).to_have_attribute("tabindex", "0")


def test_form_recommends_what_the_library_does(desktop, monkeypatch):
    monkeypatch.setattr(
        "sparsegauge.study.lookup.shipped", lambda name: shipped(name) if name == "solvers" else example_summary()
    )
    page, form = desktop.page, desktop.page.locator("#chooser")
    for distribution, nonzeros, measurements in (
        ("binomial", 10, 30), ("uniform", 40, 60), ("normal", 20, 25), ("normal", 40, 5), ("exponential", 20, 40),
    ):  # fmt: skip
        page.get_by_label("distribution").select_option(label=distribution)
        form.get_by_label("non-zeros K").select_option(label=str(nonzeros))
        form.get_by_label("measurements M").select_option(label=str(measurements))
        found = sg.recommend_order(distribution, nonzeros, measurements)
        page.wait_for_function(
            """([order, value]) => (data => Number(data.order) === order &&
                Math.abs(Number(data.value) - value) <= 1e-12 * value)(document.querySelector("#chooser").dataset)""",
            arg=[found.order, found.expected_mse],
        )
        data = form.evaluate("form => ({...form.dataset})")
        assert [float(order) for order in data["near"].split()] == list(found.near_optimal)
        assert float(data["spread"]) == pytest.approx(found.standard_error, rel=1e-12)
        every = found.message.startswith("every order recovers such signals")
        assert data["allRecover"] == str(every).lower()
        words = "Any order: every order recovers" if every else f"Order {found.order:g}, expected error"
        expect(page.locator("#chosen .answer")).to_have_text(re.compile(f"^{re.escape(words)}"))
        expect(page.locator("#chosen-orders tr")).to_have_count(len(found.mse_by_order))


def test_script_copes_without_orders_and_with_infinite_values(chromium, tmp_path):  # noqa: F811
    axes = {"noise_db": (10.0, np.inf), "measurements": (3, 5), "nonzeros": (1,)}
    values = {name: np.full((2, 2, 1), 0.5) for name in ("mse_mean", "mse_standard_error")}
    path = tmp_path / "report.html"
    study = view_study(Summary(axes, values, {}), title="noise")
    path.write_text(render(Sections(measure_demos(["nino"]), study=study)), encoding="utf-8")
    with open_page(chromium, path.as_uri()) as visit:
        slider = visit.page.get_by_label("signal-to-noise ratio (dB) =")
        slider.focus()
        slider.press("End")
        expect(visit.page.locator("#slider-0-value")).to_have_text("∞")
        expect(visit.page.locator("#readout-0")).to_have_text("M = 5: 0.500 ± 0.50")
        visit.assert_clean()


def test_form_says_what_is_not_in_the_study(desktop):
    page, form = desktop.page, desktop.page.locator("#chooser")
    page.get_by_label("distribution").select_option(label="exponential")
    form.get_by_label("non-zeros K").select_option(label="10")
    form.get_by_label("measurements M").select_option(label="5")
    expect(page.locator("#chosen")).to_contain_text("no result there yet")
    expect(page.locator("#chosen-orders tr")).to_have_count(0)


def test_counterexamples_open_and_close_by_keys(desktop):
    page = desktop.page
    button = page.get_by_role("button", name="gds (order = 3), P3: violated, details")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("[popover]:popover-open")
    expect(dialog).to_contain_text("Robin Hood")
    expect(dialog).to_contain_text("[8, 10 × 10, 12, 40]")
    page.wait_for_function("document.querySelector('[popover]:popover-open').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


def test_focus_is_visible_on_everything_that_takes_it(desktop):
    page = desktop.page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = false; }); document.body.focus()")
    for selector in ("nav a", "summary", ".laws button", ".scroll", ".map", "#slider-0", "#choose-panel", "#choose-0"):
        page.locator(selector).first.focus()
        expect(page.locator(selector).first).to_be_focused()
        page.keyboard.press("Shift")  # the reader is at the keyboard
        expect(page.locator(selector).first).to_have_css("outline-style", "solid")
        expect(page.locator(selector).first).to_have_css("outline-width", "3px")


def test_tab_reaches_the_contents_first(desktop):
    page = desktop.page
    page.reload()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the contents")


def test_every_control_has_a_name(desktop):
    unnamed = desktop.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [role=region], [tabindex='0']")]
        .filter(e => e.tagName !== "PRE" && !e.labels?.length && !e.getAttribute("aria-label")
                && !document.getElementById(e.getAttribute("aria-labelledby"))?.textContent.trim()
                && !(e.tagName === "BUTTON" && e.textContent.trim()))
        .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []


def test_page_is_useful_without_scripts(chromium, url):  # noqa: F811
    context = chromium.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(url)
        expect(page.locator(".small-map img")).to_have_count(12)
        expect(page.locator("table.orders")).to_be_visible()
        expect(page.locator("#explorer")).to_be_hidden()
        expect(page.locator("#chooser")).to_be_hidden()
        page.locator(".laws .violated button").first.click()  # popovers need no script
        expect(page.locator("[popover]:popover-open")).to_be_visible()
    finally:
        context.close()
