"""Many right-hand sides: every column as if it were alone, whoever does it; and what is easy is solved cheaply."""

import json
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

import sparsegauge as sg
from sparsegauge.recovery.portfolio import Portfolio

QUICK = Portfolio(restarts=1, propagations=1)


def signals(n, k, count, kind="normal", seed=0):
    return np.column_stack([sg.sparse_signal(n, k, kind, signs="random", rng=100 * seed + j) for j in range(count)])


def easy(m=30, n=60, k=4, count=5, seed=0):
    A = sg.gaussian_matrix(m, n, rng=seed)
    X = signals(n, k, count, seed=seed)
    return A, A @ X, X


def hostile():
    """Systems with columns of every kind side by side: name -> (A, Y, options)."""
    rng = np.random.default_rng(3)
    A, Y, _ = easy(20, 40, 3)
    noisy = Y + 0.01 * rng.standard_normal(Y.shape)
    uneven = np.geomspace(1e-6, 1, 20)[:, None]
    hard = sg.gaussian_matrix(20, 40, rng=5) @ signals(40, 12, 3, seed=9)
    return {
        "easy": (A, Y, {}),
        "hard beside easy": (sg.gaussian_matrix(20, 40, rng=5), hard, {}),
        "one column": (A, Y[:, :1], {}),
        "a zero column": (A, np.column_stack([Y[:, 0], 0 * Y[:, 1], Y[:, 2]]), {}),
        "columns of very different scales": (A, Y * 10.0 ** np.array([-200, -30, 0, 30, 200]), {}),
        "A of a huge scale": (A * 1e200, Y * 1e100, {}),
        "noise of unknown size": (A, noisy, {}),
        "noise that is told": (A, noisy, {"noise": 0.01}),
        "exact beside noisy": (A, np.column_stack([Y[:, 0], noisy[:, 1]]), {}),
        "single precision": (A.astype(np.float32), Y.astype(np.float32), {}),
        "rounded": (A, Y.round(3), {}),
        "bounds": (A, A @ np.abs(signals(40, 3, 3)), {"bounds": (0, None)}),
        "complex": (A + 1j * sg.gaussian_matrix(20, 40, rng=8), (1 + 1j) * Y[:, :2], {}),
        "complex y": (A, Y[:, :2] + 1j * Y[:, 2:4], {}),
        "sparse A": (scipy.sparse.csr_array(np.where(np.abs(A) > 0.5, A, 0.0)), Y[:, :2], {}),
        "operator": (aslinearoperator(A), Y[:, :2], {}),
        "A = 0": (0 * A, Y[:, :2], {}),
        "square": (sg.gaussian_matrix(20, 20, rng=1), Y[:, :2], {}),
        "tall": (sg.gaussian_matrix(40, 20, rng=1), sg.gaussian_matrix(40, 2, rng=2), {}),
        "two measurements": (A[:2], Y[:2], {}),
        "rows of very different lengths": (uneven * A, uneven * Y, {}),
        "a column of zeros in A": (A * (np.arange(40) != 39), Y, {}),
        "duplicated columns": (np.hstack([A[:, :20], A[:, :20]]), A[:, :20] @ signals(20, 3, 2), {}),
        "a seed": (A, hard, {"rng": 7}),
        "integers": (rng.integers(-9, 9, (20, 40)), rng.integers(-9, 9, (20, 2)), {}),
    }


@pytest.mark.parametrize("kind", hostile())
def test_every_column_is_as_if_alone(kind):
    A, Y, options = hostile()[kind]
    before = Y.copy()
    together = sg.recover(A, Y, solver=QUICK, **options)
    assert np.array_equal(Y, before)
    assert isinstance(together, sg.Recoveries)
    assert together.x.shape == (A.shape[1], Y.shape[1])
    for k, found in enumerate(together):
        assert found == sg.recover(A, Y[:, k], solver=QUICK, **options), k


def test_columns_of_a_generator_do_not_depend_on_who_works():
    A, Y, _ = easy(12, 40, 7)
    alone, threads = (
        sg.recover(A, Y, solver=QUICK, rng=np.random.default_rng(1), executor=executor)
        for executor in (None, ThreadPoolExecutor(3))
    )
    assert alone == threads


def test_real_processes_give_the_same():
    A, Y, X = easy(count=20)
    with ProcessPoolExecutor(2) as processes:
        found = sg.recover(A, Y, executor=processes)
    assert found.certified.all()
    np.testing.assert_allclose(found.x, X, atol=1e-12)


def test_dask_workers_give_the_same():
    distributed = pytest.importorskip("distributed")
    A, Y, _ = easy(count=20)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = sg.recover(A, Y, executor=client.get_executor())
    alone = sg.recover(A, Y)
    assert found.status.tolist() == alone.status.tolist()
    assert found.certified.all()
    np.testing.assert_allclose(found.x, alone.x, atol=1e-14)  # BLAS rounds by where arrays begin in memory


