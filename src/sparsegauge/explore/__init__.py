"""The interactive local page: drop in a signal, move the order, watch a recovery converge.

`model.py`, `ranking.py` and `trial.py` turn a state into numbers and know nothing of a page; `upload.py` turns a file
into signals; `drawings.py`, `measuring.py`, `recovering.py` and `view.py` show them; `server.py` serves the page.
"""
