"""Mechanisms that answer questions on sums, by the sparse vector technique, and do not say sums."""
