"""Sources of private randomness: secure for people's data, simulated for studies. There is no
default.
"""

from dpbandits.noise.protocol import Noise, Selection, Values
from dpbandits.noise.sources import Process, SecureNoise, SimulatedNoise, noise_from_state

__all__ = [
    "Noise",
    "Process",
    "SecureNoise",
    "Selection",
    "SimulatedNoise",
    "Values",
    "noise_from_state",
]
