"""The exact privacy loss of a whole transcript: one record is replaced, and all answers are those
that came before. The noise has to hide by how much what it was asked about moves.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import dpbandits as dpb
from dpbandits.noise.protocol import Noise, Relay


class Listening(Relay, Noise):  # type: ignore[misc]
    """Answers as it was scripted, or by simulated noise, and keeps what it was asked."""

    kind = "simulated"

    def __init__(self, script: list[Any] | None = None) -> None:
        self.inner, self.script = dpb.SimulatedNoise(11), script or []
        self.asked, self.answers = list[tuple[Any, Any]](), list[Any]()

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.asked.append((exact[0] if exact else 0, (verb, *cost.values())))
        at = len(self.answers)
        is_scripted = at < len(self.script)
        answer = self.script[at] if is_scripted else getattr(self.inner, verb)(*exact, **cost)
        self.answers.append(answer)
        return answer

    def state(self) -> dict[str, Any]:
        return self.inner.state()


Play = Callable[[list[Any], Noise], Any]
"""Plays these records with this noise, and returns all that is public."""


def largest_loss(
    play: Play,
    records: Sequence[Any],
    others: Sequence[Any] = (0.0, 1.0),
    *,
    at: Sequence[int] | None = None,
    power: int = 1,
    most: float = 1.0,
) -> Any:
    """Return the largest loss of a record: of pure privacy the logarithm of how much likelier the
    transcript is with another one; with power=2 its zCDP, a Rényi divergence over its order.

    Args:
        others: what a record is replaced by.
        at: the records that are replaced; by default all of them.
        most: what was promised: the first loss above it is returned. It is infinite where something
            public differs.
    """
    noise, found = Listening(), Fraction(0)
    public = play(list(records), noise)
    for place in range(len(records)) if at is None else at:
        for other in others:
            if other == records[place]:
                continue
            heard = Listening(noise.answers)
            again = play([*records[:place], other, *records[place + 1 :]], heard)
            costs = [[cost for _, cost in each.asked] for each in (noise, heard)]
            if again != public or costs[0] != costs[1]:
                return float("inf")
            loss = Fraction(0)
            for (exact, (_, sensitivity, price, *_)), (moved, _) in zip(
                noise.asked, heard.asked, strict=True
            ):
                pairs = zip(np.ravel(exact).tolist(), np.ravel(moved).tolist(), strict=True)
                shift = max(abs(int(a) - int(b)) for a, b in pairs)
                loss += Fraction(price) * Fraction(shift, sensitivity) ** power
            found = max(found, loss)
            if found > most:
                return found
    return found
