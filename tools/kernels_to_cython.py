"""Translate a unit of kernels, which are plain annotated Python, into one Cython file in pure-Python mode.

    python tools/kernels_to_cython.py even.py powers.py ... -o unit.py

Kernels (`src/sparsegauge/_compiled/*.py`) use a small part of Python: numbers, arrays, loops and calls of other
kernels. Here annotations become C types, constants are written out, `math` becomes the C library's, and every function
becomes a C function that needs no interpreter. All files of a unit end up in one C file, so that the C compiler can
inline across them. What this translator does not know stays as it is, and Cython refuses whatever would need a Python
object.
"""

from __future__ import annotations

import argparse
import ast
import math
from pathlib import Path

from kernel_types import Signatures, local_types

DIRECTIVES = {
    "boundscheck": False,
    "cdivision": True,
    "cpow": True,
    "freethreading_compatible": True,
    "infer_types": False,
    "initializedcheck": False,
    "language_level": 3,
    "overflowcheck": False,
    "wraparound": False,
}
TYPES = {
    "float": "cython.double",
    "int": "cython.Py_ssize_t",
    "bool": "cython.bint",
    "Word": "cython.ulonglong",
    "Values": "cython.const[cython.double][::1]",
    "Table": "cython.const[cython.double][:, :]",
    "FloatTable": "cython.const[cython.float][:, :]",
    "Floats": "cython.const[cython.float][::1]",
    "Array": "cython.double[::1]",
    "Matrix": "cython.double[:, ::1]",
    "Cube": "cython.double[:, :, ::1]",
    "Indices": "cython.longlong[::1]",
    "IndexTable": "cython.longlong[:, ::1]",
    "Words": "cython.ulonglong[::1]",
}
LANES = 8
VOCABULARY = "vocabulary"  # the module of type names and decorators, which mean something to this translator only
FROM_C = "bits"  # the module whose functions are written in C, in the header of the same name
SUFFIX = "_in_c"  # of the C function behind an entry


class TranslationError(SystemExit):
    """Say what is wrong with a kernel, and where."""

    def __init__(self, path: Path, node: ast.AST | SyntaxError, message: str) -> None:
        super().__init__(f"{path}:{getattr(node, 'lineno', 1)}: {message}")


def c_type(annotation: ast.expr, *, argument: bool = False) -> ast.expr:
    """Return the C type that an annotation stands for; names of records stay."""
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return parsed("cython.void")
    if isinstance(annotation, ast.Name):
        if annotation.id == "Lanes":
            return parsed("cython.p_double" if argument else f"cython.double[{LANES}]")
        return parsed(TYPES.get(annotation.id, annotation.id))
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        parts = [c_type(part) for part in annotation.slice.elts]
        return ast.Subscript(annotation.value, ast.Tuple(parts, ast.Load()), ast.Load())
    return annotation


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file, or say where its syntax is wrong."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    except SyntaxError as error:
        raise TranslationError(path, error, error.msg) from None


def parsed(source: str) -> ast.expr:
    """Return the expression that a piece of source is."""
    return ast.parse(source, mode="eval").body


