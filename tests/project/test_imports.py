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
    ["errors", "rounding"],
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
    "recovery": "recovery/tolerances.py",
    "criteria": "criteria/audit_tolerances.py",
    "_compiled": "_compiled/kernel_tolerances.py",
}
OTHERS = "rounding.py"
HOMES = {*TOLERANCES.values(), OTHERS}
# constants of mathematics, facts about float64, ends of schedules, and what is drawn
NOT_TOLERANCES = {
    "LN2_LOW", "SMALLEST_NORMAL", "SMALLEST", "LAST_NOISE", "NOISE_LEVELS", "VARIANCE_RATIOS",
    "SMALLEST_ERROR_DRAWN", "SMALLEST_MAGNITUDE_SHOWN",
}  # fmt: skip
# a lie to plant, and figures of the paper's claims
WRITTEN_INSIDE = {("criteria/definitions/invariances.py", 1e-9), ("criteria/theory.py", 1e-12)}


def small_constants(path):
    """Return the constants of a module in whose values a positive number of at most 1e-7 occurs, by name."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            for target, value in pairs:
                if any(is_small(part, 1e-7) for part in ast.walk(value)):
                    found.add(ast.unparse(target))
    return found


def is_small(node, most):
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value <= most


def small_numbers_in_code(path):
    """Return the positive numbers of at most 1e-5 in the bodies of functions, without the keys of dictionaries."""
    found = set()
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            body = function.body if isinstance(function.body, list) else [function.body]
            nodes = [node for part in body for node in ast.walk(part)]
            keys = {id(key) for node in nodes if isinstance(node, ast.Dict) for key in node.keys}
            found |= {node.value for node in nodes if is_small(node, 1e-5) and id(node) not in keys}
    return found


def test_constants_of_tolerance_have_one_home():
    """What counts as zero, as equal or as rounding is in one module per package, or in the one for all others."""
    elsewhere = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in FILES
        if str(path.relative_to(SOURCE)) not in HOMES
        for name in small_constants(path) - NOT_TOLERANCES
    }
    assert elsewhere == set()
    assert all(len(small_constants(SOURCE / home)) >= 5 for home in HOMES)


def test_no_tolerance_is_written_inside_a_function():
    """A number in the middle of a formula has no name and no reason. Kernels have the coefficients of series there."""
    found = {
        (str(path.relative_to(SOURCE)), value)
        for path in FILES
        if "_compiled" not in path.parts
        for value in small_numbers_in_code(path)
    }
    assert found == WRITTEN_INSIDE


def test_tolerances_are_used():
    """A tolerance that nobody uses misleads who looks for it."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    for home in HOMES:
        names = [name for name in small_constants(SOURCE / home) if re.fullmatch("[A-Z_0-9]+", name)]
        assert [name for name in names if len(re.findall(rf"\b{name}\b", code)) < 2] == []
