"""Compiled loops where a round shows several rewards: whole records, and super arms."""
