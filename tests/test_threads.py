"""Results do not depend on threads; eight callers at once, forks and read-only caches are survived."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import sparsegauge as sg

ORDERS = (1, 1.5, 2, 3, 7.3, 10, 40)

# Big enough for every parallel route: a long row, a batch of short rows, and a gradient.
MEASURE = """
import hashlib, json
import numpy as np
import sparsegauge as sg
rng = np.random.default_rng(5)
row, batch = rng.exponential(size=300_000), rng.normal(size=(3000, 40))
digest = hashlib.sha256()
for order in (1, 1.5, 2, 3, 7.3, 10, 40):
    digest.update(np.float64(sg.gds(row, order)).tobytes())
    digest.update(sg.gds(batch, order).tobytes())
digest.update(sg.gds_gradient(row[:200_000], 1.5).tobytes())
digest.update(sg.gds_gradient(batch, 3).tobytes())
print(json.dumps(digest.hexdigest()))
"""


def run(code, **environment):
    """The JSON that a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_results_do_not_depend_on_the_number_of_threads():
    digests = {run(MEASURE, NUMBA_NUM_THREADS=count) for count in ("1", "2", "5")}
    assert len(digests) == 1


def test_thread_count_follows_numba_num_threads():
    code = "import json; from sparsegauge.metrics._kernels import threads; print(json.dumps(threads.thread_count()))"
    assert run(code, NUMBA_NUM_THREADS="3") == 3


def test_eight_threads_at_once():
    rng = np.random.default_rng(6)
    signals = [rng.exponential(size=200_000) for _ in range(8)]

    def measure(x):
        return [sg.gds(x, order) for order in ORDERS] + [float(sg.gds_gradient(x[:5000], 2.5).sum())]

    alone = [measure(x) for x in signals]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(measure, signals * 3))
    assert together == alone * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_while_the_pool_is_alive():
    code = """
import json, os, sys, warnings
import numpy as np
import sparsegauge as sg
warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads: that is what is tested
x = np.random.default_rng(7).exponential(size=300_000)
before = [sg.gds(x, p) for p in (1, 1.5, 2, 3)]
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if [sg.gds(x, p) for p in (1, 1.5, 2, 3)] == before else 1)
    children.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
print(json.dumps(codes + [int([sg.gds(x, p) for p in (1, 1.5, 2, 3)] == before)]))
"""
    assert run(code) == [0, 0, 0, 1]


def test_while_the_interpreter_ends():
    code = """
import atexit, json
import numpy as np
import sparsegauge as sg
x = np.random.default_rng(8).exponential(size=300_000)
before = sg.gds(x, 3)
atexit.register(lambda: print(json.dumps(sg.gds(x, 3) == before)))
"""
    assert run(code) is True


COMPILED = """
import json
import numpy as np
import sparsegauge as sg
from sparsegauge.metrics._kernels import even
value, stats = sg.gds([1.0, 2.0, 4.0], 2), even.rows.stats
print(json.dumps([value, sum(stats.cache_misses.values()), bool(stats.cache_path)]))
"""


def test_the_second_process_does_not_compile_again(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(COMPILED, **cache) == [pytest.approx(2 / 9), 1, True]
    assert run(COMPILED, **cache) == [pytest.approx(2 / 9), 0, True]


def test_a_change_in_one_kernel_file_makes_all_of_them_stale(tmp_path):
    # kernels are compiled into their callers, which live in other files
    package = tmp_path / "sparsegauge"
    shutil.copytree(Path(sg.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    here = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [run(COMPILED, **here)[1], run(COMPILED, **here)[1]] == [1, 0]
    with (package / "metrics" / "_kernels" / "powers.py").open("a") as file:
        file.write("# changed\n")
    assert run(COMPILED, **here)[1] == 1


def test_no_writable_cache_still_works(tmp_path):
    # files where directories would have to be: nothing can be written there, not even by root
    package = tmp_path / "sparsegauge"
    shutil.copytree(Path(sg.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "metrics" / "_kernels" / "__pycache__").write_text("")
    blocked = tmp_path / "file"
    blocked.write_text("")
    nowhere = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "below"), "NUMBA_CACHE_DIR": ""}
    value, _, cached = run(COMPILED, PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **nowhere)
    assert value == pytest.approx(2 / 9)
    assert not cached


def test_a_cache_that_becomes_read_only_is_still_read(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    run(COMPILED, **cache)
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in Path(tmp_path).rglob("*.nb?")}
    assert before
    for path in [tmp_path, *Path(tmp_path).rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    value, misses, _ = run(COMPILED, **cache)
    assert value == pytest.approx(2 / 9)
    if os.geteuid() == 0:  # root reads and writes anyway; others fall back to another cache
        assert misses == 0