class Body(ast.NodeTransformer):
    """Translate the body of one function."""

    def __init__(self, path: Path, unit: Unit) -> None:
        self.path, self.constants, self.entries, self.uses = path, unit.constants, unit.entries, unit.uses
        self.signatures, self.records = unit.signatures, unit.records

    def locals(self, function: ast.FunctionDef) -> list[tuple[str, str]]:
        """Return the local variables that are not annotated, with the types that their values have."""
        try:
            return local_types(function, self.signatures, self.records, self.constants)
        except TypeError as error:
            raise TranslationError(self.path, function, f"{function.name}: {error}") from None

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.constants and isinstance(node.ctx, ast.Load):
            return number(self.constants[node.id])
        if node.id in self.entries:
            return ast.Name(node.id + SUFFIX, node.ctx)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "math":
            if node.attr in ("inf", "nan", "pi"):
                return ast.Name({"inf": "INFINITY", "nan": "NAN", "pi": "M_PI"}[node.attr], ast.Load())
            self.uses.add(node.attr)
            return ast.Name(f"c_{node.attr}", ast.Load())
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in ("int", "float"):
            return ast.Call(parsed("cython.cast"), [parsed(TYPES[node.func.id]), self.visit(node.args[0])], [])
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Div):  # in C a quotient of whole numbers would be whole
            if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
                return number(left.value / right.value)  # type: ignore[arg-type, operator]
            left = ast.Call(parsed("cython.cast"), [parsed("cython.double"), left], [])
        return ast.BinOp(left, node.op, right)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        assert isinstance(node.target, ast.Name)
        annotation = c_type(node.annotation)
        if isinstance(node.annotation, ast.Name) and node.annotation.id == "Lanes":
            start = "\n".join(f"{node.target.id}[{k}] = 0.0" for k in range(LANES))
            return [ast.AnnAssign(node.target, annotation, None, 1), *ast.parse(start).body]
        value = None if node.value is None else self.visit(node.value)
        return ast.AnnAssign(node.target, annotation, value, 1)


def number(value: float | int) -> ast.expr:
    """Return a constant as a literal."""
    if isinstance(value, float) and math.isinf(value):
        return ast.Name("INFINITY", ast.Load())
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def decorators(function: ast.FunctionDef) -> set[str]:
    """Return the names of a function's decorators."""
    return {node.id for node in function.decorator_list if isinstance(node, ast.Name)}


def translate_function(path: Path, function: ast.FunctionDef, body: Body) -> list[ast.stmt]:
    """Return the C function, and the Python function that calls it without the GIL if it is an entry."""
    arguments = function.args.args
    if function.returns is None or any(argument.annotation is None for argument in arguments):
        raise TranslationError(path, function, f"kernel {function.name} needs a type for each argument and its result")
    kinds = decorators(function)
    entry = "entry" in kinds
    typed = [ast.arg(a.arg, c_type(a.annotation, argument=True)) for a in arguments if a.annotation is not None]
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    locals_ = [ast.AnnAssign(ast.Name(n, ast.Store()), parsed(TYPES[t]), None, 1) for n, t in body.locals(function)]
    marks = ["cython.cfunc", "cython.nogil", "cython.exceptval(check=False)"] + ["cython.inline"] * ("inlined" in kinds)
    compiled = ast.FunctionDef(
        name=function.name + SUFFIX * entry,
        args=ast.arguments([], typed, None, [], [], None, []),
        body=[*locals_, *(translated for statement in statements for translated in as_list(body.visit(statement)))],
        decorator_list=[parsed(mark) for mark in marks],
        returns=c_type(function.returns),
    )
    return [compiled, *wrapper(function, typed)] if entry else [compiled]


