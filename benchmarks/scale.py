"""Recovery where A is too large to write out: an image, growth from 100 to a million unknowns, an ECG.

`python -m benchmarks.scale` writes docs/scale.md and its three pictures (15 minutes, most of them the baselines'),
except for the section on many operators, whose table `python -m benchmarks.operators` prints.
Every run has a process of its own, so that its peak memory is its own; what is compiled is compiled before the clock
starts. PyLops FISTA is given the exact Lipschitz constant and several weights of the l1 norm, all of which the table
shows, and SPGL1 solves basis pursuit and basis pursuit denoising.
"""

import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pywt
import scipy.fft
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import sparsegauge as sg
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import psnr, relative_error, snr

plt.switch_backend("Agg")
DOCS = Path(__file__).parents[1] / "docs"
WAVELET, LEVEL, PART, SEED = "db4", 6, 0.3, 2024
IMAGES, BASELINE_SECONDS = ("camera", "ascent", "aero"), 30.0  # what each run of a baseline gets
WEIGHTS = (3e-3, 1e-3, 3e-4, 1e-4, 1e-5)  # of FISTA's l1 norm, in units of max |A^H y|
SIGMAS = (0.0, 0.01, 0.03)  # of SPGL1, in units of |y|
OURS = {
    "GDSReweighted": {"solver": "ours"},
    "the same, without the slopes of S_p": {"solver": "no slopes"},
    "the same, unknowns in random order": {"solver": "shuffled"},
}
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
FISTA_STEPS = 200
HERTZ = 360
ECG_BASES = ("db4", "sym8", "dct")
LIMIT_SECONDS, LIMIT_MEGABYTES = 120, 1024

COLOURS = ("#0072b2", "#d55e00", "#009e73")

Vector = np.ndarray
Result = dict[str, Any]


class Sensing(NamedTuple):
    """A system with a known answer; `show` turns coefficients into the signal itself."""

    A: LinearOperator
    y: Vector
    x: Vector
    show: Callable[[Vector], Vector]
    size: float = 1.0  # |A|^2


# --- the problems


def image_problem(name: str) -> Sensing:
    """Wavelet coefficients of a picture; random signs on its pixels, the DCT, and 30 % of that at random."""
    picture = getattr(pywt.data, name)().astype(float)
    rng = np.random.default_rng(SEED)
    signs = rng.choice([-1.0, 1.0], picture.shape)
    rows = np.sort(rng.choice(picture.size, int(PART * picture.size), replace=False))
    x, places = pywt.coeffs_to_array(pywt.wavedec2(picture, WAVELET, "periodization", level=LEVEL))

    def show(z: Vector) -> Vector:
        parts = pywt.array_to_coeffs(z.reshape(picture.shape), places, "wavedec2")
        return pywt.waverec2(parts, WAVELET, "periodization")

    def forward(z: Vector) -> Vector:
        return scipy.fft.dctn(show(z) * signs, norm="ortho").ravel()[rows]

    def adjoint(r: Vector) -> Vector:
        whole = np.zeros(picture.size)
        whole[rows] = r.ravel()
        pixels = scipy.fft.idctn(whole.reshape(picture.shape), norm="ortho") * signs
        return pywt.coeffs_to_array(pywt.wavedec2(pixels, WAVELET, "periodization", level=LEVEL))[0].ravel()

    A = LinearOperator((len(rows), picture.size), matvec=forward, rmatvec=adjoint, dtype=float)
    return Sensing(A, forward(x), x.ravel(), show)


