"""Noise that adds nothing, to see what a mechanism sums and asks."""

from typing import Any, ClassVar

from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay


class Silence(Relay):
    kind: ClassVar[NoiseKind] = "simulated"

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        return exact[0]

    def threshold(self, **cost: Any) -> int:
        return 0

    def exceeds(self, value: Any, bar: int, threshold: int, **cost: Any) -> bool:
        return bool(value >= bar + threshold)
