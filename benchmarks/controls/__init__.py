"""Controls of the auditor, and exact losses: `python -m benchmarks.controls`."""
