"""The page: complete, well formed, and fetching nothing."""

from __future__ import annotations

import base64
import hashlib
import inspect
import itertools
import json
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest
from jinja2 import ChoiceLoader, DictLoader

import sparsegauge as sg
from report_example import example_summary, small_picture
from sparsegauge.criteria.shipped_audits import stored_audits
from sparsegauge.plots import charts, svg
from sparsegauge.profiles import ORDERS, Decay
from sparsegauge.report import comparisons
from sparsegauge.report import page as page_module
from sparsegauge.report import sections as report_sections
from sparsegauge.report.environment import TEMPLATES
from sparsegauge.report.laws import gather_laws
from sparsegauge.report.measured_signals import TABLE_ORDERS, MeasuredSignal, measure, measure_demos
from sparsegauge.report.page import render
from sparsegauge.report.rankings import rank_signals
from sparsegauge.report.sections import (
    SECTIONS,
    STEPS,
    Section,
    Sections,
    gather_demos,
    gather_files,
    gather_paper,
    read_study,
)
from sparsegauge.report.study_view import view_study
from sparsegauge.report.typeset import typeset
from sparsegauge.signals import DEMOS, REPRESENTATIONS, dct, demo, wavelet
from sparsegauge.study.choice import choose_orders
from sparsegauge.study.summary import Summary, shipped

TABLES = {"spsa": example_summary()}

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


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
def rankings(results):
    return rank_signals(results)


@pytest.fixture(scope="module")
def study():
    return view_study(example_summary(), title="a study <of> nothing", notes=["it is not finished"])


@pytest.fixture(scope="module")
def contents(results, rankings, study):
    return Sections(results, rankings, gather_laws(), (comparisons.sparse(), small_picture()), study)


@pytest.fixture(scope="module")
def html(contents):
    return render(contents)


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
    assert MeasuredSignal("x", "", np.ones(1), profiles, {}, 0.0).sparsest(1) == {"DCT", "wavelet"}


def test_progress_hears_each_name_before_its_signal():
    heard = []
    measure_demos(["nino", "ecg"], progress=heard.append)
    assert heard == ["nino", "ecg"]


def test_page_has_a_title_landmarks_and_headings_in_turn(page):
    for landmark in ("header", "nav", "main", "footer", "title", "h1"):
        assert len(page.all(landmark)) == 1, landmark
    assert page.elements[0][1]["lang"] == "en-GB"
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(deeper - level <= 1 for level, deeper in itertools.pairwise(levels))
    links = [attributes["href"] for attributes, _ in page.all("a")]
    assert {f"#{attributes['id']}" for attributes, _ in page.all("section")} <= set(links)


def test_every_signal_has_three_figures_and_every_figure_a_description(page):
    for name, description in DEMOS.items():
        captions = [text for _, text in page.all("figcaption") if text.split()[0] == name]
        assert captions.count(name) == 2  # profile and decay
        assert f"{name} {description}" in captions
    charts = [attributes for attributes, _ in page.all("svg") if attributes.get("role") == "img"]
    images = page.all("img")
    assert len({chart["aria-label"] for chart in charts}) == len(charts) >= 2 * len(DEMOS)
    assert len({attributes["alt"] for attributes, _ in images}) == len(images)
    assert all(len(attributes["alt"]) > 5 for attributes, _ in images)


def test_table_shows_every_value_and_marks_the_sparsest_by_more_than_colour(html, results):
    part = Page(html[html.index('<section id="table"') : html.index('<section id="ranking"')])
    cells = [text for _, text in part.all("td")]
    columns = len(TABLE_ORDERS) * len(REPRESENTATIONS)
    assert len(cells) == columns * (len(results) + 1)
    expected = [
        ("★ " if label in result.sparsest(order) else "") + f"{result.profiles[label][order]:.4f}"
        for result in results
        for order in TABLE_ORDERS
        for label in REPRESENTATIONS
    ]
    assert cells[:-columns] == expected
    assert sum(map(int, cells[-columns:])) == len(results) * len(TABLE_ORDERS)
    stars = [attributes for attributes, text in part.all("span") if text == "★"]
    assert all(star["aria-label"] == "sparsest" for star in stars)


