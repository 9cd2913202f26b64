"""Figures show the numbers of the table, on axes that say what they are."""

import numpy as np
import pytest

from sparsegauge.cli import main
from sparsegauge.plots.order_lines import optimal_order, order_by_gains, over, prototypes
from sparsegauge.plots.order_maps import error_maps, success_maps
from sparsegauge.plots.study_figures import figures_of, save_figure, save_figures
from sparsegauge.plots.style import edges
from sparsegauge.study.choice import choose_orders
from sparsegauge.study.summary import put_together


def test_error_maps_hold_the_table(summary):
    figure = error_maps(summary)
    maps = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert len(maps) == 2 * 2
    shown = np.array([axes.collections[0].get_array() for axes in maps]).reshape(2, 2, 3, 3)
    np.testing.assert_array_equal(shown, summary.values["mse_mean"])
    assert maps[0].get_title() == "K = 2"
    assert maps[-1].get_xlabel() == "order p"
    assert "measurements M" in maps[0].get_ylabel()


def test_success_maps_hold_the_rates_of_every_order(summary):
    maps = [axes for axes in success_maps(summary).axes if axes.get_label() != "<colorbar>"]
    assert [axes.get_title() for axes in maps[:3]] == ["order 1", "order 2", "order 4"]
    np.testing.assert_array_equal(maps[1].collections[0].get_array(), summary.values["success_rate"][0, :, :, 1])


def test_the_best_order_is_averaged_over_the_other_count(summary):
    axes = optimal_order(summary, "measurements").axes[0]
    mse = summary.values["mse_mean"]
    orders = np.array([1.0, 2.0, 4.0])[np.argmin(mse, axis=-1)]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), orders[0].mean(axis=0))
    assert axes.get_xlabel() == "measurements M"
    across = optimal_order(summary, "nonzeros").axes[0]
    np.testing.assert_allclose(across.lines[1].get_ydata(), orders[1].mean(axis=1))


def test_cells_that_every_order_recovers_have_no_best_one(summary):
    values = dict(summary.values) | {"success_rate": summary.values["success_rate"].copy()}
    values["success_rate"][:, :, 2] = 1.0
    axes = optimal_order(type(summary)(summary.axes, values, summary.manifest), "measurements").axes[0]
    assert np.isnan(axes.lines[0].get_ydata()[2])
    assert np.isfinite(axes.lines[0].get_ydata()[:2]).all()


def test_what_is_not_there_yet_hides_nothing_else(summary):
    values = dict(summary.values) | {"mse_mean": summary.values["mse_mean"].copy()}
    values["mse_mean"][1, 0, 0] = np.nan
    part = type(summary)(summary.axes, values, summary.manifest)
    whole, some = (optimal_order(one, "nonzeros").axes[0] for one in (summary, part))
    np.testing.assert_array_equal(some.lines[0].get_ydata(), whole.lines[0].get_ydata())
    assert np.isfinite(some.lines[1].get_ydata()).all()
    assert error_maps(part).axes


def test_an_infinite_order_has_no_place_on_the_axis(summary):
    axes = dict(summary.axes) | {"orders": (1.0, 2.0, np.inf)}
    lines = optimal_order(type(summary)(axes, summary.values, summary.manifest), "measurements").axes[0].lines
    assert max(np.nanmax(line.get_ydata()) for line in lines) <= 2


def test_lines_average_what_is_not_shown(summary):
    figure = over(summary, "orders", "measurements")
    lines = figure.axes[0].lines
    np.testing.assert_array_equal(lines[1].get_ydata(), summary.values["mse_mean"][0, 0, 1])
    assert lines[1].get_label() == "M = 8"
    averaged = over(put_together("iterations", {10: summary, 20: summary}), "iterations", "orders", log_x=True)
    expected = summary.values["mse_mean"][0, 0, :, 2].mean()
    np.testing.assert_allclose(averaged.axes[0].lines[2].get_ydata(), [expected, expected])


def test_gains_mark_the_best_order(summary):
    both = put_together("a", {a: put_together("c", {0.1: summary}) for a in (0.1, 0.2)})
    axes = order_by_gains(both).axes[0]
    mean = summary.values["mse_mean"].mean(axis=(0, 1, 2))
    np.testing.assert_allclose(axes.lines[0].get_ydata(), mean)
    assert axes.lines[1].get_xdata()[0] == (1, 2, 4)[int(np.argmin(mean))]


