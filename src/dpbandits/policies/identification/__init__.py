"""Policies that name the best arm."""
