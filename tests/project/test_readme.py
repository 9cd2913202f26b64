"""The README does what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_prints_what_the_readme_shows():
    code, shown = blocks("python"), blocks("text")
    assert len(code) == len(shown) == 5
    namespace = {}
    for lines, result in zip(code, shown, strict=True):
        assert len(lines.strip().splitlines()) <= 10
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(lines, "README.md", "exec"), namespace)
        assert printed.getvalue() == result


COMPARED = [
    line.split("|")[1:-1] for line in README.split("## Compared with")[1].splitlines() if line.startswith("| ")
][1:]
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


def section_of(link):
    """Return the text of the page, or of its section, that a link leads to."""
    page, _, anchor = link.partition("#")
    text = (ROOT / page).read_text(encoding="utf-8")
    if not anchor:
        return text
    parts = re.split(r"^(?=#+ )", text, flags=re.MULTILINE)
    return next(part for part in parts if part.split("\n")[0].lstrip("# ").lower().replace(" ", "-") == anchor)


@pytest.mark.parametrize("row", COMPARED, ids=lambda row: row[0].strip()[:20])
def test_every_figure_of_the_comparison_stands_in_its_table(row):
    link = re.search(r"\]\(([^)]+)\)", row[4])[1]
    known = {float(number) for number in NUMBER.findall(section_of(link))}
    figures = NUMBER.findall(row[2] + row[3])
    assert figures
    for figure in figures:
        decimals = len(figure.partition(".")[2]) if "e" not in figure else None
        near = {number if decimals is None else round(number, decimals) for number in known}
        assert float(figure) in near, f"{figure} is not in {link}"


@pytest.mark.parametrize("target", re.findall(r"^\$ make (\S+)", README, re.MULTILINE))
def test_its_commands_are_make_targets(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_its_links_lead_somewhere(link):
    assert (ROOT / link).exists()
