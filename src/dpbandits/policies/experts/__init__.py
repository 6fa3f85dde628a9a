"""Policies with full information: every round shows the rewards of all actions."""
