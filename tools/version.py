"""Print the version, whose only home is the package itself."""

import re
from pathlib import Path

text = (Path(__file__).parents[1] / "src/sparsegauge/__init__.py").read_text(encoding="utf-8")
print(re.search(r'^__version__ = "(.+)"', text, re.MULTILINE)[1])
