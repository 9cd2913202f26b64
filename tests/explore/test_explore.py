"""The page's numbers, without a page: contributions, ranks, trials, uploads, and who may connect."""

from __future__ import annotations

import asyncio
import csv
import errno
import importlib.util
import io
import logging
import os
import socket
import tempfile
import threading
import webbrowser
from typing import ClassVar

import numpy as np
import pytest
import scipy.io
from bokeh.server.connection import ServerConnection
from bokeh.server.protocol_handler import ProtocolHandler
from PIL import Image
from threadpoolctl import threadpool_info, threadpool_limits

import sparsegauge as sg
from sparsegauge.cli import main
from sparsegauge.explore import experiment, recovery_run, server, standing, upload
from sparsegauge.explore.model import LONGEST_SIGNAL, ORDERS, ShownCoefficients, bars, checked
from sparsegauge.explore.signal_views import outline
from sparsegauge.explore.soon import Soon
from sparsegauge.signals import REPRESENTATIONS, dct
from waiting import DEADLINE, wait_until

ORDERS_TRIED = [1.0, 1.5, 2.0, 3.0, 7.3, 20.0]


def random_signal(seed, n=60):
    x = np.random.default_rng(seed).standard_normal(n)
    x[: n // 4] = 0
    return x


def slow_contributions(x, p):
    c = np.abs(x)
    found = np.zeros(c.size)
    for k in range(c.size):
        below, above = c[c < c[k]], c[c > c[k]]
        found[k] = c[k] * (((c[k] - below) ** (p - 1)).sum() - ((above - c[k]) ** (p - 1)).sum())
    return found / (c.size * (c**p).sum())


def contributions(x, order):
    shown, found = ShownCoefficients(x, "samples"), np.empty(len(x))
    found[shown.by_rank] = shown.shares(order)
    return found


@pytest.mark.parametrize("order", ORDERS_TRIED)
@pytest.mark.parametrize("seed", range(3))
def test_contributions_are_what_their_formula_says_and_add_up_to_the_sparsity(order, seed):
    x = random_signal(seed)
    found = contributions(x, order)
    np.testing.assert_allclose(found, slow_contributions(x, order), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.sum(), sg.gds(x, order), rtol=1e-11)


def test_contributions_do_not_depend_on_scale_and_do_not_overflow():
    x = random_signal(0)
    np.testing.assert_allclose(contributions(1e200 * x, 20.0), contributions(x, 20.0), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 40, 1000])
def test_bars_cover_every_rank_once_and_keep_the_sum(n):
    x = np.random.default_rng(n).standard_normal(n)
    now = ShownCoefficients(x, "samples")
    drawn = bars(now.shares(2.5))
    assert drawn.left[0] == 1
    assert drawn.right[-1] == n + 1
    assert (drawn.left[1:] == drawn.right[:-1]).all()
    np.testing.assert_allclose(drawn.total.sum(), sg.gds(x, 2.5), rtol=1e-11)
    np.testing.assert_allclose(drawn.total[0], contributions(x, 2.5)[np.argmax(np.abs(x))])


