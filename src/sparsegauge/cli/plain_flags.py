"""Help that shows flags without a type: "--json", not "--json <bool>"."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _without_types(params: list[Any]) -> list[Any]:
    """Take the type of flags away, that of --help too."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class Command(TyperCommand):
    """A verb with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, the one for help too."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A verb of several verbs, with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, the one for help too."""
        return _without_types(super().get_params(ctx))
