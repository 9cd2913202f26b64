"""Results depend neither on threads nor on the compiled variant; forks and several callers at once are safe."""

import json
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge import _compiled
from sparsegauge._platform import threads

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
    digests = {run(MEASURE, SPARSEGAUGE_NUM_THREADS=count) for count in ("1", "2", "5")}
    assert len(digests) == 1


def test_compiled_variants_agree_bit_for_bit():
    variants = [name for name in _compiled.available_variants() if name != "python"]
    assert "base" in variants
    assert len({run(MEASURE, SPARSEGAUGE_VARIANT=name) for name in variants}) == 1


# Every route again, in the sizes at which plain Python takes a second.
MEASURE_LITTLE = """
import json
import numpy as np
import sparsegauge as sg
rng = np.random.default_rng(5)
signals = rng.exponential(size=(2, 3)), rng.normal(size=(9, 12)), rng.exponential(size=(1, 200))
results = [sg.gds(x, order).tolist() for x in signals for order in (1, 1.5, 2, 3, 7.3, 10, 40)]
results += [sg.gds_gradient(x, order).ravel().tolist() for x in signals for order in (1.5, 3)]
results += [sg.measure(signals[1], name).tolist() for name in sg.METRICS]
print(json.dumps(results))
"""


def test_uncompiled_kernels_agree_bit_for_bit():
    assert run(MEASURE_LITTLE, SPARSEGAUGE_VARIANT="python") == run(MEASURE_LITTLE, SPARSEGAUGE_VARIANT="base")


@pytest.mark.parametrize(("text", "count"), [("3", 3), (" 12 ", 12)])
def test_thread_count_follows_the_environment(monkeypatch, text, count):
    monkeypatch.setenv(threads.ENVIRONMENT, text)
    monkeypatch.setattr(threads, "_count", None)
    assert threads.thread_count() == count


@pytest.mark.parametrize("text", ["", " "])
def test_the_default_is_every_core_that_the_process_may_use(monkeypatch, text):
    monkeypatch.setenv(threads.ENVIRONMENT, text)
    monkeypatch.setattr(threads, "_count", None)
    assert 1 <= threads.thread_count() <= os.cpu_count()


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "two", "1e3", "\u0663"])
def test_a_wrong_number_of_threads_is_refused(monkeypatch, text):
    monkeypatch.setenv(threads.ENVIRONMENT, text)
    monkeypatch.setattr(threads, "_count", None)
    with pytest.raises(sg.InvalidInput, match="SPARSEGAUGE_NUM_THREADS must be a whole number of at least 1, got"):
        sg.gds(np.random.default_rng(0).exponential(size=300_000), 3)


def test_a_variant_that_cannot_run_is_refused(monkeypatch):
    monkeypatch.setenv(_compiled.ENVIRONMENT, "v9")
    monkeypatch.delattr(_compiled, "variant", raising=False)
    with pytest.raises(sg.InvalidInput, match=r"SPARSEGAUGE_VARIANT must be one of .*base.* on this machine, got 'v9'"):
        _ = _compiled.variant


def test_a_package_that_was_not_compiled_says_so(monkeypatch):
    monkeypatch.delenv(_compiled.ENVIRONMENT, raising=False)
    monkeypatch.setattr(_compiled, "available_variants", lambda: ["python"])
    monkeypatch.delattr(_compiled, "variant", raising=False)
    with pytest.raises(ImportError, match="sparsegauge was not compiled: install it with pip"):
        _ = _compiled.variant


def test_eight_threads_at_once():
    rng = np.random.default_rng(6)
    signals = [rng.exponential(size=200_000) for _ in range(8)]

    def measure(x):
        return [sg.gds(x, order) for order in ORDERS] + [float(sg.gds_gradient(x[:5000], 2.5).sum())]

    alone = [measure(x) for x in signals]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(measure, signals * 3))
    assert together == alone * 3


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python")
def test_kernels_leave_the_gil_off():
    code = """
import json, sys
from sparsegauge import _compiled
_compiled.measure, _compiled.recover
print(json.dumps(sys._is_gil_enabled()))
"""
    assert run(code) is False


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
