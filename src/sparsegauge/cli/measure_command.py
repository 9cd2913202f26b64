"""The verb `measure` as it is parsed: --center may stand without a value."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

from .plain_flags import Command


class MeasureCommand(Command):
    """The verb, whose --center may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed, with the value of --center filled in."""
        return super().parse_args(ctx, fill_in_center(args))


def fill_in_center(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with "mean" behind a --center that a path, another option or nothing follows."""
    filled = []
    for k, argument in enumerate(arguments):
        filled.append(argument)
        if argument != "--center":
            continue
        following = arguments[k + 1] if k + 1 < len(arguments) else "-"
        if following.startswith("-") or os.path.lexists(following) or glob.has_magic(following):
            filled.append("mean")
    return filled
