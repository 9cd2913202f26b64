"""Compiled code lives in one place, every kernel is built, and Numba is never loaded."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sparsegauge
from sparsegauge import _compiled

SOURCE = Path(sparsegauge.__file__).parent
ROOT = Path(__file__).parents[2]
KERNELS = SOURCE / "_compiled"
# Python modules of the folder that no unit is made of.
NOT_KERNELS = {"__init__", "bits", "chebyshev", "vocabulary"}


def units():
    """The units of meson.build: {name: kernels}."""
    text = re.search(
        r"^units = (\{.*?^\})", (ROOT / "meson.build").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return ast.literal_eval(text[1])


def imported(path):
    """The top-level names of the modules that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_every_kernel_is_in_a_unit_and_every_unit_has_its_files():
    listed = {kernel for kernels in units().values() for kernel in kernels}
    assert listed == {path.stem for path in KERNELS.glob("*.py")} - NOT_KERNELS
    assert set(units()) == {"processor", *_compiled.UNITS}


def test_a_kernel_comes_after_those_that_it_imports():
    for kernels in units().values():
        for place, kernel in enumerate(kernels):
            tree = ast.parse((KERNELS / f"{kernel}.py").read_text(encoding="utf-8"))
            needed = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1}
            assert needed - NOT_KERNELS <= set(kernels[:place]), kernel


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_compiled_elsewhere(path):
    assert not imported(path) & {"numba", "cython", "Cython", "llvmlite", "pythran"}


def test_no_other_sources_of_compiled_code():
    suffixes = {".pyx", ".pxd", ".pxi", ".c", ".h", ".cpp", ".f90"}
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.suffix in suffixes}
    assert found == {"_compiled/bits.h", "_compiled/bits.pxd"} or found == set()  # installed, there are none


def loaded(code):
    """Which of the compilers a process has loaded after running the code."""
    code += "\nimport json, sys; print(json.dumps([name for name in ('numba', 'llvmlite') if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


def test_measuring_never_loads_numba():
    code = """
import numpy as np
import sparsegauge as sg
x = np.random.default_rng(0).exponential(size=(4, 50))
for order in (1, 1.5, 2, 3):
    sg.gds(x, order), sg.gds_gradient(x, order)
for name in sg.METRICS:
    sg.measure(x, name)
sg.audit("gds", order=2)
sg.normalised_gds(x, 2)
"""
    assert loaded(code) == []


def test_recovering_never_loads_numba():
    code = """
import numpy as np
import sparsegauge as sg
x = sg.sparse_signal(40, 6, "uniform", signs="random", rng=0)
A = sg.gaussian_matrix(24, 40, rng=1)
for solver in (sg.Portfolio(), sg.GDSReweighted(), sg.GDSAscent(), sg.EP(), sg.SPSA(), sg.BasisPursuit(), sg.OMP()):
    sg.recover(A, A @ x, solver=solver, rng=0)
sg.recover(A, A @ x + 1e-3, noise=1e-3, rng=0)
"""
    assert loaded(code) == []
