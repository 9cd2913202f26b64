"""Every example runs, draws one figure, prints what the gallery shows, and its conclusion holds."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import runpy
import sys
from pathlib import Path

import matplotlib.image
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
NAMES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an example as a reader would, in a directory of its own; what it printed."""

    def of(name: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--output", "figure.png"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
        plt.close("all")
        height, width, _ = matplotlib.image.imread("figure.png").shape
        assert (height, width) == matplotlib.image.imread(GALLERY / f"{name}.png").shape[:2]
        assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]
        shown = (GALLERY / f"{name}.txt").read_text(encoding="utf-8")
        assert words(printed.getvalue()) == words(shown), f"python docs/gallery/build.py {name}"
        return printed.getvalue()

    return of


def words(text: str) -> list[str]:
    """A text without its numbers, which other processors round otherwise."""
    return re.sub(NUMBER, "#", text).split()


def numbers(text: str, line: str) -> list[float]:
    """The numbers after the given beginning of a line."""
    found = re.search(rf"^{re.escape(line)}(.*)$", text, re.MULTILINE)
    assert found, line
    return [float(number) for number in re.findall(NUMBER, found[1])]


def test_an_ecg_is_sparsest_in_wavelets_and_its_beats_are_counted(run):
    text = run("measure_ecg")
    samples, cosines, wavelets = (numbers(text, basis) for basis in ("samples", "cosines (DCT)", "wavelets (sym4)"))
    assert all(a < b < c for a, b, c in zip(samples[:3], cosines[:3], wavelets[:3], strict=True))
    assert samples[3] > 4 * wavelets[3]
    assert "3 beats" in text


def test_the_chosen_wavelet_compresses_better_than_most(run):
    text = run("choose_wavelet")
    errors = {name: numbers(text, f"{name} ")[-4:] for name in ("ecg", "doppler", "bumps", "blocks", "heavisine")}
    for name in ("ecg", "doppler", "bumps", "blocks"):
        chosen, median, best, worst = errors[name]
        assert chosen < 0.9 * median
        assert chosen < best + 0.1 * (worst - best)
    assert errors["ecg"][0] == errors["ecg"][2]
    orders = [numbers(text, f"ecg, {kept:3} terms kept: order")[0] for kept in (16, 32, 64, 128)]
    assert orders == sorted(orders, reverse=True)


def test_sparse_spectra_find_the_fault_where_kurtosis_does_not(run):
    text = run("bearing_fault")
    for fault in ("outer", "inner"):
        kurtosis, envelope, *_ = numbers(text, f"{fault}, 0 random knocks")
        assert min(kurtosis, envelope) >= 9
        kurtosis, envelope, _, high_order = numbers(text, f"{fault}, 5 random knocks")
        assert kurtosis == envelope == 0
        assert high_order >= 9
    verdicts = text[text.index("verdicts") :]
    for fault in ("outer", "inner"):
        assert numbers(verdicts, f"{fault}, 5 random knocks")[-2:] == [10, 0]
    assert numbers(verdicts, "none, 5 random knocks")[-3:] == [0, 0, 0]


def test_layers_pruned_by_their_sparsity_keep_more_digits(run):
    text = run("prune_network")
    left = numbers(text, "weights left")
    by_index = numbers(text, "the PQ index of each layer")
    alike = numbers(text, "the same share of each layer")
    together = numbers(text, "one threshold for all layers")
    assert by_index[0] == alike[0] == together[0] > 95
    assert 60 < left[1] < 72
    assert by_index[1] > by_index[0] - 1.5  # what the index suggests costs nothing
    assert all(a > b for a, b in zip(by_index[2:], alike[2:], strict=True))
    assert by_index[3] > alike[3] + 8
    assert together[4] > alike[4]  # as the page admits


def test_the_picture_is_recovered(run):
    text = run("recover_image")
    assert numbers(text, "S_2 of the pixels")[1] > 0.95
    ours, other = numbers(text, "the default"), numbers(text, "least l1 norm")
    assert ours[0] > 29
    assert ours[0] > other[0] + 3
    assert max(ours[1], other[1]) < 1e-9


def test_the_audit_finds_what_is_wrong_with_the_metric(run):
    text = run("audit_your_metric")
    violated = re.findall(r"^(P\w+) .* violated$", text, re.MULTILINE)
    assert violated == ["P3", "P6", "P7", "P7_literal", "P8"]
    assert "by hand: 1/2 -> 25/42" in text
    assert "verified from its JSON: True" in text
    assert "True}" not in text


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_run_and_print_what_the_gallery_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    make_notebook = importlib.import_module("site_notebooks").make_notebook
    notebook = json.loads(json.dumps(make_notebook((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8"))))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 3
    assert "argparse" not in "".join(code)
    plt.close("all")
    plt.switch_backend("Agg")
    namespace, printed = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(code):
            exec(compile(cell, f"{name}, cell {number}", "exec", dont_inherit=True), namespace)
    shown = (GALLERY / f"{name}.txt").read_text(encoding="utf-8")
    assert words(printed.getvalue()) == words(shown)
    assert len(plt.get_fignums()) == 1
    plt.close("all")


def test_the_gallery_has_every_example_and_nothing_else():
    for ending in ("md", "png", "txt"):
        found = sorted(path.stem for path in GALLERY.glob(f"*.{ending}") if path.stem != "index")
        assert found == NAMES
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert all(f":link: {name}\n" in index for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_small_and_scripts_short(name):
    assert (GALLERY / f"{name}.png").stat().st_size < 120_000
    assert len((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 110
