"""The first call in a fresh process, with the package installed from a wheel and nothing cached."""

import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

from .timing import Row

ROOT = Path(__file__).parents[1]
REPEATS = 9
MEASURE = "import numpy as np, sparsegauge as sg; sg.gds(np.arange(100.0) % 7, {order})"
RECOVER = (
    "import numpy as np, sparsegauge as sg; A = sg.gaussian_matrix(50, 100, rng=0); "
    "x = sg.sparse_signal(100, 5, 'normal', rng=1); assert sg.recover(A, A @ x, rng=0).certified"
)


def installed_wheel(folder: Path) -> Path:
    """Return the folder of programs of an environment with the wheel, and with the dependencies of this one."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT], check=True)
    venv.create(folder / "venv", with_pip=False)
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    programs = folder / "venv" / "bin"
    wheel = next(folder.glob("sparsegauge-*.whl"))
    subprocess.run([*pip, "--python", programs / "python", "install", "--no-deps", wheel], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def compare_starts(case: str, ours: list[str], yardstick: list[str], limit: float) -> Row:
    """The best time of one command over that of another, the two taken in turns."""

    def run(command: list[str]) -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    times = [(run(ours), run(yardstick)) for _ in range(REPEATS)]
    best, base = (min(column) for column in zip(*times, strict=True))
    return Row(case, best * 1e3, best / base, limit)


def first_calls() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = installed_wheel(folder)
        python, command = str(programs / "python"), str(programs / "sparsegauge")
        rng = np.random.default_rng(0)
        A, x = rng.standard_normal((50, 100)), np.where(np.arange(100) % 20 == 3, 1.5, 0.0)
        for label, array in {"x": rng.random(1000), "A": A, "y": A @ x}.items():
            np.save(folder / f"{label}.npy", array)
        numpy = [python, "-c", "import numpy"]
        scipy = [python, "-c", "import numpy, scipy.optimize"]
        rows = [
            compare_starts(
                f"import, gds at order {p}, over import numpy", [python, "-c", MEASURE.format(order=p)], numpy, 1.6
            )
            for p in (1, 2, 3, 1.5, 7.3)
        ]
        rows.append(
            compare_starts("import, recover, over import numpy, scipy.optimize", [python, "-c", RECOVER], scipy, 2)
        )
        measure = [command, "measure", str(folder / "x.npy")]
        rows.append(compare_starts("sparsegauge measure x.npy, over import numpy", measure, numpy, 3.5))
        files = [
            "--matrix",
            str(folder / "A.npy"),
            "--measurements",
            str(folder / "y.npy"),
            "-o",
            str(folder / "x.npy"),
        ]
        recover = [command, "recover", *files]
        rows.append(compare_starts("sparsegauge recover, over import numpy, scipy.optimize", recover, scipy, 2.5))
        return rows
