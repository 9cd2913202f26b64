#!/usr/bin/env python3
"""Print the version, which is written in the package and nowhere else."""

import re
from pathlib import Path

text = (Path(__file__).parents[1] / "src/sparsegauge/__init__.py").read_text(encoding="utf-8")
match = re.search(r'^__version__ = "(.+)"', text, re.MULTILINE)
assert match is not None
print(match[1])
