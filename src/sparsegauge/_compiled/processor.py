"""What this processor can do."""

from __future__ import annotations

from .bits import processor_has_v3
from .vocabulary import entry


@entry
def has_v3() -> bool:
    """Return whether this processor and its system know AVX2 and what comes with it (x86-64-v3)."""
    return processor_has_v3()
