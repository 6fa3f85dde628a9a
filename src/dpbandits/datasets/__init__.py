"""Real data as environments. One small table of clinical trials comes with the package; everything
else loads by path.
"""

from dpbandits.core.errors import DataError
from dpbandits.datasets.clicks import CAMPAIGNS, IMBALANCED, Experiment, obd, obd_rates, upworthy
from dpbandits.datasets.films.films import Films, films_from_counts
from dpbandits.datasets.films.movies import movielens
from dpbandits.datasets.library import SOURCES, data_folder
from dpbandits.datasets.networks.files import isp, roads, social
from dpbandits.datasets.networks.networks import Network
from dpbandits.datasets.reading.matrices import table
from dpbandits.datasets.trials import TRIALS, Trial, clinical
from dpbandits.datasets.visits import Area, msweb, msweb_areas

__all__ = [
    "CAMPAIGNS",
    "IMBALANCED",
    "SOURCES",
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
