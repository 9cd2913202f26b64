"""The interactive page as the command serves it, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from waiting import DEADLINE, read_line

MOST_KEPT = 50_000_000  # bytes that a server may keep after pages were closed, beyond what it had before


@contextlib.contextmanager
def serving(*options: str, folder: Path | None = None) -> Iterator[str]:
    """Start `sparsegauge explore` in a folder, yield the URL that it prints, and end it by Ctrl-C."""
    with serving_process(*options, folder=folder) as (url, _):
        yield url


@contextlib.contextmanager
def serving_process(*options: str, folder: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start `sparsegauge explore` in a folder, yield its URL and process, and end it by Ctrl-C."""
    command = [sys.executable, "-m", "sparsegauge", "explore", "--no-browser", *options]
    # Errors go to a file: nobody reads a pipe while the tests run, and a full one would stop the server.
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder) as process,
    ):
        try:
            found = re.match(r"http://\S+", read_line(process))
            if not found:
                errors.seek(0)
                raise AssertionError(errors.read())
            yield found.group(), process
            process.send_signal(signal.SIGINT)
            assert process.wait(DEADLINE) == 0
            errors.seek(0)
            written = errors.read()
            assert "Traceback" not in written, written
        finally:
            process.kill()


def resident(pid: int) -> int:
    """Return how many bytes of memory a process has."""
    return os.sysconf("SC_PAGE_SIZE") * int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
