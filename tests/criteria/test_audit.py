"""The auditor audited: planted liars are caught, honest metrics pass, and the catalogue's claims hold both ways.

Robin Hood and scaling imply rising tide and Bill Gates, with continuity also both bounds, and with cloning also babies:
so a metric can break exactly one criterion only among P1, P2, P3, P4, P6 and P9. Liars about the others break a few.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.criteria import directed
from sparsegauge.criteria.coefficients import Case, signal
from sparsegauge.criteria.definitions import CRITERIA
from sparsegauge.criteria.proofs import proof
from sparsegauge.criteria.subject import as_subject

QUICK = 60  # random signals a criterion
GDS_ORDERS = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 10]
# metrics.md's table, P3..P8 in turn; the auditor found u_theta to satisfy P6 whether theta N is whole or not
TABLE = {
    "l0": "nYnnnY",
    "l0_eps": "nnnnnY",
    "neg_l1": "nnYnnn",
    "neg_lp": "YnYnnn",
    "l2_l1": "YYYnYn",
    "neg_tanh": "YnYnnn",
    "neg_log": "nnYnnn",
    "kappa4": "nYYnYn",
    "u_theta": "nYnYnn",
    "neg_lp_neg": "nnnnYn",
    "h_g": "YnYnn-",
    "h_s": "nYnnnn",
    "h_s_prime": "nnnnnn",
    "hoyer": "YYYnYY",
    "pq_mean": "YYYYYY",
    "gini": "YYYYYY",
}


def gini(c):
    """As a NumPy user writes it."""
    c = np.sort(np.abs(c))
    n = len(c)
    return np.sum((2 * np.arange(1, n + 1) - n - 1) * c) / (n * np.sum(c))


def order_two(c):
    return 1 - np.sum(c) ** 2 / (len(c) * np.sum(c**2))


def hoyer(c):
    root = np.sqrt(c[:1] * 0 + len(c))[0]  # a root in the array's own arithmetic
    return (root - np.sum(c) / np.sqrt(np.sum(c**2))) / (root - 1) if len(c) > 1 else c[0] * 0


def float_gini(c):
    return sg.gini(c)  # refuses arrays of fractions: float64 is all there is


def noisy_gini(c):
    return sg.gini(c) + 1e-13 * math.sin(1e17 * float(np.sum(c)))


def jumps_at_zero(c):
    return gini(c) + Fraction(int(np.sum(c == 0)), len(c))


def looks_at_the_first(c):
    return gini(c) * (10 + int(c[0] > c[-1]))


def hoover(c):
    mean = np.sum(c) / len(c)
    return np.sum(np.abs(c - mean)) / (2 * np.sum(c))


def sees_the_scale(c):
    mean = np.sum(c) / len(c)
    return gini(c) + (gini(c) - order_two(c)) ** 2 * mean / (1 + mean) / 1000


def counts_coefficients(c):
    n = len(c)
    return (n - np.sum(c) ** 2 / np.sum(c**2)) / (n - 1) if n > 1 else np.sum(c) * 0


def never_saturates(c):
    return 2 ** (1 / (1 - gini(c)))


def likes_tides(c):
    return np.max(c) - np.min(c)


def dislikes_growth(c):
    return -np.sum(c)


def ignores_babies(c):
    return -(np.sum(c) ** 2) / np.sum(c**2)


def loves_equality(c):
    return gini(c) + int(np.max(c) == np.min(c))


def loves_crowds(c):
    return gini(c) * (1 - gini(c))


HONEST = {gini: set(), order_two: set(), hoyer: {"P6"}, float_gini: set(), noisy_gini: set()}
LIARS = {
    jumps_at_zero: {"P1"},
    looks_at_the_first: {"P2"},
    hoover: {"P3"},
    sees_the_scale: {"P4"},
    counts_coefficients: {"P6"},
    never_saturates: {"P9"},
    likes_tides: {"P3", "P4", "P5", "P8", "P11"},
    dislikes_growth: {"P3", "P4", "P6", "P7", "P8", "P10", "P11"},
    ignores_babies: {"P6", "P8"},
    loves_equality: {"P1", "P8", "P10", "P11"},
    loves_crowds: {"P3", "P5", "P7", "P8", "P11"},
}


def broken(audit):
    return set(audit.violated) - {"P7_literal"}  # which contradicts P10: no metric can have both


# half a minute each: in floats every near-tie is looked at twice
SLOW = ("float_gini", "noisy_gini")


@pytest.mark.parametrize(
    "metric",
    [pytest.param(f, id=f.__name__, marks=[pytest.mark.slow] * (f.__name__ in SLOW)) for f in HONEST],
)
def test_honest_metrics_pass(metric):
    audit = sg.audit(metric, budget=QUICK)
    assert broken(audit) == HONEST[metric]
    assert all(audit[key].status == "holds" for key in CRITERIA if key not in audit.violated)


@pytest.mark.parametrize("metric", LIARS, ids=lambda f: f.__name__)
def test_liars_are_caught_at_what_they_lie_about_and_nothing_else(metric):
    audit = sg.audit(metric, budget=QUICK)
    assert broken(audit) == LIARS[metric]
    for key in audit.violated:
        assert sg.verify(audit[key].counterexample, metric=metric)
        assert not sg.verify(audit[key].counterexample, metric=gini) or key == "P7_literal"


def test_noise_cannot_make_a_verdict():
    """The paper's formula at order 4 is garbage on 1 + 0.001 u: its noise is seen, and what it hides stays open."""

    def cancelling(c):
        return sg.gds(1 + 0.001 * c, 4, method="paper")

    audit = sg.audit(cancelling, criteria=["P2", "P6"], budget=300)
    assert audit.violated == []


