"""The picture of a public name on its page of the reference, where it has one: `draw(name)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import sparsegauge as sg
from sparsegauge.plots.style import COLOURS, line, panels, to_file

GRID, SHARES, TRIALS, N = 81, np.array([1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100]), 5, 400
DISTRIBUTIONS = {"binomial": "equal non-zeros", "normal": "normal", "exponential": "exponential"}


def draw(name: str) -> bytes | None:
    """Return the picture of a public name as a file in SVG, or None if it has none."""
    if name in sg.METRICS:
        return _draw_metric(name)
    if name in sg.SOLVERS:
        return _draw_solver(name)
    return DRAWN[name]() if name in DRAWN else None


def has_picture(name: str) -> bool:
    """Return whether `draw` would return a picture."""
    return name in sg.METRICS or name in sg.SOLVERS or name in DRAWN


def describe(name: str) -> str:
    """Return what the picture shows."""
    if name in sg.METRICS:
        return (
            f"Left: ``{name}`` of two coefficients, from low (dark) to high (bright). Right: its mean over {TRIALS} "
            f"random signals of {N} coefficients and mean square 1, over the percentage of non-zeros."
        )
    if name in sg.SOLVERS:
        return (
            "The answers of the example, without and with noise: circles are the true coefficients, dots the estimates."
        )
    return CAPTIONS[name]


def solver_example(name: str) -> str:
    """Return the lines of Python whose answers the picture of a solver shows."""
    return (
        "import numpy as np\n"
        "import sparsegauge as sg\n\n"
        "A = sg.gaussian_matrix(50, 100, rng=0)                # 50 measurements of 100 unknowns\n"
        "truth = sg.sparse_signal(100, 18, 'normal', rng=1)    # of which 18 are not zero\n"
        "noise = 0.02 * np.random.default_rng(2).standard_normal(50)\n"
        f"\nexact = sg.recover(A, A @ truth, solver=sg.{name}(), rng=0)\n"
        f"noisy = sg.recover(A, A @ truth + noise, solver=sg.{name}(), rng=0)\n"
        "print(f'error {np.linalg.norm(exact.x - truth):.1e}, certified: {exact.certified}')\n"
        "print(f'error {np.linalg.norm(noisy.x - truth):.1e} with noise')\n"
    )


def to_svg(figure: Figure) -> bytes:
    """Return a figure as SVG that is the same whenever it is drawn."""
    with matplotlib.rc_context({"svg.hashsalt": "sparsegauge"}):
        return to_file(figure, "svg")


def _draw_metric(name: str) -> bytes:
    metric = sg.METRICS[name]
    ticks = np.linspace(-1.0, 1.0, GRID)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    with panels(1, 2, 3.4, 2.7) as (figure, axes), np.errstate(all="ignore"):
        left, right = axes[0]
        values = np.asarray(metric.function(plane), dtype=float)
        values[~np.isfinite(values)] = np.nan
        image = left.pcolormesh(ticks, ticks, values, cmap="viridis", rasterized=True)
        figure.colorbar(image, ax=left, shrink=0.85)
        left.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", title="Two coefficients")
        left.grid(False)
        for k, (distribution, label) in enumerate(DISTRIBUTIONS.items()):
            right.plot(
                SHARES, [_mean(metric.function, distribution, share) for share in SHARES], **line(k), label=label
            )
        right.set(xlabel="non-zeros (%)", xscale="log", title="Random signals")
        right.xaxis.set_major_formatter("{x:g}")
        right.legend()
        return to_svg(figure)


def _mean(measure: Callable[..., Any], distribution: str, share: int) -> float:
    count = max(1, round(share * N / 100))
    signals = np.array([sg.sparse_signal(N, count, distribution, rng=trial) for trial in range(TRIALS)])
    return float(np.mean(measure(signals / np.sqrt(np.mean(signals**2, axis=1, keepdims=True)))))


@functools.cache
def solve_example(name: str) -> tuple[dict[str, Any], str]:
    """Run the example of a solver; return its variables and what it prints."""
    import contextlib
    import io

    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(solver_example(name), names)
    return names, printed.getvalue()


def _draw_solver(name: str) -> bytes:
    found, _ = solve_example(name)
    places = np.flatnonzero(found["truth"])
    with panels(1, 2, 3.6, 2.3, sharey=True) as (figure, axes):
        for plot, answer, title in zip(axes[0], ("exact", "noisy"), ("Exact measurements", "2 % noise"), strict=True):
            x = found[answer].x
            plot.vlines(np.arange(x.size), 0, x, color=COLOURS[0], linewidth=0.8)
            plot.plot(np.arange(x.size), x, ".", color=COLOURS[0], markersize=3)
            plot.plot(places, found["truth"][places], "o", fillstyle="none", color=COLOURS[1], markersize=5)
            plot.set(xlabel="coefficient", title=title)
        return to_svg(figure)


def _draw_profile() -> bytes:
    x, orders = sg.demo("ecg"), np.linspace(1, 12, 45)
    with panels(1, 1, 4.6, 2.6) as (figure, axes):
        for k, (label, c) in enumerate({"samples": x, "dct": sg.dct(x), "wavelet": sg.wavelet(x)}.items()):
            axes[0, 0].plot(orders, sg.gds_profile(c, orders), **{**line(k), "marker": ""}, label=label)
        axes[0, 0].set(xlabel="order p", ylabel="$S_p$", ylim=(0, 1), title="An electrocardiogram in three bases")
        axes[0, 0].legend()
        return to_svg(figure)


def _draw_gradient() -> bytes:
    c = np.linspace(0.0, 3.0, 61)
    with panels(1, 1, 4.6, 2.6) as (figure, axes):
        for k, order in enumerate((1, 2, 4)):
            axes[0, 0].plot(c, sg.gds_gradient(c, order), **{**line(k), "marker": ""}, label=f"order {order}")
        axes[0, 0].axhline(0, color="black", linewidth=0.6)
        axes[0, 0].set(
            xlabel="magnitude of the coefficient", ylabel="slope of $S_p$", title="61 magnitudes from 0 to 3"
        )
        axes[0, 0].legend()
        return to_svg(figure)


def _draw_lorenz() -> bytes:
    with panels(1, 1, 3.4, 3.0) as (figure, axes):
        for k, (label, x) in enumerate(
            {"ECG, samples": sg.demo("ecg"), "ECG, wavelet": sg.wavelet(sg.demo("ecg"))}.items()
        ):
            sg.lorenz(x).plot(axes[0, 0], color=COLOURS[k], label=label)
        axes[0, 0].legend()
        return to_svg(figure)


def _draw_intervals() -> bytes:
    sizes = np.array([10, 20, 50, 100, 200, 500, 1000])
    found = [sg.confidence_interval(np.random.default_rng(0).exponential(size=n), "gini") for n in sizes]
    with panels(1, 1, 4.6, 2.6) as (figure, axes):
        low, high = np.array([one.low for one in found]), np.array([one.high for one in found])
        axes[0, 0].vlines(sizes, low, high, color=COLOURS[0], linewidth=2.5)
        axes[0, 0].axhline(0.5, color=COLOURS[1], linewidth=1.0, label="the distribution's own")
        axes[0, 0].set(xlabel="coefficients", ylabel="gini", xscale="log", title="95 % intervals of exponential data")
        axes[0, 0].legend()
        return to_svg(figure)


def _draw_demos() -> bytes:
    with panels(3, 3, 2.3, 1.5) as (figure, axes):
        for plot, name in zip(axes.flat, sg.DEMOS, strict=True):
            x = sg.demo(name)
            if x.ndim == 2:
                plot.imshow(x[::2, ::2], cmap="gray")
                plot.set_axis_off()
            else:
                plot.plot(x, color=COLOURS[0], linewidth=0.7)
            plot.set_title(name)
        return to_svg(figure)


def _draw_transform(name: str) -> bytes:
    x = sg.demo("bumps")
    with panels(1, 2, 3.4, 2.2) as (figure, axes):
        axes[0, 0].plot(x, color=COLOURS[0], linewidth=0.9)
        axes[0, 0].set(xlabel="sample", title="demo('bumps')")
        axes[0, 1].plot(getattr(sg, name)(x), color=COLOURS[1], linewidth=0.9)
        axes[0, 1].set(xlabel="coefficient", title=f"{name}(x)")
        return to_svg(figure)


def _draw_sparse_signal() -> bytes:
    with panels(1, 3, 2.3, 2.0, sharey=True) as (figure, axes):
        for plot, (distribution, label) in zip(axes[0], DISTRIBUTIONS.items(), strict=True):
            x = sg.sparse_signal(100, 20, distribution, rng=0)
            plot.vlines(np.arange(100), 0, x, color=COLOURS[0], linewidth=1.2)
            plot.set(xlabel="coefficient", title=label)
        return to_svg(figure)


def _draw_record() -> bytes:
    with panels(2, 1, 5.6, 1.4, sharex=True) as (figure, axes):
        for plot, fault in zip(axes[:, 0], ("inner", "outer"), strict=True):
            record = sg.bearing_record(fault, rng=0)
            few = slice(0, round(0.2 * record.rate))
            plot.plot(np.arange(record.x.size)[few] / record.rate, record.x[few], color=COLOURS[0], linewidth=0.6)
            plot.set(ylabel="acceleration", title=f"fault: {fault}")
        axes[1, 0].set_xlabel("seconds")
        return to_svg(figure)


def _draw_bands() -> bytes:
    record = sg.bearing_record("outer", rng=1)
    return to_svg(sg.band_map(record.x, record.rate).plot())


def _draw_diagnosis() -> bytes:
    record = sg.bearing_record("outer", rng=1)
    return to_svg(sg.diagnose(record.x, record.rate, record.rpm, "6205").plot())


def _draw_recovery() -> bytes:
    truth, A = sg.sparse_signal(100, 12, "normal", rng=1), sg.gaussian_matrix(50, 100, rng=0)
    return to_svg(sg.recover(A, A @ truth + 0.05 * np.random.default_rng(2).standard_normal(50), rng=0).plot())


def _draw_trade_off() -> bytes:
    truth, A = sg.sparse_signal(60, 8, "normal", rng=1), sg.gaussian_matrix(30, 60, rng=0)
    with panels(1, 1, 4.6, 2.6) as (figure, axes):
        sg.trade_off(A, A @ truth + 0.05 * np.random.default_rng(2).standard_normal(30)).plot(axes[0, 0])
        return to_svg(figure)


CAPTIONS = {
    "gds_profile": "The sparsity of one signal in three bases, at many orders.",
    "gds_gradient": "A step along the gradient lowers small coefficients and raises large ones.",
    "lorenz": "The further a curve is from the diagonal, the sparser the signal; twice the area is the Gini index.",
    "confidence_interval": "Intervals shrink with the square root of the number of coefficients.",
    "demo": "The demo signals.",
    "dct": "A signal, and its cosine transform.",
    "wavelet": "A signal, and its wavelet transform: far fewer of its coefficients are large.",
    "sparse_signal": "Twenty non-zeros among a hundred coefficients.",
    "bearing_record": "The first fifth of a second of two simulated records.",
    "band_map": "The bands of a simulated record, the best one marked, and the spectrum of its envelope.",
    "diagnose": "What the diagnosis of a simulated record rests on.",
    "recover": "What ``Recovery.plot()`` draws after a recovery with noise: estimates with their error bars.",
    "trade_off": "The residual against the sparsity of the answer; beyond the knee more non-zeros explain little more.",
}
DRAWN: dict[str, Callable[[], bytes]] = {
    "gds_profile": _draw_profile,
    "gds_gradient": _draw_gradient,
    "lorenz": _draw_lorenz,
    "confidence_interval": _draw_intervals,
    "demo": _draw_demos,
    "dct": functools.partial(_draw_transform, "dct"),
    "wavelet": functools.partial(_draw_transform, "wavelet"),
    "sparse_signal": _draw_sparse_signal,
    "bearing_record": _draw_record,
    "band_map": _draw_bands,
    "diagnose": _draw_diagnosis,
    "recover": _draw_recovery,
    "trade_off": _draw_trade_off,
}
