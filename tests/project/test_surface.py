"""The public surface is a contract: names, types, signatures and the hierarchy of errors."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import sparsegauge as sg

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_there_and_listed():
    assert sg.__all__ == sorted(sg.__all__, key=lambda name: (name[0].islower() or name[0] == "_", name))
    for name in sg.__all__:
        assert getattr(sg, name) is not None
    assert set(dir(sg)) == set(sg.__all__)


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (
            "gds",
            "(x, order=2.0, *, axis=-1, keepdims=False, nan_policy='propagate', weights=None, center=None, "
            "zero=nan, dim=None, method='auto')",
        ),
        (
            "gds_profile",
            "(x, orders, *, axis=-1, keepdims=False, nan_policy='propagate', weights=None, center=None, zero=nan)",
        ),
        ("gds_gradient", "(x, order, *, axis=-1)"),
        ("demo", "(name)"),
        ("run_study", "(study, store, *, executor=None, progress=None, retry_failed=False)"),
        ("load_study", "(store, *, columns=None, where=None, lazy=False)"),
        ("study_dataset", "(store)"),
    ],
)
def test_signatures(function, signature):
    found = inspect.signature(getattr(sg, function))
    bare = found.replace(
        parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )
    assert str(bare) == signature


def test_the_stub_for_type_checkers_is_written_from_the_same_list(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    write_stub = importlib.import_module("write_stub")
    assert write_stub.STUB.read_text(encoding="utf-8") == write_stub.stub(), "run python tools/write_stub.py"
    assert "Any" not in write_stub.stub()


def test_exceptions_and_warnings_live_in_one_module():
    package = Path(sg.__file__).parent
    strays = []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and path.name != "errors.py":
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                if any(re.fullmatch(r"\w*(Exception|Error|Warning)|InvalidInput", base) for base in bases):
                    strays.append(f"{path.relative_to(package)}: {node.name}")
    assert strays == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "howto").glob("*.md")), ids=lambda path: path.stem)
def test_how_to_pages_use_public_names_alone(page):
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    imported = re.findall(r"^\s*(?:from|import) (sparsegauge\.\S+)", code, re.MULTILINE)
    assert set(imported) <= {"sparsegauge.cli"}
    assert set(re.findall(r"\bsg\.(\w+)", code)) <= {*sg.__all__, "torch"}


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'gdss'"):
        sg.gdss  # noqa: B018


def test_errors_are_what_callers_already_catch():
    assert issubclass(sg.InvalidInput, ValueError)
    assert issubclass(sg.MissingExtra, ImportError)
    assert all(issubclass(e, sg.SparsegaugeError) for e in (sg.InvalidInput, sg.MissingExtra, sg.StaleStudy))


@pytest.mark.parametrize("name", [n for n in sg.__all__ if n != "__version__"])
def test_everything_public_is_documented(name):
    assert len(inspect.getdoc(getattr(sg, name)) or "") > 20


MOST_PARAMETERS = 8


def functions_with_many_parameters(path):
    """Return the names of the functions of a module that take more parameters than a reader keeps in mind."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len([name for name in names if name not in ("self", "cls")]) > MOST_PARAMETERS:
                found.add(node.name)
    return found


def test_only_public_functions_and_commands_have_many_parameters():
    """Elsewhere, what belongs together is an object. Kernels are counted by the next test."""
    package = Path(sg.__file__).parent
    modules = [path for path in package.rglob("*.py") if not {"_compiled", "cli"} & set(path.parts)]
    found = {name for path in modules for name in functions_with_many_parameters(path)}
    assert {"recover", "standard_error"} <= found <= set(sg.__all__)
    verbs = list((package / "cli").glob("*.py"))
    many = {name for path in verbs for name in functions_with_many_parameters(path)}
    assert many <= {path.stem for path in verbs}


MOST_KERNELS_WITH_MANY_PARAMETERS = 32  # a new one bundles its arrays and numbers in a `record`


def test_kernels_with_many_parameters_do_not_become_more():
    """Kernels of short rows get arrays and numbers one by one: to make a record takes longer than the row."""
    kernels = list((Path(sg.__file__).parent / "_compiled").glob("*.py"))
    assert sum(len(functions_with_many_parameters(path)) for path in kernels) <= MOST_KERNELS_WITH_MANY_PARAMETERS


def test_the_default_order_is_written_once():
    """`metrics/gds.py` alone says which order is the default."""
    from sparsegauge.metrics.gds import DEFAULT_ORDER

    assert sg.METRICS["gds"].defaults == {"order": DEFAULT_ORDER}
    for function in (sg.gds, sg.normalised_gds, sg.trade_off):
        assert inspect.signature(function).parameters["order"].default == DEFAULT_ORDER
    package = Path(sg.__file__).parent
    written = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"order: float = [0-9]", path.read_text(encoding="utf-8"))
    }
    assert not written


# what is decided by the caller: the kind that `set_output` asks for, and the default of a declared option
ANY_KIND = {("CoefficientNormaliser", "transform")} | {
    ("Solver", name) for name in ("real", "count", "choice", "choices", "flag", "order_option")
}


def public_functions():
    """Yield the public functions and methods, each with the name of its class or with nothing."""
    for name in sg.__all__:
        value = getattr(sg, name)
        if inspect.isfunction(value):
            yield ("", name), value
        elif inspect.isclass(value):
            for key, member in vars(value).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if inspect.isfunction(function) and (not key.startswith("_") or key == "__call__"):
                    yield (name, key), function


def test_public_functions_say_what_they_return():
    untyped = {names for names, function in public_functions() if function.__annotations__.get("return") == "Any"}
    assert untyped == ANY_KIND
    assert len(list(public_functions())) > 150