def test_page_refers_to_nothing_outside_itself(html, page):
    assert not re.search(r"https?://|//[a-z]+\.[a-z]", html)
    assert "@import" not in html
    assert page.all("link") == page.all("iframe") == []
    assert all("src" not in attributes for attributes, _ in page.all("script"))
    targets = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    for _, attributes, _ in page.elements:
        for key in ("src", "href", "xlink:href"):
            value = attributes.get(key, "#signals")
            assert value.startswith("data:image/png;base64,") or value.removeprefix("#") in targets, value
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= targets
    assert not re.search(r"url\((?!#)", html)


def test_policy_lets_this_script_run_and_no_other(html, page):
    policy = next(a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    (script,) = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"\son[a-z]+=", re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL))


def test_page_is_small(html):
    assert len(html.encode()) < 3e6


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
    style = html[html.index("<style>") : html.index("</style>")]
    in_the_dark = re.compile(r"prefers-color-scheme: dark\) \{\s*:root (\{.*?\})", flags=re.DOTALL)
    dark = "".join(in_the_dark.findall(style))
    light = in_the_dark.sub("", style)
    for variable in set(re.findall(r"var\((--\w+)\)", html)):
        assert f"{variable}:" in light, variable
        assert f"{variable}:" in dark, variable


def test_lines_differ_by_dashes_and_not_by_colour_alone():
    assert len({line.dashes for line in svg.LINES.values()}) == len(REPRESENTATIONS) == len(svg.LINES)


def test_page_is_the_same_each_time_and_escapes_what_it_is_given(results, study):
    some = Sections(results[:1], study=study)
    assert render(some) == render(some)
    odd = MeasuredSignal("<b>&", "a < b", np.arange(4.0), results[0].profiles, results[0].decays, 0.0)
    odd_study = view_study(example_summary(panels=("</script><b>&",)), title="<b>&", notes=["<b>&"])
    assert "<b>&" not in render(Sections([odd], study=odd_study))


def test_page_of_signals_without_the_offset_example_is_complete():
    assert "Take the mean off" not in render(Sections([measure("nino")]))


def test_a_section_is_one_entry_and_one_template(monkeypatch):
    extra = Section("extra", "One more", "extra.html", lambda of: bool(of.summary))
    monkeypatch.setattr(page_module, "SECTIONS", (*SECTIONS, extra))
    templates = DictLoader({"extra.html": '<section id="extra"><h2>One more</h2>{{ summary[0] }}</section>'})
    monkeypatch.setattr(TEMPLATES, "loader", ChoiceLoader([TEMPLATES.loader, templates]))
    html = render(Sections(summary=("All is well.",)))
    assert '<a href="#extra">One more</a>' in html
    assert "<h2>One more</h2>All is well." in html
    assert 'id="extra"' not in render(Sections())


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.anchor)
def test_sections_are_linked_to_where_they_are(section):
    assert f'<section id="{section.anchor}"' in TEMPLATES.loader.get_source(TEMPLATES, section.template)[0]


def test_zeros_leave_the_decay_chart_without_a_warning():
    decay = Decay(shares=np.array([0.5, 1.0]), magnitudes=np.array([1.0, 0.0]))
    assert charts.decay_chart("spike", {"samples": decay}).startswith("<svg")


def test_drawing_changes_no_setting_of_matplotlib(results):
    with mpl.rc_context({"axes.facecolor": "red", "lines.linewidth": 9, "font.size": 33}):
        before = dict(mpl.rcParams)
        chart = charts.profile_chart("ecg", results[0].profiles, {2.0: (0.4, 0.6)})
        assert dict(mpl.rcParams) == before
    assert chart == charts.profile_chart("ecg", results[0].profiles, {2.0: (0.4, 0.6)})


