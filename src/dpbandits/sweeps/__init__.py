"""Sweeps of policies over environments: configuration as data, resumable runs, figures, tables and
one HTML page.

Needs the extra `dpbandits[experiments]`.
"""

from dpbandits.core.errors import ConfigError

try:
    from dpbandits.sweeps.cells import Cell
    from dpbandits.sweeps.config import Config, load_config
    from dpbandits.sweeps.executors.base import Executor
    from dpbandits.sweeps.executors.cluster import Cluster
    from dpbandits.sweeps.executors.processes import Processes
    from dpbandits.sweeps.progress import SweepStep
    from dpbandits.sweeps.results import Results
    from dpbandits.sweeps.shards import Shard, merge_shards
    from dpbandits.sweeps.sweep import run_sweep
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("dpbandits"):
        raise
    raise ModuleNotFoundError(
        f"Sweeps need {missing.name}: pip install 'dpbandits[experiments]'", name=missing.name
    ) from None

__all__ = [
    "Cell",
    "Cluster",
    "Config",
    "ConfigError",
    "Executor",
    "Processes",
    "Results",
    "Shard",
    "SweepStep",
    "load_config",
    "merge_shards",
    "run_sweep",
]
