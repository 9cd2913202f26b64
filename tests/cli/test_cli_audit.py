"""`sparsegauge audit`: the library's verdicts, counterexamples that check out, and files that are refused."""

from __future__ import annotations

import importlib
import json
import os

import pytest

import sparsegauge as sg
from sparsegauge.criteria import auditor as library

verb = importlib.import_module("sparsegauge.cli.audit")  # the package holds the command of that name

QUICK = ["--budget", "50"]


@pytest.fixture
def run(command, monkeypatch):
    """Run `sparsegauge audit` -> exit code, stdout, stderr."""
    monkeypatch.delenv("COLUMNS", raising=False)

    return lambda *arguments: command("audit", *arguments)


@pytest.fixture
def counterexample(run, tmp_path):
    """A valid one, as the command saves it."""
    assert run("l0", "--criteria", "P3", *QUICK, "--counterexamples", tmp_path / "found", "--quiet") == (0, "", "")
    return tmp_path / "found" / "l0-P3.json"


@pytest.mark.parametrize(
    ("arguments", "metric", "parameters", "criteria"),
    [
        (["gds", "--order", "1.5", "--criteria", "P2,P4,P8"], "gds", {"order": 1.5}, ["P2", "P4", "P8"]),
        (["gds", "--order", "inf", "--criteria", "P4"], "gds", {"order": float("inf")}, ["P4"]),
        (["pq-mean", "--parameter", "q=3", "--criteria", "p8, P9"], "pq_mean", {"q": 3}, ["P8", "P9"]),
        (["Gini", "--criteria", "p7_LITERAL,P3"], "gini", {}, ["P3", "P7_literal"]),
    ],
)
def test_the_verdicts_are_the_librarys(run, arguments, metric, parameters, criteria):
    code, out, err = run(*arguments, *QUICK, "--seed", "3", "--json")
    assert (code, err) == (0, "")
    (entry,) = json.loads(out)
    assert library.Audit.of(entry) == sg.audit(metric, criteria=criteria, budget=50, rng=3, **parameters)


def test_the_table_shows_verdicts_and_the_counterexample(run):
    code, out, err = run("l0", "--criteria", "P3,P4", *QUICK)
    verdict = sg.audit("l0", criteria=["P3"], budget=50)["P3"]
    assert (code, err) == (0, "")
    assert "l0: 1 holds, 1 violated" in out
    assert "Robin Hood" in out
    assert f"S{library.written(verdict.counterexample['before'])} = {verdict.counterexample['value_before']}" in out
    assert "\x1b" not in out


def test_a_parameter_goes_to_the_metrics_that_have_it(run):
    _, out, _ = run("gds", "hoyer", "--order", "2", "--criteria", "P4", *QUICK, "--json")
    assert [entry["parameters"] for entry in json.loads(out)] == [{"order": 2.0}, {}]


def test_every_violation_is_saved_and_verifies(run, tmp_path):
    folder = tmp_path / "new" / "folder"
    code, out, _ = run("l0", "gds", "--order", "2", "--criteria", "P3,P7_literal", *QUICK, "--counterexamples", folder)
    assert code == 0
    names = ["gds-order-2-P7_literal.json", "l0-P3.json", "l0-P7_literal.json"]
    assert sorted(os.listdir(folder)) == names
    for name in names:
        assert f"{folder / name}\n" in out
        code, out_of_verify, err = run("--verify", folder / name)
        assert (code, err) == (0, "")
        assert out_of_verify.startswith("valid: ")


