"""Sweeps of policies over environments: configuration as data, resumable runs, figures, tables and
one HTML page.

Needs the extra `dpbandits[experiments]`.
"""

from dpbandits.core.errors import ConfigError
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.config import Config, load_config
from dpbandits.sweeps.results import Results
from dpbandits.sweeps.sweep import SweepStep, run_sweep

__all__ = ["Cell", "Config", "ConfigError", "Results", "SweepStep", "load_config", "run_sweep"]
