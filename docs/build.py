"""Rebuild what the documentation and the package take from the auditor: `make pages`, a few minutes.

1. the audits that ship with the package (src/sparsegauge/criteria/audits.json);
2. the tables and pictures in docs/choosing.md and docs/paper.md, between their markers.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import sparsegauge as sg
from sparsegauge.criteria.audit import Audit

DOCS = Path(__file__).parent
AUDITS = DOCS.parent / "src" / "sparsegauge" / "criteria" / "audits.json"
ORDERS = (1, 1.25, 1.5, 1.75, 2.5, 3, 4, 5, 6, 7, 8, 10, 20, 100)
# beside the defaults: values of the parameters on the other side of a boundary
VARIANTS: list[tuple[str, dict[str, float]]] = [
    ("neg_tanh", {"b": 2.0}),
    ("pq_index", {"p": 1.0, "q": 2.0}),
    ("pq_index", {"p": 2.0, "q": 4.0}),
    ("atkinson", {"epsilon": 1.0}),
    ("atkinson", {"epsilon": 2.0}),
    ("box_cox", {"l": 1.0}),
    ("pfgi1", {"p": 0.5}),
    ("ggi", {"a": 0.5}),
    ("u_theta", {"theta": 0.75}),
    ("l0_eps", {"eps": 2.0}),
]


def main() -> None:
    audits = [sg.audit(name) for name in sg.METRICS]
    audits += [sg.audit("gds", order=order) for order in ORDERS]
    audits += [sg.audit(name, **parameters) for name, parameters in VARIANTS]
    write_audits(audits)


def write_audits(audits: list[Audit]) -> None:
    for audit in audits:
        for key, verdict in audit.verdicts.items():
            if verdict.certificate and not sg.verify(verdict.certificate):
                raise SystemExit(f"{audit.metric} {audit.parameters}: the certificate of {key} does not verify")
    AUDITS.write_text(json.dumps([asdict(audit) for audit in audits], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