def test_the_old_option_is_accepted_with_a_notice(run, tmp_path):
    code, _, err = run("l0", "--criteria", "P3", *QUICK, "--certificates", tmp_path, "--quiet")
    assert (code, err) == (0, "sparsegauge: --certificates is deprecated; use --counterexamples\n")
    assert os.listdir(tmp_path) == ["l0-P3.json"]
    code, _, err = run("l0", "--certificates", tmp_path, "--counterexamples", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "--certificates" not in run("--help")[1]


def test_nothing_violated_means_no_files(run, tmp_path):
    assert "no counterexamples" in run("gini", "--criteria", "P4", *QUICK, "--counterexamples", tmp_path / "c")[1]
    assert os.listdir(tmp_path / "c") == []


def test_a_counterexample_that_shows_nothing_has_exit_code_1(run, counterexample):
    altered = json.loads(counterexample.read_text()) | {"metric": "gini", "parameters": {}}
    counterexample.write_text(json.dumps(altered))
    code, out, err = run("--verify", counterexample)
    assert (code, err) == (1, "")
    assert out.startswith("not valid: ")
    assert run("--verify", counterexample, "--quiet") == (1, "", "")
    assert json.loads(run("--verify", counterexample, "--json")[1]) == {"file": str(counterexample), "valid": False}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "a counterexample is a dict"),
        (b"null", "a counterexample is a dict"),
        (b'{"criterion": "P3"}', "lacks metric"),
        (b'{"criterion": "P99", "metric": "l0", "parameters": {}, "before": [], "after": []}', "unknown criterion"),
        (b'{"criterion": "P3", "metric": "no", "parameters": {}, "before": [], "after": []}', "no metric"),
        (b'{"criterion": "P3", "metric": "l0", "parameters": {}, "before": [], "after": []}', "a signal is a list"),
    ],
)
def test_what_is_no_counterexample_is_one_line(run, tmp_path, content, word):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    code, out, err = run("--verify", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sparsegauge: {path}: ")
    assert word in err


def test_a_directory_and_a_missing_file_are_one_line(run, tmp_path):
    assert run("--verify", tmp_path) == (2, "", f"sparsegauge: {tmp_path}: Is a directory\n")
    missing = tmp_path / "missing.json"
    assert run("--verify", missing) == (2, "", f"sparsegauge: {missing}: No such file or directory\n")


def test_a_huge_file_is_refused_before_it_is_parse(run, counterexample, monkeypatch):
    monkeypatch.setattr(verb, "LARGEST_FILE", 100)
    monkeypatch.setattr(verb, "_parse", lambda text: pytest.fail("parsed a huge file"))
    code, out, err = run("--verify", counterexample)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "at most 100 bytes" in err


def test_the_paper_is_the_librarys_account(run, tmp_path):
    code, out, err = run("--paper", "--json", "--counterexamples", tmp_path)
    assert (code, err) == (0, "")
    assert sg.PaperAudit.from_json(out) == sg.audit_paper()
    for name in os.listdir(tmp_path):
        assert run("--verify", tmp_path / name, "--quiet") == (0, "", "")
    assert len(os.listdir(tmp_path)) == 3  # Robin Hood, Bill Gates as printed, and norms of orders above 1


def test_the_paper_as_a_table_has_every_claim(run):
    _, out, _ = run("--paper")
    claims = sg.audit_paper()
    assert out.startswith(f"{len(claims)} claims of the paper: ")
    assert all(claim.key.split()[0] in out for claim in claims)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "got none of them"),
        (["gini", "--paper"], "got METRIC and --paper"),
        (["--paper", "--verify", "x.json"], "got --paper and --verify"),
        (["--paper", "--order", "3"], "--order does nothing with --paper"),
        (["--verify", "x.json", "--seed", "3"], "--seed does nothing with --verify"),
        (["--verify", "x.json", "--counterexamples", "d"], "--counterexamples does nothing with --verify"),
        (["hoier"], "did you mean 'hoyer'"),
        (["gini", "--order", "3"], "the parameter order is none of gini"),
        (["gds", "--order", "0.5"], "order"),
        (["gds", "--order", "nan"], "order"),
        (["gds", "--order", "two"], "order must be a number, got 'two'"),
        (["gds", "--order", "2", "--parameter", "order=3"], "given twice"),
        (["gds", "--parameter", "order"], "NAME=VALUE"),
        (["gds", "--criteria", "P3,P99"], "got 'P99'"),
        (["gds", "--criteria", ""], "got ''"),
    ],
)
def test_wrong_arguments_are_one_line_before_any_work(run, monkeypatch, arguments, word):
    monkeypatch.setattr(library, "audit", lambda *_, **__: pytest.fail("audited before checking"))
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert word in err


def test_a_place_for_counterexamples_that_is_a_file_is_one_line_before_any_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr(library, "audit", lambda *_, **__: pytest.fail("audited before checking"))
    (tmp_path / "file").touch()
    code, out, err = run("gini", "--counterexamples", tmp_path / "file")
    assert (code, out, err) == (2, "", f"sparsegauge: {tmp_path / 'file'}: File exists\n")
