"""Imports go one way: a package imports only from packages above it (CONTRIBUTING has the list)."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sparsegauge

SOURCE = Path(sparsegauge.__file__).parent

# Packages on the same line do not import each other.
LAYERS = [
    ["errors"],
    ["_platform"],
    ["io"],
    ["_compiled"],
    ["_arrays"],
    ["metrics"],
    ["normalise", "features", "torch"],
    ["signals", "simulate", "profiles"],
    ["criteria"],
    ["vibration"],
    ["recovery"],
    ["study"],
    ["paper", "measurements", "surveys"],
    ["plots"],
    ["report"],
    ["explore"],
    ["cli"],
    ["__main__"],
]
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}
# Inside metrics: what chooses kernels knows no metric, nor does the catalogue, in which the families register theirs.
METRICS = {
    "lemmas": 0, "exact": 0, "references": 0, "_paper_formulas": 0, "scales": 0,
    "_dispatch": 1, "_plain_arrays": 1, "_slopes": 1, "statistics": 1,
    "rank_weights": 2, "portable": 2, "containers": 2, "labels": 2, "chunks": 2, "tensors": 2, "autograd": 2,
    "weighted": 2, "metric": 3, "metric_table": 4, "catalogue": 5, "gds": 6,
}  # fmt: skip
FAMILY = 7


def imports_of(path: Path) -> set[tuple[str, ...]]:
    """The modules of the package that a file imports, as paths below it: ("metrics", "gds")."""
    package = path.relative_to(SOURCE).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                target = base + tuple((node.module or "").split(".") if node.module else ())
            elif (node.module or "").split(".")[0] == "sparsegauge":
                target = tuple(node.module.split(".")[1:])
            else:
                continue
            if target:
                found.add(target)
            else:
                found |= {(alias.name,) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {tuple(a.name.split(".")[1:]) for a in node.names if a.name.split(".")[0] == "sparsegauge"}
    return {target for target in found if target and not target[0].startswith("__version")}


def wrong_imports(path: Path) -> list[str]:
    module = path.relative_to(SOURCE).with_suffix("").parts
    wrong = []
    for target in imports_of(path):
        if target[0] == module[0]:
            inside = module[0] == "metrics" and len(module) > 1 and len(target) > 1
            if inside and METRICS.get(target[1], FAMILY) > METRICS.get(module[1], FAMILY):
                wrong.append(f"{'.'.join(module)} imports {'.'.join(target)}")
        elif HEIGHT[target[0]] >= HEIGHT[module[0]] or (module[0] == "io" and target[0] not in ("errors", "_platform")):
            wrong.append(f"{'.'.join(module)} imports {'.'.join(target)}")
    return wrong


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_upwards_only(path):
    assert path.relative_to(SOURCE).with_suffix("").parts[0] in HEIGHT, "add the package to LAYERS"
    assert wrong_imports(path) == []


def test_the_check_itself_sees_a_wrong_import(tmp_path, monkeypatch):
    fake = tmp_path / "sparsegauge"
    (fake / "metrics").mkdir(parents=True)
    bad = fake / "metrics" / "gds.py"
    bad.write_text("from ..cli import main\nfrom .norms import hoyer\nfrom .._arrays import as_signals\n")
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", fake)
    assert sorted(wrong_imports(bad)) == ["metrics.gds imports cli", "metrics.gds imports metrics.norms"]


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, sparsegauge; "
        "print([m for m in ('numpy', 'numba', 'scipy', 'matplotlib', 'sklearn', 'pandas', 'pywt') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_contributing_lists_the_packages_in_the_same_order():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].splitlines()
    names = [line.split("  ")[0].split(", ") for line in listed]
    order = [package for layer in names for package in layer]
    assert order == [package for layer in LAYERS for package in layer if package != "__main__"]


def test_files_that_contributing_names_are_there():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("## Ten changes") : text.index("Users extend")]
    named = [name for name in re.findall(r"`([a-z_]+/[a-z_/]*\.py)`", table) if "<" not in name]
    assert len(named) >= 9
    assert all((SOURCE / name).is_file() for name in named)


def test_no_two_modules_share_a_name():
    """A traceback or a search result names one file: `lattice.py` says where it is."""
    names = [path.stem for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    assert not {name for name in names if names.count(name) > 1}
    stems = [re.sub(r"(ing|ed|or|er|s)$", "", path.stem) for path in FILES if path.parent.name != "cli"]
    assert not {stem for stem in stems if stem and stems.count(stem) > 1} - {"__init__"}, "they differ by a suffix"


def test_no_two_classes_share_a_name():
    """A name in a traceback is one class: `Piece` is of an accumulator, and of nothing else."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    names = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert len(names) > 200
    assert not {name for name in names if names.count(name) > 1}


TOLERANCES = {
    "recovery": "tolerances.py",
    "criteria": "audit_tolerances.py",
    "_compiled": "kernel_tolerances.py",
}
# a constant of mathematics, two facts about float64, and the end of a schedule
NOT_TOLERANCES = {"LN2_LOW", "SMALLEST_NORMAL", "SMALLEST", "LAST_NOISE"}


def small_constants(path):
    """Return the constants of a module that are positive and at most 1e-7, by name."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            for target, value in pairs:
                if isinstance(value, ast.Constant) and isinstance(value.value, float) and 0 < value.value <= 1e-7:
                    found.add(ast.unparse(target))
    return found


@pytest.mark.parametrize("package", TOLERANCES)
def test_tolerances_have_one_home_per_package(package):
    """Constants that decide what counts as zero, as equal or as rounding are in one module, with their reasons."""
    home = SOURCE / package / TOLERANCES[package]
    elsewhere = {
        f"{path.name}: {name}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        if path != home
        for name in small_constants(path) - NOT_TOLERANCES
    }
    assert len(small_constants(home)) >= 5
    assert elsewhere == set()