def test_the_profile_is_gds_and_the_drawing_keeps_the_peaks():
    x = np.random.default_rng(0).standard_normal(5000)
    x[3210] = -50
    now = ShownCoefficients(x, "samples")
    assert now.orders.tolist() == ORDERS.tolist()
    assert now.profile.tolist() == [sg.gds(x, p) for p in ORDERS]
    assert 3210 in now.peaks
    assert now.peak_ranks[now.peaks == 3210] == 0
    assert now.by_rank[now.peak_ranks].tolist() == now.peaks.tolist()
    assert (np.diff(now.peaks) > 0).all()


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_an_odd_length_is_no_obstacle(representation):
    assert ShownCoefficients(random_signal(0, 61), representation).values.size in (60, 61)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.nan, 2.0], "1 of its 3 numbers are NaN or infinite"),
        ([np.nan, np.inf], "none of its 2 numbers are finite"),
        ([0.0, 0.0, 0.0], "zero everywhere"),
        ([1.0], "needs two or more"),
        ([], "needs two or more"),
        (np.r_[np.zeros(LONGEST_SIGNAL), 1.0], "are all zero"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(values, words):
    with pytest.raises(sg.InvalidInput, match=words):
        checked("x", np.array(values))


@pytest.mark.parametrize("shape", [(600, 600), (3000, 200), (1, 1 << 19), (700_000, 2)])
def test_the_middle_of_a_large_picture_is_used(shape):
    values = np.arange(np.prod(shape), dtype=float).reshape(shape) + 1
    signal = checked("x", values)
    assert signal.values.ndim == 2
    assert 0.9 * LONGEST_SIGNAL < signal.values.size <= LONGEST_SIGNAL
    assert abs(signal.values.mean() / values.mean() - 1) < 0.01
    assert "only the middle" in signal.note


def test_long_and_complex_signals_are_taken_with_a_note():
    signal = checked("x", np.ones(LONGEST_SIGNAL + 1))
    assert signal.values.size == LONGEST_SIGNAL
    assert "only the first" in signal.note
    signal = checked("x", np.array([3 + 4j, 0]))
    assert signal.values.tolist() == [5.0, 0.0]
    assert "magnitudes" in signal.note


def test_ranks_by_hand():
    known = {("a", "s"): 1.0, ("b", "s"): 2.0, ("c", "s"): 2.0, ("d", "s"): 3.0}
    assert standing._standing(2.0, known, None) == 50.0
    assert standing._standing(9.0, known, None) == 100.0
    assert standing._standing(3.0, known, ("d", "s")) == 100.0
    assert np.isnan(standing._standing(np.nan, known, None))


def test_extremes_have_the_extreme_ranks_by_gds():
    spike = np.zeros(1024)
    spike[5] = 1
    assert standing.gds_standing(spike, 2.0) == 100.0
    assert standing.gds_standing(np.ones(1024), 2.0) == 0.0


def test_every_metric_has_a_rank_and_loudness_does_not_matter():
    x = sg.demo("bumps")
    quiet, loud = standing.standings(x), standing.standings(1000 * x)
    assert set(quiet) == set(sg.METRICS) - {"gds"}
    assert quiet == loud
    assert all(0 <= share <= 100 for share in quiet.values())


def trial_of(seed=0, **options):
    c = experiment.piece(sg.demo("ecg"), "wavelet").coefficients
    given = {"kept": 15, "measurements": 90, "snr": None, "solver": next(iter(experiment.SOLVERS)), "seed": seed}
    return experiment.set_up(c, **{**given, **options})


def test_a_trial_keeps_the_largest_and_depends_on_its_seed_alone():
    one, same, other = trial_of(), trial_of(), trial_of(seed=1)
    assert np.count_nonzero(one.truth) == 15
    assert (
        np.abs(one.truth[one.truth != 0]).min()
        >= np.sort(np.abs(experiment.piece(sg.demo("ecg"), "wavelet").coefficients))[-15]
    )
    assert (one.A == same.A).all()
    assert (one.y == same.y).all()
    assert not (one.A == other.A).any()


def test_noise_has_the_ratio_asked_for():
    noisy, clean = trial_of(snr=20.0, measurements=250), trial_of(measurements=250)
    ratio = 20 * np.log10(np.linalg.norm(clean.y) / np.linalg.norm(noisy.y - clean.y))
    assert ratio == pytest.approx(20, abs=1)
    assert noisy.noise == pytest.approx(0.1 * np.sqrt(np.mean(clean.y**2)))


def test_a_run_collects_its_iterates_and_finds_the_signal():
    run = recovery_run.RecoveryRun(trial_of())
    run.start()
    run.join(DEADLINE)
    assert run.over
    assert run.result.certified
    assert len(run.frames) > 5
    assert run.last().error < 1e-10
    assert run.frames[-1].error < run.frames[0].error


def test_runs_reproduce():
    runs = [recovery_run.RecoveryRun(trial_of(snr=30.0, solver="SPSA (the paper)")) for _ in range(2)]
    for run in runs:
        run.work()
    assert (runs[0].result.x == runs[1].result.x).all()
    assert [frame.error for frame in runs[0].frames] == [frame.error for frame in runs[1].frames]


def test_a_run_can_be_stopped():
    run = recovery_run.RecoveryRun(trial_of())
    run.stop()
    run.work()
    assert len(run.frames) == 1
    assert run.over


def test_a_solver_that_fails_leaves_a_sentence(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr(recovery_run, "recover_signal", refuse)
    run = recovery_run.RecoveryRun(trial_of())
    run.work()
    assert run.failure == "first second"
    assert run.over
    assert run.last() is None


class _Refusing(sg.Solver):
    supports: ClassVar[sg.Capabilities] = sg.Capabilities()

    def iterates(self, problem, rng):
        raise RuntimeError("no")


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


class Overlapping:
    """A server, and all its pages do: two runs of which the first to begin is the first to end."""

    def __init__(self):
        self.io_loop, self.stopped = self, False
        self.inside, self.leave = ([threading.Event(), threading.Event()] for _ in range(2))
        self.seen = []

    def recover(self, *_, rng, **__):
        self.inside[rng].set()
        assert self.leave[rng].wait(DEADLINE)
        return "found"

    def start(self):
        runs = [recovery_run.RecoveryRun(trial_of(seed=seed)) for seed in (0, 1)]
        threads = [threading.Thread(target=run.work) for run in runs]
        for thread, inside in zip(threads, self.inside, strict=True):
            thread.start()
            assert inside.wait(DEADLINE)
            self.seen.append(blas_threads())
        for run, thread, leave in zip(runs, threads, self.leave, strict=True):
            leave.set()
            thread.join(DEADLINE)
            assert run.result == "found"
            self.seen.append(blas_threads())
        raise KeyboardInterrupt

    def stop(self):
        self.stopped = True


def test_blas_has_one_thread_while_the_page_is_served_and_its_own_number_afterwards(monkeypatch):
    running = Overlapping()
    monkeypatch.setattr(recovery_run, "recover_signal", running.recover)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        server.serve(running)
        assert running.seen == [{1}] * 4
        assert running.stopped
        assert blas_threads() == before


def test_pieces_are_small_and_refused_where_there_is_nothing():
    assert experiment.piece(sg.demo("camera"), "wavelet").coefficients.size == experiment.PICTURE_SIDE**2
    assert experiment.piece(sg.demo("doppler"), "DCT").coefficients.size == experiment.LONGEST_PIECE
    with pytest.raises(sg.InvalidInput, match="is zero"):
        experiment.piece(np.r_[np.zeros(experiment.LONGEST_PIECE), 1.0], "samples")
    with pytest.raises(sg.InvalidInput, match="needs 8 or more"):
        experiment.piece(np.ones(4), "samples")


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("shape", [(61,), (1000,), (512, 512), (100, 300), (8, 8), (9, 50)])
def test_a_piece_leads_back_from_its_coefficients_to_its_samples(representation, shape):
    values = np.random.default_rng(0).standard_normal(shape) + 3
    found = experiment.piece(values, representation)
    assert np.abs(found.coefficients).max() == pytest.approx(1)
    samples = found.rebuild(found.coefficients)
    assert samples.shape == found.shape
    assert max(samples.shape) <= (experiment.PICTURE_SIDE if len(shape) == 2 else experiment.LONGEST_PIECE)
    again = np.asarray(REPRESENTATIONS[representation](samples)).ravel()
    np.testing.assert_allclose(again, found.coefficients * found.scale, rtol=1e-9, atol=1e-9)


def test_a_picture_is_reduced_by_means_of_blocks():
    values = sg.demo("camera")
    found = experiment.piece(values, "samples").rebuild(experiment.piece(values, "samples").coefficients)
    assert found[3, 5] == pytest.approx(values[3 * 16 : 4 * 16, 5 * 16 : 6 * 16].mean())


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def read(data, name, max_mb=1.0):
    return upload.read_upload(data, name, max_mb=max_mb)


def test_uploads_become_signals():
    x = random_signal(0)
    (signal,) = read(npy(x), "x.npy")
    assert signal.name == "x.npy"
    assert (signal.values == x).all()
    table = read(b"a,b\n1,2\n0,3\n5,4\n", "t.csv")
    assert [signal.name for signal in table] == ["t.csv, a", "t.csv, b"]
    assert table[1].values.tolist() == [2, 3, 4]


def test_a_single_number_beside_the_signal_is_no_obstacle(tmp_path):
    x = random_signal(0)
    scipy.io.savemat(tmp_path / "x.mat", {"X105_DE_time": x[:, None], "X105RPM": np.array([[1797]])})
    (signal,) = read((tmp_path / "x.mat").read_bytes(), "x.mat")
    assert signal.values.tolist() == x.tolist()
    scipy.io.savemat(tmp_path / "y.mat", {"X105RPM": np.array([[1797]])})
    with pytest.raises(sg.InvalidInput, match="1 numbers"):
        read((tmp_path / "y.mat").read_bytes(), "y.mat")


def test_a_column_that_cannot_be_measured_does_not_hide_the_others():
    (signal,) = read(b"a,b\n0,2\n0,3\n0,4\n", "t.csv")
    assert signal.values.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x00\x01junk", "x.npy"),
        (b"hello", "x.csv"),
        (b"", "x.csv"),
        (b"\x7fELF", "x.exe"),
        (npy(np.zeros(9)), "z.npy"),
    ],
)
def test_junk_is_refused_without_a_word_about_the_temporary_directory(data, name):
    with pytest.raises(sg.InvalidInput) as caught:
        read(data, name)
    assert tempfile.gettempdir() not in str(caught.value)
    assert name in str(caught.value)


