"""Sparsity metrics: functions from an array to a number, larger for sparser signals."""
