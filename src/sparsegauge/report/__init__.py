"""Pages from results: one self-contained HTML page per file.

Each section is computed as plain data in a file of its own; `sections.py` gathers them, `page.py` puts them into the
templates. `measurement_page.py` writes the page of `sparsegauge measure --plot`.
"""
