"""Compiled loops, one kind of policy a file."""
