"""Matroid bandits: `python -m benchmarks.matroid`."""
