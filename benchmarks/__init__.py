"""Speed against plain compiled loops, and tails over many runs. Not part of the tests: run `make
benchmarks`.
"""