def as_list(node: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    """Return one statement, or several, as a list."""
    return node if isinstance(node, list) else [node]  # type: ignore[list-item]


def wrapper(function: ast.FunctionDef, typed: list[ast.arg]) -> list[ast.stmt]:
    """Return the Python function that releases the GIL, with the docstring of the kernel."""
    call = f"{function.name}{SUFFIX}({', '.join(argument.arg for argument in typed)})"
    returns = not (isinstance(function.returns, ast.Constant) and function.returns.value is None)
    types = ", ".join(
        f"{argument.arg}: {ast.unparse(argument.annotation)}" for argument in typed if argument.annotation
    )
    lines = [f"def {function.name}({types}):", f"    {ast.get_docstring(function)!r}"]
    if returns:
        assert function.returns is not None
        lines.append(f"    _result: {ast.unparse(c_type(function.returns))}")
    lines += ["    with cython.nogil:", f"        {'_result = ' if returns else ''}{call}"]
    lines += ["    return _result"] * returns
    return ast.parse("\n".join(lines)).body


class Constants(ast.NodeTransformer):
    """Write out the constants in the methods of a record, and leave the types of arguments to Python."""

    def __init__(self, constants: dict[str, float | int]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return number(self.constants[node.id]) if node.id in self.constants else node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)


def translate_record(record: ast.ClassDef, constants: dict[str, float | int]) -> ast.stmt:
    """Return a class whose attributes are C numbers and arrays."""
    fields = [
        ast.AnnAssign(f.target, c_type(f.annotation), None, 1) for f in record.body if isinstance(f, ast.AnnAssign)
    ]
    methods = [Constants(constants).visit(f) for f in record.body if isinstance(f, ast.FunctionDef)]
    body: list[ast.stmt] = [*fields, *methods]
    return ast.ClassDef(record.name, [], [], body, [parsed("cython.final"), parsed("cython.cclass")])


class Unit:
    """Kernels of several files, on the way to one."""

    def __init__(self, paths: list[Path]) -> None:
        self.trees = {path: parse_file(path) for path in paths}
        self.constants: dict[str, float | int] = {}
        self.uses: set[str] = set()
        self.from_c: set[str] = set()
        self.seen: dict[str, Path] = {}
        self.signatures: Signatures = {
            node.name: node for tree in self.trees.values() for node in tree.body if isinstance(node, ast.FunctionDef)
        }
        self.records = {
            node.name: node for tree in self.trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
        }
        self.entries = {
            node.name
            for tree in self.trees.values()
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and "entry" in decorators(node)
        }

    def statements(self) -> list[ast.stmt]:
        """Return all functions and records, in the order of the files."""
        return [out for path, tree in self.trees.items() for node in tree.body for out in self._top_level(path, node)]

    def _top_level(self, path: Path, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            return []
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(path, node)
            return []
        if isinstance(node, ast.Assign):
            self._constant(path, node)
            return []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._claim(path, node, node.name)
        if isinstance(node, ast.FunctionDef):
            return translate_function(path, node, Body(path, self))
        if isinstance(node, ast.ClassDef):
            return [translate_record(node, self.constants)]
        raise TranslationError(path, node, "a file of kernels holds imports, constants, kernels and records only")

    def _import(self, path: Path, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            if [alias.name for alias in node.names] not in (["math"], ["numpy"]):
                raise TranslationError(
                    path, node, "kernels import math, and records numpy, and nothing else as a whole"
                )
            return
        if node.level != 1 or any(alias.asname for alias in node.names):
            raise TranslationError(path, node, "kernels import names of their own package, as they are")
        if node.module == FROM_C:
            self.from_c |= {alias.name for alias in node.names}
        elif node.module != VOCABULARY and f"{node.module}.py" not in {path.name for path in self.trees}:
            raise TranslationError(path, node, f"{node.module}.py is not in this unit")

    def _constant(self, path: Path, node: ast.Assign) -> None:
        value = eval(compile(ast.Expression(node.value), str(path), "eval"), {"math": math}, dict(self.constants))
        targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
        for target, one in zip(targets, value if isinstance(value, tuple) else (value,), strict=True):
            assert isinstance(target, ast.Name)
            self._claim(path, node, target.id)
            self.constants[target.id] = one

    def _claim(self, path: Path, node: ast.stmt, name: str) -> None:
        if name in self.seen:
            raise TranslationError(path, node, f"{name} is also in {self.seen[name].name}: a unit is one C file")
        self.seen[name] = path


def translate(paths: list[Path]) -> str:
    """Return the Cython source of a unit."""
    unit = Unit(paths)
    statements = unit.statements()
    lines = [f"# cython: {', '.join(f'{name}={value}' for name, value in DIRECTIVES.items())}", "import cython"]
    lines += ["import numpy as np"] * any(isinstance(node, ast.ClassDef) for node in statements)
    lines.append("from cython.cimports.libc.math import INFINITY, NAN, M_PI")
    lines += [f"from cython.cimports.libc.math import {name} as c_{name}" for name in sorted(unit.uses)]
    if unit.from_c:
        lines.append(f"from cython.cimports.{FROM_C} import {', '.join(sorted(unit.from_c))}")
    module = ast.fix_missing_locations(ast.Module(statements, []))
    return "\n".join(lines) + "\n\n" + ast.unparse(module) + "\n"


def main() -> None:
    """Translate the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="kernels, those that are called before those that call")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.write_text(translate(arguments.files), encoding="utf-8")


if __name__ == "__main__":
    main()