def test_drawing_needs_no_pyplot():
    code = "import sys, sparsegauge.report.page; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ranks_follow_the_values_and_the_direction_of_each_metric(results, rankings):
    ranking = {r.representation: r for r in rankings}["wavelet"]
    assert sorted(row.metric for row in ranking.rows) == sorted(sg.METRICS)
    for row in ranking.rows:
        values = [sg.measure(wavelet(result.values), row.metric, axis=None) for result in results]
        best = (max if sg.METRICS[row.metric].sparser == "larger" else min)(values)
        assert [rank == 1 for rank in row.ranks] == [value == best for value in values]
    by_name = {row.metric: row for row in ranking.rows}
    assert by_name["gds"].agreement == 1
    assert by_name["neg_h_s"].ranks == by_name["h_s"].ranks  # one is the other with its sign turned


def test_metrics_that_see_scale_or_length_are_apart(results, rankings):
    doubled = 2 * np.tile(results[0].values, 2)
    for row in rankings[0].comparable:
        assert sg.measure(doubled, row.metric) == pytest.approx(sg.measure(results[0].values, row.metric), abs=1e-12)
    assert {"neg_l1", "l0", "hoyer"} <= {row.metric for row in rankings[0].others}
    assert set(dict(rankings[0].sparsest(rankings[0].rows))) <= set(DEMOS)


def test_one_signal_alone_is_ranked_first():
    ranking = rank_signals([measure("nino")])[0]
    assert {row.ranks for row in ranking.rows} == {(1,)}
    assert all(np.isnan(row.agreement) for row in ranking.rows)


def test_laws_are_named_in_full_and_one_that_all_break_has_no_column(html):
    assert '<span class="law">P3 Robin Hood</span>' in html
    assert '<span class="law">P7′' not in html
    assert "every metric here violates it" in html


