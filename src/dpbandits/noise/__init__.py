"""The only source of private randomness: secure for people's data, simulated for studies, no
default between them.
"""

from dpbandits.noise.draws import Process
from dpbandits.noise.sources import (
    Noise,
    SecureNoise,
    Selection,
    SimulatedNoise,
    Values,
    noise_from_state,
)

__all__ = [
    "Noise",
    "Process",
    "SecureNoise",
    "Selection",
    "SimulatedNoise",
    "Values",
    "noise_from_state",
]
