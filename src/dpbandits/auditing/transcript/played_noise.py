"""The noise of the runs that the transcript level writes down."""

from collections import Counter
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from dpbandits.core.errors import Foreign
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay
from dpbandits.noise.sources import SimulatedNoise

AGAIN = 32
"""How often noise for the same value is pushed in one release before it falls freely. Code that
redraws until it likes the noise would otherwise wait for ever.
"""

PUSHED = 512
"""How many draws of one release are pushed, whatever their values."""

PATIENCE = 20_000
"""How often one release may ask for noise or coins. Code that asks more often may never end."""

RARE = 2.0**-30
"""The chance of a coin that is pushed to an end."""

WITHOUT_END = (
    f"A release asked for noise more than {PATIENCE:,} times, and may have gone on for ever: what "
    "it waits for did not come."
)
TOO_LARGE = "It asks for noise of a scale that is larger than any float: nobody can draw it here."


@final
class PlayedNoise(Relay):
    """Seeded noise. It falls as it does (`up` is None), or it is pushed: it lies at least a unit to
    one side of the exact value, and coins are often next to 0 or to 1. Such outcomes are possible
    and tell much.

    A release that redraws is not kept waiting for what pushed noise never is: see `AGAIN`.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, seed: int, *, up: bool | None = None) -> None:
        self._plain = SimulatedNoise(seed)
        self._sign = 0 if up is None else 1 if up else -1
        self.begin()

    def begin(self) -> None:
        """The next release begins."""
        self._asked, self._values = 0, Counter[tuple[Any, ...]]()

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        """Raises Foreign: a release asks for ever, or for what cannot be drawn."""
        pushed = self._to_be_pushed(verb, exact)
        try:
            if pushed and verb == "select":
                # the action least likely to be named, or the likeliest
                return int(np.argmax(exact[0]) if self._sign > 0 else np.argmin(exact[0]))
            if pushed and verb in ("laplace", "gaussian", "joint"):
                return self._pushed(verb, exact[0], **price)
            return getattr(self._plain, verb)(*exact, **price)
        except OverflowError:
            raise Foreign(TOO_LARGE) from None

    def _to_be_pushed(self, verb: str, exact: tuple[Any, ...]) -> bool:
        """Whether the noise of this question is pushed."""
        self._count()
        if not self._sign or self._asked > PUSHED:
            return False
        same = verb, *(tuple(np.ravel(value).tolist()) for value in exact)
        self._values[same] += 1
        return self._values[same] <= AGAIN

    def _count(self) -> None:
        self._asked += 1
        if self._asked > PATIENCE:
            raise Foreign(WITHOUT_END)

    def _pushed(self, verb: str, value: Any, *, sensitivity: int, **price: Fraction) -> Any:
        """Every value far to one side: the largest move is then the record's own."""
        noises = getattr(self._plain, verb)(
            [0] * len(value) if verb == "joint" else 0, sensitivity=sensitivity, **price
        )
        far = self._sign * (sensitivity + int(np.max(np.abs(noises))))
        return tuple(int(v) + far for v in value) if verb == "joint" else value + far

    def uniform(self) -> float:
        self._count()
        if not self._sign or self._asked > PUSHED:
            return self._plain.uniform()
        coin, end = self._plain.uniform(), self._plain.uniform()
        return coin * RARE if end < 1 / 3 else 1 - max(coin, 0.5) * RARE if end < 2 / 3 else coin

    def state(self) -> dict[str, Any]:
        return self._plain.state()
