"""SPSA: feasible, invariant, reproducible, right on easy problems, with any metric, and clear about bad options."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import sparsegauge as sg
from naive_walks import literal_walk
from sparsegauge._arrays import equations
from sparsegauge._compiled import available_variants
from sparsegauge._compiled import recover as kernels
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error
from sparsegauge.recovery.spsa import SPSA
from sparsegauge.recovery.spsa_workspace import SpsaWorkspace
from sparsegauge.recovery.status import Status
from sparsegauge.simulate import gaussian_matrix, sparse_signal
from sparsegauge.study.solver_table import write_solver

SHORT = SPSA(iterations=300)


def draw(distribution="normal", nonzeros=10, m=60, n=100, seed=0):
    rng = np.random.default_rng(seed)
    x = sparse_signal(n, nonzeros, distribution, rng=rng)
    A = gaussian_matrix(m, n, rng=rng)
    return A, A @ x, x


def solved(A, y, solver=SHORT, callback=None, seed=0, **options):
    return solver.solve(Problem.of(A, y, **options), np.random.default_rng(seed), callback)


def orthonormal(m, n, seed=0):
    return np.ascontiguousarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((n, m)))[0].T)


@pytest.mark.parametrize("distribution", ["uniform", "normal", "exponential"])
def test_easy_problems_are_recovered(distribution):
    for seed in range(2):
        A, y, x = draw(distribution, seed=seed)
        found = solved(A, y, SPSA())
        assert relative_error(found.x, x) < 1e-3
        assert found.status == Status.CONVERGED
        assert found.success


@pytest.mark.parametrize("order", [1, 2, 3.5])
def test_the_literal_variant_projects_the_point_and_takes_gains_as_they_are(order):
    A, y, _ = draw(nonzeros=4, m=10, n=20)
    solver = SPSA(order=order, iterations=60, a=0.3, c=0.02, A=5, project="point", gains="absolute")
    found = solved(A, y, solver, seed=3)
    state = int(np.random.default_rng(3).integers(0, 1 << 64, 1, np.uint64)[0])
    expected = literal_walk(A, y, order, (0.3, 0.602, 5.0, 0.02, 0.101), state, 60)
    np.testing.assert_allclose(found.x, expected, rtol=1e-7, atol=1e-9)
    assert found.residual <= 1e-9 * np.linalg.norm(y)
    assert not np.allclose(found.x, solved(A, y, SPSA(order=order, iterations=60), seed=3).x)


def test_absolute_gains_are_in_the_units_of_the_signal():
    A, y, _ = draw(nonzeros=4, m=10, n=20)
    absolute = SPSA(iterations=60, a=0.3, c=0.02, gains="absolute")
    whole, larger = solved(A, y, absolute).x, solved(A, 8 * y, absolute).x
    assert not np.allclose(8 * whole, larger)
    np.testing.assert_allclose(8 * solved(A, y, SHORT).x, solved(A, 8 * y, SHORT).x, rtol=1e-9)


def test_options_that_came_later_are_written_down_only_if_they_are_set():
    assert "project" not in write_solver(SPSA(), has_orders=False)
    assert write_solver(SPSA(project="point"), has_orders=False)["project"] == "point"


@pytest.mark.parametrize("order", [1, 1.5, 2, 2.7, 3, 4, 5, np.inf])
def test_results_are_feasible_and_sparser_than_the_start(order):
    A, y, _ = draw(nonzeros=30, m=50)
    found = solved(A, y, SPSA(order=order, iterations=2000))
    assert found.residual <= 1e-9 * np.linalg.norm(y)
    start = np.linalg.pinv(A) @ y
    if order == np.inf:  # no zeros to be found by small steps
        np.testing.assert_allclose(found.x, start, atol=1e-10)
    else:
        assert found.fun > sg.gds(start, order)
        assert found.fun == pytest.approx(found.history[-1], abs=1e-10)


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 4, 5, 6, 7, 9, 2.3])
@pytest.mark.parametrize("n", [2, 3, 9, 16, 99, 100, 255])
def test_the_compiled_measure_is_gds(order, n):
    rng = np.random.default_rng(n)
    work = SpsaWorkspace(orthonormal(1, n), np.ones(1), None, float(order))
    for x in (rng.standard_normal(n), 1e-200 * rng.exponential(size=n), 1 + 1e-9 * rng.random(n)):
        assert kernels.sparsity_of(work.walk, x) == pytest.approx(sg.gds(x, order), rel=1e-12, abs=0)


@pytest.mark.parametrize("shape", [(50, 100), (7, 13), (60, 320), (300, 320)])
def test_directions_are_projected_signs(shape):
    B = orthonormal(*shape)
    work = SpsaWorkspace(B, np.zeros(shape[0]), None, 2.0)
    state = np.array([5], np.uint64)
    s = np.empty(shape[1])
    seen = []
    for _ in range(200):
        kernels.draw_signs(state.copy(), s)
        kernels.draw_direction(work.walk, state)
        np.testing.assert_allclose(work.direction, s - B.T @ (B @ s), atol=1e-12)
        seen.append(s.copy())
    assert set(np.unique(seen)) == {-1.0, 1.0}
    # the mean of 200 signs at one place has a deviation of 0.07, and so has the correlation of two places
    assert abs(np.mean(seen, axis=0)).max() < 0.4
    assert abs(np.corrcoef(np.transpose(seen)) - np.eye(shape[1])).max() < 0.45


def test_a_slope_is_the_gradient_along_the_direction():
    x = np.random.default_rng(3).standard_normal(100)
    for order in (1.5, 2.0, 3.0):
        work = SpsaWorkspace(orthonormal(50, 100), np.zeros(50), None, order)
        found = kernels.slope_along_new_direction(work.walk, x, 1e-6, np.array([1], np.uint64))
        assert found == pytest.approx(sg.gds_gradient(x, order) @ work.direction, rel=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("scale", [2.0**-10, 2.0**10])  # powers of two, which round nothing
def test_scaling_the_system_scales_the_result(order, scale):
    A, y, _ = draw()
    solver = SPSA(order=order, iterations=1000)
    plain = solved(A, y, solver).x
    assert relative_error(solved(A, scale * y, solver).x / scale, plain) < 1e-12
    assert relative_error(solved(scale * A, y, solver).x * scale, plain) < 1e-12


@pytest.mark.parametrize("scale", [1e-3, 1e3])  # rounding sends the iterates another way, to the same end
def test_signals_of_any_scale_are_recovered(scale):
    A, y, x = draw()
    assert relative_error(solved(A, scale * y, SPSA()).x / scale, x) < 1e-3


def test_what_one_order_leaves_behind_serves_the_next():
    A, y, _ = draw()
    problem = Problem.of(A, y)
    for order in (3, 2, 1.5):
        alone = solved(A, y, SPSA(order=order, iterations=300))
        shared = SPSA(order=order, iterations=300).solve(problem, np.random.default_rng(0))
        np.testing.assert_array_equal(shared.x, alone.x)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    A, y, _ = draw()
    np.testing.assert_array_equal(solved(A, y).x, solved(A, y).x)
    assert np.any(solved(A, y).x != solved(A, y, seed=1).x)


def test_reports_do_not_change_the_course():
    A, y, _ = draw()
    seen = []
    watched = solved(A, y, callback=lambda k, x: seen.append((k, x)))
    np.testing.assert_array_equal(watched.x, solved(A, y).x)
    assert [k for k, _ in seen] == list(range(6, 301, 6))
    assert len(watched.history) == 50
    assert watched.history == solved(A, y).history
    assert watched.nfev == solved(A, y).nfev == 2 * (300 + 32)
    assert max(np.linalg.norm(A @ x - y) for _, x in seen) < 1e-9 * np.linalg.norm(y)


def test_a_callback_gets_a_copy():
    A, y, _ = draw()

    def spoil(k, x):
        x[:] = np.nan

    np.testing.assert_array_equal(solved(A, y, callback=spoil).x, solved(A, y).x)


def test_fewer_iterations_than_reports():
    A, y, _ = draw()
    seen = []
    found = solved(A, y, SPSA(iterations=7), callback=lambda k, _: seen.append(k))
    assert seen == list(range(1, 8))
    assert (found.nit, len(found.history)) == (7, 7)


def test_a_callback_can_stop():
    A, y, _ = draw()
    found = solved(A, y, callback=lambda k, x: k >= 60)
    assert (found.status, found.nit, found.success) == (Status.STOPPED_BY_CALLBACK, 60, False)


@pytest.mark.parametrize("metric", list(sg.METRICS))
def test_every_metric_of_the_catalogue_can_be_the_objective(metric):
    A, y, _ = draw(n=30, nonzeros=4, m=15)
    found = solved(A, y, SPSA(metric=metric, iterations=200))
    assert found.residual <= 1e-9 * np.linalg.norm(y)
    assert np.isfinite(found.history).all()
    again = solved(2.0**10 * A, 2.0**-10 * y, SPSA(metric=metric, iterations=200))
    np.testing.assert_allclose(2.0**20 * again.x, found.x, rtol=1e-12)


@pytest.mark.parametrize(("metric", "parameters"), [("hoyer", {}), ("pq_mean", {"p": 0.5, "q": 2.0}), ("h_s", {})])
def test_other_metrics_make_x_sparser(metric, parameters):
    A, y, x = draw()
    found = solved(A, y, SPSA(metric=metric, parameters=parameters, iterations=3000))
    assert relative_error(found.x, x) < 0.5 * relative_error(np.linalg.pinv(A) @ y, x)
    assert found.history[-1] > found.history[0]  # h_s too, which is smaller for sparser signals: its sign is turned


def test_a_callable_and_the_compiled_metric_take_the_same_course():
    A, y, _ = draw()
    compiled = solved(A, y, SPSA(order=3, iterations=300))
    called = solved(A, y, SPSA(metric=lambda x: sg.gds(x, 3), iterations=300))
    assert relative_error(called.x, compiled.x) < 1e-6


def test_bounds_hold_and_help():
    A, y, x = draw("exponential", nonzeros=20, m=40, seed=3)
    found = solved(A, y, SPSA(iterations=5000), bounds=(0, None))
    assert (found.x >= 0).all()
    assert found.residual <= 1e-6 * np.linalg.norm(y)
    assert relative_error(found.x, x) < relative_error(solved(A, y, SPSA(iterations=5000)).x, x)


def test_too_large_a_gain_is_reported_and_not_returned():
    A, y, _ = draw()
    found = solved(A, y, SPSA(metric=lambda x: -np.sum(np.abs(x) ** 3), a=1e6, iterations=100))
    assert found.status == Status.ITERATION_LIMIT
    assert "smaller a" in found.message
    assert np.isfinite(found.x).all()
    assert not found.success


def test_too_few_iterations_are_reported():
    A, y, _ = draw()
    assert solved(A, y, SPSA(iterations=10, tolerance=0.0)).status == Status.ITERATION_LIMIT


def test_what_is_not_declared_is_refused(monkeypatch):
    assert (SPSA.supports.complex, SPSA.supports.operators, SPSA.supports.bounds) == (False, False, "any")
    A, y, _ = draw()
    with pytest.raises(sg.InvalidInput, match=r"SPSA cannot solve complex systems; .*GDSAscent.* can"):
        solved(A + 0j, y)
    monkeypatch.setattr(equations, "LARGEST_MATRIX", 10)
    with pytest.raises(sg.InvalidInput, match=r"SPSA cannot use an operator .*GDSAscent.* can"):
        solved(aslinearoperator(A), y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0.5}, "at least 1"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": 1.5}, "iterations"),
        ({"a": 0.0}, "a > 0"),
        ({"c": -1.0}, "c > 0"),
        ({"A": -1.0}, "A >= 0"),
        ({"alpha": 1.5}, "alpha"),
        ({"gamma": "x"}, "gamma must be a number"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"metric": "hoyr"}, "did you mean 'hoyer'"),
        ({"metric": "hoyer", "parameters": {"p": 1}}, "no parameters"),
        ({"metric": "pq_mean", "parameters": {"p": 7}}, "p must satisfy"),
        ({"parameters": {"order": 3}}, "SPSA\\(order"),
        ({"metric": np.ptp, "parameters": {"p": 1}}, "build them into"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(sg.InvalidInput, match=words):
        SPSA(**options)


CHAOS = """
import numpy as np
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.spsa import SPSA
from sparsegauge.recovery.spsa_workspace import SpsaWorkspace
rng = np.random.default_rng(0)
A = rng.standard_normal((20, 40))
problem = Problem.of(A, A @ rng.standard_normal(40))
for order in (1.0, 1.3, 3.0, 6.0, 7.0, 9.0):
    found = SPSA(order=order, iterations=300).solve(problem, np.random.default_rng(1))
    print(found.x.tobytes().hex(), found.history)
"""


def test_all_compiled_variants_agree_to_the_last_bit():
    """SPSA makes a large difference of a small one, and a study may be begun on one machine and ended on another."""
    seen = []
    for variant in available_variants()[:-1]:  # the uncompiled kernels take minutes
        environment = {**os.environ, "SPARSEGAUGE_VARIANT": variant}
        run = subprocess.run([sys.executable, "-c", CHAOS], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        seen.append(run.stdout)
    assert len(seen[0]) > 1000
    assert set(seen) == {seen[0]}
