"""The interactive local page: drop in a signal, move the order, watch a recovery converge.

`model.py`, `standing.py` and `experiment.py` turn a state into numbers and know nothing of a page; `recovery_run.py`
follows a recovery in a process of its own; `upload.py` turns a file into signals, which `dropper.py` receives;
`drawings.py`, `signal_panel.py`, `recovery_panel.py` and `view.py` show them; `server.py` serves the page, and
`guard.py` decides which requests it answers.
"""
