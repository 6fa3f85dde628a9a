"""Compiled loops, one kind of policy per module; `players` maps policies to loops."""
