"""Formulas of the auditor's plain text, as the site sets them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

import sparsegauge as sg

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from formula_text import set_formulas

# LaTeX back to what the auditor writes
PLAIN = {
    r"\\text\{ (\w+) \}": r"\1", r"\\le\b": "<=", r"\\ge\b": ">=", r"\\to\b": "->", r"\\Vert ?": "||", r"\\pm\b": "+-",
    r",\\, \\ldots,\\,": "..", r"\\ldots\b": "...", r"\\infty\b": "infinity", r"\\times\b": "x",
    r"\\(sum|exp|beta|sigma)": r"\1", r"\{,\}": ",", r"\\([{}])": r"\1",
}  # fmt: skip


def texts():
    claims = [text for claim in sg.audit_paper() for text in (claim.claim, claim.corrected, claim.evidence) if text]
    return [*claims, *(criterion.statement for criterion in sg.CRITERIA.values())]


def letters(text):
    """Leave out what LaTeX writes otherwise: spaces, and the brackets of exponents and indices."""
    return re.sub(r"[\s(){}]", "", text)


@pytest.mark.parametrize("text", texts())
def test_a_text_keeps_all_that_it_says_and_browsers_can_draw_its_formulas(text):
    found = set_formulas(text)
    assert found.count("$") % 2 == 0
    for formula in found.split("$")[1::2]:
        assert tex2mathml(formula).startswith("<math")
        for left, right in ("()", "[]"):
            assert formula.count(left) == formula.count(right)
    back = found.replace("$", "")
    for latex, plain in PLAIN.items():
        back = re.sub(latex, lambda match, plain=plain: match.expand(plain), back)
    assert letters(back) == letters(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("S_p(c) <= 1 - 1/N for every p", r"$S_p(c) \le 1 - 1/N$ for every $p$"),
        ("a metric of non-zeros", "a metric of non-zeros"),
        ("every a > 0", "every $a > 0$"),
        ("[8, 10 x 4] -> [9, 10 x 4]", r"$[8, 10 \times 4] \to [9, 10 \times 4]$"),
        ("k^2 (2N+1) in 50 (p = 1, 99)", "$k^2 (2N+1)$ in 50 $(p = 1, 99)$"),
        ("sum c_i^(2k+1) in 9 pairs (N, k).", r"$\sum c_i^{2k+1}$ in 9 pairs $(N, k)$."),
        ("S_10 of s_gini, 3e-02 at p = 4, 10,000 times", "$S_{10}$ of s_gini, 3e-02 at $p = 4$, 10,000 times"),
        ("`a_b = 1` stays (see P7 and P8)", "`a_b = 1` stays (see P7 and P8)"),
        ("S(c with c_i + a) > 0", r"$S(c \text{ with } c_i + a) > 0$"),
        ("0_N || 1", r"$0_N \Vert 1$"),
        ("(an open bracket c_i", "(an open bracket $c_i$"),
    ],
)
def test_formulas_are_told_from_words(text, wanted):
    assert set_formulas(text) == wanted
