"""Seven vectors, the private policies on matroids, and a way to play one on a tape."""

from typing import Any

import numpy as np

import dpbandits as dpb
from dpbandits.checks.tape import Tape
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPKLMAT, DPTSMAT, DPUCBMAT
from dpbandits.simulation.plain import Path as Run
from dpbandits.simulation.plain import play_events

SEVEN = dpb.LinearMatroid(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 0, 0), (0, 0, 0)]
)
SEVEN_MEANS = np.array([0.80, 0.75, 0.60, 0.20, 0.30, 0.40, 0.70])
PRIVATE: tuple[type[Any], ...] = (DPUCBMAT, DPTSMAT, DPKLMAT)


def on_tape(policy: Any, tape: Tape, rounds: int) -> Run:
    marks = np.arange(1, rounds + 1)
    return play_events(
        policy, tape, rounds, marks, noise=SimulatedNoise(3), seed=4, rng=np.random.default_rng(5)
    )
