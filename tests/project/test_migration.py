"""The changelog has one table of what breaks, and it is true."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import sparsegauge as sg

CHANGELOG = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
HEAD = "| before | now | the old name |\n|---|---|---|\n"
ROWS = [row.strip("| ").split(" | ") for row in CHANGELOG.partition(HEAD)[2].partition("\n\n")[0].splitlines()]


def test_there_is_one_table():
    assert CHANGELOG.count(HEAD) == 1
    assert len(re.findall(r"^\| (?:before|old)", CHANGELOG, re.MULTILINE)) == 1
    assert len(ROWS) > 20


@pytest.mark.parametrize("new", sorted({name for row in ROWS for name in re.findall(r"`sg\.([\w.]+)", row[1])}))
def test_new_names_are_public(new):
    value = sg
    for name in new.split("."):
        value = getattr(value, name)


@pytest.mark.parametrize("module", sorted({m for row in ROWS for m in re.findall(r"`(sparsegauge\.[\w.]+)`", row[1])}))
def test_new_modules_are_there(module):
    assert importlib.import_module(module)


def resolve(path):
    """Return what a path below the package names; raise an AttributeError if there is no such thing."""
    value = sg
    for name in path.split("."):
        is_module = hasattr(value, "__path__") and importlib.util.find_spec(f"{value.__name__}.{name}")
        value = importlib.import_module(f"{value.__name__}.{name}") if is_module else getattr(value, name)
    return value


PATHS = [re.match(r"`([a-z_]+\.[a-zA-Z_.]+)", row[0]) for row in ROWS if row[-1].strip(" |") == "gone"]


@pytest.mark.parametrize("old", [path[1] for path in PATHS if path])
def test_what_is_gone_is_gone(old):
    with pytest.raises(AttributeError):
        resolve(old)


def test_names_are_resolved():
    assert resolve("metrics.catalogue.METRICS") is sg.METRICS
    assert len([path for path in PATHS if path]) > 10
