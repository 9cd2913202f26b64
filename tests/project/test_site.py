"""The site builds without a warning or a network, its links lead somewhere, and its code prints what it shows."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import sparsegauge as sg

DOCS = Path(__file__).parents[2] / "docs"
TAUGHT = [DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]
# what a browser loads of itself; an <a> is loaded when a reader wants it
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """What an HTML page loads, where it links to, and where it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}
        if tag in LOADED and (address := given.get(LOADED[tag])):
            self.loaded.append(address)
        if tag == "a" and (address := given.get("href")):
            self.links.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The directory that the site was built into."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-n",
        "-q",
        "-b",
        "html",
        "-d",
        folder / "doctrees",
    ]
    # a proxy that nobody listens on: whoever fetches anything while building fails
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        [*command, DOCS, folder / "html"], capture_output=True, text=True, env=os.environ | nowhere, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_there_is_a_page_for_every_source(site):
    sources = [path for kind in ("md", "rst") for path in DOCS.rglob(f"*.{kind}")]
    assert len(sources) > 25
    assert [path for path in sources if not (site / path.relative_to(DOCS)).with_suffix(".html").exists()] == []


def test_nothing_is_fetched_to_read_it(site, pages):
    loaded = [(path.name, address) for path, page in pages.items() for address in page.loaded]
    assert loaded
    assert [pair for pair in loaded if urlsplit(pair[1]).scheme not in ("", "data") or pair[1].startswith("//")] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_internal_links_lead_somewhere(pages):
    broken = []
    for path, page in pages.items():
        for address in [*page.links, *page.loaded]:
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = target.exists() and (not parts.fragment or unquote(parts.fragment) in anchors_of(target, pages))
            broken += [] if found else [(path.name, address)]
    assert broken == []


def anchors_of(target, pages):
    return pages[target].anchors if target in pages else set()


def test_every_public_name_is_in_the_reference(pages):
    documented = set().union(
        *(page.anchors for path, page in pages.items() if path.parent.name in ("reference", "api"))
    )
    missing = [name for name in sg.__all__ if f"sparsegauge.{name}" not in documented]
    assert missing == [], "give its room to a page of docs/reference"


@pytest.mark.parametrize("kind", ["metric", "solver", "function"])
def test_every_function_has_a_page_with_an_example_and_most_have_a_picture(site, kind):
    functions = [name for name in sg.__all__ if inspect.isroutine(getattr(sg, name)) and name not in sg.METRICS]
    own = [name for name, solver in sg.SOLVERS.items() if solver.__module__.startswith("sparsegauge.")]
    for name in {"metric": sg.METRICS, "solver": own, "function": functions}[kind]:
        page = (site / "reference" / "api" / f"{name}.html").read_text(encoding="utf-8")
        assert re.search('class="(doctest )?highlight-(python|default)', page), name
        shown = re.findall(r'src="([^"]*/_images/[^"]*[.]svg)"', page)
        assert all((site / "reference" / "api" / address).resolve().exists() for address in shown)
        assert shown or kind == "function", name


def test_formulas_are_drawn_by_the_browser(site):
    page = (site / "mathematics.html").read_text(encoding="utf-8")
    assert page.count("<math") > 50
    assert "\\frac" not in page
    assert "\\sum" not in page


@pytest.mark.parametrize("page", TAUGHT, ids=lambda path: path.stem)
def test_the_python_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    if "import torch" in text:
        pytest.importorskip("torch")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, re.DOTALL)
    assert len(blocks) == text.count("```python")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec", dont_inherit=True), namespace)
        assert printed.getvalue() == shown


def test_every_how_to_has_code_that_runs():
    assert [page.stem for page in TAUGHT if page.stem != "index" and "```python" not in page.read_text()] == []
