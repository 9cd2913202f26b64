"""Write src/sparsegauge/__init__.pyi, which tells type checkers and editors what the lazily loaded names are.

The names are those of `_PUBLIC` in __init__.py. A metric gets the signature that its own object declares; every other
name is imported from its module.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import sparsegauge as sg
from sparsegauge.metrics.metric import OPTIONS, Metric

STUB = Path(sg.__file__).with_suffix(".pyi")
HEAD = '''"""{doc}"""

# Written by tools/write_stub.py: edit __init__.py, then run it.

from typing import Unpack

from numpy.typing import ArrayLike

{imports}

__version__: str

{functions}
'''


def stub() -> str:
    """Return the text of the stub."""
    public: dict[str, str] = vars(sg)["_WHERE"]
    metrics = {
        name: metric for name in public if isinstance(metric := getattr(getattr(sg, name), "metric", None), Metric)
    }
    imported = sorted((module, _kind(name), name) for name, module in public.items() if name not in metrics)
    imports = [f"from .{module} import {name} as {name}" for module, _, name in imported]
    imports.insert(
        imports.index("from .metrics.metric import Metric as Metric") + 1, "from .metrics.metric import Options, Values"
    )
    functions = map(declaration, metrics.values())
    return HEAD.format(doc=sg.__doc__, imports="\n".join(imports), functions="\n".join(functions))


def _kind(name: str) -> int:
    """Return where the linter sorts a name: constants first, then classes, then functions."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2


def declaration(metric: Metric) -> str:
    """Return the public function of a metric as one line of a stub; the options of all metrics are in `Options`."""
    own = []
    for parameter in inspect.signature(metric.function).parameters.values():
        if parameter.name in OPTIONS or parameter.name == "x":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in own:
            own.append("*")
        default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        own.append(f"{parameter.name}: {parameter.annotation} = {default}")
    arguments = ", ".join(["x: ArrayLike", *own, "**options: Unpack[Options]"])
    return f"def {metric.name}({arguments}) -> Values: ..."


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
