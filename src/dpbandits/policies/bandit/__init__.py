"""Policies that play one arm a round and see its reward."""
