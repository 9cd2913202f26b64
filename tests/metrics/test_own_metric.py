"""A metric registered from outside the package is known wherever those of the package are, and can be removed."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import sparsegauge as sg
from sparsegauge.cli import main

X = np.array([[0.0, 0.0, 0.0, 5.0], [1.0, -1.0, 1.0, 1.0]])


def power_crest_exactly(k, c, p):
    N = sum(count for _, count in c)
    return k.power(k.of(c[-1][0]) * N / k.of(sum(count * value for value, count in c)), p)


def power_crest(row, p):
    """Return a power of the largest coefficient over the mean.

    Examples
    --------
    >>> 1 + 1
    2
    """
    return (row.top * row.N / row.l1) ** p


def register(**changes):
    facts = {
        "formula": "(max c / mean c)^p",
        "meaning": "how far the largest coefficient stands out",
        "reference": "this test",
        "parameters": [sg.Parameter("p", 1.0, low=0, meaning="The power.")],
        "proofs": {"P2": "symmetric", "P4": "homogeneous", "P6": "copies change neither the maximum nor the mean"},
        "exact": power_crest_exactly,
        "aliases": ["Peak to mean"],
    }
    return sg.metric(**facts | changes)(power_crest)


@pytest.fixture
def own():
    before = list(sg.METRICS)
    yield register()
    sg.METRICS.unregister("power_crest")
    assert list(sg.METRICS) == before


def run(capsys, line):
    with suppress(SystemExit):
        main(line.split())
    return capsys.readouterr().out


def test_it_measures_like_the_metrics_of_the_package(own):
    np.testing.assert_array_equal(own(X), [4.0, 1.0])
    np.testing.assert_array_equal(own(X.T, axis=0, p=2), [16.0, 1.0])
    np.testing.assert_array_equal(own(scipy.sparse.csr_array(X)), [4.0, 1.0])
    assert own([0, 0], zero=7.0) == 7.0
    assert math.isnan(own([1.0, math.nan]))
    with pytest.raises(sg.InvalidInput, match="p must satisfy p > 0, got 0; the default is p=1"):
        own([1.0], p=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        own([1.0], q=0)


def test_it_says_what_it_is(own):
    assert str(inspect.signature(own)).startswith("(x: 'ArrayLike', *, p: 'float' = 1.0, axis:")
    text = inspect.getdoc(own)
    assert text.startswith("Return a power of the largest coefficient over the mean.")
    assert [text.count(f"\n{title}\n-----") for title in ("Parameters", "Returns", "References", "Examples")] == [1] * 4
    assert "p : float, default 1\n    The power." in text
    assert own.__name__ == "power_crest"


def test_the_catalogue_and_measure_know_it(own):
    assert list(sg.METRICS)[-1] == "power_crest"
    assert sg.METRICS["peak-to-mean"] is own.metric
    assert sg.METRICS["power crest"].claims == {"P2", "P4", "P6"}
    assert sg.measure(X[0], "Power Crest", p=2) == 16.0


def test_the_audit_uses_its_exact_formula_and_its_proofs(own):
    for subject in ("power_crest", own, own.metric):
        audit = sg.audit(subject, budget=50, criteria=["P3", "P4", "P6"])
        assert audit.metric == "power_crest"
        assert [verdict.status for verdict in audit.verdicts.values()] == ["violated", "holds", "holds"]
        assert "copies change neither" in audit["P6"].reason


def test_without_an_exact_formula_the_function_itself_is_audited():
    own = register(exact=None, proofs={})
    try:
        assert sg.audit("power_crest", budget=20, criteria=["P5"])["P5"].status != "violated"
        assert sg.audit(own, budget=20, criteria=["P4"], p=2.0).parameters == {"p": 2.0}
    finally:
        sg.METRICS.unregister("power_crest")


def test_the_command_line_knows_it(own, capsys, tmp_path):
    np.save(tmp_path / "x.npy", X[0])
    assert "power_crest" in run(capsys, f"measure {tmp_path / 'x.npy'} --all --quiet")
    found = json.loads(run(capsys, "audit power_crest --criteria P6 --json"))
    assert [audit["metric"] for audit in found] == ["power_crest"]


def test_the_table_of_the_documentation_has_a_row_for_it(own, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    tables = importlib.import_module("choosing_tables")
    parts = tables.parts([*sg.stored_audits(), sg.audit("power_crest", budget=50)])
    assert "| `power_crest`, p = 1 |" in parts["table"]


def test_the_report_and_the_interactive_page_know_it(own):
    ranks = importlib.import_module("sparsegauge.report.rankings")
    laws = importlib.import_module("sparsegauge.report.laws")
    demos = importlib.import_module("sparsegauge.report.measured_signals")
    pytest.importorskip("panel")
    page = importlib.import_module("sparsegauge.explore.standing")
    assert "power_crest" in page.standings(X[0])
    assert any(row.metric == "power_crest" for row in ranks.rank_signals(demos.measure_demos())[0].rows)
    rows = [subject.title for group in laws.gather_laws().groups.values() for subject in group]
    assert "power_crest" in rows


def test_spsa_maximises_it(own):
    A = sg.gaussian_matrix(5, 10, rng=0)
    found = sg.recover(
        A, A @ sg.sparse_signal(10, 1, rng=1), solver=sg.SPSA(metric="power_crest", iterations=200), rng=0
    )
    assert found.x.shape == (10,)


@pytest.mark.parametrize("changes", [{"aliases": ["Gini"]}, {"aliases": ["vinje-gallant"]}])
def test_a_name_that_is_taken_is_refused(changes):
    with pytest.raises(sg.InvalidInput, match=r"there is a metric '.*' already"):
        register(**changes)
    assert "power_crest" not in sg.METRICS


def test_registering_it_twice_is_refused(own):
    with pytest.raises(sg.InvalidInput, match="there is a metric 'power_crest' already"):
        register()


def test_metrics_of_the_package_stay():
    with pytest.raises(sg.InvalidInput, match="gini belongs to the package"):
        sg.METRICS.unregister("gini")
    with pytest.raises(sg.InvalidInput, match="there is no metric 'ginni', did you mean 'gini'"):
        sg.METRICS.unregister("ginni")


def test_the_order_does_not_depend_on_what_was_loaded_first():
    code = "import sparsegauge as sg; sg.theil; sg.hoyer; print(*sg.METRICS)"
    import subprocess

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert found == list(sg.METRICS)
