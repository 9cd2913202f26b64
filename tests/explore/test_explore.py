"""The page's numbers, without a page: contributions, ranks, trials."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from page_numbers import ORDERS_TRIED, contributions, random_signal, slow_contributions
from threadpoolctl import threadpool_info, threadpool_limits

import sparsegauge as sg
from sparsegauge.explore import experiment, recovery_run, server, standing
from sparsegauge.explore.model import LONGEST_SIGNAL, ORDERS, ShownCoefficients, bars, checked
from sparsegauge.signals import REPRESENTATIONS
from waiting import DEADLINE


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
