"""Why replays may prove nothing, and how often one is repeated before anything is said of it."""

from __future__ import annotations

BY_ITSELF = (
    "It adds noise by itself, in a way that cannot be followed: pass exact values to the noise "
    "source."
)

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
