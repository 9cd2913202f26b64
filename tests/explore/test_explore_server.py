"""Who may connect, and what the server says."""

from __future__ import annotations

import importlib.util
import logging
import socket
import webbrowser

import pytest

from sparsegauge.cli import main
from sparsegauge.explore import server
from sparsegauge.explore.soon import Soon


@pytest.mark.parametrize(
    ("address", "loopback"), [("127.0.0.1", True), ("localhost", True), ("127.3.2.1", True), ("192.168.0.1", False)]
)
def test_what_is_loopback(address, loopback):
    assert server.is_loopback(address) is loopback


@pytest.mark.parametrize("address", ["0.0.0.0", "0", "::", "0::0", "fe80::1%lo", "", "*", "a" * 70, "no such"])
def test_addresses_of_everywhere_are_one_line(capsys, address):
    with pytest.raises(SystemExit) as caught:
        main(["explore", "--address", address, "--no-browser"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_extra_names_the_pip_command(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "panel" else name)
    with pytest.raises(SystemExit) as caught:
        main(["explore", "--no-browser"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == "sparsegauge: the page needs panel; pip install 'sparsegauge[explore]'\n"


def test_a_port_in_use_is_one_line_before_any_work(monkeypatch, capsys):
    monkeypatch.setattr(server, "warm_up", lambda: pytest.fail("worked before checking"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SystemExit) as caught:
            main(["explore", "--no-browser", "--port", str(port)])
    assert caught.value.code == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert f"cannot listen on port {port} of 127.0.0.1" in errors


def test_an_address_that_others_reach_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(server, "find_port", lambda address, port: 5006)

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "warm_up", stop)
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        main(["explore", "--no-browser", "--address", "192.0.2.1"])
    assert "192.0.2.1 can be reached from other machines" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--browser", "--no-browser"])
def test_the_browser_opens_the_url_that_is_printed(monkeypatch, capsys, option):
    class Made:
        def start(self):
            pass

    url, opened = "http://127.0.0.1:5006/?token=t", []
    monkeypatch.setattr(server, "warm_up", lambda: None)
    monkeypatch.setattr(server, "make_server", lambda **_: (Made(), url))
    monkeypatch.setattr(server, "serve", lambda _: None)
    monkeypatch.setattr(webbrowser, "open", lambda url, **_: opened.append(url))
    with pytest.raises(SystemExit) as caught:
        main(["explore", option])
    assert not caught.value.code
    assert capsys.readouterr().out == f"{url}  (Ctrl-C ends it)\n"
    assert opened == ([url] if option == "--browser" else [])


def test_closed_pages_are_not_logged_and_other_things_are():
    def shown(words):
        return server.is_not_of_a_closed_page(logging.LogRecord("x", 30, "", 0, words, None, None))

    assert not shown("Failed sending message as connection was closed")
    assert shown("something else")


class Document:
    session_context = object()

    def __init__(self):
        self.callbacks = []

    def add_next_tick_callback(self, callback):
        self.callbacks.append(callback)


def test_what_is_asked_for_twice_is_done_once_and_can_be_asked_for_again():
    document, done = Document(), []
    soon = Soon(document)

    def work():
        done.append(1)

    soon(work)
    soon(work)
    assert (len(document.callbacks), done) == (1, [])
    document.callbacks.pop()()
    assert done == [1]
    soon(work)
    assert len(document.callbacks) == 1