class Trap:
    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


def test_nothing_is_unpickled():
    with pytest.raises(sg.InvalidInput):
        read(npy(np.array([Trap()], dtype=object), allow_pickle=True), "x.npy")
    assert not Trap.sprung


def test_a_file_that_is_too_large_is_refused_before_it_is_written(monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **_: pytest.fail("written before it was checked"))
    with pytest.raises(sg.InvalidInput, match=r"has 1\.5 MB and the page takes up to 1"):
        read(b"0" * 1_500_000, "x.csv")


@pytest.mark.parametrize("name", ["../../x.npy", "/etc/x.npy", "..\\..\\x.npy", "C:\\x.npy"])
def test_a_name_leads_nowhere_else_and_nothing_is_left(tmp_path, monkeypatch, name):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (signal,) = read(npy(random_signal(0)), name)
    assert signal.name == "x.npy"
    assert os.listdir(tmp_path) == []


def test_a_name_too_long_for_a_file_system_is_cut_and_keeps_its_end():
    (signal,) = read(npy(random_signal(0)), "\N{GRINNING FACE}" * 80 + ".npy")
    assert signal.name.endswith("\N{GRINNING FACE}.npy")
    assert len(signal.name.encode()) <= upload.LONGEST_NAME


def test_a_full_disk_is_no_word_about_the_temporary_directory(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(upload.Path, "write_bytes", full)
    with pytest.raises(sg.InvalidInput, match=r"No space left on device: 'x\.npy'"):
        read(npy(random_signal(0)), "x.npy")


@pytest.mark.parametrize("name", ["", "..", ".", "a\nb"])
def test_strange_names_are_made_harmless(name):
    base = upload._base(name)
    assert base not in ("", ".", "..")
    assert base.isprintable()


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
