"""A short, seeded part of `make torture`; and its own judgement, on faults that must not pass."""

from __future__ import annotations

import os
import time

import pytest

torture = pytest.importorskip("torture", reason="resource limits are Unix's")
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def survived(scores):
    failures = [failure for score in scores for failure in score.failures]
    assert not failures
    assert all(score.tried for score in scores)


def test_damaged_files_of_every_kind():
    survived(list(torture.fuzz_readers(8, 1)))


def test_damaged_counterexamples_manifests_and_study_files():
    survived(list(torture.fuzz_texts(8, 1)))


def test_a_driver_that_is_killed_inside_a_write():
    survived([torture.kill_inside_writes(3, 1)])


def test_a_clock_that_jumps():
    survived([torture.change_the_clock(1, 1)])


def crash():
    os.kill(os.getpid(), 11)


def grow():
    return [bytes(1 << 26) for _ in range(100)]


def fail():
    raise KeyError("x")


@pytest.mark.parametrize("action", [crash, grow, fail], ids=lambda action: action.__name__)
def test_what_is_not_survived_is_counted(action):
    assert torture.in_a_child(action) is not None


def test_what_takes_too_long_is_counted(monkeypatch):
    monkeypatch.setattr(torture, "SECONDS", 1)
    assert torture.in_a_child(lambda: time.sleep(30)) is not None
