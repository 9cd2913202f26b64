"""What this processor can do."""

from __future__ import annotations

from .bits import processor_level
from .vocabulary import entry


@entry
def level() -> int:
    """Return the level of x86-64 that this processor and its system know: 3 has AVX2, 4 AVX-512; 1 elsewhere."""
    return processor_level()
