"""Exact simulation, compiled where the policy allows it, always with the same law."""

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
