"""Work out the types of a kernel's local variables: whole numbers, floating-point numbers, or 64-bit words.

A variable is `float` if any value that is assigned to it is one, and `int` otherwise. That is all that kernels need.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

Signatures: TypeAlias = dict[str, ast.FunctionDef]
Records: TypeAlias = dict[str, ast.ClassDef]

ELEMENTS = {
    "Values": "float",
    "Table": "float",
    "FloatTable": "float",
    "Floats": "float",
    "Array": "float",
    "Matrix": "float",
    "Cube": "float",
    "Lanes": "float",
    "Indices": "int",
    "IndexTable": "int",
    "Words": "Word",
}
ROWS = {"Matrix": "Array", "Cube": "Matrix", "IndexTable": "Indices"}  # what one index leaves
FROM_C = {"exponent": "int", "processor_level": "int", "as_word": "Word"}  # all other functions of bits.h give floats
WHOLE = ("len", "int")


def local_types(
    function: ast.FunctionDef, signatures: Signatures, records: Records, constants: dict[str, float | int]
) -> list[tuple[str, str]]:
    """Return names and types of what a kernel assigns without an annotation."""
    known = {name: "float" if isinstance(value, float) else "int" for name, value in constants.items()}
    arguments = {a.arg: ast.unparse(a.annotation) for a in function.args.args if a.annotation is not None}
    annotated = {
        node.target.id: ast.unparse(node.annotation)
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    scope = Scope({**known, **arguments, **annotated}, signatures, records)
    assigned: dict[str, str] = {}
    changed = True
    while changed:  # until no later assignment turns a whole number into a float
        changed = False
        for name, type_ in scope.assignments(function):
            if name in arguments or name in annotated or type_ is None:
                continue
            wider = "float" if "float" in (type_, assigned.get(name)) else type_
            if assigned.get(name) != wider:
                assigned[name] = scope.types[name] = wider
                changed = True
    untyped = {name for name, _ in scope.assignments(function)} - set(assigned) - set(arguments) - set(annotated)
    if untyped:
        raise TypeError(f"cannot tell the types of {', '.join(sorted(untyped))}; annotate them")
    return sorted(assigned.items())


class Scope:
    """What is known of the names of one kernel."""

    def __init__(self, types: dict[str, str], signatures: Signatures, records: Records) -> None:
        self.types, self.signatures, self.records = types, signatures, records

    def assignments(self, function: ast.FunctionDef) -> list[tuple[str, str | None]]:
        """Return each name that is assigned, with the type of the value if it is known."""
        found: list[tuple[str, str | None]] = []
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    found += self._targets(target, node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.append((node.target.id, self.of(ast.BinOp(node.target, node.op, node.value))))
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                found.append((node.target.id, "int"))
        return found

    def _targets(self, target: ast.expr, value: ast.expr) -> list[tuple[str, str | None]]:
        if isinstance(target, ast.Name):
            return [(target.id, self.of(value))]
        if not isinstance(target, ast.Tuple):
            return []
        names = [element.id if isinstance(element, ast.Name) else "" for element in target.elts]
        if isinstance(value, ast.Tuple):
            types = [self.of(element) for element in value.elts]
        elif isinstance(value, ast.Attribute):  # M, N = A.shape
            types = ["int"] * len(names)
        else:
            types = self._results(value)
        return [pair for pair in zip(names, types or [None] * len(names), strict=True) if pair[0]]

    def _results(self, value: ast.expr) -> list[str | None]:
        """Return the types of a tuple that a kernel returns."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self.signatures:
            returns = self.signatures[value.func.id].returns
            if isinstance(returns, ast.Subscript) and isinstance(returns.slice, ast.Tuple):
                return [ast.unparse(element) for element in returns.slice.elts]
        return []

    def of(self, node: ast.expr) -> str | None:
        """Return "float", "int" or "Word", or None for what is not known yet."""
        if isinstance(node, ast.Constant):
            return "float" if isinstance(node.value, float) else "int"
        if isinstance(node, ast.Name):
            known = self.types.get(node.id)
            return "int" if known == "bool" else known
        if isinstance(node, ast.Compare | ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return "int"
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.IfExp):
            return wider(self.of(node.body), self.of(node.orelse))
        if isinstance(node, ast.Subscript):
            return self._element(node)
        if isinstance(node, ast.Attribute):
            return self._field(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        return None

    def _binary(self, node: ast.BinOp) -> str | None:
        if isinstance(node.op, ast.Div | ast.Pow):
            return "float"
        return wider(self.of(node.left), self.of(node.right))

    def _element(self, node: ast.Subscript) -> str | None:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return "int"
        whole = self.of(node.value) or ""
        if isinstance(node.slice, ast.Slice):
            return whole
        return ROWS[whole] if whole in ROWS and not isinstance(node.slice, ast.Tuple) else ELEMENTS.get(whole)

    def _field(self, node: ast.Attribute) -> str | None:
        if isinstance(node.value, ast.Name) and node.value.id == "math":
            return "float"
        record = self.records.get(self.of(node.value) or "")
        for field in record.body if record is not None else []:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id == node.attr:
                return ast.unparse(field.annotation)
        return None

    def _call(self, node: ast.Call) -> str | None:
        if not isinstance(node.func, ast.Name):
            return "float"  # of math
        name = node.func.id
        if name in WHOLE:
            return "int"
        if name in ("abs", "min", "max"):
            types = [self.of(argument) for argument in node.args]
            return "float" if "float" in types else types[0] if None not in types else None
        if name in self.signatures:
            returns = self.signatures[name].returns
            return ast.unparse(returns) if isinstance(returns, ast.Name) else None
        return "float" if name == "float" else FROM_C.get(name, "float")


def wider(one: str | None, other: str | None) -> str | None:
    """Return the type that holds both, None if one is not known yet and the other does not settle it."""
    if "float" in (one, other):
        return "float"
    if one is None or other is None:
        return None
    return "Word" if "Word" in (one, other) else "int"
