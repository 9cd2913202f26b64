"""Measure the signals in files: what `sparsegauge measure` prints and draws."""
