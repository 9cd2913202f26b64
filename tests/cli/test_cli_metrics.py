"""The list of metrics on the command line."""

from __future__ import annotations

import json

import pytest

import sparsegauge as sg


@pytest.fixture
def run(command):
    return lambda *arguments: command("metrics", *arguments)


def test_every_metric_is_listed_with_what_it_means(run):
    code, out, _ = run()
    assert code == 0
    assert all(name in out for name in sg.METRICS)


def test_json_has_the_facts_of_each_metric(run):
    _, out, _ = run("hoyer", "--json")
    (hoyer,) = json.loads(out)
    assert hoyer["formula"] == sg.METRICS["hoyer"].formula
    assert hoyer["breaks"] == ["Cloning"]
    assert "Robin Hood" in hoyer["obeys"]


def test_lawful_metrics_break_no_law(run):
    _, out, _ = run("--lawful", "--json")
    names = {entry["name"] for entry in json.loads(out)}
    assert {"gds", "gini"} <= names
    assert not names & {"hoyer", "kurtosis", "l0"}


def test_an_unknown_metric_is_one_line_that_names_the_nearest(run):
    code, _, err = run("hoyr")
    assert code == 2
    assert err.count("\n") == 1
    assert "hoyer" in err


def test_metrics_have_readable_names_and_count_their_laws(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    hoyer, gini = (run(name)[1] for name in ("hoyer", "gini"))
    assert "Hoyer's sparsity: the ratio of two norms" in hoyer
    assert "10 of 11; not Cloning" in hoyer
    assert "all 11" in gini
    _, out, _ = run("--json")
    titles = [entry["title"] for entry in json.loads(out)]
    assert len(set(titles)) == len(titles)
