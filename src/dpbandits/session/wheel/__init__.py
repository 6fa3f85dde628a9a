"""The turn of a session: what is asked for, what is told, and how a decision came about."""
