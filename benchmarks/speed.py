"""The speed of the metric, each case a ratio to numpy.sort of the same array in the same run."""

import json
from pathlib import Path

import numpy as np

import sparsegauge as sg

from .timing import Row, compare, fresh_process

MILLION, TEN_MILLION = 10**6, 10**7


def families(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The kinds of data that the accuracy is promised for."""
    u = rng.random(n)
    return {
        "uniform": u,
        "exponential": rng.exponential(size=n),
        "1 + 1e-3 u": 1 + 1e-3 * u,
        "1 + 1e-9 u": 1 + 1e-9 * u,
        "30 decades": 10 ** (-30 * u),
        "heavy ties": rng.integers(1, 12, n).astype(float),
        "90 % zeros": np.where(rng.random(n) < 0.9, 0.0, u),
        "spike over a floor": np.append(np.ones(n - 1), 1000.0),
        "two clusters": np.where(rng.random(n) < 0.5, 1.0, 2.0) + 1e-7 * u,
    }


def integer_orders(x: np.ndarray) -> list[Row]:
    limits = {1: 1.3, 3: 1.5, 9: 3, 2: 0.25, 4: 0.3, 10: 0.8}
    return [
        compare(f"N = 1e6, order {order}", lambda p=order: sg.gds(x, p), lambda: np.sort(x), limit)
        for order, limit in limits.items()
    ]


def real_orders() -> list[Row]:
    rows = []
    for order, limit in {1.5: 8, 2.5: 4, 7.3: 3}.items():
        for name, x in families(MILLION, np.random.default_rng(1)).items():
            ours, sort = (lambda x=x, p=order: sg.gds(x, p)), (lambda x=x: np.sort(x))
            asked = limit if name in ("uniform", "exponential") else 12
            rows.append(compare(f"N = 1e6, order {order}, {name}", ours, sort, asked, repeats=5))
    return rows


def profile_and_gradient(x: np.ndarray) -> list[Row]:
    def sort() -> np.ndarray:
        return np.sort(x)

    return [
        compare("N = 1e6, profile of orders 1..10", lambda: sg.gds_profile(x, range(1, 11)), sort, 4),
        compare("N = 1e6, gradient at order 3", lambda: sg.gds_gradient(x, 3), sort, 10, repeats=5),
        compare("N = 1e6, gradient at order 1.5", lambda: sg.gds_gradient(x, 1.5), sort, 40, repeats=3),
    ]


def small(rng: np.random.Generator) -> list[Row]:
    batch, one = rng.random((20_000, 100)), rng.random(100)

    def sort() -> np.ndarray:
        return np.sort(batch, axis=-1)

    return [
        compare("20,000 x 100 batch, order 3", lambda: sg.gds(batch, 3), sort, 2, repeats=25),
        compare("20,000 x 100 batch, order 4", lambda: sg.gds(batch, 4), sort, 0.6, repeats=25),
        compare("one vector of N = 100, order 2", lambda: sg.gds(one, 2), lambda: np.sort(one), 15, calls=2000),
    ]


def large(rng: np.random.Generator, million: list[Row]) -> list[Row]:
    """N = 1e7, and the growth from 1e6 over the growth of numpy.sort."""
    x = rng.random(TEN_MILLION)

    def sort() -> np.ndarray:
        return np.sort(x)

    rows = [compare(f"N = 1e7, order {order}", lambda p=order: sg.gds(x, p), sort, 0.5, repeats=3) for order in (2, 4)]
    for order in (1, 3, 9):
        row = compare("", lambda p=order: sg.gds(x, p), sort, 1.15, repeats=5)
        before = next(r for r in million if r.case == f"N = 1e6, order {order}")
        case = f"growth from N = 1e6 to 1e7, order {order}, over that of numpy.sort"
        rows.append(Row(case, row.milliseconds, row.ratio / before.ratio, 1.15))
    return rows


def import_time() -> Row:
    template = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    times = [[float(fresh_process(template.format(name))) for name in ("sparsegauge", "numpy")] for _ in range(9)]
    ours, numpy = (min(column) for column in zip(*times, strict=True))
    return Row("import sparsegauge, over import numpy", ours * 1e3, ours / numpy, 1.5)


MEMORY = """
import json
from pathlib import Path
import numpy as np
import sparsegauge as sg

def kilobytes(key):
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if key in line).split()[1])

sg.gds(np.random.default_rng(0).random(200_000), {order})
x = np.random.default_rng(0).random(10_000_000)
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is in use
before = kilobytes("VmRSS")
sg.gds(x, {order})
print(json.dumps((kilobytes("VmHWM") - before) * 1024 / x.nbytes))
"""


def memory() -> str:
    """Linux only: the kernel's own account of the peak."""
    if not Path("/proc/self/clear_refs").exists():
        return "Not measured: this needs Linux."
    lines = ["| peak extra memory at N = 1e7 | times the input | at most | |", "|---|--:|--:|---|"]
    for order in (1, 2, 3, 1.5, 100):
        extra = json.loads(fresh_process(MEMORY.format(order=order)))
        lines.append(f"| order {order} | {extra:.2f} | 2.5 | {'met' if extra <= 2.5 else '**missed**'} |")
    return "\n".join(lines)
