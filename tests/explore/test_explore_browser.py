"""The interactive page in a real browser: what a reader sees, at two widths, in light and in dark."""

from __future__ import annotations

import http.server
import io
import re
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest

import sparsegauge as sg
from browser import DESKTOP, PATIENCE, PHONE, chromium, expect, open_page  # noqa: F401 (a fixture)
from explore_server import serving
from sparsegauge.signals import wavelet

pytestmark = pytest.mark.browser

LIMIT_MB = 0.05
COMPILING = 3 * PATIENCE  # a solver's first run on a machine compiles it


@pytest.fixture(scope="module")
def url(chromium):  # noqa: F811
    """The page as the command serves it, with the token."""
    with serving("--max-upload-mb", str(LIMIT_MB)) as url:
        yield url


@pytest.fixture
def visit(chromium, url):  # noqa: F811
    """A page of its own for each test: the ECG in wavelets, at order 2."""
    with open_page(chromium, url) as visit:
        wait_for_page(visit)
        yield visit
        visit.assert_clean()


WIDGETS = {"slider": 4, "combobox": 3, "button": 9, "textbox": 0, "radio": 0, "spinbutton": 0}


def wait_for_page(visit):
    """Until both halves of the page are built, and the number is that of the signal it begins with."""
    for role, count in WIDGETS.items():
        expect(visit.page.get_by_role(role)).to_have_count(count)
    expect(visit.page.locator("input.filepond--browser")).to_have_count(1)
    wait_for_number(visit, sg.gds(wavelet(sg.demo("ecg")), 2))


def number(visit):
    """S_p as the page has it, with all digits."""
    return float(visit.page.locator(".number").get_attribute("data-value"))


def wait_for_number(visit, value):
    visit.page.wait_for_function(
        """([value]) => {
            const find = root => root.querySelector('.number') ||
                [...root.querySelectorAll('*')].reduce((a, e) => a || (e.shadowRoot && find(e.shadowRoot)), null);
            const found = find(document);
            return found && Math.abs(Number(found.dataset.value) - value) < 1e-12;
        }""",
        arg=[value],
    )


def choose(visit, label, option):
    visit.page.get_by_role("combobox", name=label, exact=True).click()
    visit.page.get_by_role("menuitem", name=option, exact=True).click()


def drop(visit, name, data):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    visit.page.locator("input.filepond--browser").set_input_files(file)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def assert_loaded(visit, *, dark, width):
    """In the colours that the browser prefers, no wider than the window, and without an error."""
    wait_for_page(visit)
    for scheme in ("dark", "light") if dark else ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        visit.page.wait_for_function(
            "wanted => getComputedStyle(document.body).backgroundColor === wanted",
            arg={"dark": "rgb(18, 18, 18)", "light": "rgb(255, 255, 255)"}[scheme],
        )
    visit.page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    visit.assert_clean()


def test_the_page_on_a_desk_in_light_and_in_dark(visit):
    assert_loaded(visit, dark=False, width=DESKTOP[0])


def test_the_page_on_a_phone_in_dark_and_in_light(chromium, url):  # noqa: F811
    with open_page(chromium, url, width=PHONE[0], height=PHONE[1], dark=True) as visit:
        assert_loaded(visit, dark=True, width=PHONE[0])


def test_every_widget_has_a_name(visit):
    for role, count in WIDGETS.items():
        expect(visit.page.get_by_role(role, name=re.compile(r"\w"))).to_have_count(count)


CHARTS = ("The signal", "Coefficients", "What the coefficients contribute", "Sparsity over the order", "The rank")


def test_every_chart_has_a_name_and_the_signal_comes_first(visit):
    for name in CHARTS:
        expect(visit.page.get_by_role("img", name=re.compile(f"^{name}")).first).to_be_visible()
    tops = [visit.page.get_by_role("img", name=re.compile(f"^{name}")).first.bounding_box()["y"] for name in CHARTS[:3]]
    assert tops == sorted(tops)


def test_a_photograph_is_shown_as_one_and_its_recovery_too(visit):
    choose(visit, "Signal", "camera")
    wait_for_number(visit, sg.gds(wavelet(sg.demo("camera")), 2))
    expect(visit.page.get_by_role("img", name="The picture camera")).to_be_visible()
    expect(visit.page.get_by_role("img", name="The signal, sample by sample")).to_be_hidden()
    visit.page.get_by_role("button", name="Recover").click()
    expect(visit.page.get_by_role("img", name="estimate", exact=True)).to_be_visible(timeout=COMPILING)


def test_results_and_plot_are_saved(visit, tmp_path):
    for button, name, beginning in (
        ("Save CSV", "ecg_wavelet.csv", b"signal,"),
        ("Save PNG", "ecg_wavelet.png", b"\x89PNG"),
    ):
        with visit.page.expect_download() as download:
            visit.page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(beginning)


def test_nothing_darkens_the_page_while_it_is_built(visit):
    shade = "getComputedStyle(document.querySelector('#loader')).backgroundColor"
    assert visit.page.evaluate(shade) == "rgba(0, 0, 0, 0)"


