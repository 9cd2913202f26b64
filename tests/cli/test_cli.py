"""The command line: exit codes, one-line errors, and a page that is never half written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import sparsegauge
import sparsegauge.report.measured_signals
import sparsegauge.report.sections
from sparsegauge import _compiled
from sparsegauge._platform import writing

HEAVY = ("numpy", "numba", "scipy", "matplotlib", "pywt", "sklearn", "jinja2", "pandas", "panel", "bokeh")


@pytest.fixture
def run(command, monkeypatch):
    """Run a command on one small signal -> exit code, stdout, stderr."""
    measure_demos = sparsegauge.report.measured_signals.measure_demos
    monkeypatch.setattr(sparsegauge.report.sections, "compare_solvers", lambda: ())
    monkeypatch.setattr(
        sparsegauge.report.measured_signals, "measure_demos", lambda **options: measure_demos(["nino"], **options)
    )

    return command


def test_report_writes_the_page_and_says_where(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("report", "-o", "page.html")
    assert (code, out) == (0, f"{tmp_path / 'page.html'}\n")
    assert "sparsegauge report FILE" in err
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert os.listdir(tmp_path) == ["page.html"]


def test_report_has_a_default_name_and_can_be_quiet(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("report", "--quiet") == (0, "", "")
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize("place", ["", "missing/page.html", "file/page.html"])
def test_a_page_that_cannot_be_written_is_one_line_before_any_work(run, tmp_path, monkeypatch, place):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setattr(
        sparsegauge.report.measured_signals, "measure_demos", lambda **_: pytest.fail("measured before checking")
    )
    code, out, err = run("report", "-o", tmp_path / place)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert str(tmp_path / place).rstrip("/") in err
    assert "directory" in err


def test_a_directory_without_permission_is_one_line(run, tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied", "/somewhere/tmp123")

    monkeypatch.setattr(writing.tempfile, "TemporaryFile", refuse)
    code, _, err = run("report", "-o", tmp_path / "page.html")
    assert code == 2
    assert err == f"sparsegauge: {tmp_path / 'page.html'}: cannot be written (Permission denied)\n"


def test_invalid_input_is_one_line(run, tmp_path, monkeypatch):
    def refuse(**_):
        raise sparsegauge.InvalidInput("first line\nsecond line")

    monkeypatch.setattr(sparsegauge.report.measured_signals, "measure_demos", refuse)
    code, out, err = run("report", "-o", tmp_path / "page.html")
    assert (code, out, err) == (2, "", "sparsegauge: first line second line\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_page_and_nothing_else(run, tmp_path, monkeypatch, step):
    page = tmp_path / "page.html"
    page.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device", str(page))

    monkeypatch.setattr(writing.os, step, fail)
    code, _, err = run("report", "-o", page)
    assert code == 2
    assert err == f"sparsegauge: {page}: No space left on device\n"
    assert page.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_an_interrupt_while_writing_leaves_no_draft(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        writing.replace_file(tmp_path / "page.html", "new")
    assert os.listdir(tmp_path) == []


def test_a_page_is_replaced_in_one_step(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("old")
    seen = []
    replace = os.replace

    def look_and_replace(draft, target):
        seen.append((page.read_text(), draft.read_text(), draft.parent == page.parent))
        replace(draft, target)

    monkeypatch.setattr(writing.os, "replace", look_and_replace)
    writing.replace_file(page, "new")
    assert seen == [("old", "new", True)]
    assert page.read_text() == "new"


def test_a_link_stays_a_link_and_others_may_read_the_page(tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    writing.replace_file(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text() == "new"
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    assert (tmp_path / "page.html").stat().st_mode == ordinary.stat().st_mode


def test_version(run):
    assert run("--version") == (0, f"sparsegauge {sparsegauge.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--version", "--verbose"], ["--verbose", "--version"]])
def test_version_and_verbose_show_what_computes(run, arguments):
    code, out, err = run(*arguments)
    facts = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (code, err) == (0, "")
    assert list(facts) == ["sparsegauge", "python", "numpy", "scipy", "variant", "threads"]
    assert facts["sparsegauge"] == sparsegauge.__version__
    assert facts["variant"].split()[0] == _compiled.variant
    assert int(facts["threads"]) >= 1


@pytest.mark.parametrize(
    ("variable", "said", "arguments"),
    [
        ("SPARSEGAUGE_VARIANT", "must be one of", ["--version", "--verbose"]),
        ("SPARSEGAUGE_VARIANT", "must be one of", ["measure", "-"]),
        ("SPARSEGAUGE_NUM_THREADS", "must be a whole number of at least 1", ["--version", "--verbose"]),
    ],
)
def test_a_wrong_setting_in_the_environment_is_one_line(variable, said, arguments):
    done = subprocess.run(
        [sys.executable, "-m", "sparsegauge", *arguments],
        env=os.environ | {variable: "x86"},
        input="1,2,3\n",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"sparsegauge: {variable} {said}")
    assert "'x86'" in done.stderr


def test_verbose_alone_is_refused(run):
    code, out, err = run("--verbose", "report")
    assert (code, out) == (2, "")
    assert "--verbose goes with --version only" in err


@pytest.mark.parametrize("arguments", [["--help"], ["report", "--help"]])
def test_help_gives_an_example(run, arguments):
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Example: sparsegauge report" in out


@pytest.mark.parametrize(
    "arguments", [["--help"], ["report", "--help"], ["study", "--help"], ["study", "run", "--help"]]
)
def test_help_shows_flags_without_a_type(run, arguments):
    _, out, _ = run(*arguments)
    assert "--help" in out
    assert "bool" not in out


@pytest.mark.parametrize("arguments", [["repotr"], ["report", "--nonsense"], ["report", "extra"], []])
def test_wrong_usage_has_exit_code_2(run, arguments):
    assert run(*arguments)[0] == 2


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom sparsegauge.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"loaded = [name for name in {HEAVY} if name in sys.modules]\n"
        "sys.exit(' '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_module_and_command_are_the_same(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sparsegauge", "report", "-o", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == f"sparsegauge: {tmp_path}: is a directory; name a file in it\n"
