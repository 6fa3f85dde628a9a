"""Environments that bring super arms: of networks and films, and made up for a proof."""

from dpbandits.sweeps.super_arms.instances import (
    KPathsSetting,
    PublicArmsSetting,
    SharedArmsSetting,
)
from dpbandits.sweeps.super_arms.networks import NetworkLaw
from dpbandits.sweeps.super_arms.problems import FilmsSetting, ProblemSetting

SuperArmLaw = (
    ProblemSetting
    | SharedArmsSetting
    | PublicArmsSetting
    | KPathsSetting
    | NetworkLaw
    | FilmsSetting
)

__all__ = ["SuperArmLaw"]
