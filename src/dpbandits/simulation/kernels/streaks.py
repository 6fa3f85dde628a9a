"""KL-UCB's arm while it stays the same: one divergence a round in place of every arm's index.

An index grows with the level alone as long as its arm is not played. So the others' indices at a
later round, the bar, lie above their indices until then, and the played arm is the largest as long
as its own is above the bar: n·kl(mean, bar) < level, at a level of an earlier round, which is no
larger. Where that cannot be told, all indices are computed. The decisions are those of all indices,
bit for bit: SLACK and ROUNDING are larger than an index's rounding errors.
"""

from __future__ import annotations

import math
from typing import Any

from dpbandits.simulation.parts.jit import clip01, inline, kl, kl_level, kl_ucb

ARM, BAR, LEVEL, UNTIL, SPAN = range(5)
SIZE = 5
"""The arm that was played; the bar, from what level on and until which round it serves; for how
many rounds the next one is to serve.
"""

SLACK, ROUNDING = 1e-11, 1e-14
"""Of indices, and of divergences."""


@inline
def is_still_best(t: int, streak: Any, means: Any, n: Any) -> bool:
    """Whether the arm played before has the largest index at round t for sure."""
    if t > streak[UNTIL]:
        return False
    arm = int(streak[ARM])
    mean, bar = clip01(means[arm]), streak[BAR]
    if mean >= bar:
        return True
    return bar < 1.0 and kl(mean, bar) + ROUNDING < streak[LEVEL] / n[arm]


@inline
def watch(t: int, arm: int, streak: Any, means: Any, n: Any, constant: float) -> None:
    """All indices were computed for round t, and `arm` had the largest. Where it had so before,
    too, a bar is made.
    """
    again = arm == streak[ARM]
    # a bar that ran out was too near in time, one that was met too far
    if again and t > streak[UNTIL]:
        streak[SPAN] = min(2.0 * streak[SPAN], 1e15)
    elif streak[UNTIL] > 0.0:
        streak[SPAN] = max(1.0, 0.5 * streak[SPAN])
    streak[ARM], streak[UNTIL] = arm, 0.0
    if again:
        until = t + int(streak[SPAN])
        level, bar = kl_level(math.log(until), constant), 0.0
        for other in range(len(n)):
            if other != arm:
                bar = max(bar, kl_ucb(means[other], n[other], level))
        streak[BAR], streak[UNTIL] = bar + SLACK, until
        streak[LEVEL] = kl_level(math.log(t), constant)
