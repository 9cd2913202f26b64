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
    limits = {1: 1.0, 3: 1.0, 9: 1.5, 2: 0.03, 4: 0.03, 10: 0.06}
    return [
        compare(f"N = 1e6, order {order}", lambda p=order: sg.gds(x, p), lambda: np.sort(x), limit)
        for order, limit in limits.items()
    ]


def real_orders() -> list[Row]:
    rows = []
    for order, limit in {1.5: 4, 2.5: 1.6, 7.3: 1}.items():
        for name, x in families(MILLION, np.random.default_rng(1)).items():
            ours, sort = (lambda x=x, p=order: sg.gds(x, p)), (lambda x=x: np.sort(x))
            asked = limit if name == "uniform" else 12
            rows.append(compare(f"N = 1e6, order {order}, {name}", ours, sort, asked, repeats=5))
    x = np.random.default_rng(1).random(10**5)
    rows.append(compare("N = 1e5, order 1.5, uniform", lambda: sg.gds(x, 1.5), lambda: np.sort(x), 5))
    return rows


def profile(x: np.ndarray) -> list[Row]:
    ours = lambda: sg.gds_profile(x, range(1, 11))  # noqa: E731
    return [compare("N = 1e6, profile of orders 1..10", ours, lambda: np.sort(x), 4)]


def gradients(rng: np.random.Generator) -> list[Row]:
    """Over numpy.argsort, which a gradient cannot do without."""
    rows = []
    for n, order, limit in ((10**4, 1.5, 30), (MILLION, 1.5, 12), (MILLION, 3, 10)):
        x = rng.random(n)
        ours, argsort = (lambda x=x, p=order: sg.gds_gradient(x, p)), (lambda x=x: np.argsort(x))
        rows.append(compare(f"N = {n:.0e}, gradient at order {order}", ours, argsort, limit, repeats=5))
    return rows


BATCHES = {
    (20_000, 100): {3: 1.5, 4: 0.35, 1.5: 8, 2.3: 26, 7.3: 26},
    (20_000, 255): {1.5: 20, 7.3: 40},
    (1_000_000, 10): {1: 1.5, 2: 0.6, 3: 2, 1.5: 5},
}


def batches(rng: np.random.Generator) -> list[Row]:
    rows = []
    for (signals, n), limits in BATCHES.items():
        batch = rng.random((signals, n))
        for order, limit in limits.items():
            ours, sort = (lambda x=batch, p=order: sg.gds(x, p)), (lambda x=batch: np.sort(x, axis=-1))
            rows.append(compare(f"{signals:,} x {n}, order {order}", ours, sort, limit, repeats=7))
    return rows


def one_vector(rng: np.random.Generator) -> list[Row]:
    x = rng.random(100)
    return [compare("one vector of N = 100, order 2", lambda: sg.gds(x, 2), lambda: np.sort(x), 6, calls=2000)]


def kinds_of_memory(rng: np.random.Generator) -> list[Row]:
    """Order 2 on other kinds of arrays, over the same numbers as contiguous float64 rows."""
    rows = []
    for shape in ((2_000, 2_000), (100, 20_000)):
        x = rng.random(shape)
        columns, copied = (lambda x=x: sg.gds(x, 2, axis=0)), (lambda x=x: sg.gds(x.T.copy(), 2))
        rows.append(compare(f"{shape[0]} x {shape[1]}, axis=0, over a transposed copy", columns, copied, 1.5))
    for shape in ((2_000, 1_000), (MILLION,)):
        x = rng.random(shape)
        wide = np.repeat(x, 2, axis=-1)[..., ::2]
        others = {
            "float32": (x.astype(np.float32), 1.2),
            "every second number": (wide, 1.6),
            "complex": (x + 1j * x, 2),
        }
        for name, (other, limit) in others.items():
            ours, plain = (lambda x=other: sg.gds(x, 2)), (lambda x=x: sg.gds(x, 2))
            rows.append(compare(f"{' x '.join(map(str, shape))}, {name}", ours, plain, limit, repeats=25))
    return rows


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