def test_prototypes_have_the_papers_sparsities():
    labels = [line.get_label() for line in prototypes().axes[0].lines]
    values = [float(label.split("= ")[1]) for label in labels]
    assert values == pytest.approx([0.60, 0.73, 0.76, 0.79], abs=0.011)  # its section VIII


def test_prototypes_are_those_of_the_study(summary):
    axes = prototypes(summary).axes[0]
    assert [line.get_label().split(":")[0] for line in axes.lines] == ["normal", "binomial (ones)"]
    assert axes.get_title() == "N = 12, K = 3"
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), [0.0] * 9 + [1.0] * 3)


def test_rings_stand_at_every_clear_lead_and_nowhere_else(summary):
    clear = choose_orders(summary)
    for place, (i, j) in zip(error_maps(summary).axes, np.ndindex(2, 2), strict=False):
        ring = place.lines[0]
        where = np.flatnonzero(clear.is_clear[i, j])
        np.testing.assert_array_equal(ring.get_xdata(), clear.best[i, j, where])
        np.testing.assert_array_equal(ring.get_ydata(), np.array([5, 8, 9])[where])


def test_a_map_without_success_says_so(summary):
    values = dict(summary.values) | {"success_rate": np.zeros_like(summary.values["success_rate"])}
    figure = success_maps(type(summary)(summary.axes, values, summary.manifest))
    assert [text.get_text() for text in figure.axes[0].texts] == ["no success"]


def test_titles_fit_the_figures_of_small_studies(summary):
    figure = error_maps(summary.at(distributions=["normal"], nonzeros=[2]))
    figure.canvas.draw()
    title = figure.get_suptitle()
    assert "\n" in title
    box = figure._suptitle.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_edges_lie_between_the_middles():
    np.testing.assert_array_equal(edges([1, 2, 4]), [0.5, 1.5, 3.0, 5.0])
    np.testing.assert_array_equal(edges([7]), [6.5, 7.5])


def test_every_kind_of_study_has_figures(summary, tmp_path):
    assert set(figures_of(summary)) >= {"error", "success", "order_by_measurements", "order_by_nonzeros"}
    noisy = put_together("noise_db", {10.0: summary, 20.0: summary})
    assert set(figures_of(noisy)) == {"noise"}
    without = summary.at(orders=2)
    assert set(figures_of(without)) == {"success"}
    solvers = put_together("solver", {"one": without, "two": without})
    gains = put_together("a", {0.1: summary, 3.0: summary})
    assert [*figures_of(solvers), *figures_of(gains)] == ["by_solver", "by_a"]
    for kind in (summary, noisy, without, solvers, gains):
        for path in save_figures(kind, tmp_path / "pictures", progress=lambda name: None):
            assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_table_gives_the_same_file(kind, tmp_path):
    for name in ("a", "b"):
        save_figure(prototypes(), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_the_command_draws_what_is_there(store, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["study", "figures", str(store), "-o", str(tmp_path / "out"), "--format", "svg"])
    out, err = capsys.readouterr()
    assert (caught.value.code or 0, err) == (0, "")
    paths = out.split()
    assert len(paths) == 6
    assert all((tmp_path / "out").joinpath(path).read_text().startswith("<?xml") for path in paths)


@pytest.mark.parametrize("place", ["nothing", "file"])
def test_a_directory_that_is_no_store_is_one_line(place, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as caught:
        main(["study", "figures", str(tmp_path / place), "-o", str(tmp_path / "out")])
    out, err = capsys.readouterr()
    assert (caught.value.code, out, err.count("\n")) == (2, "", 1)
    assert "no store of a study" in err


def test_small_studies_have_whole_counts_and_labelled_scales(summary):
    """A study of one K and errors within a decade: no half measurements, and the ends of the colours are named."""
    part = summary.at(nonzeros=summary.axes["nonzeros"][:1])
    part = type(part)(part.axes, dict(part.values) | {"mse_mean": 0.5 + part.values["mse_mean"] * 0}, part.manifest)
    part.values["mse_mean"][0, 0, 0, 0] = 0.75
    figure = error_maps(part)
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert [text.get_text() for text in bars[0].get_yticklabels()] == ["0.5", "0.75"]
    figures = [figure, success_maps(part), optimal_order(part, "measurements"), optimal_order(part, "nonzeros")]
    for drawn in (*figures, prototypes(part)):
        for axes in drawn.axes:
            if axes.get_label() != "<colorbar>":
                low, high = axes.get_xlim()
                shown = [tick for tick in axes.get_xticks() if low <= tick <= high]
                assert shown, axes.get_xlabel()
                assert all(tick == round(tick) for tick in shown), (axes.get_xlabel(), shown)
