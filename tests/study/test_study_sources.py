"""Signals of real data: pieces that are there, in a basis that keeps their energy, cut to so many coefficients."""

import numpy as np
import pytest
import sklearn.datasets

import sparsegauge as sg
from sparsegauge.signals import dct, wavelet
from sparsegauge.study.run import draw_trial, run_cell
from sparsegauge.study.sources import KNOWN, SOURCES, draw_signal

KEYS = {
    "n": 64, "nonzeros": [6, 64], "measurements": [30], "signs": "natural", "solver": sg.OMP(), "repeats": 2, "seed": 3,
}  # fmt: skip


def drawn(name, n=64, nonzeros=64, signs="natural", seed=0):
    return draw_signal(name, n, nonzeros, signs=signs, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("name", KNOWN)
def test_every_source_gives_signals_with_at_most_so_many_nonzeros(name):
    for seed in range(5):
        x = drawn(name, nonzeros=6, seed=seed)
        assert x.shape == (64,)
        assert 0 < np.count_nonzero(x) <= 6
        assert np.isfinite(x).all()
        np.testing.assert_array_equal(x, drawn(name, nonzeros=6, seed=seed))


@pytest.mark.parametrize("name", SOURCES)
def test_the_largest_coefficients_are_kept_as_they_are(name):
    whole, few = drawn(name), drawn(name, nonzeros=9)
    kept = few != 0
    np.testing.assert_array_equal(few[kept], whole[kept])
    assert np.abs(whole[kept]).min() >= np.abs(whole[~kept]).max()


@pytest.mark.parametrize(("basis", "transform"), [("db4", lambda x: wavelet(x, "db4")), ("dct", dct)])
def test_a_piece_of_the_ecg_is_somewhere_in_the_ecg(basis, transform):
    ecg = sg.demo("ecg")
    pieces = np.lib.stride_tricks.sliding_window_view(ecg, 64)
    every = np.array([transform(piece - piece.mean()) for piece in pieces])
    x = drawn(f"ecg-{basis}", seed=4)
    assert np.min(np.linalg.norm(every - x, axis=1)) <= 1e-9 * np.linalg.norm(x)


def test_digits_are_digits_and_are_never_changed():
    digits = sklearn.datasets.load_digits().data
    for seed in range(3):
        drawn("digits-pixels", nonzeros=3, seed=seed)  # which sets the rest to zero, in a copy
        assert (digits == drawn("digits-pixels", seed=seed)).all(axis=1).any()


def test_signs_can_be_taken_away():
    whole = drawn("camera-dct")
    np.testing.assert_array_equal(drawn("camera-dct", signs="positive"), np.abs(whole))
    tossed = drawn("camera-dct", signs="random")
    np.testing.assert_array_equal(np.abs(tossed), np.abs(whole))
    assert (tossed != whole).any()


@pytest.mark.parametrize(
    ("name", "n", "words"),
    [
        ("digits-dct", 100, "squares of at most 8 x 8"),
        ("camera-dct", 60, "must be such a square"),
        ("ecg-dct", 2000, "has 1024 samples"),
        ("ecg-db4", 63, "even length"),
        ("camera-db4", 49, "even length"),
    ],
)
def test_lengths_that_data_cannot_have_are_refused_by_name(name, n, words):
    keys = KEYS | {"n": n, "nonzeros": [6], "distributions": [name]}
    with pytest.raises(sg.InvalidInput, match=f"distributions: {name}.*{words}"):
        sg.Study(**keys)


def test_a_study_of_real_data_runs_and_every_solver_meets_the_same_pieces():
    study = sg.Study(**KEYS, distributions=["ecg-db4", "digits-pixels"])
    for cell in study.cells():
        measured = run_cell(study, cell)
        assert np.isfinite(measured["relative_error"]).all()
        other = sg.Study(**KEYS | {"solver": sg.IRLS()}, distributions=["digits-pixels", "ecg-db4"])
        np.testing.assert_array_equal(draw_trial(study, cell, 0).x, draw_trial(other, cell, 0).x)