def test_progress_counts_columns_to_the_end():
    A, Y, _ = easy(count=40)
    seen = []
    sg.recover(A, Y, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (40, 40)


def test_an_error_on_the_way_reaches_the_caller():
    A, Y, _ = easy(count=40)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sg.recover(A, Y, progress=stop)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (r"30 rows.*got shape \(60, 5\)", {"y": np.ones((60, 5))}),
        (r"y\.T", {"y": np.ones((5, 30))}),
        ("one column per signal", {"y": np.ones((30, 0))}),
        ("NaN", {"y": np.full((30, 2), np.nan)}),
        (r"1 of 2 columns \(1\); leave these columns out", {"y": np.ones((30, 2)) * [1, np.inf]}),
        ("one column per signal", {"y": np.ones((30, 2, 2))}),
        ("masked", {"y": np.ma.masked_less(np.arange(60.0).reshape(30, 2), 3)}),
        ("progress", {"callback": print}),
        ("executor", {"executor": 4}),
        ("columns done", {"progress": "bar"}),
        (r"y\.toarray", {"y": scipy.sparse.csr_array(np.ones((30, 2)))}),
        ("x0 must have shape", {"x0": np.ones((60, 4))}),
        ("60 entries", {"x0": np.ones(59)}),
        ("bounds", {"bounds": (1, 0)}),
        ("cannot", {"solver": sg.OMP(), "bounds": (0, None)}),
    ],
)
def test_bad_input_gets_a_sentence(words, change):
    A, Y, _ = easy()
    arguments = {"y": Y} | change
    with pytest.raises(sg.InvalidInput, match=words):
        sg.recover(A, **arguments)


def test_starts_for_all_columns_or_for_each():
    A, Y, X = easy()
    for x0 in (X, X[:, 0]):
        np.testing.assert_allclose(sg.recover(A, Y, x0=x0, solver=sg.GDSReweighted()).x, X, atol=1e-6)


class TestRecoveries:
    found = sg.recover(*easy()[:2])

    def test_is_a_sequence_of_recoveries(self):
        assert len(self.found) == 5
        assert isinstance(self.found[-1], sg.Recovery)
        assert isinstance(self.found[1:3], sg.Recoveries)
        assert self.found[1:3][0] == self.found[1]
        assert [one.nonzeros for one in self.found] == self.found.nonzeros.tolist() == [4] * 5

    def test_has_the_words_of_a_recovery(self):
        ours, single = sg.Recoveries, sg.Recovery.__dataclass_fields__
        assert not [word for word in single if word != "history" and not hasattr(ours, word)]
        assert self.found.success.all()
        assert self.found.certified.all()
        assert self.found.std is None

    def test_std_and_inclusion_have_nan_where_there_is_no_noise(self):
        A, Y, _ = easy(20, 40, 3, 2)
        found = sg.recover(A, np.column_stack([Y[:, 0], Y[:, 1] + 0.01 * np.sin(np.arange(20))]), solver=QUICK)
        assert found.std.shape == found.inclusion.shape == found.x.shape
        assert np.isnan(found.std[:, 0]).all()
        assert np.isfinite(found.std[:, 1]).all()

    def test_json_and_table(self):
        assert len(json.loads(json.dumps(self.found.to_dict()))["recoveries"]) == 5
        table = self.found.to_frame()
        assert table.shape[0] == 5
        assert table["certified"].all()


class TestSystem:
    def test_is_prepared_once_and_gives_the_same(self, monkeypatch):
        A, Y, _ = easy()
        system = sg.System(A)
        first = sg.recover(system, Y[:, 0])
        monkeypatch.setattr(np.linalg, "svd", None)
        again = sg.recover(system, Y[:, 0])
        assert first == again == sg.recover(sg.System(system), Y[:, 0])

    def test_copies_the_array(self):
        A, Y, X = easy()
        system = sg.System(A)
        A[:] = 0
        np.testing.assert_allclose(sg.recover(system, Y).x, X, atol=1e-12)

    def test_pickles_with_what_it_knows(self):
        A, Y, _ = easy()
        system = sg.System(A)
        sg.recover(system, Y)
        np.testing.assert_allclose(sg.recover(pickle.loads(pickle.dumps(system)), Y).x, sg.recover(A, Y).x, atol=1e-14)

    def test_repr(self):
        assert repr(sg.System(np.eye(3, 5))) == "System(3 x 5, float64)"
        assert "not written out" in repr(sg.System(aslinearoperator(scipy.sparse.random(3000, 4000, 1e-4))))


def test_multi_output_regression():
    A, Y, X = easy()
    model = sg.SparseRecovery().fit(A, Y)
    np.testing.assert_allclose(model.coef_, X.T, atol=1e-12)
    np.testing.assert_allclose(model.predict(A), Y, atol=1e-12)
    assert model.score(A, Y) == pytest.approx(1.0)
    assert sg.SparseRecovery().fit(A, Y[:, :1]).coef_.shape == (1, 60)


def test_three_dimensions_are_refused_with_the_shape_to_use():
    with pytest.raises(sg.InvalidInput, match=r"reshape it to \(10, number of signals\)"):
        sg.recover(np.ones((10, 20)), np.ones((10, 2, 2)))
