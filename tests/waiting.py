"""Waiting for another process or thread: for a condition, with a deadline, and never for a length of time.

A deadline is there to end a test that hangs. It is generous: a busy machine may be many times slower than a quiet one.
"""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Callable

DEADLINE = 300.0  # seconds
POLL = 0.02  # seconds between looks


def wait_until(condition: Callable[[], object], what: str, *, seconds: float = DEADLINE) -> None:
    """Return as soon as the condition holds; fail with `what` was waited for if that takes too long."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, f"waited {seconds:g} s for {what}"
        time.sleep(POLL)


def read_line(process: subprocess.Popen[str], *, seconds: float = DEADLINE) -> str:
    """Return the next line that a process prints, or "" if it prints no more.

    For processes that print one line and then wait: a second line that was read along with the first is not seen.
    """
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    assert ready, f"waited {seconds:g} s for a line of {process.args}"
    return process.stdout.readline()
