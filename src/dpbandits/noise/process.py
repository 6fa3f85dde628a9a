"""Which process draws: what was drawn before a fork is in two memories."""

from __future__ import annotations

import os
import sys


class Process:
    """Which process this is: a forked child holds a copy of all that its parent had drawn ahead,
    whatever its process id.
    """

    forks = 0  # between the first process and this one
    # OpenDP was there when this process was forked, and with it the state of its generator
    generator_is_a_copy = False
    id = os.getpid()

    @classmethod
    def forked(cls) -> None:
        cls.forks += 1
        cls.generator_is_a_copy |= "opendp" in sys.modules
        cls.id = os.getpid()

    @classmethod
    def now(cls) -> int:
        """Another number in a child than in its parent. A fork that went round Python shows by its
        id, if at all.
        """
        if cls.id != os.getpid():
            cls.forked()
        return cls.forks


if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=Process.forked)
