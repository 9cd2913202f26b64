"""Changes that CONTRIBUTING promises to be small: a reader, a command and a section of the report, each in one place.

Metrics, criteria, solvers and axes from outside have tests in their folders.
"""

import importlib
from pathlib import Path

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.cli import app, main
from sparsegauge.io import FORMATS, expand, open_file
from sparsegauge.io.file_contents import Contents
from sparsegauge.report import page, sections
from sparsegauge.report.measured_signals import measure_values

ROOT = Path(__file__).parents[2]


def read_dots(request):
    """Read a file in which the number of dots on each line is one sample."""
    counts = [line.count(".") for line in request.path.read_text(encoding="utf-8").splitlines()]
    return [Contents(axis=-1, values=np.array(counts, dtype=float))]


def test_a_file_format_is_a_reader_and_its_ending(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(FORMATS, ".dots", read_dots)
    (tmp_path / "x.dots").write_text("...\n\n\n.\n", encoding="utf-8")
    assert open_file(tmp_path / "x.dots")[0].array().tolist() == [3, 0, 0, 1]
    assert expand([str(tmp_path)]) == [str(tmp_path / "x.dots")]
    with pytest.raises(SystemExit) as ended:
        main(["measure", str(tmp_path / "x.dots"), "--metric", "gini", "--json"])
    assert not ended.value.code
    assert f'"value": {sg.gini([3, 0, 0, 1])!r}' in capsys.readouterr().out


def test_a_command_is_a_module_of_its_name():
    verbs = {command.callback.__name__ for command in app.registered_commands}
    verbs |= {group.name for group in app.registered_groups}
    assert len(verbs) >= 9
    for verb in verbs:
        assert hasattr(importlib.import_module(f"sparsegauge.cli.{verb}"), verb)
    listed = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    assert [verb for verb in sorted(verbs) if f"| [`{verb}`]" not in listed] == []


def test_a_section_of_the_report_is_a_line_and_a_template(monkeypatch):
    signal = measure_values("spike", "a spike", np.eye(1, 64)[0])
    again = sections.Section("again", "Once more", "signals.html", lambda of: bool(of.signals))
    monkeypatch.setattr(page, "SECTIONS", (*sections.SECTIONS, again))
    html = page.render(sections.Sections(signals=[signal]))
    assert 'href="#again"' in html
    assert "Once more" in html


def test_the_table_of_changes_has_ten_rows():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("## Ten changes") : text.index("Users extend")]
    assert sum(line.startswith("| ") for line in table.splitlines()) == 11
    assert all(line.count(" | ") == 2 for line in table.splitlines() if line.startswith("| "))
