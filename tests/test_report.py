"""The page: complete, well formed, and fetching nothing."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.report import figures
from sparsegauge.report.demos import ORDERS, REPRESENTATIONS, TABLE_ORDERS, Measured, measure, measure_demos
from sparsegauge.report.page import render
from sparsegauge.signals import DEMOS, dct, demo

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Elements of a page, with the text of each; it fails where a tag is not closed in turn."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, text in self.open:
            text.append(data)

    def all(self, tag):
        return [
            (attributes, " ".join("".join(text).split())) for name, attributes, text in self.elements if name == tag
        ]


@pytest.fixture(scope="module")
def results():
    return measure_demos()


@pytest.fixture(scope="module")
def html(results):
    return render(results)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_results_are_the_sparsities_of_the_signals(results):
    assert [result.name for result in results] == list(DEMOS)
    ecg = results[0]
    assert tuple(ecg.profiles) == tuple(REPRESENTATIONS)
    assert list(ecg.profiles["DCT"]) == list(ORDERS)
    assert ecg.profiles["DCT"][4] == sg.gds(dct(demo("ecg")), 4)
    camera = results[list(DEMOS).index("camera")]
    assert camera.profiles["samples"][2] == sg.gds(demo("camera"), 2, axis=None)
    assert camera.centred_samples == sg.gds(demo("camera") - demo("camera").mean(), 2, axis=None)


def test_decays_start_at_the_largest_and_end_at_the_last(results):
    for result in results:
        for label, decay in result.decays.items():
            magnitudes = np.abs(REPRESENTATIONS[label](result.values))
            assert decay.magnitudes[0] == 1
            assert decay.magnitudes[-1] == magnitudes.min() / magnitudes.max()
            assert decay.shares[0] == 1 / magnitudes.size
            assert decay.shares[-1] == 1
            assert (np.diff(decay.magnitudes) <= 0).all()


def test_sparsest_names_every_representation_that_ties():
    profiles = {"samples": {1: 0.5}, "DCT": {1: 0.7}, "wavelet": {1: 0.7}}
    assert Measured("x", "", np.ones(1), profiles, {}, 0.0).sparsest(1) == {"DCT", "wavelet"}


def test_progress_hears_each_name_before_its_signal():
    heard = []
    measure_demos(["nino", "ecg"], progress=heard.append)
    assert heard == ["nino", "ecg"]


def test_page_has_a_title_landmarks_and_headings_in_turn(page):
    for landmark in ("header", "nav", "main", "footer", "title", "h1"):
        assert len(page.all(landmark)) == 1, landmark
    assert page.elements[0][1]["lang"] == "en-GB"
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}


def test_page_has_three_figures_a_signal_each_with_a_description(page):
    assert len(page.all("figure")) == 3 * len(DEMOS)
    for name, description in DEMOS.items():
        captions = [text for _, text in page.all("figcaption") if text.split()[0] == name]
        assert captions.count(name) == 2  # profile and decay
        assert f"{name} {description}" in captions
    charts = [attributes for attributes, _ in page.all("svg") if attributes.get("role") == "img"]
    images = page.all("img")
    assert len(charts) + len(images) == 3 * len(DEMOS)
    assert len({chart["aria-label"] for chart in charts}) == len(charts)
    assert all(len(attributes["alt"]) > 5 for attributes, _ in images)


def test_table_shows_every_value_and_marks_the_sparsest_by_more_than_colour(page, results):
    cells = [(attributes, text) for attributes, text in page.all("td")]
    columns = len(TABLE_ORDERS) * len(REPRESENTATIONS)
    assert len(cells) == columns * (len(results) + 1)
    expected = [
        ("★ " if label in result.sparsest(order) else "") + f"{result.profiles[label][order]:.4f}"
        for result in results
        for order in TABLE_ORDERS
        for label in REPRESENTATIONS
    ]
    assert [text for _, text in cells[:-columns]] == expected
    assert sum(int(text) for _, text in cells[-columns:]) == len(results) * len(TABLE_ORDERS)
    stars = [attributes for attributes, text in page.all("span") if text == "★"]
    assert all(star["aria-label"] == "sparsest" for star in stars)


def test_page_refers_to_nothing_outside_itself(html, page):
    assert not re.search(r"https?://|//[a-z]+\.[a-z]", html)
    assert "@import" not in html
    assert page.all("script") == page.all("link") == page.all("iframe") == []
    targets = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    for _, attributes, _ in page.elements:
        for key in ("src", "href", "xlink:href"):
            value = attributes.get(key, "#signals")
            assert value.startswith("data:image/png;base64,") or value.removeprefix("#") in targets, value
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= targets
    assert not re.search(r"url\((?!#)", html)


def test_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_images_are_png(page):
    for attributes, _ in page.all("img"):
        assert base64.b64decode(attributes["src"].partition(",")[2]).startswith(b"\x89PNG")


def test_charts_take_every_colour_from_the_page(html):
    charts = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert not any(re.search(r"#[0-9a-f]{6}\b", chart) for chart in charts)
    assert "<style" not in "".join(charts)  # it would restyle the whole page
    variables = set(re.findall(r"var\((--\w+)\)", html))
    light, dark = html.split("prefers-color-scheme: dark", 1)
    for variable in variables:
        assert f"{variable}:" in light, variable
        assert f"{variable}:" in dark, variable


def test_lines_differ_by_dashes_and_not_by_colour_alone():
    assert len({line.dashes for line in figures.LINES.values()}) == len(REPRESENTATIONS) == len(figures.LINES)


def test_page_is_the_same_each_time_and_escapes_what_it_is_given(results):
    some = results[:1]
    assert render(some) == render(some)
    odd = Measured("<b>&", "a < b", np.arange(4.0), some[0].profiles, some[0].decays, 0.0)
    assert "<b>&" not in render([odd])


def test_page_of_signals_without_the_offset_example_is_complete():
    assert "Take the mean off" not in render([measure("nino")])


def test_zeros_leave_the_decay_chart_without_a_warning():
    decay = figures.Decay(shares=np.array([0.5, 1.0]), magnitudes=np.array([1.0, 0.0]))
    assert figures.decay_chart("spike", {"samples": decay}).startswith("<svg")


def test_drawing_changes_no_setting_of_matplotlib(results):
    with mpl.rc_context({"axes.facecolor": "red", "lines.linewidth": 9, "font.size": 33}):
        before = dict(mpl.rcParams)
        chart = figures.profile_chart("ecg", results[0].profiles)
        assert dict(mpl.rcParams) == before
    assert chart == figures.profile_chart("ecg", results[0].profiles)


def test_drawing_needs_no_pyplot():
    code = "import sys, sparsegauge.report.page; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
