"""Noise that passes for a secure one, whose draws are counted and come from a seed."""

from __future__ import annotations

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
