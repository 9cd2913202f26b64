"""The command line under attack: hostile names, numbers and files end in a sentence, and no escape is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.io.wavfile

from sparsegauge import cli
from sparsegauge.cli import main

X = np.random.default_rng(0).standard_normal(64)
ESCAPE = "\x1b[31mred\x1b]0;title\x07\x9b2J"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def run(command, monkeypatch, tmp_path):
    """Run a command in an empty directory -> exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    return command


def is_one_sentence(err):
    return re.fullmatch(r"sparsegauge: [^\n]{10,900}\n", err) is not None and not CONTROL.search(err.rstrip("\n"))


@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]], ids=["table", "csv", "json"])
@pytest.mark.parametrize("kind", ["file", "folder", "column", "array"])
def test_no_escape_is_printed_from_names(run, tmp_path, form, kind):
    name = "x.npy"
    if kind == "file":
        name = f"{ESCAPE}.npy"
        np.save(tmp_path / name, X)
    elif kind == "folder":
        (tmp_path / ESCAPE).mkdir()
        name = f"{ESCAPE}/x.npy"
        np.save(tmp_path / name, X)
    elif kind == "column":
        name = "x.csv"
        (tmp_path / name).write_text(f"{ESCAPE},b,{ESCAPE} words\n1,2,u\n3,5,v\n", encoding="utf-8")
    else:
        name = "x.npz"
        np.savez(tmp_path / name, **{ESCAPE: X, f"{ESCAPE} words": np.array(["u"])})
    code, out, err = run("measure", name, *form)
    assert code == 0
    assert not CONTROL.search(out + err)
    assert "red" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["measure", f"{ESCAPE}.npy"],
        ["measure", "x.npy", "--metric", ESCAPE],
        ["measure", "x.npz", "--key", ESCAPE],
        ["measure", "x.npy", f"--{ESCAPE}"],
        ["study", "status", ESCAPE],
        ["study", "run", f"{ESCAPE}.toml", "--store", "s"],
        ["audit", ESCAPE],
        ["audit", "--verify", f"{ESCAPE}.json"],
        ["recover", "--matrix", f"{ESCAPE}.npy", "--measurements", "y.npy"],
        ["report", "-o", f"{ESCAPE}/x.html"],
        [ESCAPE],
    ],
    ids=lambda words: " ".join(words[:2]).encode("ascii", "backslashreplace").decode(),
)
def test_no_escape_is_printed_in_errors(run, tmp_path, arguments):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", a=X)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert is_one_sentence(err)


HUGE = "10000000000000000000"


@pytest.mark.parametrize(
    "options",
    [
        ["--window", "8", "--hop", HUGE],
        ["--window", HUGE],
        ["--axis", "1e30"],
        ["--axis", HUGE],
        ["--axis", f"-{HUGE}"],
        ["--order", HUGE + "0" * 400],
    ],
    ids=" ".join,
)
def test_huge_numbers_are_refused_in_a_sentence(run, tmp_path, options):
    np.save(tmp_path / "x.npy", X)
    code, out, err = run("measure", "x.npy", *options)
    if options[0] == "--order":  # infinity, which is an order
        assert code == 0
        return
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert options[-2] in err


@pytest.mark.parametrize(
    "content",
    [
        '{"study": 5, "versions": [{"sparsegauge": "1"}], "fingerprint": "a"}',
        *("[" * 100_000, "5", "{}", "\x00", '"\\ud800"'),
    ],
    ids=["study 5", "deep", "number", "empty", "zero", "surrogate"],
)
def test_a_hostile_manifest_is_a_sentence(run, tmp_path, content):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "manifest.json").write_text(content, encoding="utf-8")
    for words in (["status", "store"], ["export", "store", "-o", "x.csv"]):
        code, out, err = run("study", *words)
        assert (code, out) == (2, "")
        assert is_one_sentence(err)
        assert "unexpected" not in err


def test_a_certificate_that_is_nested_deeply_is_a_sentence(run, tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    code, out, err = run("audit", "--verify", "deep.json")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError(), "not enough memory"),
        (np.exceptions.AxisError("no such axis"), "unexpected AxisError: no such axis"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (
            OverflowError("Python int too large\nto convert"),
            "unexpected OverflowError: Python int too large to convert",
        ),
        (KeyError(ESCAPE), "please report it"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_left_becomes_a_sentence(run, monkeypatch, error, says):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.delenv("SPARSEGAUGE_TRACEBACK", raising=False)
    code, out, err = run("measure", "x.npy")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert says in err
    monkeypatch.setenv("SPARSEGAUGE_TRACEBACK", "1")
    with pytest.raises(type(error)):
        main(["measure", "x.npy"])


def in_shell(text, folder):
    command = text.replace("sparsegauge", f"'{sys.executable}' -m sparsegauge", 1)
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("sparsegauge measure - <&-", 2, "sparsegauge: standard input: is closed"),
        ("sparsegauge measure x.npy <&-", 0, ""),
        ("sparsegauge measure x.npy >&-", 2, "sparsegauge: standard output: is closed"),
        ("sparsegauge measure x.npy --csv >&-", 2, "sparsegauge: standard output: is closed"),
        ("sparsegauge measure x.npy --json >&-", 2, "sparsegauge: standard output: is closed"),
        ("sparsegauge measure missing.npy 2>&-", 2, ""),
        ("sparsegauge measure x.npy <&- >&- 2>&-", 2, ""),
        ("sparsegauge measure x.npy > /dev/full", 2, "sparsegauge: No space left on device"),
        ("sparsegauge --version >&-", 2, "sparsegauge: standard output: is closed"),
    ],
    ids=lambda value: str(value),
)
def test_closed_streams_end_in_a_sentence(tmp_path, command, code, says):
    np.save(tmp_path / "x.npy", X)
    done = in_shell(command, tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert re.match(says, done.stderr) if says else done.stderr == ""
    assert (done.stdout == "") == (code != 0)


def test_a_process_without_memory_says_so(tmp_path):
    """The limit is set by the system, on memory that is really asked for."""
    np.save(tmp_path / "x.npy", np.ones((1 << 14, 1 << 14), np.int8))
    done = in_shell("ulimit -v 1500000; exec sparsegauge measure x.npy --transform dct", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_sentence(done.stderr), done.stderr
    assert "memory" in done.stderr


def test_a_study_that_no_memory_holds_is_a_sentence(run, tmp_path):
    keys = 'n = 40\ndistributions = ["normal"]\nnonzeros = [4]\nmeasurements = [10]\norders = [2]\nsigns = "natural"\n'
    (tmp_path / "s.toml").write_text(
        f'{keys}repeats = 1000000000000\nseed = 1\n\n[solver]\nname = "SPSA"\niterations = 3\n', encoding="utf-8"
    )
    code, out, err = run("study", "run", "s.toml", "--store", "s")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)


def test_a_wav_file_with_a_signalling_nan_prints_no_warning(tmp_path):
    samples = np.array([0x7FA00000, 0x3F800000, 0, 0x3F000000], np.uint32).view(np.float32)
    scipy.io.wavfile.write(tmp_path / "x.wav", 8000, samples)
    done = in_shell("sparsegauge measure x.wav --nan-policy omit --json", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["value"] > 0