@pytest.mark.parametrize("order", GDS_ORDERS)
def test_robin_hood_at_the_orders_of_gds(order):
    verdict = sg.audit("gds", order=order, criteria=["P3"])["P3"]
    if order in (1, 2):
        assert verdict.status == "holds"
        assert verdict.reason.startswith("proved")
    else:
        assert verdict.status == "violated"
        assert sg.verify(json.dumps(verdict.counterexample))
        assert sum(count for _, count in verdict.counterexample["before"]) < 1000


@pytest.mark.parametrize("order", [2.5, 3, 4, 5])
def test_the_optimiser_finds_robin_hood_on_its_own(order):
    finding = directed.optimise(as_subject("gds", {"order": order}), CRITERIA["P3"], seed=1, starts=3)
    assert finding.judgement is not None
    assert finding.judgement.violated


@pytest.mark.parametrize("order", [2.2, 3, 6.5, 10, 25, 60])
def test_the_floor_and_the_spike_break_every_order_above_two(order):
    finding = directed.families(as_subject("gds", {"order": order}), CRITERIA["P3"])
    assert finding.case is not None


@pytest.mark.parametrize("order", [1.05, 1.3, 1.5, 1.9, 1.97])
def test_a_tiny_transfer_breaks_every_order_between_one_and_two(order):
    finding = directed.families(as_subject("gds", {"order": order}), CRITERIA["P3"])
    assert isinstance(finding.case, Case)
    assert finding.case.start[0][0] == 0


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_the_literature(name):
    audit = sg.audit(name, budget=QUICK, criteria=["P3", "P4", "P5", "P6", "P7", "P8"])
    letters = {"holds": "Y", "violated": "n", "not applicable": "-", "undecided": "?"}
    assert "".join(letters[verdict.status] for verdict in audit.verdicts.values()) == TABLE[name]


@pytest.mark.parametrize("name", sg.METRICS)
def test_claims_are_kept_and_nothing_else_is(name):
    """In both directions: what is claimed holds by a proof, and all else is violated or has no value."""
    metric = sg.METRICS[name]
    audit = next(a for a in sg.stored_audits() if a.metric == name)
    holding = {key for key, verdict in audit.verdicts.items() if verdict.status == "holds"}
    assert holding == {key for key in metric.claims if key in CRITERIA}  # P3_energy is a reading that users add
    defaults = {key: p.default for key, p in metric.parameters.items()}
    assert all(proof(name, defaults, key) for key in holding)
    assert not any(verdict.status == "undecided" for verdict in audit.verdicts.values())


def named(audit):
    return "-".join([audit.metric, *map(str, audit.parameters.values())])


