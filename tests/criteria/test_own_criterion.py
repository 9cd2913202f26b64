"""A law that is defined outside the package: one object in one file, audited, verified and removed again."""

import importlib
import json
from fractions import Fraction

import pytest

import sparsegauge as sg
from sparsegauge.cli import main
from sparsegauge.criteria.coefficients import difference, replace_one, require


class Charity(sg.Criterion):
    """The largest coefficient falls to the second largest value: S must not grow."""

    key = "P12"
    name = "Charity"
    statement = "S(c with max c lowered to the second largest value) <= S(c)"
    transformation = "the largest coefficient falls to the second largest value"
    relation = "<="
    applies = "signals with two different non-zero values"
    source = "this test"

    def moves(self, c):
        return [()] if len(c) > 1 and c[-2][0] > 0 and c[-1][1] == 1 else []

    def steps(self, c, move):
        return [(c, replace_one(c, len(c) - 1, c[-2][0]))] if list(self.moves(c)) else []

    def check_step(self, before, after):
        removed, added = difference(before, after)
        require(removed == [before[-1][0]] and added == [before[-2][0]], "the top falls to the second value")


@pytest.fixture
def charity():
    yield sg.CRITERIA.add(Charity())
    del sg.CRITERIA["P12"]


@pytest.mark.usefixtures("charity")
def test_a_law_of_ones_own_is_audited_and_verified():
    broken = sg.audit("neg_l1", budget=20)["P12"]
    assert broken.status == "violated"
    assert sg.verify(json.dumps(broken.counterexample))
    assert not sg.verify(broken.counterexample | {"metric": "gini"})
    assert not sg.verify(broken.counterexample | {"after": broken.counterexample["before"]})
    kept = sg.audit("gini", criteria=["P12"], budget=20)["P12"]
    assert kept.status == "undecided"  # no proof is known of it, and a search is not one
    assert kept.searched > 100
    assert "Charity" in str(broken)


@pytest.mark.usefixtures("charity")
def test_it_applies_to_functions_and_on_the_command_line(capsys):
    def negative_sum(c):
        return -sum(c)

    verdict = sg.audit(negative_sum, criteria="P12", budget=20)["P12"]
    assert verdict.status == "violated"
    assert sg.verify(verdict.counterexample, metric=negative_sum)
    with pytest.raises(SystemExit):
        main(["audit", "neg_l1", "--criteria", "P12", "--budget", "20", "--json"])
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["verdicts"]["P12"]["status"] == "violated"


def test_what_is_stored_and_what_the_paper_claims_stays_the_same(charity):
    audit = sg.audit("neg_l1", criteria=[charity.key], budget=20)
    laws = importlib.import_module("sparsegauge.report.laws")
    assert charity not in laws.gather_laws().criteria
    assert "P12" not in [claim.key for claim in sg.audit_paper()]
    assert sg.Audit.from_json(audit.to_json()) == audit


def test_it_is_gone_when_it_is_removed():
    sg.CRITERIA.add(Charity())
    audit = sg.audit("neg_l1", criteria=["P12"], budget=20)
    del sg.CRITERIA["P12"]
    assert "P12" in str(audit)  # what was found can still be read
    with pytest.raises(sg.InvalidInput, match="P12"):
        sg.verify(audit["P12"].counterexample)
    with pytest.raises(sg.InvalidInput, match="P12"):
        sg.audit("gini", criteria=["P12"])


def test_what_is_not_a_criterion_is_refused_with_a_reason():
    class Nameless(sg.Criterion):
        key = "P13"

    class Wrong(Charity):
        relation = "~"

    with pytest.raises(sg.InvalidInput, match="derived from Criterion"):
        sg.CRITERIA.add("P12")
    with pytest.raises(sg.InvalidInput, match="lacks name, statement"):
        sg.CRITERIA.add(Nameless())
    with pytest.raises(sg.InvalidInput, match="relation of P12 must be one of"):
        sg.CRITERIA.add(Wrong())
    with pytest.raises(sg.InvalidInput, match="there is a criterion P3 already"):
        sg.CRITERIA.add(sg.CRITERIA["P3"])


@pytest.mark.parametrize("key", sg.CRITERIA)
def test_every_law_owns_its_facts(key):
    criterion = sg.CRITERIA[key]
    assert criterion.key == key
    assert all((criterion.name, criterion.statement, criterion.transformation, criterion.applies, criterion.source))
    assert criterion.variant_of is None or criterion.variant_of in sg.CRITERIA
    for case in criterion.boundary_cases():
        assert criterion.steps(*case)
    for case in list(criterion.hard_cases(100))[:5]:
        criterion.check(criterion.steps(*case))
    start = ((Fraction(1), 2), (Fraction(3), 1))
    assert criterion.steps(start, next(iter(criterion.moves(start))))
