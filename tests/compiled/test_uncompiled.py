"""The tests of the kernels also pass when the same files run uncompiled, as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "test_kernels.py"


@pytest.mark.slow
def test_the_kernels_pass_their_tests_uncompiled():
    """Other tests compare a few values of all variants (test_threads.py); this runs every test of the kernels."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(TESTS)]
    environment = {**os.environ, "SPARSEGAUGE_VARIANT": "python"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