def spikes_problem(n: int) -> Sensing:
    """N/32 normal spikes, and a quarter of their DCT at random."""
    rng = np.random.default_rng(SEED + n)
    rows = np.sort(rng.choice(n, n // 4, replace=False))
    x = np.zeros(n)
    x[rng.choice(n, n // 32, replace=False)] = rng.standard_normal(n // 32)

    def adjoint(r: Vector) -> Vector:
        whole = np.zeros(n)
        whole[rows] = r.ravel()
        return scipy.fft.idct(whole, norm="ortho")

    def forward(z: Vector) -> Vector:
        return scipy.fft.dct(z.ravel(), norm="ortho")[rows]

    return Sensing(
        LinearOperator((n // 4, n), matvec=forward, rmatvec=adjoint, dtype=float), forward(x), x, lambda z: z
    )


def ecg_problem(basis: str) -> Sensing:
    """1,024 samples of an ECG, 256 random sums of them, and the basis in which few coefficients matter."""
    signal = pywt.data.ecg().astype(float)
    n = len(signal)
    if basis == "dct":
        synthesis = scipy.fft.idct(np.eye(n), norm="ortho", axis=0)
    else:
        places = pywt.coeffs_to_array(pywt.wavedec(signal, basis, "periodization", level=5))[1]
        parts = (pywt.array_to_coeffs(row, places, "wavedec") for row in np.eye(n))
        synthesis = np.stack([pywt.waverec(part, basis, "periodization") for part in parts], axis=1)
    measuring = np.random.default_rng(SEED).standard_normal((n // 4, n)) / np.sqrt(n // 4)
    A = aslinearoperator(measuring @ synthesis)
    size = float(np.linalg.norm(measuring @ synthesis, 2)) ** 2
    return Sensing(A, measuring @ signal, synthesis.T @ signal, lambda z: synthesis @ z, size)


# --- the solvers


def by_operator(problem: Problem, **options: float) -> Vector:
    """GDSReweighted's matrix-free run, at any size."""
    return sg.GDSReweighted(**options).solve(problem, np.random.default_rng(0)).x


def shuffled(sensing: Sensing) -> Sensing:
    """The same with the unknowns in random order: neither picture nor neighbours are left."""
    order = np.random.default_rng(SEED).permutation(len(sensing.x))
    back = np.argsort(order)

    def forward(z: Vector) -> Vector:
        return sensing.A.matvec(z.ravel()[back])

    A = LinearOperator(sensing.A.shape, matvec=forward, rmatvec=lambda r: sensing.A.rmatvec(r)[order], dtype=float)
    return Sensing(A, sensing.y, sensing.x[order], lambda z: sensing.show(z[back]))


def without_matrix(sensing: Sensing) -> Problem:
    """The problem as if A could not be written out."""
    return Problem(sg.System(sensing.A).as_operator(), sensing.y)


def fista(sensing: Sensing, weight: float, steps: int, seconds: float = np.inf) -> Vector:
    """PyLops, stopped by the number of steps or by the clock; its last iterate."""
    import pylops
    from pylops.optimization.cls_sparsity import FISTA

    solver = FISTA(pylops.LinearOperator(sensing.A))
    largest = float(np.max(np.abs(sensing.A.rmatvec(sensing.y))))
    start = time.perf_counter()
    zeros = np.zeros(sensing.A.shape[1])
    x = solver.setup(sensing.y, zeros, niter=steps, eps=2 * weight * largest, alpha=1 / sensing.size, tol=0)
    z, taken = x.copy(), 0
    while taken < steps and time.perf_counter() - start < seconds:
        x, z, *_ = solver.step(x, z)
        taken += 1
    return x


def spgl1(sensing: Sensing, sigma: float, seconds: float) -> Vector:
    """SPGL1 with at most as many steps as fit in the time (a step takes up to eight products)."""
    import spgl1 as package

    start = time.perf_counter()
    for _ in range(5):
        sensing.A.rmatvec(sensing.A.matvec(sensing.x))
    steps = max(20, int(seconds / (4 * (time.perf_counter() - start) / 5)))
    size = sigma * float(np.linalg.norm(sensing.y))
    return package.spgl1(sensing.A, sensing.y, sigma=size, iter_lim=steps, verbosity=0)[0]


# --- one run in a process of its own


def megabytes(field: str) -> float:
    """VmHWM (the peak) or VmRSS (now) of this process; nan where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024
    except (OSError, StopIteration):
        return float("nan")


def work(job: Result) -> Result:
    """Solve what the job says; seconds, memory, and how good it is."""
    kind, solver = job["problem"], job["solver"]
    by_operator(without_matrix(small := spikes_problem(512)))  # compile
    if solver == "written out":
        sg.recover(small.A, small.y, solver=sg.GDSReweighted(), rng=0)
    if solver == "basis pursuit":
        sg.recover(small.A, small.y, solver=sg.BasisPursuit(), rng=0)
    if solver == "fista":
        import pylops  # noqa: F401
    base = megabytes("VmRSS")
    sensing = {"image": image_problem, "spikes": spikes_problem, "ecg": ecg_problem}[kind](job["of"])
    seconds = job.get("seconds", np.inf)
    sensing = shuffled(sensing) if solver == "shuffled" else sensing
    start = time.perf_counter()
    if solver in ("ours", "shuffled"):
        x = by_operator(without_matrix(sensing))
    elif solver == "no slopes":
        x = by_operator(without_matrix(sensing), floor=1 - 1e-9, well=0.0)
    elif solver == "written out":
        x = sg.recover(sensing.A @ np.eye(sensing.A.shape[1]), sensing.y, solver=sg.GDSReweighted(), rng=0).x
    elif solver == "basis pursuit":
        x = sg.recover(sensing.A, sensing.y, solver=sg.BasisPursuit(), rng=0).x
    elif solver == "fista":
        x = fista(sensing, job["weight"], job.get("steps", 10**5), seconds)
    else:
        x = spgl1(sensing, job["sigma"], seconds)
    took = time.perf_counter() - start
    shown, truth = sensing.show(x), sensing.show(sensing.x)
    np.save(job["file"], shown)
    return {
        "seconds": took,
        "peak": megabytes("VmHWM"),
        "grown": megabytes("VmHWM") - base,
        "psnr": psnr(shown, truth, peak=255),
        "snr": snr(shown, truth),
        "error": relative_error(shown, truth),
        "residual": float(np.linalg.norm(sensing.A.matvec(x) - sensing.y) / np.linalg.norm(sensing.y)),
    }


def measured(folder: Path, **job: Any) -> Result:
    """The same from another process; a run that fails is a row that says so, and not the end of the page."""
    job["file"] = str(folder / ("-".join(str(value) for value in job.values()).replace(" ", "_") + ".npy"))
    command = [sys.executable, "-m", "benchmarks.scale", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=DOCS.parent, check=False)
    if done.returncode:
        print(f"{job}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {
            "failed": True,
            **dict.fromkeys(("seconds", "peak", "grown", "psnr", "snr", "error", "residual"), np.nan),
        }
    result: Result = json.loads(done.stdout.splitlines()[-1])
    print(f"{job['problem']} {job['of']} {job['solver']}: {result}", file=sys.stderr, flush=True)
    return result | {"signal": np.load(job["file"])}


# --- the tables


def baselines(seconds: float) -> list[tuple[str, Result]]:
    fistas = [(f"PyLops FISTA, weight {w:g}", {"solver": "fista", "weight": w, "seconds": seconds}) for w in WEIGHTS]
    names = ["SPGL1, basis pursuit", *(f"SPGL1, residual {sigma:g} \\|y\\|" for sigma in SIGMAS[1:])]
    jobs = ({"solver": "spgl1", "sigma": sigma, "seconds": seconds} for sigma in SIGMAS)
    return fistas + list(zip(names, jobs, strict=True))


def image_table(folder: Path) -> tuple[str, dict[str, tuple[str, Result]]]:
    """The table, and of the first picture the best of each kind."""
    lines = ["| picture | solver | PSNR, dB | s | peak MB | \\|A x - y\\|/\\|y\\| | |", "|---|---|--:|--:|--:|--:|---|"]
    best: dict[str, tuple[str, Result]] = {}
    for name in IMAGES:
        jobs = [*OURS.items(), *baselines(BASELINE_SECONDS)]
        rows = [(label, measured(folder, problem="image", of=name, **job)) for label, job in jobs]
        ours, others = rows[0][1], max(row["psnr"] for _, row in rows[len(OURS) :])
        kept = ours["seconds"] <= LIMIT_SECONDS and ours["peak"] <= LIMIT_MEGABYTES and ours["psnr"] >= others
        for label, row in rows:
            verdict = (f"{'met' if kept else '**missed**'}: {ours['psnr'] - others:+.2f} dB") if row is ours else ""
            numbers = f"{row['psnr']:.2f} | {row['seconds']:.1f} | {row['peak']:.0f} | {row['residual']:.0e}"
            lines.append(f"| {name} | {label} | {numbers} | {verdict} |")
        if not best:
            for kind in ("GDSReweighted", "PyLops FISTA", "SPGL1"):
                best[kind] = max((row for row in rows if row[0].startswith(kind)), key=lambda row: row[1]["psnr"])
    return "\n".join(lines), best


def growth_table(folder: Path) -> tuple[str, dict[str, list[Result]]]:
    baseline = f"PyLops FISTA, {FISTA_STEPS} steps"
    lines = [
        f"| N | GDSReweighted: s | MB grown | error | {baseline}: s | MB grown | error |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    found: dict[str, list[Result]] = {"GDSReweighted": [], baseline: []}
    for n in SIZES:
        ours = measured(folder, problem="spikes", of=n, solver="ours")
        other = measured(folder, problem="spikes", of=n, solver="fista", weight=1e-3, steps=FISTA_STEPS)
        found["GDSReweighted"].append(ours)
        found[baseline].append(other)
        cells = " | ".join(f"{r['seconds']:.2f} | {r['grown']:.1f} | {r['error']:.0e}" for r in (ours, other))
        lines.append(f"| {n:,} | {cells} |")
    return "\n".join(lines), found


def ecg_table(folder: Path) -> tuple[str, Result]:
    lines = ["| basis | solver | PRD, % | SNR, dB | s |", "|---|---|--:|--:|--:|"]
    solvers = {
        "GDSReweighted, by the operator alone": {"solver": "ours"},
        "GDSReweighted, A as a matrix": {"solver": "written out"},
        "BasisPursuit": {"solver": "basis pursuit"},
        "PyLops FISTA, the best weight": {"solver": "fista", "steps": 5000},
    }
    shown: Result = {}
    for basis in ECG_BASES:
        for label, job in solvers.items():
            jobs = [job | {"weight": w} for w in WEIGHTS] if job["solver"] == "fista" else [job]
            runs = [measured(folder, problem="ecg", of=basis, **one) for one in jobs]
            best = min(runs, key=lambda run: run["error"])
            shown = shown or best
            lines.append(
                f"| {basis} | {label} | {100 * best['error']:.1f} | {best['snr']:.1f} | {best['seconds']:.2f} |"
            )
    return "\n".join(lines), shown


PAGE = """# Recovery at scale

`python -m benchmarks.scale` measures everything on this page and draws its pictures. Measured on {machine}; each run
is a process of its own with one thread. The random numbers (seed {seed}) are not those that parameters were chosen
on, and no parameter was chosen on the pictures `ascent` and `aero`.

## A picture of 512 x 512

The unknowns are 262,144 wavelet coefficients ({wavelet}, {level} levels), and there are {part:.0%} as many
measurements: random signs on the pixels, the 2-D DCT, and a random {part:.0%} of that. The goal is to be no worse
than FISTA and SPGL1, each with the best of several parameters and {given:.0f} s per run, within {seconds} s and
{memory} MB. PSNR refers to a peak of 255. Our solver has the coefficients as unknowns here and knows nothing about
pictures or wavelets: from its iterates it learns at which lags coefficients tend to be large together. Two more rows
show the sources of the gain: the thresholds chosen by Stein's estimate and, above all, the neighbours, which a random
order of the coefficients removes. The slopes of S_p hardly matter on pictures. `recover(A, y, transform=...)` is more
accurate still: see the next section.

The baselines minimise l1 in the same orthogonal wavelet basis. **Not compared**: plug-and-play methods and denoising
AMP, which use a picture denoiser such as BM3D or a trained network, and other methods with redundant wavelets or
total variation. On photographs, expect these to be more accurate than l1, and some of them more accurate than
`recover`.

![camera, recovered](recovery_image.jpg)

{images}

{operators}
## Growth

N/32 normal spikes are recovered from a random quarter of their DCT, always by products with the operator. Between the
two largest sizes, time grows like N^{time_slope:.2f} and memory (beyond that of the imports) like
N^{memory_slope:.2f}.

![time and memory](recovery_scale.png)

{growth}

## An ECG

All 1,024 samples of `pywt.data.ecg()`, compressed 4:1 by a Gaussian matrix. PRD is 100 |error| / |signal|.

![the ECG, recovered](recovery_ecg.png)

{ecg}
"""


def slope(results: list[Result], field: str) -> float:
    return float(np.log10(results[-1][field] / results[-2][field]) / np.log10(SIZES[-1] / SIZES[-2]))


# --- the pictures


def draw_image(best: dict[str, tuple[str, Result]]) -> None:
    """The original and the best of each kind; below, the same detail of each."""
    truth = pywt.data.camera()
    shown = [
        ("original", truth),
        *((f"{kind}, {row['psnr']:.1f} dB", row["signal"]) for kind, (_, row) in best.items()),
    ]
    top, left, side = 60, 190, 130
    figure, axes = plt.subplots(2, 4, figsize=(12, 6.3), layout="constrained")
    for (title, picture), whole, detail in zip(shown, *axes, strict=True):
        whole.imshow(picture, cmap="gray", vmin=0, vmax=255)
        whole.add_patch(plt.Rectangle((left, top), side, side, fill=False, color=COLOURS[0], linewidth=1.5))
        detail.imshow(picture[top : top + side, left : left + side], cmap="gray", vmin=0, vmax=255)
        whole.set_title(title, fontsize=12)
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
    figure.savefig(DOCS / "recovery_image.jpg", dpi=110, pil_kwargs={"quality": 80})  # a photograph
    plt.close(figure)


def draw_ecg(result: Result) -> None:
    """The signal and what was recovered; below, their difference on the same scale."""
    truth, recovered = pywt.data.ecg().astype(float), result["signal"]
    seconds = np.arange(len(truth)) / HERTZ
    heights = {"height_ratios": [3, 1]}
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained", gridspec_kw=heights)
    above.plot(seconds, truth, color="0.6", linewidth=3, label="original, 1,024 samples")
    above.plot(seconds, recovered, color=COLOURS[0], linewidth=1, label="recovered from 256 random sums")
    above.set(ylabel="digital counts", title=f"ECG compressed 4:1, PRD {100 * result['error']:.1f} %")
    above.legend(loc="upper left", frameon=False, ncols=2)
    above.margins(x=0, y=0.15)
    below.plot(seconds, recovered - truth, color=COLOURS[1], linewidth=1)
    half = float(np.ptp(above.get_ylim())) / 6  # a third of the height: a count is as long as above
    below.set(xlabel="seconds (360 samples each)", ylabel="error, counts", ylim=(-half, half))
    figure.savefig(DOCS / "recovery_ecg.png", dpi=110)
    plt.close(figure)


def draw_growth(grown: dict[str, list[Result]]) -> None:
    """Time and memory against N, with lines of slope 1."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    fields = (("seconds", "seconds"), ("grown", "peak memory beyond the imports, MB"))
    for axis, (field, label) in zip(axes, fields, strict=True):
        for (solver, rows), colour in zip(grown.items(), COLOURS, strict=False):
            axis.loglog(SIZES, [row[field] for row in rows], "o-", color=colour, label=solver)
        last = grown["GDSReweighted"][-1][field]
        guide = np.array(SIZES[-3:])
        axis.loglog(guide, 3 * last * guide / SIZES[-1], "--", color="0.5", label="slope 1")
        axis.set(xlabel="N, unknowns", ylabel=label)
        axis.grid(which="major", color="0.9")
        axis.legend(frameon=False)
    figure.savefig(DOCS / "recovery_scale.png", dpi=110)
    plt.close(figure)


def operators_section() -> str:
    """Return the section of the page whose table `python -m benchmarks.operators` prints, as it is."""
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    return text[text.index("## Many operators") : text.index("## Growth")]


def page() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ecg, wave = ecg_table(folder)
        growth, grown = growth_table(folder)
        images, best = image_table(folder)
    draw_image(best)
    draw_ecg(wave)
    draw_growth(grown)
    ours = grown["GDSReweighted"]
    text = PAGE.format(
        operators=operators_section(),
        machine=f"{platform.machine()}, Python {platform.python_version()}", seed=SEED, wavelet=WAVELET, level=LEVEL,
        part=PART, seconds=LIMIT_SECONDS, memory=LIMIT_MEGABYTES, given=BASELINE_SECONDS,
        images=images, growth=growth, ecg=ecg, time_slope=slope(ours, "seconds"), memory_slope=slope(ours, "grown"),
    )  # fmt: skip
    (DOCS / "scale.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(work(json.loads(sys.argv[1]))))
    else:
        page()
