"""`sparsegauge measure`, run in the process of the tests, and what its output says."""

from __future__ import annotations

import csv
import io

import sparsegauge as sg

ECG, DOPPLER = sg.demo("ecg"), sg.demo("doppler")


def refused(result, *words):
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("sparsegauge: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words), err


def signals(out):
    return [row["signal"] for row in csv.DictReader(io.StringIO(out))]
