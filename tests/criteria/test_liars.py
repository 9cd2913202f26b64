"""The auditor on functions that give floats: no liar "holds", no honest function is refuted, verify always ends."""

import json
import random
import time

import liars
import numpy as np
import pytest
from examples import ROBIN_HOOD

import sparsegauge as sg
from sparsegauge.criteria.strategy import SIZE_OF_LIES

QUICK = 40
# what float64 cannot settle: from some ratio on these stay the same, and an increase below rounding would look alike
OPEN = {liars.capped_ratio, liars.capped_at_a_hundred, liars.has_a_floor}


@pytest.mark.parametrize(
    ("key", "liar"), [pytest.param(k, f, id=f"{k}-{f.__name__}") for k, fs in liars.LIARS.items() for f in fs]
)
def test_no_liar_holds(key, liar):
    verdict = sg.audit(liar, criteria=[key], budget=QUICK)[key]
    assert verdict.status == ("undecided" if liar in OPEN else "violated")
    if liar not in OPEN:
        assert sg.verify(json.dumps(verdict.counterexample), metric=liar)
        assert not sg.verify(verdict.counterexample, metric=liars.base)


@pytest.mark.parametrize("honest", liars.HONEST, ids=lambda f: f.__name__)
def test_no_honest_function_is_refuted(honest):
    audit = sg.audit(honest, criteria=liars.HONEST[honest], budget=QUICK)
    assert audit.violated == []
    if honest in (liars.base, liars.share):
        assert {key for key, verdict in audit.verdicts.items() if verdict.status == "holds"} == set(audit.verdicts)


def test_what_holds_says_which_lies_the_search_would_have_found():
    verdict = sg.audit(liars.base, criteria="P4", budget=QUICK)["P4"]
    assert verdict.status == "holds"
    assert all(lie.description in verdict.reason for lie in sg.CRITERIA["P4"].lies)


def test_a_function_whose_noise_hides_every_lie_is_undecided():
    def coarse(c):
        value = liars.base(c)
        return value + 0.5 * np.sin(1e13 * value * np.asarray(c, float).sum())

    for key in ("P4", "P8", "P10"):
        assert sg.audit(coarse, criteria=key, budget=QUICK)[key].status == "undecided"


def test_a_function_that_has_a_value_on_few_signals_is_not_called_obedient():
    def picky(c):
        if len(c) != 5:
            raise ValueError("five coefficients, please")
        return liars.base(c)

    assert sg.audit(picky, criteria="P6", budget=QUICK)["P6"].status != "holds"
    assert sg.audit(picky, criteria="P8", budget=QUICK)["P8"].status != "holds"


@pytest.mark.parametrize("calls", [2, 50, 3000])
def test_a_function_that_turns_random_is_refused(calls):
    rng = np.random.default_rng(0)
    left = [calls]

    def fickle(c):
        left[0] -= 1
        return liars.base(c) + (float(rng.random()) if left[0] < 0 else 0.0)

    with pytest.raises(sg.InvalidInput, match="is no function"):
        sg.audit(fickle, criteria=["P4", "P8"], budget=QUICK)


@pytest.mark.parametrize("key", [key for key in sg.CRITERIA if sg.CRITERIA[key].lies])
def test_every_planted_lie_breaks_its_law(key):
    """Planted in a function that obeys all laws, each lie is refuted by a counterexample that verifies."""
    for lie in sg.CRITERIA[key].lies:
        lying = lie.plant(liars.share, SIZE_OF_LIES)
        verdict = sg.audit(lying, criteria=[key], budget=QUICK)[key]
        assert verdict.status == "violated", lie.description
        assert sg.verify(verdict.counterexample, metric=lying)


# --- verify ends

SECONDS = 10.0  # of processor time; the budget allows about two


@pytest.mark.parametrize("order", [1000, 9999.5, 30_000, 1e6])
def test_verify_ends_at_any_order(order):
    start = time.process_time()
    assert sg.verify(ROBIN_HOOD | {"parameters": {"order": order}}) in (True, False)
    assert time.process_time() - start < SECONDS


def test_too_many_values_are_too_large_to_verify():
    many = [[str(k), 1] for k in range(1, 500)]
    with pytest.raises(sg.InvalidInput, match="too large to verify"):
        sg.verify(ROBIN_HOOD | {"before": many, "after": [*many[1:], ["1", 1]]})


def test_verify_ends_on_whatever_comes():
    """A fuzz of legal transfers with long numbers, many values and large orders, within a time limit each."""
    rng = random.Random(2)
    outcomes = set()
    for _ in range(60):
        digits, count = rng.choice((1, 3, 30, 1000, 3900)), rng.choice((2, 4, 9, 25))
        values = sorted({rng.randrange(1, 10**digits) for _ in range(count)} | {1, 10**digits})
        denominators = [rng.choice((1, 7, rng.randrange(1, 10**digits))) for _ in values]
        before = [[f"{v}/{d}", rng.choice((1, 5, 10**30))] for v, d in zip(values, denominators, strict=True)]
        after = [[f"{10**digits + 1}", 1], *before[1:]]
        metric, parameters = rng.choice(
            (("gds", {"order": rng.choice((1.5, 3, 77, 3000, 30_000))}), ("box_cox", {"l": 0.3}), ("theil", {}))
        )
        case = {"criterion": rng.choice(("P3", "P7_literal", "P8", "P10")), "metric": metric, "parameters": parameters}
        start = time.process_time()
        try:
            outcomes.add(sg.verify(case | {"before": before, "after": after}))
        except sg.InvalidInput as error:
            outcomes.add("too large" if "too large" in str(error) else "refused")
        assert time.process_time() - start < SECONDS
    assert {False, "too large"} <= outcomes


def test_values_of_more_digits_than_python_writes_are_recomputed():
    """The sum of two fractions of 3,000 digits each has 6,000: it is stated as a decimal number."""
    before = [["1" * 3000 + "/7", 1], ["3" * 3000 + "/" + "1" * 3000, 1]]
    after = [["1" * 3000 + "/7", 2], ["3" * 3000 + "/" + "1" * 3000, 2]]
    assert sg.verify({"criterion": "P6", "metric": "neg_l1", "parameters": {}, "before": before, "after": after})


@pytest.mark.parametrize("key", ["value_before", "value_after", "margin", "arithmetic"])
def test_what_is_stated_beside_the_signals_must_be_true(key):
    stated = sg.audit("kappa4", criteria=["P3"], budget=QUICK)["P3"].counterexample
    assert sg.verify(stated)
    assert not sg.verify(stated | {key: "1"})
    own = sg.audit(liars.unbiased, criteria=["P6"], budget=QUICK)["P6"].counterexample
    assert not sg.verify(own | {key: "1"}, metric=liars.unbiased)


@pytest.mark.parametrize(
    "change",
    [
        {"before": [[10**5000, 1]]},
        {"before": [["1", 10**5000]]},
        {"parameters": {"order": 10**5000}},
        {"criterion": 10**5000},
    ],
    ids=["value", "count", "parameter", "criterion"],
)
def test_numbers_beyond_all_bounds_are_refused(change):
    with pytest.raises(sg.InvalidInput):
        sg.verify(ROBIN_HOOD | change)
