"""The table of criteria, exact numbers and counterexamples: what is legal, what is equal, what is told apart."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from examples import ROBIN_HOOD
from hypothesis import given
from hypothesis import strategies as st

import sparsegauge as sg
from sparsegauge.criteria.coefficients import signal
from sparsegauge.criteria.definitions import CRITERIA
from sparsegauge.criteria.numbers import (
    FLOATING,
    FORMAL,
    RATIONAL,
    as_fraction,
    bounds_of,
    interval,
)
from sparsegauge.criteria.samples import small_signals
from sparsegauge.criteria.search import cases_of
from sparsegauge.criteria.subject import as_subject
from sparsegauge.errors import Illegal, Irrational, Undefined
from strategies import law


def changed(**items):
    return ROBIN_HOOD | items


# ---- the criteria


def test_the_twelve_criteria_are_all_there():
    assert list(CRITERIA) == ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P7_literal", "P8", "P9", "P10", "P11"]
    assert [key for key, c in CRITERIA.items() if c.strict] == ["P3", "P5", "P7", "P7_literal", "P8"]


@pytest.mark.parametrize("key", CRITERIA)
def test_what_a_criterion_builds_it_recognises(key):
    criterion = CRITERIA[key]
    cases = list(cases_of(criterion, small_signals()[:60], moves=4))
    assert cases
    for case in cases:
        criterion.check(criterion.steps(*case))


@pytest.mark.parametrize("key", [key for key in CRITERIA if key != "P2"])
def test_a_step_that_goes_nowhere_or_backwards_is_illegal(key):
    criterion = CRITERIA[key]
    case = next(c for c in cases_of(criterion, small_signals()) if len(c.start) > 2)
    steps = criterion.steps(*case)
    if key not in ("P10", "P11"):  # 1_N beside 1_N is legal, if dull
        with pytest.raises(Illegal):
            criterion.check([(before, before) for before, _ in steps])
    if key not in ("P1", "P4"):  # a small change, or a factor, is legal in either direction
        with pytest.raises(Illegal):
            criterion.check([(after, before) for before, after in steps])


# ---- numbers


def test_rational_arithmetic_refuses_what_is_no_fraction():
    assert RATIONAL.power(Fraction(8, 27), Fraction(2, 3)) == Fraction(4, 9)
    assert RATIONAL.sqrt(Fraction(49, 4)) == Fraction(7, 2)
    assert RATIONAL.log(1) == RATIONAL.tanh(0) == 0
    for irrational in (lambda: RATIONAL.sqrt(2), lambda: RATIONAL.log(2), lambda: RATIONAL.tanh(1)):
        with pytest.raises(Irrational):
            irrational()
    with pytest.raises(Undefined):
        RATIONAL.power(0, -1)


@law
@given(st.fractions(Fraction(1, 1000), 1000), st.fractions(-3, 3))
def test_intervals_hold_the_true_value(x, p):
    k = interval(50)
    with mpmath.workdps(80):
        value = mpmath.mpf(x.numerator) / x.denominator
        power = mpmath.mpf(p.numerator) / p.denominator
        for found, truth in (
            (k.power(x, p), value**power),
            (k.log(x), mpmath.log(value)),
            (k.sqrt(x), mpmath.sqrt(value)),
            (k.tanh(x), mpmath.tanh(value)),
        ):
            low, high = bounds_of(found)
            assert mpmath.mpf(low.numerator) / low.denominator <= truth <= mpmath.mpf(high.numerator) / high.denominator
            assert high - low < Fraction(1, 10**40)


def test_formal_sums_prove_equalities_that_intervals_cannot():
    one = 3 * FORMAL.log(2) - FORMAL.log(5) / 2 + 7
    other = 7 + FORMAL.log(2) + (FORMAL.log(2) * 2 - FORMAL.log(5) * Fraction(1, 2))
    assert one == other
    assert one != other + 1
    with pytest.raises(Irrational):
        FORMAL.log(2) * FORMAL.log(3)


def test_a_number_is_what_a_reader_sees():
    assert as_fraction(0.1) == Fraction(1, 10)
    assert as_fraction(1e-3) == Fraction(1, 1000)
    assert as_fraction("3/7") == Fraction(3, 7)


@pytest.mark.parametrize("name", sg.METRICS)
def test_exact_formulas_agree_with_the_library(name):
    """Two implementations that share no code; parameters at their defaults and beside them."""
    rng = np.random.default_rng(3)
    metric = sg.METRICS[name]
    defaults = {key: p.default for key, p in metric.parameters.items()}
    for parameters in (defaults, {key: value * 1.25 for key, value in defaults.items()}):
        if name == "pq_mean":
            parameters = parameters | {"p": min(parameters["p"], 1.0)}
        for x in (rng.integers(0, 6, 12), rng.random(9).round(3), np.array([1, 1, 1, 10]), np.array([2.0, 2.0, 2.0])):
            c = signal((as_fraction(float(v)), 1) for v in x)
            exact = {key: as_fraction(value) for key, value in parameters.items()}
            try:
                truth = bounds_of(interval(50).of(metric.exact(interval(50), c, **exact)))
            except Undefined:
                assert not math.isfinite(sg.measure(x, name, **parameters))
                continue
            value = sg.measure(x, name, **parameters)
            assert value == pytest.approx(float(truth.low), rel=1e-11, abs=1e-13)
            floating = metric.exact(FLOATING, c, **exact)
            assert floating == pytest.approx(float(truth.low), rel=1e-9, abs=1e-12)


# ---- counterexamples


def test_a_counterexample_verifies_from_its_json_alone():
    assert sg.verify(ROBIN_HOOD)
    assert sg.verify(json.dumps(ROBIN_HOOD))
    assert sg.verify(changed(before=[["12", 1], ["3", 12], ["6", 1], ["3", 8]]))  # any order, equal values apart


@pytest.mark.parametrize(
    ("reason", "counterexample"),
    [
        ("order 2 obeys Robin Hood", changed(parameters={"order": 2})),
        ("a = (c_j - c_i)/2 exactly", changed(after=[["3", 19], ["9/2", 2], ["12", 1]])),
        ("more than half", changed(after=[["3", 19], ["5", 1], ["4", 1], ["12", 1], ["3", 1]])),
        ("c_i and c_j change places", changed(before=ROBIN_HOOD["after"], after=ROBIN_HOOD["before"])),
        ("something is lost on the way", changed(after=[["3", 19], ["4", 1], ["19/4", 1], ["12", 1]])),
        ("the spike moves too", changed(after=[["3", 19], ["4", 1], ["5", 1], ["13", 1]])),
        ("nothing moves", changed(after=ROBIN_HOOD["before"])),
        ("not a tide", changed(criterion="P5")),
        ("no violation of scaling", changed(criterion="P4", after=[["6", 20], ["12", 1], ["24", 1]])),
        (
            "one non-zero is the boundary",
            changed(criterion="P8", before=[["0", 1], ["1", 1]], after=[["0", 2], ["1", 1]]),
        ),
    ],
)
def test_what_is_not_legal_or_no_violation_does_not_verify(reason, counterexample):
    assert not sg.verify(counterexample), reason


@pytest.mark.parametrize(
    ("match", "counterexample"),
    [
        ("not JSON", "{"),
        ("dict or its JSON text", 3),
        ("lacks after", {key: ROBIN_HOOD[key] for key in ("criterion", "metric", "parameters", "before")}),
        ("unknown criterion 'P12'", changed(criterion="P12")),
        ("no metric 'gdz'", changed(metric="gdz")),
        ("order", changed(parameters={"order": 0})),
        ("not negative", changed(before=[["-3", 20]])),
        ("not negative", changed(before=[["1e999999999", 1]])),
        ("whole number", changed(before=[["3", 0]])),
        ("whole number", changed(before=[["3", 1.5]])),
        ("pairs", changed(before=[])),
        ("pairs", changed(before="3")),
        ("other than zero", changed(before=[["0", 3]])),
        ("steps", changed(steps=[1])),
    ],
)
def test_what_is_no_counterexample_is_refused_with_a_reason(match, counterexample):
    with pytest.raises(sg.InvalidInput, match=match):
        sg.verify(counterexample)


def test_a_limit_cannot_be_refuted_by_one_step():
    counterexample = sg.audit("l0", criteria=["P1"])["P1"].counterexample
    assert sg.verify(counterexample)
    assert not sg.verify(counterexample | {"steps": counterexample["steps"][-1:]})
    gates = sg.audit("neg_l1", criteria=["P7"])["P7"].counterexample
    assert sg.verify(gates)
    assert not sg.verify(gates | {"steps": gates["steps"][-2:]})


def test_a_slow_fade_is_no_jump():
    """tanh(c^0.001) is continuous, and still changes by 0.46 when 1e-300 is added to zero."""
    audit = sg.audit("neg_tanh", b=0.001, criteria=["P1"])
    assert audit["P1"].status == "holds"
    criterion = CRITERIA["P1"]
    steps = criterion.steps(signal([(0, 1), (1, 1)]), (0, 1))
    assert criterion.judge(as_subject("neg_tanh", {"b": 0.001}), steps).violated is None


# ---- the names of the first release


def test_the_old_attribute_warns_and_works():
    verdict = sg.audit("l0", criteria=["P3"], budget=10)["P3"]
    with pytest.warns(DeprecationWarning, match=r"use Verdict\.counterexample"):
        assert verdict.certificate == verdict.counterexample
    with pytest.warns(DeprecationWarning, match=r"use Claim\.counterexample"):
        assert sg.audit_paper()["P3"].certificate


def test_audits_of_the_first_release_can_be_read():
    audit = sg.audit("l0", criteria=["P3"], budget=10)
    assert sg.Audit.from_json(audit.to_json().replace('"counterexample"', '"certificate"')) == audit
