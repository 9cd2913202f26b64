"""What the paper claims, and what is true: each row is worked out, none is recited."""

from fractions import Fraction

import pytest

import naive
import sparsegauge as sg
from sparsegauge.criteria import evidence
from sparsegauge.criteria.definitions import CRITERIA

PAPER = sg.audit_paper()


def test_every_claim_has_its_row():
    rows = {claim.key for claim in PAPER}
    asked = {"range", *CRITERIA, "increasing", "limit", "gini", "even formula", "odd formula", "operation counts"}
    asked |= {
        "crossover",
        "prototypes",
        "worked example",
        "even proof",
        "odd proof",
        "robin hood sign",
        "robin hood pair",
    }
    asked |= {"citation of scaling", "table I", "even counts", "odd counts", "signs", "units", "practical"}
    assert asked <= rows
    assert len(rows) == len(PAPER)


def test_what_is_false():
    false = {claim.key for claim in PAPER if claim.verdict == "false"}
    experiment = {"error and distribution", "orders 2 to 7", "gini never best", "state of the art"}
    assert false - experiment == {
        "higher norms",
        "only gini",
        "P3",
        "P7_literal",
        "increasing",
        "limit",
        "odd counts",
        "crossover",
    }
    assert all(PAPER[key].corrected for key in false)


@pytest.mark.parametrize("key", ["P3", "P7_literal"])
def test_counterexamples_of_false_theorems_verify(key):
    assert sg.verify(PAPER[key].counterexample)


@pytest.mark.parametrize("key", ["increasing", "limit"])
def test_values_beside_the_orders_are_exact(key):
    counterexample = PAPER[key].counterexample
    x = [float(Fraction(value)) for value, count in counterexample["signal"] for _ in range(count)]
    for order, value in zip(counterexample["orders"], counterexample["values"], strict=True):
        assert naive.gds_pairs(x, order) == Fraction(value)


def test_text_table_and_json():
    assert f"{len(PAPER)} claims of the paper" in str(PAPER)
    assert sg.PaperAudit.from_json(PAPER.to_json()) == PAPER
    assert list(PAPER.to_frame().index) == [claim.key for claim in PAPER]
    with pytest.raises(KeyError, match="the claims are"):
        PAPER["P12"]
    with pytest.raises(sg.InvalidInput, match="to_json"):
        sg.PaperAudit.from_json("{}")


def test_the_formulas_of_the_paper_are_the_ones_the_library_offers():
    for c in evidence.SIGNALS:
        for k in (1, 2, 3):
            assert sg.gds(c, 2 * k, method="paper") == pytest.approx(float(evidence.even_formula(c, k)), rel=1e-9)
            assert sg.gds(c, 2 * k + 1, method="paper") == pytest.approx(float(evidence.odd_formula(c, k)), rel=1e-9)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (3, 2), (7, 5), (30, 29)])
def test_some_signal_has_a_larger_value_at_the_larger_order(p, q):
    signal, high, low = evidence.rising_pair(p, q)
    assert high > low
    if sum(count for _, count in signal) < 50:
        x = [float(value) for value, count in signal for _ in range(count)]
        assert sg.gds(x, p) == pytest.approx(float(high))
