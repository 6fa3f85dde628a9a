"""Problems that are written down or made up, and films, of data that the reader has."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from dpbandits import datasets
from dpbandits.core.arrays import Integers
from dpbandits.datasets.films.films import Films
from dpbandits.environments import Bernoulli, Table
from dpbandits.oracles import ExplicitSet, LinearMatroid, problem_from_data
from dpbandits.sweeps.entries import Loaded, Setting, data_file


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


class FilmsSetting(Setting):
    """MovieLens, a folder or zip as it is published, or a JSON file of counts: an arm is a film, a
    basis is diverse in genres.

    Films come in an order drawn from the seed: the published one is by popularity, which ties would
    give away.
    path: beside the sweep file, else in the data folder (`dpbandits data list`).
    users: each round shows a random user (rewards of one round belong together); else independent
        coins.
    drop_unlisted: leave out ratings of films that are not in the list, in place of an error.
    """

    law: Literal["films"]
    path: Path
    films: int = 100
    users: bool = False
    drop_unlisted: bool = False
    shuffle: int = 0

    def load(self, folder: Path) -> Loaded:
        place = data_file(folder, self.path)
        films = (
            datasets.films_from_counts(place)
            if place.suffix == ".json"
            else datasets.movielens(place, self.films, drop_unlisted=self.drop_unlisted)
        )
        order = np.random.default_rng(self.shuffle).permutation(len(films.titles))
        titles, kinds = zip(*((films.titles[i], films.genres_of(i)) for i in order), strict=True)
        source = f"MovieLens, GroupLens Research ({place.name})"
        problem = LinearMatroid(films.vectors[order])
        return Loaded(self.environment(films, order), titles, source, problem, kinds)

    def environment(self, films: Films, order: Integers) -> Bernoulli | Table:
        if not self.users:
            return Bernoulli(films.means[order])
        if films.watched is None:
            raise ValueError(
                "users = true needs who rated what; this file has counts only. Give it a "
                "MovieLens folder or zip."
            )
        return Table(films.watched[:, order], resample=True)
