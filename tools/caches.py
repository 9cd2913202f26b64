#!/usr/bin/env python3
"""Print where Python keeps its bytecode in the package's folders: what is there must not be installed."""

from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sparsegauge"
folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__")]
print("\n".join(sorted((folder.relative_to(SOURCE) / "__pycache__").as_posix() for folder in folders)))
