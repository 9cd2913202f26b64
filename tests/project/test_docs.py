"""The documentation does what it says: its tables are the stored audits', its code runs, its links lead somewhere."""

import contextlib
import importlib
import io
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sparsegauge as sg

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PAGE = (DOCS / "choosing.md").read_text(encoding="utf-8")

sys.path.insert(0, str(DOCS))  # the code that makes the page is no package
tables = importlib.import_module("choosing_tables")
pictures = importlib.import_module("choosing_pictures")
PARTS = tables.parts(sg.stored_audits())
ORDER = importlib.import_module("order_tables").parts()
COUNTEREXAMPLES = [
    v.counterexample for audit in sg.stored_audits() for v in audit.verdicts.values() if v.counterexample
]


def text_of(page):
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def local_links():
    links = {(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page))}
    return sorted((page, link) for page, link in links if not re.match(r"\w+:", link))


@pytest.mark.parametrize("name", PARTS)
def test_the_generated_parts_are_what_the_stored_audits_give(name):
    found = re.findall(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", PAGE, re.DOTALL)
    assert found == [PARTS[name]], "python docs/build.py --pages writes them anew"


@pytest.mark.parametrize("name", ORDER)
def test_the_page_on_orders_shows_the_shipped_tables(name):
    page = (DOCS / "order.md").read_text(encoding="utf-8")
    found = re.findall(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", page, re.DOTALL)
    assert found == [ORDER[name]], "python docs/build.py --pages writes them anew"


def test_the_page_on_recovery_shows_what_solvers_declare():
    page = (DOCS / "recovery.md").read_text(encoding="utf-8")
    assert tables.fill(page, importlib.import_module("recovery_tables").parts()) == page, "run docs/build.py --pages"


def test_every_metric_has_a_row():
    rows = re.findall(r"^\| `(\w+)`", PARTS["table"], re.MULTILINE)
    assert rows == list(sg.METRICS)


def test_every_violation_has_a_counterexample():
    rows = re.findall(r"^\| P\d+( literal)? \|", PARTS["counterexamples"], re.MULTILINE)
    assert len(rows) == len(COUNTEREXAMPLES) == (PARTS["table"] + PARTS["other parameters"]).count("✗")


def test_filling_refuses_a_page_without_the_place():
    with pytest.raises(SystemExit, match="0 places for 'table'"):
        tables.fill("nothing here", {"table": "| |"})


@pytest.mark.parametrize(
    ("value", "margin", "shown"),
    [
        ("1/10", "0.1", "1/10"),
        ("-1000000000001", "1.0e+12", "-1000000000001"),
        ("301274/2159987", "5.39e-6", "0.139479543"),
        ("-1.8779609853334178564e-61", "0.175", "0"),
        ("1.1252408446371419283e-22", "8.37e-23", "1.1252e-22"),
        ("-1.7615941559557648881", "5.15e-869", "-1.76159415596"),
        ("-1.0e+300", "1.0e+300", "-1e+300"),
    ],
)
def test_values_are_rounded_where_they_differ(value, margin, shown):
    assert tables.readable(value, margin) == shown


@pytest.mark.parametrize("counterexample", COUNTEREXAMPLES, ids=lambda c: f"{c['metric']}-{c['criterion']}")
def test_values_that_differ_are_shown_to_differ(counterexample):
    values = [counterexample["value_before"], counterexample["value_after"]]
    shown = [Fraction(tables.readable(value, counterexample["margin"])) for value in values]
    margin = Fraction(Decimal(counterexample["margin"]))
    if margin > max(abs(Fraction(value)) for value in values) / 10**10:
        assert abs(shown[1] - shown[0]) == pytest.approx(margin, rel=0.01)


def test_what_the_page_says_about_implications():
    for audit in sg.stored_audits():
        holds = {key for key, verdict in audit.verdicts.items() if verdict.status == "holds"}
        implied = holds | {key for key, verdict in audit.verdicts.items() if verdict.status == "not applicable"}
        if holds >= {"P3", "P4"}:
            assert implied >= {"P5", "P7"}
        if holds >= {"P1", "P3", "P4"}:
            assert implied >= {"P10", "P11"}
        if holds >= {"P1", "P3", "P4", "P6"}:
            assert "P8" in implied
        assert audit["P7_literal"].status == "violated"


@pytest.mark.parametrize("name", ["choosing.md", "paper.md"])
def test_the_python_prints_what_the_page_shows(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```python") > 0
    namespace = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), namespace)
        assert printed.getvalue() == shown


def test_the_page_about_the_paper_says_what_the_audit_says():
    page = (DOCS / "paper.md").read_text(encoding="utf-8")
    assert tables.fill(page, importlib.import_module("paper_tables").parts()) == page, "run docs/build.py --pages"


@pytest.mark.parametrize("pair", pictures.PAIRS, ids=lambda pair: pair.lesson)
def test_the_metrics_of_a_pair_disagree(pair):
    first, second = pictures.METRICS[pair.prefers_first], pictures.METRICS[pair.prefers_second]
    assert first(pair.first) > first(pair.second)
    assert second(pair.first) < second(pair.second)


@pytest.mark.parametrize("order", pictures.FLOOR_ORDERS)
def test_the_formula_of_a_spike_over_a_floor(order):
    for d in (1e-3, 0.03, 0.2):
        x = np.append(np.full(999, d), 1.0)
        assert pictures.spike_over_floor(order, d) == pytest.approx(sg.gds(x, order), rel=1e-10)


@pytest.mark.parametrize(("page", "link"), local_links(), ids=lambda value: getattr(value, "name", value))
def test_links_and_pictures_lead_somewhere(page, link):
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    assert target.exists()
    assert not anchor or anchor in anchors(target)


@pytest.mark.parametrize("picture", sorted([*DOCS.glob("*.png"), *DOCS.glob("*.jpg")]), ids=lambda path: path.name)
def test_pictures_are_small_and_in_use(picture):
    assert picture.stat().st_size < 150_000
    assert any(picture.name in page.read_text(encoding="utf-8") for page in PAGES)