@pytest.mark.parametrize("audit", sg.stored_audits(), ids=named)
def test_stored_counterexamples_verify(audit):
    counterexamples = [verdict.counterexample for verdict in audit.verdicts.values() if verdict.counterexample]
    assert len(counterexamples) == len(audit.violated) > 0
    for counterexample in counterexamples:
        assert sg.verify(json.loads(json.dumps(counterexample)))


def test_no_proof_contradicts_a_counterexample():
    for audit in sg.stored_audits():
        for key in audit.violated:
            assert proof(audit.metric, audit.parameters, key) is None, (audit.metric, key)


def test_an_audit_can_be_repeated_and_seeded():
    one, two = (sg.audit("gds", order=1.5, criteria=["P3"], rng=np.random.default_rng(7)) for _ in range(2))
    assert one == two
    assert sg.audit("gds", order=1.5, criteria=["P3"], rng=5).seed == 5


def test_json_in_and_out_text_and_table():
    audit = sg.audit("hoyer", budget=QUICK)
    assert sg.Audit.from_json(audit.to_json()) == audit
    with pytest.raises(sg.InvalidInput, match="to_json"):
        sg.Audit.from_json("[]")
    text = str(audit)
    assert "P6         Cloning                 VIOLATED" in text
    assert "at the boundary: equality on [0, 1]" in text
    assert max(map(len, text.splitlines())) < 140
    frame = audit.to_frame()
    assert list(frame.index) == list(CRITERIA)
    assert frame.loc["P6", "status"] == "violated"


def test_boundary_equalities_are_reported_apart():
    assert sg.audit("gini", criteria=["P7"])["P7"].boundary
    assert sg.audit("hoyer", criteria=["P8"])["P8"].boundary
    assert not sg.audit("gini", criteria=["P8"])["P8"].boundary


def test_functions_and_aliases_of_the_catalogue_are_known():
    assert sg.audit(sg.gini, criteria=["P4"]).metric == "gini"
    assert sg.audit("Treves-Rolls", criteria=["P4"]).metric == "treves_rolls"
    assert sg.audit(sg.METRICS["gini"], criteria=["P4"]).metric == "gini"


@pytest.mark.parametrize(
    ("match", "arguments", "options"),
    [
        ("gini", ("gimi",), {}),
        ("callable", (3,), {}),
        ("order", ("gds",), {"order": 0.5}),
        ("no parameters", ("gini",), {"order": 2}),
        ("some of P1", ("gini",), {"criteria": ["P13"]}),
        ("some of P1", ("gini",), {"criteria": []}),
        ("budget", ("gini",), {"budget": -1}),
        ("rng", ("gini",), {"rng": "seed"}),
        ("returned|failed", (lambda c: "sparse",), {"criteria": ["P4"]}),
        ("division", (lambda c: 1 // 0,), {"criteria": ["P4"]}),
    ],
)
def test_bad_arguments_get_a_reason(match, arguments, options):
    with pytest.raises(sg.InvalidInput, match=match):
        sg.audit(*arguments, **options)


def test_a_callable_that_needs_parameters():
    def power_ratio(c, k):
        return np.sum(c ** (2 * k)) / np.sum(c**k) ** 2

    audit = sg.audit(power_ratio, k=2, criteria=["P3"], budget=QUICK)
    assert audit.parameters == {"k": 2}
    assert audit["P3"].status == "violated"
    assert sg.verify(audit["P3"].counterexample, metric=power_ratio)


def test_a_witness_is_shrunk_to_few_and_simple_numbers():
    counterexample = sg.audit("kappa4", criteria=["P3"])["P3"].counterexample
    before = signal((Fraction(value), count) for value, count in counterexample["before"])
    assert len(before) <= 3
    assert all(value.denominator == 1 and value <= 10 for value, _ in before)


def test_an_infinite_order_survives_json():
    audit = sg.audit("gds", order=math.inf, budget=QUICK)
    assert broken(audit) == {"P1", "P3", "P5", "P7"}
    assert sg.Audit.from_json(audit.to_json()) == audit
    assert "Infinity" not in audit.to_json()
    assert all(sg.verify(json.dumps(audit[key].counterexample, allow_nan=False)) for key in audit.violated)
