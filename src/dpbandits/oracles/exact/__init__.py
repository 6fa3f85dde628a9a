"""Arithmetic without rounding, for linear independence."""
