"""Real data as environments. One small table of clinical trials comes with the package; everything
else loads by path.
"""

from dpbandits.core.errors import DataError
from dpbandits.datasets.clicks import (
    CAMPAIGNS,
    IMBALANCED,
    Area,
    Experiment,
    msweb,
    msweb_areas,
    obd,
    obd_rates,
    upworthy,
)
from dpbandits.datasets.films import Films, data_folder, films_from_counts, movielens
from dpbandits.datasets.networks import Network, isp, roads, social
from dpbandits.datasets.tables import table
from dpbandits.datasets.trials import TRIALS, Trial, clinical

__all__ = [
    "CAMPAIGNS",
    "IMBALANCED",
    "TRIALS",
    "Area",
    "DataError",
    "Experiment",
    "Films",
    "Network",
    "Trial",
    "clinical",
    "data_folder",
    "films_from_counts",
    "isp",
    "movielens",
    "msweb",
    "msweb_areas",
    "obd",
    "obd_rates",
    "roads",
    "social",
    "table",
    "upworthy",
]
