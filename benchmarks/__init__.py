"""Benchmarks: ratios measured side by side in one run. They print tables and never fail a test run."""
