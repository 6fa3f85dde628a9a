"""Regret bounds as numbers of an instance, and the list of policies with what is known of each."""

from dpbandits.theory.bounds import (
    lai_robbins,
    local_lower_bound,
    lower_bound,
    matroid_lower_bound,
    private_lower_bound,
    regret_order,
    shariff_sheffet,
    upper_bound,
)
from dpbandits.theory.minimax import instance_independent_bound
from dpbandits.theory.samples import (
    free_sample_lower_bound,
    private_sample_lower_bound,
    stopping_time_bound,
)
from dpbandits.theory.worst import (
    full_information_lower_bound,
    minimax_lower_bound,
    private_largest_error_lower_bound,
    private_paths_lower_bound,
    semi_bandit_lower_order,
)

__all__ = [
    "free_sample_lower_bound",
    "full_information_lower_bound",
    "instance_independent_bound",
    "lai_robbins",
    "local_lower_bound",
    "lower_bound",
    "matroid_lower_bound",
    "minimax_lower_bound",
    "private_largest_error_lower_bound",
    "private_lower_bound",
    "private_paths_lower_bound",
    "private_sample_lower_bound",
    "regret_order",
    "semi_bandit_lower_order",
    "shariff_sheffet",
    "stopping_time_bound",
    "upper_bound",
]
