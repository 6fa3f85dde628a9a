"""Regret bounds as numbers of an instance, and the list of policies with what is known of each."""

from dpbandits.theory.bounds import (
    full_information_lower_bound,
    lai_robbins,
    local_lower_bound,
    lower_bound,
    private_lower_bound,
    shariff_sheffet,
    upper_bound,
)

__all__ = [
    "full_information_lower_bound",
    "lai_robbins",
    "local_lower_bound",
    "lower_bound",
    "private_lower_bound",
    "shariff_sheffet",
    "upper_bound",
]
