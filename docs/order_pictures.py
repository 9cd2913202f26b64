"""The pictures of docs/order.md, from the tables that ship with the package."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from sparsegauge.plots.order_lines import optimal_order, order_by_gains, over, prototypes
from sparsegauge.plots.order_maps import error_maps, success_maps, uncertainty_maps
from sparsegauge.plots.study_figures import save_figure
from sparsegauge.study.summary import Summary, put_together, shipped

SCALE, COLOURS = 0.77, 128  # 100 dots per inch, and a palette: a third of the size
CELLS = {"nonzeros": [10, 20, 40], "measurements": list(range(10, 100, 10))}


def draw_all(directory: Path) -> None:
    spsa = shipped("spsa")
    noise = shipped("noise").at(measurements=[40])
    pictures = {
        "maps": error_maps(spsa),
        "uncertainty": uncertainty_maps(spsa),
        "success": success_maps(spsa),
        "success_reweighted": success_maps(shipped("reweighted")),
        "prototypes": prototypes(),
        "by_measurements": optimal_order(spsa, "measurements"),
        "by_nonzeros": optimal_order(spsa, "nonzeros"),
        "gains": order_by_gains(shipped("gains")),
        "convergence": over(shipped("convergence").at(measurements=[50, 70]), "iterations", "orders", log_x=True),
        "real_orders": over(shipped("real_orders").at(measurements=[20, 40, 60, 80]), "orders", "measurements"),
        "solvers": over(side_by_side(), "measurements", "solver", measure="success_rate"),
        "noise": over(noise, "noise_db", "orders", measure="relative_error"),
        "real_data": over(data_side_by_side(), "measurements", "solver", measure="relative_error"),
    }
    for name, figure in pictures.items():
        path = directory / f"order_{name}.png"
        save_figure(figure, path)
        with Image.open(path) as picture:
            compact = picture.convert("RGB").resize(
                [round(SCALE * side) for side in picture.size], Image.Resampling.LANCZOS
            )
        compact.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def side_by_side() -> Summary:
    """Four solvers without an order, and three of S_p at one of their better orders."""
    baselines = shipped("solvers")
    chosen = {name: baselines.at(solver=name) for name in ("Portfolio", "SBL", "BasisPursuit", "OMP")}
    chosen |= {"GDSReweighted, p = 4": shipped("reweighted").at(orders=4, **CELLS)}
    chosen |= {"GDSAscent, p = 2": shipped("ascent").at(orders=2), "SPSA, p = 2": shipped("spsa").at(orders=2, **CELLS)}
    return put_together("solver", chosen)


def data_side_by_side() -> Summary:
    """The two solvers at orders 2 and 4."""
    chosen = {}
    for name, solver in (("real_data", "GDSReweighted"), ("real_data_spsa", "SPSA")):
        for order in (2, 4):
            chosen[f"{solver}, p = {order}"] = shipped(name).at(orders=order)
    return put_together("solver", chosen)
