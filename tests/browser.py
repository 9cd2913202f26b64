"""A Chromium for the tests that look at pages as a reader does.

A test file takes the fixture by importing it, and says that it needs a browser:

    from browser import chromium, expect, open_page, screenshot  # noqa: F401 (a fixture)
    pytestmark = pytest.mark.browser

    def test_page(chromium):
        with open_page(chromium, url, width=390) as visit:
            expect(visit.page).to_have_title("...")
            visit.assert_clean()

A page changes while a test looks at it. What a test looks for may not be there yet: use Playwright's assertions, which
wait (`expect(locator).to_have_count(4)`), or `page.wait_for_function`, and never `assert locator.count() == 4`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

try:
    from playwright.sync_api import expect
except ImportError:
    expect = None  # the fixture below says so, and skips or fails

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OWN_SCHEMES = {"file", "data", "blob", "about"}  # these ask nobody

PATIENCE = 120_000  # milliseconds that an assertion or an action waits: a busy machine is slow
DESKTOP = (1280, 900)
PHONE = (390, 844)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; the tests skip without one, and fail if SPARSEGAUGE_NEED_BROWSER is set."""
    program = shutil.which("chromium")
    if program is None:
        missing("no program called chromium is on the PATH")
    # Of the module and not of the session: Playwright's event loop counts as running in this thread until it is
    # stopped, and other files' tests call asyncio.run.
    with _playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


def missing(reason: str) -> None:
    """Skip for want of a browser, or fail where there has to be one."""
    if os.environ.get("SPARSEGAUGE_NEED_BROWSER"):
        pytest.fail(f"{reason}, and SPARSEGAUGE_NEED_BROWSER is set")
    pytest.skip(f"{reason}: install Chromium (apt install chromium) to run the browser tests")


@contextlib.contextmanager
def _playwright() -> Iterator[Playwright]:
    if expect is None:
        missing("the package playwright is not installed")
    from playwright.sync_api import sync_playwright

    expect.set_options(timeout=PATIENCE)
    # Warnings are errors here, and an error inside Playwright's own event loop hangs it; what it warns of is its own.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        manager = sync_playwright()
        playwright = manager.start()
    try:
        yield playwright
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            playwright.stop()


@dataclass
class Visit:
    """An open page and all that went wrong on it."""

    page: Page
    console_errors: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def assert_clean(self) -> None:
        """Neither an error on the console, nor an exception, nor a request to another host."""
        assert (self.console_errors, self.page_errors, self.foreign) == ([], [], [])


@contextlib.contextmanager
def open_page(
    browser: Browser,
    url: str,
    *,
    width: int = DESKTOP[0],
    height: int = DESKTOP[1],
    dark: bool = False,
    allow_hosts: tuple[str, ...] = (),
) -> Iterator[Visit]:
    """Open a page in a fresh profile. Its own host may be asked, and those of `allow_hosts` (as "name:port")."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    try:
        visit = Visit(context.new_page())
        _watch(context, visit, {urlsplit(url).netloc, *allow_hosts})
        visit.page.goto(url)
        yield visit
    finally:
        context.close()


def _watch(context: BrowserContext, visit: Visit, own: set[str]) -> None:
    def check(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in OWN_SCHEMES and parts.netloc not in own:
            visit.foreign.append(url)

    context.on("request", lambda request: check(request.url))
    visit.page.on("websocket", lambda socket: check(socket.url))
    visit.page.on("pageerror", lambda error: visit.page_errors.append(str(error)))
    visit.page.on(
        "console", lambda message: visit.console_errors.append(message.text) if message.type == "error" else None
    )


def screenshot(visit: Visit, path: Path, *, whole: bool = True) -> Path:
    """A PNG of the page, all of it or what the window shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    visit.page.screenshot(path=path, full_page=whole)
    return path