def test_every_violation_opens_a_counterexample_that_verifies(html, page):
    hidden = {criterion.key for criterion in gather_laws().hidden}
    assert hidden == {"P7_literal"}
    violated = sum(len(set(audit.violated) - hidden) for audit in stored_audits())
    buttons = [a for a, text in page.all("button") if text == "✗"]
    assert len(buttons) == violated
    popovers = {a["id"]: text for a, text in page.all("div") if "popover" in a}
    assert all(button["popovertarget"] in popovers for button in buttons)
    assert all("violated" in button["aria-label"] for button in buttons)
    texts = [text for _, text in page.all("pre")]
    assert len(texts) == violated
    assert all(sg.verify(json.loads(text)) for text in texts[:: len(texts) // 20])


def test_the_papers_claims_are_all_there(page):
    claims = [text for _, text in page.all("summary")]
    for claim in sg.audit_paper():
        assert any(typeset(claim.claim).striptags() in text and claim.verdict in text for text in claims)


def test_formulas_are_set_and_names_are_left_alone():
    assert typeset("S_p(c) -> z/N <= 1 - 1/N") == "S<sub>p</sub>(c) → z/N ≤ 1 − 1/N"
    assert typeset("S(0_{N-1} || 1), c_i^p, n d^(2p-2)") == (
        "S(0<sub>N−1</sub> ‖ 1), c<sub>i</sub><sup>p</sup>, n d<sup>2p−2</sup>"
    )
    assert typeset("[1 x 4, 10] and pq_mean") == "[1 × 4, 10] and pq_mean"
    assert typeset("<b>&") == "&lt;b&gt;&amp;"


def test_ours_recovers_what_basis_pursuit_cannot(contents):
    least, l1, ours = contents.recoveries[0].attempts
    assert float(ours.errors["relative error"]) < 1e-12
    assert ours.certified
    assert min(float(least.errors["relative error"]), float(l1.errors["relative error"])) > 0.1
    assert not l1.certified


@pytest.mark.slow
def test_gather_hears_of_every_step_and_shows_the_ecg_and_the_picture(tmp_path):
    heard = []
    found = gather_demos(progress=heard.append)
    assert heard == ["signals", "ranking", "recoveries"]
    ecg, picture = found.recoveries[1:]
    percent = [float(attempt.errors["PRD (100 × relative error)"].split()[0]) for attempt in ecg.attempts]
    assert percent == sorted(percent, reverse=True)
    assert percent[-1] < 9  # the usual bound of "good" for an ECG
    decibels = [float(attempt.errors["peak signal to noise"].split()[0]) for attempt in picture.attempts]
    assert decibels[-1] > 30 > decibels[0]
    assert len(render(found).encode()) < 3e6


def embedded(page):
    """As a browser reads it, which knows neither NaN nor Infinity."""
    (text,) = [text for a, text in page.all("script") if a.get("type") == "application/json"]
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_study_embeds_its_arrays_in_single_precision(study, page):
    data = embedded(page)
    for name in ("mean", "error"):
        values = np.frombuffer(base64.b64decode(data[name]), "<f4").reshape(getattr(study, name).shape)
        np.testing.assert_array_equal(values, getattr(study, name).astype(np.float32))
    assert data["orders"] == list(study.orders)
    best = np.frombuffer(base64.b64decode(data["best"]), "<i2").reshape(study.choices.best.shape)
    np.testing.assert_array_equal(best, study.choices.best)
    names = {"recover": "all_recover", "clear": "is_clear", "flat": "is_flat", "near": "near"}
    for key, name in names.items():
        expected = getattr(study.choices, name)
        bits = np.unpackbits(np.frombuffer(base64.b64decode(data[key]), np.uint8), bitorder="little")
        np.testing.assert_array_equal(bits[: expected.size].reshape(expected.shape), expected)


def test_the_page_shows_the_choices_of_the_study(study):
    found = choose_orders(example_summary())  # whose axes are in the order of the page
    for name in ("best", "near", "is_clear", "all_recover"):
        np.testing.assert_array_equal(getattr(study.choices, name), getattr(found, name))


def test_where_every_order_recovers_the_table_says_so_as_the_lookup_does(study, page, monkeypatch):
    monkeypatch.setattr(
        "sparsegauge.study.lookup.shipped", lambda name: shipped(name) if name == "solvers" else example_summary()
    )
    seen = set()
    for place in study.places():
        for column in study.columns():
            choice = study.choice(place, column)
            if choice is None:
                continue
            found = sg.recommend_order(place.panel, place.where[0], study.measurements[column])
            assert choice.all_recover == found.message.startswith("every order recovers such signals")
            assert (choice.text == "any") == choice.all_recover
            seen.add(choice.all_recover)
    assert seen == {True, False}
    assert any(text == "any" for _, text in page.all("td"))
    assert study.any_shown


def test_the_table_explains_no_sign_that_it_does_not_have(results):
    summary = example_summary()
    summary.values["success_rate"][:] = 0.5
    view = view_study(summary, title="hard")
    assert not view.any_shown
    assert "<em>any</em>" not in render(Sections(results[:1], study=view))


def test_errors_too_small_for_the_colours_are_owned_up_to(results, html):
    summary = example_summary()
    summary.values["mse_mean"][0, 0, 0] = 1e-30
    words = "smaller ones share the darkest colour"
    assert words in render(Sections(results[:1], study=view_study(summary, title="small")))
    assert words not in html


def test_table_of_orders_is_what_the_lookup_recommends(study, monkeypatch):
    monkeypatch.setattr(
        "sparsegauge.study.lookup.shipped", lambda name: shipped(name) if name == "solvers" else example_summary()
    )
    for place in study.places():
        for column in study.columns():
            choice = study.choice(place, column)
            if choice is None:
                assert np.isnan(place.mean[column]).any()
                continue
            found = sg.recommend_order(place.panel, place.where[0], study.measurements[column])
            assert (choice.order, choice.near) == (found.order, found.near_optimal)


def test_missing_cells_are_said_and_left_blank(study, html):
    assert study.missing > 0
    assert f"{study.missing} of {study.mean.size} cells have no result yet" in html
    assert "it is not finished." in html
    empty = view_study(example_summary(panels=("none",), missing=slice(None)), title="nothing yet")
    assert empty.range == (0.1, 1.0)
    assert all("no results yet" in empty.describe(place) for place in empty.places())


def test_any_axes_will_do(results):
    whole = example_summary()
    summary = Summary(
        {"noise_db": (10.0, np.inf), "measurements": (3, 5), "nonzeros": (1,)},
        {name: np.full((2, 2, 1), 0.5) for name in ("mse_mean", "mse_standard_error")},
        {"studies": {}},
    )
    view = view_study(summary, title="noise")
    assert [slider.axis for slider in view.sliders] == ["noise_db", "nonzeros"]
    assert view.mean.shape == (1, 2, 1, 2, 1)
    assert not view.has_choice
    html = render(Sections(results[:1], study=view))
    assert 'id="order"' not in html
    data = embedded(Page(html))
    assert data["orders"] == [None]
    assert data["sliders"][0]["values"] == [10, "∞"]
    assert not {"inf", "nan"} & set(re.findall(r"\w+", re.sub(r"<(style|script).*?</\1>", "", html, flags=re.DOTALL)))
    assert 'id="order"' in render(Sections(results[:1], study=view_study(whole, title="whole")))


def test_arranging_moves_no_value():
    summary = example_summary()
    turned = Summary(
        dict(reversed(summary.axes.items())), {k: v.transpose() for k, v in summary.values.items()}, summary.manifest
    )
    one, other = (view_study(s, title="") for s in (summary, turned))
    np.testing.assert_array_equal(one.mean, other.mean)


def test_scale_of_colours_ends_where_the_errors_do(study):
    low, high = study.range
    assert low == np.nanmin(study.mean[study.mean > 0])
    assert high == np.nanmax(study.mean)
    shares = [share for _, share in study.ticks()]
    assert shares == sorted(shares)
    assert all(0 <= share <= 100 for share in shares)


def test_store_of_a_study_becomes_its_section(tmp_path):
    plan = sg.Study.from_dict(
        {
            "n": 12,
            "distributions": ["uniform"],
            "nonzeros": [2],
            "measurements": [6, 8],
            "orders": [1, 2],
            "repeats": 2,
            "signs": "natural",
            "seed": 1,
            "solver": {"name": "SPSA", "iterations": 20},
        }
    )
    sg.run_study(plan, tmp_path / "store")
    view = read_study(tmp_path / "store")
    assert view is not None
    assert (view.panels, view.measurements, view.orders) == (("uniform",), (6, 8), (1.0, 2.0))
    assert view.missing == 0
    with pytest.raises(sg.InvalidInput):
        read_study(tmp_path / "nothing")


def test_unfinished_store_is_a_note_and_no_warning(tmp_path, monkeypatch):
    def unfinished(store):
        warnings.warn("it has 1 of 2 rows", report_sections.StudyWarning, stacklevel=2)
        return example_summary()

    monkeypatch.setattr(report_sections, "summarise", unfinished)
    view = read_study(tmp_path)
    assert view is not None
    assert view.notes == ("it has 1 of 2 rows",)


def test_an_infinite_order_has_a_label(results):
    summary = example_summary()
    orders = (*summary.axes["orders"][:-1], np.inf)
    view = view_study(Summary({**summary.axes, "orders": orders}, summary.values, summary.manifest), title="infinite")
    page = Page(render(Sections(results[:1], study=view)))
    assert embedded(page)["orders"] == [*orders[:-1], "∞"]
    assert "∞" in [text for _, text in page.all("span")]
    assert "∞" in [text.removeprefix("≈ ") for _, text in page.all("td")]


def test_the_study_here_has_the_name_of_the_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(report_sections, "summarise", lambda store: example_summary())
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    assert read_study(".").title == "the study in mine"


def test_warnings_of_others_are_passed_on(tmp_path, monkeypatch):
    def old(store):
        warnings.warn("it is old", FutureWarning, stacklevel=2)
        return example_summary()

    monkeypatch.setattr(report_sections, "summarise", old)
    with pytest.warns(FutureWarning, match="it is old"):
        assert read_study(tmp_path).notes == ()


def test_the_bar_has_words_for_every_step():
    named = [
        re.findall(r'progress\("(\w+)"\)', inspect.getsource(f)) for f in (gather_demos, gather_files, gather_paper)
    ]
    assert {name for names in named for name in names} == set(STEPS)
    assert all(STEPS.values())
