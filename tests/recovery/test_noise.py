"""Recovery with noise: what every solver that takes noise obeys, and the front of sparsity against residual."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import sparsegauge as sg
from sparsegauge import trade_off
from sparsegauge._arrays.equations import noise_norm
from sparsegauge.recovery import portfolio, spike_slab
from sparsegauge.recovery.noisy import prune
from sparsegauge.recovery.portfolio import WELLS
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.spike_slab import Model
from sparsegauge.recovery.status import Status

QUICK_SPSA = sg.SPSA(iterations=4000)
SOLVERS = [
    sg.MinimumNorm(), sg.BasisPursuit(), sg.ReweightedL1(), sg.OMP(), sg.Lasso(), sg.LARS(), sg.DantzigSelector(),
    sg.IRLS(), sg.SL0(), sg.SBL(), sg.EP(restarts=0), QUICK_SPSA, sg.GDSAscent(iterations=200), sg.GDSReweighted(),
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The systems are small: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def name_of(solver):
    return type(solver).__name__


def draw(seed=0, *, ratio=20, nonzeros=8, m=40, n=80, distribution="normal", signs="random"):
    """A, x, y and the standard deviation of the noise, at a signal to noise ratio in dB."""
    rng = np.random.default_rng([seed, nonzeros, m, n])
    x = sg.sparse_signal(n, nonzeros, distribution, signs=signs, rng=rng)
    A = sg.gaussian_matrix(m, n, rng=rng)
    deviation = np.linalg.norm(A @ x) / np.sqrt(m) * 10 ** (-ratio / 20)
    return A, x, A @ x + deviation * rng.standard_normal(m), deviation


def solve(solver, A, y, noise, **options):
    return solver.solve(Problem.of(A, y, noise=noise, **options), np.random.default_rng(0))


def error(found, x):
    return np.linalg.norm(found - x) / np.linalg.norm(x)


def oracle(A, x, y):
    return error(np.linalg.lstsq(A[:, x != 0], y, rcond=None)[0], x[x != 0])


# ---- every solver


@pytest.mark.parametrize("solver", SOLVERS, ids=name_of)
@pytest.mark.parametrize("ratio", [10, 40])
def test_the_residual_is_within_the_noise_and_not_nothing(solver, ratio):
    for seed in range(2):
        A, _, y, deviation = draw(seed, ratio=ratio)
        found = solve(solver, A, y, deviation)
        bound = deviation * noise_norm(len(y))
        assert 0.02 * bound < found.residual <= bound * (1 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS[1:], ids=name_of)
def test_the_error_falls_with_the_noise(solver):
    errors = []
    for ratio in (10, 25, 40):
        problems = [draw(seed, ratio=ratio) for seed in range(3)]
        errors.append(np.mean([error(solve(solver, A, y, deviation).x, x) for A, x, y, deviation in problems]))
    factor = 1 if solver is QUICK_SPSA else 2  # so few iterations have an error of their own
    assert errors[0] > factor * errors[1] > factor**2 * errors[2]


@pytest.mark.parametrize("solver", [sg.GDSReweighted(), sg.GDSAscent(iterations=50), QUICK_SPSA], ids=name_of)
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_units_do_not_matter(solver, factor):
    """Powers of two, which cost no rounding: a random walk would enlarge it."""
    A, _, y, deviation = draw(1)
    x = solve(solver, A, y, deviation).x
    assert error(solve(solver, A, factor * y, factor * deviation).x / factor, x) < 1e-6
    assert error(solve(solver, factor * A, y, deviation).x * factor, x) < 1e-6


@pytest.mark.parametrize("solver", [sg.GDSReweighted(), sg.GDSAscent(iterations=50), QUICK_SPSA], ids=name_of)
def test_the_same_seed_gives_the_same_result(solver):
    A, _, y, deviation = draw(2, ratio=10)
    assert np.array_equal(solve(solver, A, y, deviation).x, solve(solver, A, y, deviation).x)


# ---- GDSReweighted


@pytest.mark.parametrize("distribution", ["binomial", "uniform", "normal"])
def test_it_comes_near_to_least_squares_on_the_true_support(distribution):
    """Which nobody knows: at 40 dB the support is found but for what is as small as the noise."""
    mine, best = [], []
    for seed in range(5):
        A, x, y, deviation = draw(seed, ratio=40, distribution=distribution)
        mine.append(error(solve(sg.GDSReweighted(), A, y, deviation).x, x))
        best.append(oracle(A, x, y))
    assert np.mean(mine) < 1.3 * np.mean(best)


def test_equal_magnitudes_are_learnt():
    """Knowing that the magnitudes are alike is worth more than knowing the support."""
    problems = [draw(seed, ratio=20, distribution="binomial", m=50) for seed in range(5)]
    mine = [error(solve(sg.GDSReweighted(), A, y, deviation).x, x) for A, x, y, deviation in problems]
    assert np.mean(mine) < 0.8 * np.mean([oracle(A, x, y) for A, x, y, _ in problems])


@pytest.mark.parametrize("ratio", [80, 120, 180])
def test_next_to_no_noise(ratio):
    A, x, y, deviation = draw(3, ratio=ratio)
    found = solve(sg.GDSReweighted(), A, y, deviation)
    assert found.residual <= deviation * noise_norm(len(y)) * (1 + 1e-6)
    assert error(found.x, x) < 10 ** (-ratio / 20) * 10


def test_more_measurements_than_unknowns():
    A, x, y, deviation = draw(4, m=120, n=60, nonzeros=5)
    found = solve(sg.GDSReweighted(), A, y, deviation)
    assert found.residual <= deviation * noise_norm(120) * (1 + 1e-6)
    assert error(found.x, x) < 0.1


def test_noise_that_explains_all():
    A, _, y, _ = draw(5)
    found = sg.recover(A, y, noise=("residual", 2 * np.linalg.norm(y)), solver=sg.GDSReweighted(), rng=0)
    assert not found.x.any()


@pytest.mark.parametrize("bounds", [(0, None), (-0.1, 1.2), (None, 2.0)])
def test_bounds_are_kept(bounds):
    A, x, y, deviation = draw(6, distribution="binomial", signs="positive")
    found = solve(sg.GDSReweighted(), A, y, deviation, bounds=bounds)
    low, high = (-np.inf if bounds[0] is None else bounds[0]), (np.inf if bounds[1] is None else bounds[1])
    assert low <= found.x.min() <= found.x.max() <= high
    assert found.residual <= deviation * noise_norm(len(y)) * (1 + 1e-6)
    assert error(found.x, x) < 0.1


def test_complex_systems():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 80)) + 1j * rng.standard_normal((40, 80))
    x = sg.sparse_signal(80, 6, "uniform", rng=rng) * np.exp(2j * np.pi * rng.random(80))
    y = A @ x + 0.05 * (rng.standard_normal(40) + 1j * rng.standard_normal(40))
    found = solve(sg.GDSReweighted(), A, y, 0.05 * np.sqrt(2))
    assert found.residual <= 0.05 * np.sqrt(2) * noise_norm(40) * (1 + 1e-6)
    assert error(found.x, x) < 0.05


def test_a_callback_sees_every_stage_and_can_stop_it():
    A, _, y, deviation = draw(7)
    seen = []

    def stop_at_the_fifth(k, x):
        seen.append((k, x))
        return len(seen) == 5

    found = sg.recover(A, y, noise=deviation, solver=sg.GDSReweighted(), callback=stop_at_the_fifth)
    steps = [k for k, _ in seen]
    assert len(seen) == 5
    assert steps[0] >= 1
    assert all(1 <= later - earlier <= sg.GDSReweighted().steps for earlier, later in itertools.pairwise(steps))
    assert (found.status, found.nit) == (Status.STOPPED_BY_CALLBACK, steps[-1])
    assert np.array_equal(found.x, seen[-1][1])
    assert not found.success


# ---- the choice between guesses


def test_a_right_guess_wins_over_wrong_ones():
    """Nearly always: a climb by single changes may end at a lower maximum, for which there are several guesses."""
    wins, needless, seeds = 0, 0, range(20)
    for seed in seeds:
        A, x, y, deviation = draw(seed)
        model = Model.of(Problem.of(A, y, noise=deviation))
        right, wrong = model.best(x), model.best(np.random.default_rng(0).permutation(x))
        wins += right.score >= wrong.score - 1e-5  # both may end at the same z, and learn rho and the slab up to that
        needless += np.count_nonzero(right.z[x == 0])
    assert wins >= 0.9 * len(seeds)
    assert needless <= 0.02 * 8 * len(seeds)


def test_large_systems_are_averaged_over_fewer_blocks(monkeypatch):
    """Each block begins with covariances that cost M^2 N, twice."""
    A, x, y, deviation = draw(4)
    model, sampled = Model.of(Problem.of(A, y, noise=deviation)), []
    first = model.best(x)
    whole = model.average(first, np.random.default_rng(0), 20)
    sample = Model._sample
    monkeypatch.setattr(Model, "_sample", lambda *settings: sampled.append(1) or sample(*settings))
    monkeypatch.setattr(spike_slab, "MOST_SET_UP_WORK", 8 * 2 * A.size * len(A))
    fewer = model.average(first, np.random.default_rng(0), 20)
    assert len(sampled) == 8 + 2  # a quarter more to burn in
    assert np.linalg.norm(fewer.x - whole.x) < 0.05 * np.linalg.norm(whole.x)
    assert model.affordable(3) == 3


def test_the_climb_ends_where_no_single_change_helps():
    """The evidence that rank-one changes keep, against that of a covariance written out."""
    A, x, y, deviation = draw(9, m=15, n=20, nonzeros=3)
    model = Model.of(Problem.of(A, y, noise=deviation))

    def evidence(state, z):
        slabs = np.vstack([np.zeros(3), state.slabs])[z]
        C = model.noise * np.eye(15) + (model.At.T * slabs[:, 2]) @ model.At
        r = model.y - model.At.T @ slabs[:, 1]
        prior = np.where(z == 0, np.log(1 - state.rho), np.log(state.rho * np.where(z == 0, 1, slabs[:, 0])))
        return -0.5 * (np.linalg.slogdet(C)[1] + r @ np.linalg.solve(C, r)) + prior.sum()

    for alike in (False, True):
        state = model.climb(x / model.unit, alike=alike)
        assert state.evidence == pytest.approx(evidence(state, state.z), rel=1e-8)
        for i in range(20):
            for k in range(len(state.slabs) + 1):
                z = state.z.copy()
                z[i] = k
                assert evidence(state, z) <= state.evidence + 1e-6


def test_the_choice_is_as_good_as_what_it_chooses_from():
    chosen, alone = [], []
    for seed in range(4):
        A, x, y, deviation = draw(seed, nonzeros=14, distribution="binomial")
        problem = Problem.of(A, y, noise=deviation)
        found = sg.Portfolio(restarts=2, propagations=0).solve(problem, np.random.default_rng(0)).x
        assert problem.residual(found) <= problem.noise * (1 + 1e-6)
        chosen.append(error(found, x))
        ends = [list(solver.descend(problem, np.random.default_rng(0)))[-1] for solver in WELLS]
        alone.append([error(end.x, x) for end in ends])
    assert np.mean(chosen) < np.mean(alone, axis=0).min()


def test_pruning_finds_the_support():
    A, x, y, deviation = draw(10, ratio=40, distribution="binomial")
    found, score = prune(Problem.of(A, y, noise=deviation), x + 0.01 * np.random.default_rng(0).standard_normal(80))
    assert np.array_equal(found != 0, x != 0)
    assert score > prune(Problem.of(A, y, noise=deviation), np.roll(x, 1))[1]


# ---- the front


@pytest.fixture(scope="module")
def front():
    A, x, y, deviation = draw(11)
    kept = A.copy(), y.copy()
    found = trade_off(A, y, rng=0)
    assert np.array_equal(A, kept[0])
    assert np.array_equal(y, kept[1])
    return A, x, y, deviation, found


def test_a_front_is_sorted_and_no_point_beats_another(front):
    found = front[-1]
    assert np.all(np.diff(found.residuals) > 0)
    assert np.all(np.diff(found.sparsities) > 0)
    assert len(found.residuals) >= 5


def test_a_front_says_what_its_solutions_are(front):
    A, _, y, _, found = front
    assert found.solutions.shape == (len(found.residuals), 80)
    np.testing.assert_allclose(found.residuals, np.linalg.norm(found.solutions @ A.T - y, axis=1), atol=1e-9)
    np.testing.assert_allclose(found.sparsities[:-1], sg.gds(found.solutions[:-1], 2))
    assert np.array_equal(found.x, found.solutions[found.knee])


def test_the_ends_of_a_front_are_an_exact_fit_and_nothing(front):
    _, _, y, _, found = front
    assert found.residuals[0] < 1e-9 * np.linalg.norm(y)
    assert found.residuals[-1] == pytest.approx(np.linalg.norm(y))
    assert not found.solutions[-1].any()
    assert found.sparsities[-1] == 1
    assert 0 < found.knee < len(found.residuals) - 1


def test_the_knee_tells_the_noise():
    near = 0
    for seed in range(6):
        A, x, y, deviation = draw(seed, ratio=30, nonzeros=6)
        found = trade_off(A, y, points=16, rng=0)
        told = error(solve(sg.GDSReweighted(), A, y, deviation).x, x)
        near += 0.5 < found.noise / deviation < 2 and error(found.x, x) < 2 * told
    assert near >= 5


def test_without_noise_the_knee_is_the_signal():
    A, x, _, _ = draw(12)
    found = trade_off(A, A @ x, points=10, rng=0)
    assert error(found.x, x) < 1e-6


def test_units_do_not_matter_to_a_front(front):
    A, _, y, _, found = front
    other = trade_off(1e3 * A, 1e-3 * y, rng=0)
    assert other.knee == found.knee
    np.testing.assert_allclose(other.residuals[1:] * 1e3, found.residuals[1:], rtol=1e-6)
    np.testing.assert_allclose(other.sparsities, found.sparsities, rtol=1e-6)


@pytest.mark.parametrize("solver", [sg.BasisPursuit(), sg.OMP(), sg.IRLS()], ids=name_of)
def test_any_solver_that_honours_noise(solver):
    A, _, y, _ = draw(13)
    found = trade_off(A, y, solver=solver, points=8, order=1.5, rng=0)
    assert np.all(np.diff(found.residuals) > 0)
    assert np.all(np.diff(found.sparsities) > 0)
    assert found.order == 1.5


def test_complex_fronts_and_fronts_within_bounds():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((20, 40)) + 1j * rng.standard_normal((20, 40))
    y = A[:, :3] @ np.array([1, 1j, -2.0]) + 0.1 * rng.standard_normal(20)
    found = trade_off(A, y, points=8, rng=0)
    assert np.iscomplexobj(found.x)
    assert np.all(np.diff(found.sparsities) > 0)
    A, _, y, _ = draw(14, signs="positive")
    found = trade_off(A, y, points=8, bounds=(0, None), rng=0)
    assert found.solutions.min() >= 0
    assert found.residuals[-1] == pytest.approx(np.linalg.norm(y))


def test_a_callback_ends_a_front():
    A, _, y, _ = draw(15)
    calls = []
    found = trade_off(A, y, callback=lambda k, x: calls.append(k) or k == 3, rng=0)
    assert calls == [1, 2, 3]
    assert len(found.residuals) <= 4


def test_a_front_is_drawn(front):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = front[-1].plot()
    assert "residual" in ax.get_xlabel()
    assert "S_2" in ax.get_ylabel()
    assert front[-1].plot(ax) is ax


class _Exact(sg.Solver):
    """Says that it allows for noise, and does not look at it."""

    def iterates(self, problem, rng):
        yield sg.Iterate(problem.start(), status=sg.Status.CONVERGED)


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("solver", {"solver": "lasso"}),
        ("points", {"points": 3}),
        ("least", {"least": 2.0}),
        ("order", {"order": 0.5}),
        ("rng", {"rng": "seed"}),
        ("honour", {"solver": sg.OMP(nonzeros=1)}),
        ("honours noise", {"solver": _Exact()}),
    ],
)
def test_bad_options_get_a_reason(match, options):
    A, _, y, _ = draw(16)
    with pytest.raises(sg.InvalidInput, match=match):
        trade_off(A, y, **options)


def test_measurements_of_nothing_have_no_front():
    with pytest.raises(sg.InvalidInput, match="y is zero"):
        trade_off(np.eye(3), np.zeros(3))


@pytest.mark.parametrize("solver", [sg.Portfolio(), sg.GDSReweighted()], ids=["many", "one"])
@pytest.mark.parametrize("noise", [1e-4, 2e-4, 3e-4])
def test_noise_so_small_that_rounding_matters(solver, noise):
    A, x = sg.gaussian_matrix(45, 100, rng=1), sg.sparse_signal(100, 12, "normal", rng=0)
    found = sg.recover(A, (A @ x).round(3), noise=noise, solver=solver, rng=0)
    assert found.success
    assert np.linalg.norm(found.x - x) <= 1e-4 * np.linalg.norm(x)


@pytest.mark.parametrize(("gain", "rise", "is_likely"), [(5.0, 0.0, True), (-5.0, 0.0, False), (-5.0, 6.0, True)])
def test_fewer_members_are_tried_where_y_is_likely_noisy(monkeypatch, gain, rise, is_likely):
    """The first wells and the first runs of expectation propagation, then the noisy estimate."""
    monkeypatch.setattr(portfolio.Climbs, "gain", property(lambda _: gain))
    monkeypatch.setattr(portfolio.Climbs, "rise", property(lambda _: rise))
    tried = []
    follow = portfolio.Propagations._follow
    monkeypatch.setattr(
        portfolio.Propagations,
        "_follow",
        lambda self, sweeps, most_runs=None: tried.append(most_runs) or follow(self, sweeps, most_runs),
    )
    rng = np.random.default_rng(5)
    A, x = sg.gaussian_matrix(50, 100, rng=rng), sg.sparse_signal(100, 20, "normal", rng=rng)
    y = A @ x + rng.standard_normal(50)
    sg.recover(A, y, solver=sg.Portfolio(restarts=0, propagations=1, lattice=False))
    assert (None in tried) == (not is_likely)
    assert len(sg.EP().slabs) in tried


@pytest.mark.parametrize("distribution", ["normal", "exponential", "uniform"])
def test_exact_signals_that_look_noisy_are_still_found(distribution):
    found = 0
    for seed in range(4):
        A = sg.gaussian_matrix(50, 100, rng=100 + seed)
        x = sg.sparse_signal(100, 25, distribution, signs="random", rng=seed)
        found += bool(np.allclose(sg.recover(A, A @ x).x, x, atol=1e-6))
    assert found >= 3


@pytest.mark.parametrize(("m", "is_found"), [(290, True), (200, False)])
def test_hard_problems_with_hundreds_of_unknowns_are_solved_or_the_status_says_so(m, is_found):
    """K/N = .3 at 40 dB: far above and far below the threshold M/N = .48 of message passing."""
    rng = np.random.default_rng(7)
    x, A = sg.sparse_signal(500, 150, "normal", rng=rng), sg.gaussian_matrix(m, 500, rng=rng)
    deviation = 0.01 * np.linalg.norm(A @ x) / np.sqrt(m)
    found = sg.recover(A, A @ x + deviation * rng.standard_normal(m), noise=deviation)
    assert (np.linalg.norm(found.x - x) < 0.03 * np.linalg.norm(x)) == is_found
    assert found.success == is_found
    assert found.status == (Status.CONVERGED if is_found else Status.NOT_SPARSE)


@pytest.mark.parametrize("share", [1e-1, 1e-4, 2e-8, 5e-9, 1e-12])
def test_sampling_ends_with_the_mean_and_variance_given_its_last_support(share):
    """With more noise than `LEAST_NOISE_FOR_CHANGES` they come from changes one on top of the other."""
    rng = np.random.default_rng(7)
    A, x = sg.gaussian_matrix(40, 80, rng=rng), sg.sparse_signal(80, 12, "normal", rng=rng)
    model = replace(Model.of(Problem.of(A, A @ x, noise=0)), noise=share / 40)
    first = model.learn(model.climb(x / model.unit, alike=False), alike=False)
    found, _ = model._sample(first, rng, 30, 1)
    members = np.flatnonzero(found.z)
    columns, tau = model.At[members].T, found.slabs[0, 2]
    precision = columns.T @ columns / found.noise + np.eye(len(members)) / tau
    assert found.x[members] == pytest.approx(np.linalg.solve(precision, columns.T @ model.y / found.noise), rel=1e-6)
    assert found.variance[members] == pytest.approx(np.diag(np.linalg.inv(precision)), rel=1e-3)
    assert not found.x[found.z == 0].any()
