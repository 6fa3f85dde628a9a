"""The constants of joint releases, by preset. Chosen on instances of their own (decision 0027)."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.formulas.joint import AT_ONCE


class JointConstants(NamedTuple):
    level: float  # factor on the preset's level
    first: float  # rounds in a first batch, in standard deviations of its noise


JOINT_PRESETS = {
    "sharp": JointConstants(0.5, 14.0),
    "level": JointConstants(1.0, 16.0),
    "proved": JointConstants(1.0, 16.0),
}

WIDE = JointConstants(0.5, 12.0)
"""Preset "sharp" where a super arm may have more than four arms: first batches cost most there."""

SUMMED = 38.0
"""Preset "sharp" where super arms are no bases: a first batch has at most SUMMED/√size standard
deviations, as the errors of a sum's arms partly cancel. It grows as √size then, not as size.
"""


def joint_constants(preset: str, problem: DecisionSet) -> JointConstants:
    """What a preset stands for on this problem."""
    if preset != "sharp" or problem.size <= AT_ONCE:
        return JOINT_PRESETS[preset]
    if isinstance(problem, Matroid):
        return WIDE
    return WIDE._replace(first=min(WIDE.first, SUMMED / math.sqrt(problem.size)))
