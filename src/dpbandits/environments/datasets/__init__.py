"""Real data as environments. One small table of clinical trials comes with the package; everything else loads by path."""

from dpbandits.environments.datasets.click_logs import CAMPAIGNS, obd, obd_rates
from dpbandits.environments.datasets.files import DataError
from dpbandits.environments.datasets.headlines import IMBALANCED, Experiment, upworthy
from dpbandits.environments.datasets.matrices import table
from dpbandits.environments.datasets.trials import TRIALS, Trial, clinical
from dpbandits.environments.datasets.visits import Area, msweb, msweb_areas

__all__ = [
    "CAMPAIGNS",
    "IMBALANCED",
    "TRIALS",
    "Area",
    "DataError",
    "Experiment",
    "Trial",
    "clinical",
    "msweb",
    "msweb_areas",
    "obd",
    "obd_rates",
    "table",
    "upworthy",
]
