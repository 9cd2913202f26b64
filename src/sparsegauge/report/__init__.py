"""One self-contained HTML page from results.

`demos.py` measures and gives plain data, `figures.py` draws data as SVG, `page.py` puts both into the templates next to
it, and `destination.py` writes the page. Data flows that way only.
"""
