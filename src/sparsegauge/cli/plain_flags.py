"""Help in plain words: "--json", not "--json <bool>"; "--rate NUMBER", not "--rate <float>"; "FILE...", once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

WORDS = {"float": "NUMBER", "int": "N", "str": "TEXT", "Path": "FILE"}


def _with_plain_types(params: list[Any]) -> list[Any]:
    """Show flags without a type, options with a word for theirs, and arguments with their name alone."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None
        elif param.metavar is None and hasattr(param, "bare_type"):
            kind = param.bare_type().removeprefix("list[").removesuffix("]")
            param.metavar = WORDS.get(kind)
    return params


class Command(TyperCommand):
    """A verb with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, the one for help too."""
        return _with_plain_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the verb in the line of usage: each argument as its help calls it."""
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(argument.metavar or argument.name.upper()) for argument in arguments)]


class Group(TyperGroup):
    """A verb of several verbs, with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, the one for help too."""
        return _with_plain_types(super().get_params(ctx))
