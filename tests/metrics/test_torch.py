"""Tensors of PyTorch: values, gradients, higher derivatives, batches of functions, and the monitor of a model."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sparsegauge as sg
from families import FAMILIES

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ORDERS = (1, 2, 3, 4, 5, 8, 9, 1.01, 1.5, 2.5, 7.3)
SMOOTH = ["neg_log", "kappa4", "kurtosis", "l2_l1", "hoyer", "pastor", "treves_rolls", "neg_numerical_sparsity"]
SMOOTH += ["pq_mean", "pq_index", "neg_lp", "neg_tanh", "negentropy", "box_cox", "theil", "atkinson", "gm_am", "h_s"]
SMOOTH += ["neg_h_s_prime", "h_g", "gini", "gi2", "ggi", "fggi", "pfgi1", "pfgi2", "pfgi3", "s_gini", "neg_lp_neg"]
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5}


def tied(dtype=torch.float64):
    """Rows with zeros and ties, and one without."""
    x = np.random.default_rng(0).standard_normal((4, 30))
    x[0, :5], x[1, 3:9], x[2, ::2] = 0.0, -1.5, 0.5
    return torch.tensor(x, dtype=dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", sg.METRICS)
def test_values(name, dtype):
    for family in FAMILIES.values():
        x = torch.tensor(family(50, 1), dtype=dtype)
        got, want = getattr(sg, name)(x), getattr(sg, name)(x.double().numpy())
        assert got.dtype == dtype
        assert got.shape == ()
        size = max(1.0, abs(want)) if name in ("kurtosis", "u_theta", "neg_h_s_prime", "h_s_prime") else abs(want)
        if math.isfinite(want):
            assert abs(float(got) - want) <= TOLERANCE[dtype] * size + 1e-30
        else:
            assert float(got) == want


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("order", ORDERS)
def test_gradient_of_gds_is_the_exact_one(order, dtype):
    x = tied(dtype).requires_grad_()
    sg.gds(x, order).sum().backward()
    want = sg.gds_gradient(x.detach().double().numpy(), order)
    largest = np.abs(want).max(axis=1, keepdims=True)
    assert x.grad.dtype == dtype
    assert np.all(np.abs(x.grad.numpy() - want) <= 10 * TOLERANCE[dtype] * largest)


@pytest.mark.parametrize("order", ORDERS)
def test_first_and_second_derivatives(order):
    x = torch.tensor(np.random.default_rng(1).standard_normal((2, 5)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: sg.gds(t, order), x)
    assert torch.autograd.gradgradcheck(lambda t: sg.gds(t, order), x)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_smooth_metrics(name):
    x = torch.tensor(0.5 + np.random.default_rng(1).random((2, 6)), requires_grad=True)
    assert torch.autograd.gradcheck(getattr(sg, name), x)
    assert torch.autograd.gradgradcheck(getattr(sg, name), x)


@pytest.mark.parametrize("name", [*SMOOTH, "gds", "hoover", "u_theta", "d_norm"])
def test_gradients_are_finite_at_ties_and_zeros(name):
    for row in (*tied(), torch.ones(7, dtype=torch.float64), torch.tensor([0.0, 0.0, 3.0])):
        x = row.clone().requires_grad_()
        getattr(sg, name)(x).backward()
        assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("order", [1, 2, 3, 1.5])
def test_second_derivatives_are_finite_at_ties_and_zeros(order):
    x = tied().requires_grad_()
    (slope,) = torch.autograd.grad(sg.gds(x, order).sum(), x, create_graph=True)
    (curvature,) = torch.autograd.grad((slope**2).sum(), x)
    assert torch.isfinite(curvature).all()


@pytest.mark.parametrize("name", ["gds", "hoyer", "gini", "theil"])
def test_a_silent_signal_stops_no_training(name):
    x = tied()
    x[1] = 0.0
    x.requires_grad_()
    values = getattr(sg, name)(x, zero=0.0)
    values.sum().backward()
    assert values[1] == 0
    assert torch.isfinite(x.grad).all()
    assert (x.grad[1] == 0).all()
    assert torch.isnan(getattr(sg, name)(x)[1])


@pytest.mark.parametrize("order", [1, 2, 3, 1.5])
def test_functions_of_torch_func(order):
    x = tied()
    rows = torch.func.vmap(lambda row: sg.gds(row, order))(x)
    torch.testing.assert_close(rows, sg.gds(x, order))
    slopes = torch.func.vmap(torch.func.grad(lambda row: sg.gds(row, order)))(x)
    np.testing.assert_allclose(slopes.numpy(), sg.gds_gradient(x.numpy(), order), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_descent_makes_a_signal_sparser(order):
    torch.manual_seed(0)
    x = torch.randn(200, requires_grad=True)
    before = float(sg.gds(x.detach(), order))
    optimiser = torch.optim.Adam([x], lr=0.02)
    for _ in range(100):
        optimiser.zero_grad()
        (-sg.gds(x, order)).backward()
        optimiser.step()
    assert float(sg.gds(x.detach(), order)) > before + 0.1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured_in_single(dtype):
    x = tied().to(dtype)
    assert sg.gds(x, 3).dtype == dtype
    want = torch.tensor(sg.gds(x.double().numpy(), 3)).to(dtype)
    torch.testing.assert_close(sg.gds(x, 3), want)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.complex64, torch.complex128])
def test_other_numbers(dtype):
    x = torch.tensor([0, 1, 3, 2, 7, 1]).to(dtype)
    assert float(sg.gds(x, 3)) == pytest.approx(sg.gds(x.numpy(), 3), rel=1e-6)


def test_complex_gradients_point_along_the_numbers():
    x = torch.tensor([1 + 2j, 0j, -3j, 2 + 0j], dtype=torch.complex128, requires_grad=True)
    sg.gds(x, 3).backward()
    np.testing.assert_allclose(x.grad.numpy(), sg.gds_gradient(x.detach().numpy(), 3), atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), (1, 2), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims):
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 4, 5)))
    for order in (2, 3):
        want = sg.gds(x.numpy(), order, axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(sg.gds(x, order, axis=axis, keepdims=keepdims).numpy(), want, rtol=1e-13)


def test_parameters_of_modules_and_views():
    layer = torch.nn.Linear(7, 5)
    found = sg.hoyer(layer.weight, axis=None).detach()
    assert float(found) == pytest.approx(sg.hoyer(layer.weight.detach().numpy(), axis=None))
    view = torch.arange(12.0).reshape(3, 4).T[:, ::2]
    np.testing.assert_allclose(sg.gds(view, 3).numpy(), sg.gds(view.numpy(), 3), rtol=1e-6)


def test_the_tensor_itself_is_not_changed():
    x = tied()
    before = x.clone()
    for order in (1, 2, 3, 1.5):
        sg.gds(x, order)
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (torch.ones(3).to_sparse(), {}, "to_dense"),
        (torch.ones(3), {"nan_policy": "omit"}, "pass a NumPy array"),
        (torch.tensor([1.0, math.nan]), {"nan_policy": "raise"}, "1 NaN"),
        (torch.ones(3), {"method": "paper"}, "use method='auto'"),
        (torch.ones(3, 0), {}, "no coefficient"),
        (torch.tensor(2.0), {}, "at least one dimension"),
        (torch.ones(3), {"dim": 0}, "use axis="),
    ],
)
def test_what_is_refused(x, options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.gds(x, **options)


# The monitor of a model


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.ReLU())
    )


def test_monitor_means_are_those_of_the_activations():
    net, x = model(), torch.randn(50, 8)
    with sg.torch.monitor(net, "gds", order=3) as report:
        net(x[:20])
        net(x[20:])
    with torch.no_grad():
        hidden = net[1](net[0](x))
    row = report["1"]
    assert row.sparsity == pytest.approx(float(sg.gds(hidden, 3).mean()), rel=1e-6)
    assert row.zeros == pytest.approx(float((hidden == 0).double().mean()))
    assert (row.kind, row.shape, row.samples) == ("activation", (16,), 50)
    weight = report["0.weight"]
    assert weight.sparsity == pytest.approx(float(sg.gds(net[0].weight.detach(), 3, axis=None)))
    assert [r.layer for r in report.rows()] == ["0", "1", "2.0", "2.1", "0.weight", "2.0.weight"]
    assert len(report.to_pandas()) == 6


def test_monitor_leaves_silent_samples_out():
    relu = torch.nn.ReLU()
    with sg.torch.monitor(relu) as report:
        relu(torch.tensor([[-1.0, -2.0], [1.0, -2.0]]))
    row = report["ReLU"]
    assert (row.samples, row.silent) == (2, 1)
    assert row.sparsity == pytest.approx(0.5)


def test_monitor_goes_when_it_is_told_to():
    net = model()
    report = sg.torch.monitor(net, layers=["0"])
    net(torch.randn(3, 8))
    report.reset()
    assert report["0"].samples == 0
    report.remove()
    net(torch.randn(3, 8))
    assert report["0"].samples == 0
    assert not any(module._forward_hooks for module in net.modules())


def test_monitor_reads_like_a_table():
    net = model()
    with sg.torch.monitor(net) as report:
        net(torch.randn(3, 8))
    lines = str(report).splitlines()
    assert lines[0].split() == ["layer", "kind", "shape", "gini", "zeros", "samples", "silent"]
    assert lines[-1].startswith("2.0.weight")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((torch.ones(3),), {}, "must be a torch.nn.Module"),
        ((torch.nn.ReLU(), "ginni"), {}, "did you mean 'gini'"),
        ((torch.nn.ReLU(),), {"order": 2}, "has no parameter"),
        ((torch.nn.Sequential(torch.nn.ReLU()),), {"layers": ["5"]}, "no layer '5'; there are 0"),
    ],
)
def test_what_the_monitor_refuses(arguments, options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.torch.monitor(*arguments, **options)


def test_tables_of_tensors_that_need_a_gradient_are_shown():
    x = torch.tensor([[1.0, 2.0, 5.0], [0.0, 1.0, 1.0]], requires_grad=True)
    table = sg.measure(x, ["gini", "hoyer"])
    assert table["gini"].requires_grad
    assert str(table).split() == str(sg.measure(x.detach(), ["gini", "hoyer"])).split()
    np.testing.assert_array_equal(table.to_array()[0], table["gini"].detach())
    assert table.to_frame()["hoyer"].tolist() == table["hoyer"].tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: sg.standard_error(x, "gini"),
        lambda x: sg.gds_gradient(x, 2),
        lambda x: sg.dct(x),
        lambda x: sg.windows(x, 2, 1),
        lambda x: sg.recover(np.ones((4, 8)), x[:4]),
    ],
    ids=["standard_error", "gradient", "dct", "windows", "recover"],
)
def test_what_loses_the_gradient_says_so(call):
    with pytest.raises(sg.InvalidInput, match=r"pass [xy].detach\(\), as the result carries no gradient"):
        call(torch.rand(8, requires_grad=True))
