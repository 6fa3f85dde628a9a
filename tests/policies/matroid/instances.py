"""Seven vectors, every policy on matroids, and a way to play one on a tape."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpbandits as dpb
from dpbandits.checks.tape import Tape
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPKLMAT, DPTSMAT, DPUCBMAT, KLOSM, OMM, CTSBeta, CTSGaussian
from dpbandits.simulation.plain import Path as Run
from dpbandits.simulation.plain import play_events

SEVEN = dpb.LinearMatroid(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 0, 0), (0, 0, 0)]
)
SEVEN_MEANS = np.array([0.80, 0.75, 0.60, 0.20, 0.30, 0.40, 0.70])
EXACT: tuple[type[Any], ...] = (OMM, KLOSM, CTSBeta, CTSGaussian)
PRIVATE: tuple[type[Any], ...] = (DPUCBMAT, DPTSMAT, DPKLMAT)


def every(problem: Any, epsilon: Any = 2) -> list[Any]:
    return [cls(problem=problem) for cls in EXACT] + [
        cls(problem=problem, epsilon=epsilon) for cls in PRIVATE
    ]


def on_tape(policy: Any, tape: Tape, rounds: int) -> Run:
    marks = np.arange(1, rounds + 1)
    return play_events(
        policy, tape, rounds, marks, noise=SimulatedNoise(3), seed=4, rng=np.random.default_rng(5)
    )
