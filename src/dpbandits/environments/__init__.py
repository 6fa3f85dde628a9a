"""Environments: laws on [0, 1], replayed tables and logs. `dpbandits.datasets` loads real data
sets.
"""

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.environments.base import Environment, Independent, Lattice
from dpbandits.environments.changing import ChangingMeans, Drift
from dpbandits.environments.laws import Bernoulli, Beta, Categorical, SharedCoins, Uniform
from dpbandits.environments.tables import ContextTable, LoggedReplay, Table

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "ChangingMeans",
    "ContextTable",
    "Drift",
    "Environment",
    "EnvironmentExhausted",
    "Independent",
    "Lattice",
    "LoggedReplay",
    "SharedCoins",
    "Table",
    "Uniform",
]
