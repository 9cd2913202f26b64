"""What may be written to a terminal."""

from __future__ import annotations


def printable(text: object) -> str:
    """Return a name from outside as it may be printed: without control characters or broken bytes.

    File names, columns and stores may hold escape sequences that recolour a terminal, retitle it, or make it type.
    """
    written = str(text)
    if written.isprintable():
        return written
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in written)
