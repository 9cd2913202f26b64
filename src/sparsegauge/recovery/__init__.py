"""Sparse signals from few measurements: problems, solvers, certificates."""
