"""The exact privacy loss of a whole transcript: one record is replaced, and all answers are those
that came before. The noise has to hide by how much what it was asked about moves.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import dpbandits as dpb
from dpbandits.checks.tape import Recorder
from dpbandits.core.errors import Diverged
from dpbandits.noise.protocol import Noise

Play = Callable[[list[Any], Noise], Any]
"""Plays these records with this noise, and returns all that is public."""


def largest_loss(
    play: Play,
    records: Sequence[Any],
    others: Sequence[Any] = (0.0, 1.0),
    *,
    at: Sequence[int] | None = None,
    most: float = 1.0,
) -> Any:
    """Return the largest loss of a record: of pure privacy the logarithm of how much likelier the
    transcript is with another one; of Gaussian noise its zCDP, a Rényi divergence over its order.

    Args:
        others: what a record is replaced by.
        at: the records that are replaced; by default all of them.
        most: what was promised: the first loss above it is returned. It is infinite where something
            public differs.
    """
    first, found = Recorder(11), Fraction(0)
    public = play(list(records), first)
    for place in range(len(records)) if at is None else at:
        for other in others:
            if other == records[place]:
                continue
            heard = Recorder(11, script=first.draws, tosses=first.thrown)
            try:
                again = play([*records[:place], other, *records[place + 1 :]], heard)
            except (Diverged, dpb.NotRecordedError):
                return float("inf")
            counts = [(len(each.draws), each.coins) for each in (first, heard)]
            if again != public or counts[0] != counts[1]:
                return float("inf")
            found = max(found, heard.loss())
            if found > most:
                return found
    return found
