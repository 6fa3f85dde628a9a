"""Host 2: exact simulation. Fast where the policy allows it, the same law always."""

from dpbandits.simulation.plain import Path, play_events, play_rounds
from dpbandits.simulation.runs import Runs
from dpbandits.simulation.simulate import default_checkpoints, play_plain, simulate

__all__ = [
    "Path",
    "Runs",
    "default_checkpoints",
    "play_events",
    "play_plain",
    "play_rounds",
    "simulate",
]
