"""Super arms made up for a proof: the instances of lower bounds, and some like them."""

from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dpbandits.core.inputs import MOST_ARMS
from dpbandits.environments import Bernoulli, SharedCoins
from dpbandits.oracles import ExplicitSet
from dpbandits.sweeps.reading.entries import Loaded, Setting


class SharedArmsSetting(Setting):
    """k − 1 arms that all super arms have, the best one too, and one arm of its own in each; the
    best own arm is the last. No instance of the paper; `public_arms` is that of Theorem 9.

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


class PublicArmsSetting(Setting):
    """Chen et al. 2020, Theorem 9: k − 1 public arms and one arm of its own in each super arm but
    the best, which has k arms that no other has; `arms` in all, so `arms` − 2k + 1 super arms and
    the best.

    Its arms have mean `best`, all others less by gap/k, so that each super arm is behind by `gap`.
    The last k arms are the best ones. identical: the public arms share one coin a round, as in the
    paper; else they are independent.
    """

    law: Literal["public_arms"]
    k: int = Field(ge=1)
    arms: int = Field(ge=2, le=MOST_ARMS)
    gap: float = Field(gt=0)
    best: float = 0.5
    identical: bool = True

    @model_validator(mode="after")
    def _large_enough(self) -> Self:
        if self.arms < 2 * self.k:
            raise ValueError(f"expected at least 2k = {2 * self.k} arms, got {self.arms}")
        return self

    def load(self, folder: Path) -> Loaded:
        public, best = self.k - 1, self.arms - self.k
        super_arms = [[*range(public), own] for own in range(public, best)]
        super_arms.append(list(range(best, self.arms)))
        means = [self.best - self.gap / self.k] * best + [self.best] * self.k
        problem = ExplicitSet(super_arms=super_arms, arms=self.arms)
        if not self.identical:
            return Loaded(Bernoulli(means), problem=problem)
        coins = [0] * public + list(range(public, self.arms))
        return Loaded(SharedCoins(means, coins), problem=problem)


class KPathsSetting(Setting):
    """Chen et al. 2020, Theorem 6: `paths` super arms without an arm in common, k arms each; the
    last is better by `gap` in all.

    identical: the arms of one path share one coin a round, as in the paper; else all arms are
    independent. Policies that read one arm a round cannot tell the two apart.
    """

    law: Literal["k_paths"]
    k: int = Field(ge=1)
    paths: int = Field(ge=2)
    gap: float = Field(gt=0)
    best: float = 0.5
    identical: bool = False

    def load(self, folder: Path) -> Loaded:
        chances = [self.best - self.gap / self.k] * (self.paths - 1) + [self.best]
        coins = np.repeat(np.arange(self.paths), self.k)
        super_arms = [list(range(self.k * i, self.k * (i + 1))) for i in range(self.paths)]
        problem = ExplicitSet(super_arms=super_arms, arms=len(coins))
        if self.identical:
            return Loaded(SharedCoins(chances, coins), problem=problem)
        return Loaded(Bernoulli(np.array(chances)[coins]), problem=problem)
