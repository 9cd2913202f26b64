"""Rebuild what the documentation and the package take from the auditor: `make pages`, a few minutes.

`python docs/build.py --pages` leaves the audits as they are and does the second part alone, in seconds.

1. the audits that ship with the package (src/sparsegauge/criteria/audits.json);
2. the tables and pictures in docs/choosing.md, docs/paper.md, docs/order.md and docs/recovery.md, between their
   markers.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import choosing_pictures
import choosing_tables
import order_pictures
import order_tables
import paper_tables

import recovery_tables
import sparsegauge as sg
from sparsegauge.criteria.auditor import Audit

DOCS = Path(__file__).parent
AUDITS = DOCS.parent / "src" / "sparsegauge" / "criteria" / "audits.json"
ORDERS = (1, 1.25, 1.5, 1.75, 2.5, 3, 4, 5, 6, 7, 8, 10, 20, 100, math.inf)
# beside the defaults: values of the parameters on the other side of a boundary
VARIANTS: list[tuple[str, dict[str, float]]] = [
    ("neg_lp", {"p": 2.0}),
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
    parser = argparse.ArgumentParser(description="Rebuild the stored audits, then the pages.")
    parser.add_argument("--pages", action="store_true", help="only the pages, from the audits as they are stored")
    if not parser.parse_args().pages:
        audit_everything()
    write_pages()


def audit_everything() -> None:
    audits = [sg.audit(name) for name in sg.METRICS]
    audits += [sg.audit("gds", order=order) for order in ORDERS]
    audits += [sg.audit(name, **parameters) for name, parameters in VARIANTS]
    write_audits(audits)


def write_audits(audits: list[Audit]) -> None:
    for audit in audits:
        for key, verdict in audit.verdicts.items():
            if verdict.counterexample and not sg.verify(verdict.counterexample):
                raise SystemExit(f"{audit.metric} {audit.parameters}: the counterexample to {key} does not verify")
    AUDITS.write_text("[\n" + ",\n".join(audit.to_json() for audit in audits) + "\n]\n", encoding="utf-8")


def write_pages() -> None:
    for name, generated in {
        "choosing.md": choosing_tables.parts(sg.stored_audits()),
        "paper.md": paper_tables.parts(),
        "order.md": order_tables.parts(),
        "recovery.md": recovery_tables.parts(),
    }.items():
        page = DOCS / name
        page.write_text(choosing_tables.fill(page.read_text(encoding="utf-8"), generated), encoding="utf-8")
    choosing_pictures.draw_all(DOCS)
    order_pictures.draw_all(DOCS)


if __name__ == "__main__":
    main()
