"""One self-contained HTML page from results, and the pictures that other verbs write.

A file a section works out plain data (`demos.py`, `ranking.py`, `laws.py`, `recoveries.py`, `study.py`), `contents.py`
gathers them, `figures.py` and `recovery_figures.py` draw data as SVG, `typeset.py` sets formulas, `page.py` puts all
that into the templates next to it, and `destination.py` writes the page. Data flows that way only.
"""
