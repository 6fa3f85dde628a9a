"""Environments whose policies play super arms: the laws that come with a problem."""

from dpbandits.sweeps.super_arms.networks import NetworkLaw
from dpbandits.sweeps.super_arms.problems import (
    FilmsSetting,
    KPathsSetting,
    ProblemSetting,
    SharedArmsSetting,
)

SuperArmLaw = ProblemSetting | SharedArmsSetting | KPathsSetting | NetworkLaw | FilmsSetting

__all__ = ["SuperArmLaw"]
