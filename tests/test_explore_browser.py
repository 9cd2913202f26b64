"""The interactive page in a real browser: what a reader sees, at two widths, in light and in dark."""

from __future__ import annotations

import contextlib
import http.client
import io
import re
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import numpy as np
import pytest

import sparsegauge as sg
from browser import DESKTOP, PHONE, chromium, open_page  # noqa: F401 (a fixture)
from sparsegauge.signals import wavelet

pytestmark = pytest.mark.browser

LIMIT_MB = 0.05
SLOW = 40_000  # milliseconds, for a machine that is busy


@pytest.fixture(scope="module")
def url(chromium):  # noqa: F811
    """The page as the command serves it, in a process of its own."""
    command = [sys.executable, "-m", "sparsegauge", "explore", "--no-browser", "--max-upload-mb", str(LIMIT_MB)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert found, process.stderr.read()
            yield found.group()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            assert process.returncode == 0
            assert "Traceback" not in errors, errors
        finally:
            process.kill()


@pytest.fixture
def visit(chromium, url):  # noqa: F811
    """A page of its own for each test: the ECG in wavelets, at order 2."""
    with open_page(chromium, url) as visit:
        visit.page.set_default_timeout(SLOW)
        number(visit)
        yield visit
        visit.assert_clean()


def number(visit):
    """S_p as the page has it, with all digits."""
    return float(visit.page.locator(".number").get_attribute("data-value", timeout=SLOW))


def wait_for_number(visit, value):
    visit.page.wait_for_function(
        """([value]) => {
            const find = root => root.querySelector('.number') ||
                [...root.querySelectorAll('*')].reduce((a, e) => a || (e.shadowRoot && find(e.shadowRoot)), null);
            const found = find(document);
            return found && Math.abs(Number(found.dataset.value) - value) < 1e-12;
        }""",
        arg=[value],
        timeout=SLOW,
    )


def choose(visit, label, option):
    visit.page.get_by_role("combobox", name=label, exact=True).click()
    visit.page.get_by_role("menuitem", name=option, exact=True).click()


def drop(visit, name, data):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    visit.page.locator("input[type=file]").set_input_files(file)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def assert_loaded(visit, *, dark, width):
    """In the colours that the browser prefers, no wider than the window, and without an error."""
    assert number(visit) == pytest.approx(sg.gds(wavelet(sg.demo("ecg")), 2), rel=1e-12)
    for scheme in ("dark", "light") if dark else ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        visit.page.wait_for_function(
            "wanted => getComputedStyle(document.body).backgroundColor === wanted",
            arg={"dark": "rgb(18, 18, 18)", "light": "rgb(255, 255, 255)"}[scheme],
            timeout=SLOW,
        )
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.assert_clean()


def test_the_page_on_a_desk_in_light_and_in_dark(visit):
    assert_loaded(visit, dark=False, width=DESKTOP[0])


def test_the_page_on_a_phone_in_dark_and_in_light(chromium, url):  # noqa: F811
    with open_page(chromium, url, width=PHONE[0], height=PHONE[1], dark=True) as visit:
        assert_loaded(visit, dark=True, width=PHONE[0])


def test_every_widget_has_a_name(visit):
    for role in ("slider", "combobox", "button", "textbox", "radio", "spinbutton"):
        named = visit.page.get_by_role(role, name=re.compile(r"\w"))
        assert named.count() == visit.page.get_by_role(role).count(), role
    assert visit.page.get_by_role("slider").count() == 4
    assert visit.page.get_by_role("combobox").count() == 3


def test_the_slider_moves_the_number(visit):
    slider = visit.page.get_by_role("slider", name="Order p")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    order = float(slider.get_attribute("aria-valuenow"))
    assert order == pytest.approx(2.15)
    wait_for_number(visit, sg.gds(wavelet(sg.demo("ecg")), order))
    slider.press("Home")
    wait_for_number(visit, sg.gds(wavelet(sg.demo("ecg")), 1))


def test_another_demo_signal_and_representation(visit):
    choose(visit, "Signal", "bumps")
    wait_for_number(visit, sg.gds(wavelet(sg.demo("bumps")), 2))
    visit.page.get_by_role("button", name="samples").click()
    wait_for_number(visit, sg.gds(sg.demo("bumps"), 2))


def test_a_file_of_numbers(visit):
    visit.page.get_by_role("button", name="samples").click()
    wait_for_number(visit, sg.gds(sg.demo("ecg"), 2))
    x = np.random.default_rng(0).standard_normal(300) ** 3
    drop(visit, "mine.npy", npy(x))
    wait_for_number(visit, sg.gds(x, 2))
    drop(visit, "table.csv", b"first,second\n1,9\n0,8\n5,7\n0,1\n")
    wait_for_number(visit, sg.gds([1, 0, 5, 0], 2))
    choose(visit, "Signal", "table.csv, second")
    wait_for_number(visit, sg.gds([9, 8, 7, 1], 2))


def test_junk_is_a_sentence_and_the_page_lives_on(visit):
    before = number(visit)
    for name, data, words in (
        ("junk.npy", b"\x00 no array at all", "junk.npy is not"),
        ("nan.csv", b"1\nnan\n3\n", "NaN"),
        ("zero.csv", b"0\n0\n0\n", "zero everywhere"),
        ("<img src=x onerror=alert(1)>.csv", b"words\nand more\n", "<img src=x onerror=alert(1)>.csv"),
    ):
        drop(visit, name, data)
        # the drop zone has alerts of its own, which name the file too
        complaint = visit.page.locator(".MuiAlert-root").filter(has_text=words)
        complaint.wait_for()
        assert number(visit) == before
    choose(visit, "Signal", "blocks")
    wait_for_number(visit, sg.gds(wavelet(sg.demo("blocks")), 2))
    complaint.wait_for(state="hidden")


def test_a_file_that_is_too_large_is_refused_on_the_page(visit):
    before = number(visit)
    drop(visit, "large.npy", npy(np.ones(int(LIMIT_MB * 2e6 / 8))))
    visit.page.get_by_text("too large").first.wait_for(timeout=SLOW)
    assert number(visit) == before


def test_recover_shows_an_error_and_a_certificate(visit):
    visit.page.get_by_role("button", name="Recover").click()
    outcome = visit.page.locator(".outcome")
    outcome.wait_for(timeout=2 * SLOW)
    assert float(outcome.locator(".error").get_attribute("data-value")) < 1e-10
    assert outcome.locator(".certified").inner_text().startswith("yes")
    assert visit.page.get_by_role("button", name="Recover").is_enabled()


def handshake(url, origin):
    """The status of a websocket's handshake from a page of that origin."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Origin": origin}
    with contextlib.closing(connection):
        connection.request("GET", "/ws", headers={**headers, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
        return connection.getresponse().status


def test_pages_of_other_origins_cannot_connect(url):
    assert handshake(url, "http://elsewhere.example") == 403
    assert handshake(url, "http://127.0.0.1:1") == 403
