"""Compiled arithmetic on clean rows of magnitudes.

Nothing here checks its input: `sparsegauge._arrays` is the only gate. Every kernel releases the GIL and runs on one
thread; `threads` spreads them over a pool of our own.
"""
