"""The constants of joint releases, by preset. Chosen on instances of their own (decision 0027)."""

from __future__ import annotations

from typing import NamedTuple

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


def joint_constants(preset: str, size: int) -> JointConstants:
    """What a preset stands for where super arms have at most `size` arms."""
    return WIDE if preset == "sharp" and size > AT_ONCE else JOINT_PRESETS[preset]
