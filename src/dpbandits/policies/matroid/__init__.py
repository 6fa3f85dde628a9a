"""Policies that play a basis of a matroid."""
