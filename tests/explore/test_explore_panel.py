"""The upper half of a page that no server serves, and what stays of a page that is closed."""

from __future__ import annotations

import asyncio
import csv
import logging

import numpy as np
import pytest
from bokeh.server.connection import ServerConnection
from bokeh.server.protocol_handler import ProtocolHandler
from page_numbers import _Refusing, random_signal
from PIL import Image

import sparsegauge as sg
from sparsegauge.explore import experiment, server
from sparsegauge.explore.model import ShownCoefficients, checked
from sparsegauge.explore.signal_views import outline
from sparsegauge.signals import REPRESENTATIONS, dct
from waiting import DEADLINE, wait_until


@pytest.fixture(scope="module")
def measuring():
    """The upper half of a page that no server serves."""
    from sparsegauge.explore.signal_panel import SignalPanel

    return SignalPanel(max_upload_mb=1.0, on_signal=lambda *_: None)


def test_widgets_change_the_reading(measuring):
    for name, representation, order in [
        ("bumps", "samples", 3.5),
        ("heavisine", "wavelet", 1.0),
        ("nino", "DCT", 20.0),
    ]:
        measuring.which.value, measuring.representation.value, measuring.order.value = name, representation, order
        expected = ShownCoefficients(sg.demo(name), representation).sparsity(order)
        assert f'data-value="{expected!r}"' in measuring.reading.object
        np.testing.assert_allclose(np.sum(measuring.bars.source.data["total"]), expected, rtol=1e-9)
        assert "gds, this order" in measuring.ranking.names.factors
    assert expected == pytest.approx(sg.gds(dct(sg.demo("nino")), 20.0), rel=1e-12)


def test_what_is_shown_can_be_saved(measuring):
    measuring.which.value, measuring.representation.value, measuring.order.value = "bumps", "wavelet", 2.5
    rows = list(csv.DictReader(measuring.results.callback()))
    assert measuring.results.filename == "bumps_wavelet.csv"
    c = REPRESENTATIONS["wavelet"](sg.demo("bumps"))
    assert rows[0]["metric"] == "gds"
    assert float(rows[0]["order"]) == 2.5
    assert float(rows[0]["value"]) == sg.gds(c, 2.5)
    for row in rows[1:]:
        shown = np.ravel(REPRESENTATIONS[row["representation"]](sg.demo("bumps")))
        options = {"order": float(row["order"])} if row["metric"] == "gds" else {}
        np.testing.assert_allclose(float(row["value"]), sg.measure(shown, row["metric"], **options), rtol=1e-12)
    assert {row["metric"] for row in rows} == set(sg.METRICS)
    assert {row["representation"] for row in rows} == set(REPRESENTATIONS)
    for name in ("bumps", "camera"):
        measuring.which.value = name
        with Image.open(measuring.plot.callback()) as picture:
            assert picture.format == "PNG"
            assert min(picture.size) > 800
        assert measuring.plot.filename == f"{name}_wavelet.png"


def test_every_chart_has_a_name(measuring):
    charts = (measuring.view, measuring.coefficients, measuring.bars, measuring.profile, measuring.ranking)
    names = [chart.figure.html_attributes["aria-label"] for chart in charts]
    assert len(set(names)) == len(names)


def test_a_long_waveform_keeps_its_peaks_and_a_short_one_everything():
    x = np.random.default_rng(0).standard_normal(100_000)
    x[4321], x[77_777] = 50, -50
    places, samples = outline(x)
    assert {4321, 77_777} <= set(places.astype(int))
    assert (np.diff(places) > 0).all()
    assert (x[places.astype(int)] == samples).all()
    assert outline(x[:500])[1].tolist() == x[:500].tolist()


def test_a_bad_file_is_a_message_without_markup_and_the_reading_stays(measuring):
    before = measuring.reading.object
    measuring.file.value = {"<b>.npy": b"junk"}
    assert measuring.message.visible
    assert "&lt;b&gt;.npy" in measuring.message.object
    assert measuring.reading.object == before
    measuring.file.value = {"two.csv": "a,b\n1,2\n3,5\n0,1\n"}
    assert not measuring.message.visible
    assert measuring.which.value == "two.csv, a"
    assert "ecg" in measuring.which.options


def test_what_nobody_thought_of_is_a_message_too(measuring, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("no")

    monkeypatch.setattr(measuring.now, "sparsity", fail)
    measuring.order.value = 7.0
    assert "ZeroDivisionError: no" in measuring.message.object


def test_a_file_that_the_drop_zone_lets_go_of_brings_no_older_one_back(measuring):
    measuring.file.value = {"old.csv": "1\n2\n4\n"}
    measuring.file.value = {**measuring.file.value, "new.csv": "1\n0\n9\n"}
    measuring.file.value = {**measuring.file.value, "bad.csv": "words\n"}
    assert measuring.which.value == "new.csv"
    for name in ("bad.csv", "new.csv"):
        del measuring.file.value[name]  # as the drop zone does it
        measuring.file.param.trigger("value")
    assert measuring.which.value == "new.csv"
    assert "bad.csv" in measuring.message.object
    assert measuring.message.visible
    measuring.file.value = {"old.csv": "1\n2\n5\n"}  # the same name, another file
    assert measuring.which.value == "old.csv"
    assert measuring.uploaded["old.csv"].values.tolist() == [1, 2, 5]


def test_columns_of_one_name_are_all_kept(measuring):
    measuring.file.value = {"t.csv": "a,a,a (2),b\n1,2,5,7\n3,4,6,0\n"}
    assert not measuring.message.visible
    names = ["t.csv, a", "t.csv, a (2)", "t.csv, a (2) (2)", "t.csv, b"]
    assert measuring.which.options[:4] == names
    assert [measuring.uploaded[name].values.tolist() for name in names] == [[1, 3], [2, 4], [5, 6], [7, 0]]


def test_a_failure_is_gone_from_the_page_when_the_next_run_begins(monkeypatch):
    from sparsegauge.explore.recovery_panel import RecoveryPanel

    def finish(page):
        page._begin()
        page.run.join(DEADLINE)
        wait_until(lambda: page._tick() or page.timer is None, "the end of the run")

    page = RecoveryPanel()
    page.take(checked("x", random_signal(0)), "samples")
    with monkeypatch.context() as broken:
        broken.setitem(experiment.SOLVERS, page.solver.value, _Refusing)
        finish(page)
    assert page.message.visible
    finish(page)
    assert page.run.result is not None
    assert not page.message.visible


def test_the_last_messages_of_a_closed_page_are_not_logged(caplog):
    """A page that is closed while it sends something made Bokeh print a traceback on the terminal."""

    class Closed(ServerConnection):
        def __init__(self):
            self._session = None

        def error(self, message, text):
            return text

    class Message:
        msgtype = "PATCH-DOC"

    class Unknown(Closed):
        @property
        def session(self):
            raise AssertionError("another fault")

    logger = logging.getLogger("bokeh.server.protocol_handler")
    logger.addFilter(server.is_not_of_a_closed_page)
    try:
        asyncio.run(ProtocolHandler().handle(Message(), Closed()))
        assert not caplog.records
        asyncio.run(ProtocolHandler().handle(Message(), Unknown()))
        assert len(caplog.records) == 1
    finally:
        logger.removeFilter(server.is_not_of_a_closed_page)
