"""Compiled loops, one kind of policy a module; `players` says which loop plays a policy."""
