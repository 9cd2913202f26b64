"""The command line, run in the process of the tests."""

import json

import pytest

from sparsegauge.cli import main


@pytest.fixture
def command(capsys):
    """Run a command line -> exit code, stdout, stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        return caught.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def run(command, tmp_path, monkeypatch):
    """Run `sparsegauge measure` in an empty directory -> exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    return lambda *arguments: command("measure", *arguments)


@pytest.fixture
def values(run):
    """Run with --json -> {(signal, metric, parameters, start): value}."""

    def run_command(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return {
            (r["signal"], r["metric"], tuple(r["parameters"].items()), r.get("start")): r["value"]
            for r in json.loads(out)
        }

    return run_command
