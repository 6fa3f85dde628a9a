"""What replays prove, and why they may prove nothing."""

from __future__ import annotations


class Leak(Exception):
    """A replay diverged. certain: it drew nothing until then, so its answers are a function of the
    rewards and no epsilon holds.
    """

    def __init__(self, message: str, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class Foreign(Exception):
    """Replays of this subject prove nothing: the same rewards, noise and coins do not give the same
    run, or it cannot be said what other rewards would need.
    """


class Unclear(Foreign):
    """Of this neighbour replays prove nothing; of others they may."""


OWN_COINS = (
    "It tosses coins that no replay can script, not from the noise source it is given: its "
    "replays prove nothing."
)
UNEVEN = "One changed record changes how often noise is drawn; what that tells, replays cannot say."
TIMES = 20
"""Times a pair is replayed again before anything is said of it. A coin of chance p that fell in
none of the replays of the unchanged table and in all of the changed one's did so with probability
pⁿ(1 − p)ⁿ, n = 21: below 10⁻¹² for every p.
"""
