"""Sweeps of policies over environments: configuration as data, resumable runs, figures, tables and
one HTML page.

Needs the extra `dpbandits[experiments]`.
"""

from dpbandits.core.errors import ConfigError

try:
    from dpbandits.sweeps.cells import Cell
    from dpbandits.sweeps.config import Config, load_config
    from dpbandits.sweeps.results import Results
    from dpbandits.sweeps.run import SweepStep, run_sweep
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("dpbandits"):
        raise
    raise ModuleNotFoundError(
        f"Sweeps need {missing.name}: pip install 'dpbandits[experiments]'", name=missing.name
    ) from None

__all__ = ["Cell", "Config", "ConfigError", "Results", "SweepStep", "load_config", "run_sweep"]
