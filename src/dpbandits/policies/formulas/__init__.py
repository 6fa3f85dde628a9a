"""Indices, divergences and schedules in plain arithmetic: the simulator compiles every function of
this folder as it stands.
"""
