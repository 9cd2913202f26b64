"""The criteria of a sparsity metric: which of them a metric satisfies, proved, or refuted with counterexamples."""
