"""Indices, divergences and schedules as scalar functions; the simulator compiles every function of
this folder as it is.
"""
