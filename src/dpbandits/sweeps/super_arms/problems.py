"""Problems that are written down, and films, of data that the reader has."""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpbandits import datasets
from dpbandits.core.inputs import Integers
from dpbandits.datasets.films.films import Films
from dpbandits.environments import Bernoulli, Table
from dpbandits.oracles import LinearMatroid, problem_from_data
from dpbandits.sweeps.reading.entries import Loaded, Setting, data_file


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
