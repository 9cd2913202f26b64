"""Output and exit codes of the whole command line, for every verb: errors, pipes, colours, completion."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sparsegauge
from sparsegauge.cli import app, console

HEAVY = ("numpy", "numba", "scipy", "matplotlib", "pywt", "sklearn", "jinja2", "pandas", "panel")
COLOUR = re.compile(r"\x1b\[[\d;]*(?<!\d)(3[0-8]|9[0-7])(?!\d)[\d;]*m")


def leaves(group, path=()):
    """Every command that does something, as (words, its entry)."""
    for entry in group.registered_commands:
        yield (*path, entry.name or entry.callback.__name__), entry
    for sub in group.registered_groups:
        yield from leaves(sub.typer_instance, (*path, sub.name))


VERBS = dict(leaves(app))
EVERY_VERB = pytest.mark.parametrize("words", VERBS, ids=" ".join)


def examples(words):
    """The commands in the verb's epilog, without what is piped into them."""
    typed = re.split(r" \| | < |\s*\n\s*", VERBS[words].epilog.partition(":")[2].strip())
    return [shlex.split(one)[1:] for one in typed if one.startswith("sparsegauge ")]


@pytest.fixture
def run(command, monkeypatch):
    """Run a command -> exit code, stdout, stderr."""
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    return command


@pytest.fixture
def instead(monkeypatch):
    """Put something else in the place of what a verb does; its arguments stay what they are."""

    def replace(words, action):
        @functools.wraps(VERBS[words].callback)
        def wrapped(*_, **__):
            action()

        monkeypatch.setattr(VERBS[words], "callback", wrapped)

    return replace


def raising(error):
    def action():
        raise error

    return action


def piped(*arguments, **environment):
    """The command in a process of its own, its stdout a pipe."""
    command = [sys.executable, "-m", "sparsegauge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)


@EVERY_VERB
def test_help_has_an_example_that_parses(run, instead, words):
    code, out, err = run(*words, "--help")
    assert (code, err) == (0, "")
    assert re.search(r"Examples?: ", out)
    assert examples(words)
    for arguments in examples(words):
        assert tuple(arguments[: len(words)]) == words
        instead(words, lambda: sys.stdout.write("ran"))
        assert run(*arguments) == (0, "ran", "")


PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
TYPED = [shlex.split(line)[1:] for line in re.findall(r"^\$ (sparsegauge .*)$", PAGE, re.MULTILINE)]


@pytest.mark.parametrize("arguments", TYPED, ids=" ".join)
def test_the_commands_on_the_page_parse(run, instead, arguments):
    (words,) = [words for words in VERBS if tuple(arguments[: len(words)]) == words]
    instead(words, lambda: sys.stdout.write("ran"))
    assert run(*arguments) == (0, "ran", "")


def test_the_page_has_every_verb():
    assert set(re.findall(r"^\| \[`(\w+)`\]", PAGE, re.MULTILINE)) == {words[0] for words in VERBS}


@EVERY_VERB
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (sparsegauge.InvalidInput("first\nsecond"), "sparsegauge: first second\n"),
        (sparsegauge.MissingExtra("no pandas"), "sparsegauge: no pandas\n"),
        (PermissionError(13, "Permission denied", "/a/file"), "sparsegauge: /a/file: Permission denied\n"),
    ],
    ids=["input", "extra", "file"],
)
def test_an_error_is_one_line_and_exit_code_2(run, instead, words, error, line):
    instead(words, raising(error))
    assert run(*examples(words)[0]) == (2, "", line)


@EVERY_VERB
def test_an_interrupt_says_nothing_of_python(run, instead, words):
    instead(words, raising(KeyboardInterrupt()))
    code, out, err = run(*examples(words)[0])
    assert (code, out) == (130, "")
    assert "Traceback" not in err


@EVERY_VERB
def test_wrong_usage_names_the_culprit_and_the_help(run, words):
    code, out, err = run(*words, "--nonsense")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"sparsegauge: .*--nonsense.*--help\)\n", err)


@EVERY_VERB
def test_verbs_that_take_time_can_be_quiet(words):
    options = inspect.signature(VERBS[words].callback).parameters
    assert "quiet" in options or words in {
        ("study", "status"),
        ("explore",),
        ("metrics",),
    }  # to be read