def test_the_slider_moves_the_number(visit):
    slider = visit.page.get_by_role("slider", name="Order p")
    slider.focus()
    for order in (2.05, 2.1, 2.15):
        slider.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", f"{order:.2f}")
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
        expect(complaint).to_be_visible()
        assert number(visit) == before
    choose(visit, "Signal", "blocks")
    wait_for_number(visit, sg.gds(wavelet(sg.demo("blocks")), 2))
    expect(complaint).to_be_hidden()


def test_a_file_that_is_too_large_is_refused_on_the_page(visit):
    before = number(visit)
    drop(visit, "large.npy", npy(np.ones(int(LIMIT_MB * 2e6 / 8))))
    expect(visit.page.get_by_text("too large").first).to_be_visible()
    group = visit.page.locator(".bk-input-group").filter(has=visit.page.locator(".filepond--root"))
    assert "--max-upload-mb" in group.evaluate("group => getComputedStyle(group, '::after').content")
    assert number(visit) == before


def test_recover_shows_an_error_and_a_certificate(visit):
    visit.page.get_by_role("button", name="Recover").click()
    outcome = visit.page.locator(".outcome")
    expect(outcome).to_be_visible(timeout=COMPILING)
    expect(outcome.locator(".certified")).to_have_text(re.compile(r"^\s*yes"))
    assert float(outcome.locator(".error").get_attribute("data-value")) < 1e-10
    expect(visit.page.get_by_role("button", name="Recover")).to_be_enabled()


def test_the_token_is_gone_from_the_address_and_scripts_cannot_read_its_cookie(visit, url):
    page = visit.page
    assert page.url == url.partition("?")[0]
    (cookie,) = page.context.cookies()
    assert cookie["value"] == urlsplit(url).query.removeprefix("token=")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    page.reload()
    wait_for_page(visit)


def test_without_the_token_the_page_says_where_it_is(chromium, url):  # noqa: F811
    with open_page(chromium, url.partition("?")[0]) as visit:
        expect(visit.page.get_by_text("Open the URL that sparsegauge printed in the terminal.")).to_be_visible()


@pytest.fixture
def elsewhere(url):
    """A page of another site, with a link to ours and a frame of it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = f"<!DOCTYPE html><title>elsewhere</title><a href='{url}'>ours</a><iframe src='{url}'></iframe>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"  # by another name: of another site than 127.0.0.1
        server.shutdown()


def test_a_link_of_another_site_opens_the_page_and_a_frame_there_does_not(chromium, url, elsewhere):  # noqa: F811
    with open_page(chromium, elsewhere, allow_hosts=(urlsplit(url).netloc,)) as visit:
        with visit.page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            visit.page.reload()
        visit.page.get_by_role("link", name="ours").click()
        wait_for_page(visit)
        assert visit.page.url == url.partition("?")[0]


SCRIPT = """async ([base, path]) => {
    const asked = await fetch(base + path).then(() => "answered", () => "refused");
    const socket = await new Promise(done => {
        const socket = new WebSocket(base.replace("http", "ws") + "ws", ["bokeh", "x"]);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    });
    return [asked, socket];
}"""


def test_scripts_of_another_port_cannot_connect_even_with_the_cookie(chromium, url, elsewhere):  # noqa: F811
    """Cookies are shared by all ports of a host: a page of another server on this machine has ours sent along."""
    neighbour = elsewhere.replace("localhost", "127.0.0.1")
    with open_page(chromium, url, allow_hosts=(urlsplit(neighbour).netloc,)) as visit:
        wait_for_page(visit)
        visit.page.goto(neighbour)
        base = url.partition("?")[0]
        for path in ("", "favicon.ico", "components/cleanup/a/b/c"):
            assert visit.page.evaluate(SCRIPT, [base, path]) == ["refused", "refused"]


def test_a_vibration_record_is_mapped_and_its_bands_are_seen_and_heard(visit):
    page = visit.page
    page.get_by_role("tab", name="Vibration").click()
    verdict = page.locator(".bands-verdict")
    expect(verdict).to_contain_text("3,000 to 3,750 Hz")
    expect(verdict).to_contain_text("The fault: inner.")
    expect(page.locator("audio")).to_have_count(2)
    before = page.locator("audio").first.get_attribute("src")
    chart = page.get_by_role("img", name=re.compile("^How sparse the record is"))
    box = chart.bounding_box()
    chart.click(position={"x": 0.3 * box["width"], "y": 0.1 * box["height"]})
    expect(page.get_by_role("combobox", name=re.compile("^Band"))).to_contain_text("0 to 3,000 Hz")
    expect(page.locator("audio").first).not_to_have_attribute("src", before)
    page.wait_for_function(
        """() => {
            const find = root => [...root.querySelectorAll('*')].flatMap(
                e => [...(e.tagName === 'AUDIO' ? [e] : []), ...(e.shadowRoot ? find(e.shadowRoot) : [])]);
            const players = find(document);
            return players.length === 2 && players.every(a => a.readyState > 0 && a.duration > 3 && !a.error);
        }"""
    )
    drop(visit, "mine.npy", npy(np.random.default_rng(0).standard_normal(5000)))
    expect(page.locator(".MuiAlert-root").filter(has_text="type it in the field Rate")).to_be_visible()
