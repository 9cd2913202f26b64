"""Data to figures, and nothing else: no metric is computed and no file is read here.

`svg.py` and `charts.py` draw for pages, in the colours of the page; `style.py` and the others draw pictures.
"""
