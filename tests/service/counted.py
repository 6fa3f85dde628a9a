"""Noise that passes for a secure one, whose draws come from a seed and are counted."""

from typing import Any

import dpbandits as dpb
from dpbandits.noise.protocol import Relay


class Counted(Relay):
    """drawn: how often it was asked."""

    kind = "secure"

    def __init__(self, seed: int = 1) -> None:
        self.source, self.drawn = dpb.SimulatedNoise(seed), 0

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.drawn += 1
        return getattr(self.source, verb)(*exact, **cost)

    def state(self) -> dict[str, Any]:
        return {"kind": "secure"}


class Failing(Counted):
    """Fails so many times, from the so-manieth draw on. Both may be set anew at any time."""

    def __init__(self, after: int = 0, times: int = 0) -> None:
        super().__init__()
        self.after, self.times = after, times

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if self.drawn >= self.after and self.times:
            self.times -= 1
            raise ArithmeticError("no noise")
        return super().ask(verb, *exact, **cost)


class Watching(Counted):
    """Notes the sums that it is asked about, and at what cost."""

    def __init__(self) -> None:
        super().__init__()
        self.sums, self.prices = list[int](), set[Any]()

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if verb == "laplace":
            self.sums.append(int(exact[0]))
            self.prices.add((cost["epsilon"], cost["sensitivity"]))
        return super().ask(verb, *exact, **cost)
