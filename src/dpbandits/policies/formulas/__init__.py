"""Indices, divergences and schedules in plain arithmetic: what is called here in Python is compiled
as it stands.
"""
