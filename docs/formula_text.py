"""Formulas in plain text, as the auditor writes them for the terminal, set as LaTeX for the site.

`set_formulas("S_p(c) <= 1 - 1/N for every p >= 1")` gives `$S_p(c) \\le 1 - 1/N$ for every $p \\ge 1$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# What a formula is made of. Words come first, so that the hyphen of "non-zeros" is no minus.
TOKEN = re.compile(
    r"(?P<code>`[^`]*`|\w+/\w+\.md|\w+\.\.[A-Z]\w*|[a-z]_[a-z]{3,}|\d+e[+-]\d+)"
    r"|(?P<big>exp(?=\()|sum(?:_\{[^}]*\})?(?:\^\{[^}]*\})?(?!\w))"
    r"|(?P<symbol>(?:beta|sigma|dS|[A-Za-z]|[01](?=_))(?:_(?:\{[^}]*\}|\w+))?(?![\w'])|(?:dc|dt|kN|infinity)(?!\w))"
    r"|(?P<inner>(?:with|and|mean)(?!\w))"
    r"|(?P<word>[^\W\d][\w'-]*)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
    r"|(?P<relation><=|>=|->|\|\||\+-|\.\.\.|\.\.|[-+/=<>^])"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
SIGNS = {
    "<=": r"\le", ">=": r"\ge", "->": r"\to", "||": r"\Vert", "+-": r"\pm", "...": r"\ldots", "..": r",\, \ldots,\,",
    "{": r"\{", "}": r"\}", "infinity": r"\infty",
}  # fmt: skip
GREEK = re.compile(r"^(beta|sigma)")
ARTICLES = ("a", "A", "I")  # words where they stand alone
Token = tuple[str, str]  # kind, text


def set_formulas(text: str) -> str:
    """Return the text with every formula in it between dollar signs, as LaTeX."""
    found: list[Token] = [(match.lastgroup or "other", match.group()) for match in TOKEN.finditer(text)]
    return "".join(_set(run) if formula else "".join(part for _, part in run) for formula, run in _runs(found))


def _runs(tokens: list[Token]) -> Iterator[tuple[bool, list[Token]]]:
    """Yield stretches of tokens, and whether each is a formula."""
    position = 0
    while position < len(tokens):
        length = _formula_length(tokens[position:])
        yield length > 0, tokens[position : position + max(1, length)]
        position += max(1, length)


def _formula_length(tokens: list[Token]) -> int:
    """Return how many tokens from the first on are one formula: the longest stretch that is balanced; 0 if none is."""
    depth = length = 0
    if tokens[0][0] in ("space", "inner") or _is_article(tokens):
        return 0
    for k, (kind, text) in enumerate(tokens):
        if kind == "open":
            if depth == 0 and text == "(" and _is_aside(tokens[max(0, k - 3) : k]):
                break
            depth += 1
        elif kind == "close":
            depth -= 1
        elif _breaks(kind, text, depth):
            break
        if depth < 0:
            break
        ends = kind in ("symbol", "number", "close") or text == "..."
        if depth == 0 and ends and _is_formula(tokens[: k + 1]):
            length = k + 1
    return length


def _breaks(kind: str, text: str, depth: int) -> bool:
    """Return whether a formula ends before this token; inside brackets it may hold commas and a few words."""
    return kind in ("code", "word") or (depth == 0 and kind in ("inner", "other")) or (kind == "other" and text != ",")


def _is_aside(before: list[Token]) -> bool:
    """Return whether a bracket belongs to the sentence: "50 (p = 1, 99)", but not "k^2 (2N + 1)"."""
    return [kind for kind, _ in before[-2:]] == ["number", "space"] and before[0][0] != "relation"


def _is_article(tokens: list[Token]) -> bool:
    """Return whether this begins with the word "a" or the like, and not with a variable of that name."""
    if tokens[0][1] not in ARTICLES:
        return False
    after = [kind for kind, _ in tokens[1:3] if kind != "space"]
    return not after or not (after[0] == "relation" or (tokens[0][1] == "A" and after[0] == "symbol"))


def _is_formula(tokens: list[Token]) -> bool:
    """Return whether there is more than a number or a list of words."""
    kinds = {kind for kind, _ in tokens}
    return bool(kinds & {"symbol", "relation", "big"}) and tokens[0][1] not in ("/", "...", "..", "=", "^")


def _set(tokens: list[Token]) -> str:
    """Write a formula as LaTeX."""
    pieces: list[str] = []
    raised: list[int] = []  # depths at which an exponent in brackets is open
    depth = 0
    for k, (kind, text) in enumerate(tokens):
        before = tokens[k - 1][1] if k else ""
        if kind == "open":
            depth += 1
            if before == "^":
                raised.append(depth)
                pieces.append("{")
                continue
        if kind == "close":
            depth -= 1
            if raised and raised[-1] == depth + 1:
                raised.pop()
                pieces.append("}")
                continue
        pieces.append(_latex(kind, text, _is_times(tokens, k)))
    return f"${''.join(pieces).strip()}$"


def _is_times(tokens: list[Token], k: int) -> bool:
    """Return whether this is the x of [10 x 4, 12]."""
    beside = [tokens[j][0] for j in (k - 2, k + 2) if 0 <= j < len(tokens)]
    return tokens[k][1] == "x" and beside == ["number", "number"]


def _latex(kind: str, text: str, times: bool) -> str:
    if times:
        return r"\times"
    if kind == "space":
        return " "
    if kind == "inner":
        return rf"\text{{ {text} }}"
    if kind == "number":
        return text.replace(",", "{,}")
    if kind == "big":
        return "\\" + text
    return SIGNS.get(text) or GREEK.sub(r"\\\1", re.sub(r"_(\w{2,})$", r"_{\1}", text))
