"""Environments whose policies play super arms: the laws that come with a problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dpbandits.environments import Bernoulli
from dpbandits.oracles import ExplicitSet, problem_from_data
from dpbandits.sweeps.settings.base import Loaded, Setting
from dpbandits.sweeps.settings.films import FilmsSetting
from dpbandits.sweeps.settings.networks import NetworkLaw


class ProblemSetting(Setting):
    """Bernoulli arms and any problem that can be written down: problem = { kind = "TopK", arms = 5,
    k = 2 }.
    """

    law: Literal["super_arms"]
    means: list[float]
    problem: dict[str, Any]

    def load(self, folder: Path) -> Loaded:
        problem = problem_from_data(self.problem)
        if problem.arms != len(self.means):
            raise ValueError(
                f"the problem has {problem.arms} arms, means has {len(self.means)} numbers"
            )
        return Loaded(Bernoulli(self.means), problem=problem)


class SharedArmsSetting(Setting):
    """After Chen et al. 2020, Theorem 9: k − 1 public arms and one arm of its own in every super
    arm; the best own arm is the last. In the theorem the best super arm has no public arm.

    The value of a super arm depends on its own arm only, so it is smooth in the largest error (B∞ =
    1) and linear at once.
    """

    law: Literal["shared_arms"]
    k: int = Field(ge=1)
    choices: int = Field(ge=2)
    best: float
    gap: float = Field(gt=0)
    shared: float = 0.5

    def load(self, folder: Path) -> Loaded:
        common = list(range(self.k - 1))
        means = (
            [self.shared] * (self.k - 1) + [self.best - self.gap] * (self.choices - 1) + [self.best]
        )
        super_arms = [[*common, self.k - 1 + i] for i in range(self.choices)]
        return Loaded(Bernoulli(means), problem=ExplicitSet(super_arms=super_arms, arms=len(means)))


class KPathsSetting(Setting):
    """Chen et al. 2020, Theorem 6: `paths` super arms without an arm in common, k arms each; the
    last is better by `gap` in all.

    Arms are independent here; in the paper those of one path have the same reward.
    """

    law: Literal["k_paths"]
    k: int = Field(ge=1)
    paths: int = Field(ge=2)
    gap: float = Field(gt=0)
    best: float = 0.5

    def load(self, folder: Path) -> Loaded:
        worse = self.k * (self.paths - 1)
        means = [self.best - self.gap / self.k] * worse + [self.best] * self.k
        super_arms = [list(range(self.k * i, self.k * (i + 1))) for i in range(self.paths)]
        return Loaded(Bernoulli(means), problem=ExplicitSet(super_arms=super_arms, arms=len(means)))


SuperArmLaw = ProblemSetting | SharedArmsSetting | KPathsSetting | NetworkLaw | FilmsSetting
