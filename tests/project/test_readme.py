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


@pytest.mark.parametrize("target", re.findall(r"^\$ make (\S+)", README, re.MULTILINE))
def test_its_commands_are_make_targets(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_its_links_lead_somewhere(link):
    assert (ROOT / link).exists()
