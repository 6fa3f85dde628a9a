"""Films to recommend: the matroid of their genres, from data that the user has."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from dpbandits import datasets
from dpbandits.core.arrays import Integers
from dpbandits.datasets.films.films import Films
from dpbandits.environments import Bernoulli, Table
from dpbandits.oracles import LinearMatroid
from dpbandits.sweeps.settings.base import Loaded, Setting, data_file


class FilmsSetting(Setting):
    """MovieLens, a folder or zip as it is published, or a JSON file of counts: an arm is a film, a
    basis is diverse in genres.

    Films come in an order drawn from the seed: the published one is by popularity, which ties would
    give away.
    path: beside the sweep file, else in the data folder (`dpbandits data list`).
    users: each round shows a random user (rewards of one round belong together); else independent
        coins.
    """

    law: Literal["films"]
    path: Path
    films: int = 100
    users: bool = False
    shuffle: int = 0

    def load(self, folder: Path) -> Loaded:
        place = data_file(folder, self.path)
        films = (
            datasets.films_from_counts(place)
            if place.suffix == ".json"
            else datasets.movielens(place, self.films)
        )
        order = np.random.default_rng(self.shuffle).permutation(len(films.titles))
        titles = tuple(films.titles[i] for i in order)
        return Loaded(
            self.environment(films, order),
            titles,
            credit(place),
            LinearMatroid(films.vectors[order]),
        )

    def environment(self, films: Films, order: Integers) -> Bernoulli | Table:
        if not self.users:
            return Bernoulli(films.means[order])
        if films.watched is None:
            raise ValueError(
                "users = true needs who rated what; this file has counts only. Give it a "
                "MovieLens folder or zip."
            )
        return Table(films.watched[:, order], resample=True)


def credit(place: Path) -> str:
    return f"MovieLens, GroupLens Research ({place.name})"