ALL_HELP = (
    "import sys\nfrom sparsegauge.cli import main\n"
    f"for words in {[(), *VERBS]}:\n"
    "    try: main([*words, '--help'])\n    except SystemExit: pass\n"
)


def test_help_has_colours_on_terminals_and_where_they_are_wanted():
    """FORCE_COLOR stands for a terminal; NO_COLOR takes colours away, and may leave bold."""
    command = [sys.executable, "-c", ALL_HELP]
    plain = {
        key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS")
    }
    shown = [
        subprocess.run(command, capture_output=True, text=True, env=plain | more, check=True).stdout
        for more in ({}, {"FORCE_COLOR": "1"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"})
    ]
    assert "\x1b" not in shown[0]
    assert COLOUR.search(shown[1])
    assert not COLOUR.search(shown[2])


def test_the_colour_pattern_sees_colours():
    assert all(COLOUR.search(text) for text in ("\x1b[1;31mred", "\x1b[38;5;9mred"))
    assert not any(COLOUR.search(text) for text in ("\x1b[1mbold\x1b[0m", "\x1b[2;4m"))


def test_tables_are_coloured_for_terminals_only(run, monkeypatch):
    arguments = ["audit", "l0", "--criteria", "P4", "--budget", "5"]
    assert "\x1b" not in run(*arguments)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert COLOUR.search(run(*arguments)[1])
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(run(*arguments)[1])


def test_progress_is_for_terminals_on_stderr_and_not_when_quiet(run, monkeypatch):
    arguments = ["audit", "l0", "--criteria", "P4", "--budget", "5", "--json"]
    assert run(*arguments)[2] == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, out, err = run(*arguments)
    assert json.loads(out)[0]["metric"] == "l0"
    assert "l0 P4" in err
    assert run(*arguments, "--quiet") == (0, "", "")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["audit", "--paper"], ["audit", "--paper", "--json"]])
def test_a_reader_that_leaves_early_hears_nothing(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "sparsegauge", *arguments]
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


def test_a_narrow_encoding_is_no_error():
    done = subprocess.run(
        [sys.executable, "-c", "from sparsegauge.cli.console import print_facts; print_facts({'error': '1 ± 0'})"],
        capture_output=True, text=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "error  1 ? 0\n", "")


def test_an_interrupt_from_the_keyboard_ends_the_process_without_a_traceback():
    code = (
        "import os, signal\nfrom sparsegauge.cli import main\nfrom sparsegauge import paper\n"
        "paper.audit_paper = lambda: os.kill(os.getpid(), signal.SIGINT)\nmain(['audit', '--paper'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("sparsegauge rec", {"recommend", "recover"}),
        ("sparsegauge study ", {words[1] for words in VERBS if words[0] == "study"}),
        ("sparsegauge recover --dem", {"--demo"}),
        ("sparsegauge recover --demo ", {"ecg", "image"}),
        ("sparsegauge recommend --distribution ", {"binomial", "uniform", "normal", "exponential"}),
    ],
)
def test_completion_offers_what_can_be_typed(typed, found):
    words = {"_SPARSEGAUGE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "sparsegauge")],
        capture_output=True, text=True, env=os.environ | words, check=False,
    )  # fmt: skip
    assert set(done.stdout.split()) == found
    assert done.stderr == ""


def test_completion_can_be_shown_and_installed(run):
    out = run("--help")[1]
    assert "--install-completion" in out
    assert "--show-completion" in out
    shown = piped("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert shown.returncode == 0
    assert "complete" in shown.stdout


def test_help_of_all_verbs_loads_nothing_heavy():
    code = ALL_HELP + f"sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - start


@pytest.mark.slow
def test_help_takes_at_most_four_times_as_long_as_importing_numpy():
    """Taken in turns, so that other work on the machine weighs on both."""
    commands = ([sys.executable, "-m", "sparsegauge", "--help"], [sys.executable, "-c", "import numpy"])
    pairs = [[seconds(command) for command in commands] for _ in range(11)]
    ours, numpys = (statistics.median(column) for column in zip(*pairs, strict=True))
    assert ours <= 4 * numpys


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), "null"),
        (float("inf"), '"inf"'),
        ({1.5: [float("-inf")]}, '{"1.5": ["-inf"]}'),
        ((1, "µ"), '[1, "µ"]'),
    ],
)
def test_json_is_readable_everywhere(capsys, value, written):
    console.print_json(value)
    assert json.loads(capsys.readouterr().out) == json.loads(written)
