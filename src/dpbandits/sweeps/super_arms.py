"""Environments whose policies play super arms: the laws that come with a problem. Networks (roads,
ISP maps, social graphs, areas of a site) and films are made of data that the reader has.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from dpbandits import datasets
from dpbandits.core.arrays import Integers
from dpbandits.datasets import Network
from dpbandits.datasets.films.films import Films
from dpbandits.environments import Bernoulli, Table
from dpbandits.oracles import (
    Coverage,
    ExplicitSet,
    Influence,
    LinearMatroid,
    Paths,
    SpanningTrees,
    problem_from_data,
)
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


def named_edges(network: Network) -> list[tuple[str, str]]:
    return [(network.nodes[u], network.nodes[v]) for u, v in network.edges]


class RoadsSetting(Setting):
    """Shortest paths on a road network (TNTP): an arm is a link, its cost the free-flow time,
    scaled to [0, `most`].
    """

    law: Literal["roads"]
    path: Path
    source: str
    target: str
    most: float = Field(default=0.9, gt=0, le=1)

    def load(self, folder: Path) -> Loaded:
        network = datasets.roads(data_file(folder, self.path))
        edges = named_edges(network)
        names = tuple(f"{u} to {v}" for u, v in edges)
        problem = Paths(edges, self.source, self.target)
        source = f"road network {self.path.name}, Transportation Networks for Research"
        return Loaded(Bernoulli(1 - self.most * network.scaled_costs()), names, source, problem)


class ISPSetting(Setting):
    """An internet provider's map (RocketFuel): cheapest spanning tree, or with `source` and
    `target` cheapest path, by latency.

    An arm is a link, its cost the latency, scaled to [0, `most`]; links between the same nodes are
    one.
    """

    law: Literal["isp"]
    path: Path
    source: str | None = None
    target: str | None = None
    most: float = Field(default=0.9, gt=0, le=1)

    def load(self, folder: Path) -> Loaded:
        if (self.source is None) != (self.target is None):
            raise ValueError("give both source and target (a path), or neither (a spanning tree)")
        network = datasets.isp(data_file(folder, self.path)).simple()
        edges = named_edges(network)
        environment = Bernoulli(1 - self.most * network.scaled_costs())
        source = f"RocketFuel, {self.path.name}"
        if self.source is None or self.target is None:
            return Loaded(environment, (), source, SpanningTrees(edges, costs=True))
        return Loaded(
            environment, (), source, Paths(edges, self.source, self.target, directed=False)
        )


class CascadeSetting(Setting):
    """Influence maximisation on a social graph: an arm is an edge, which passes an influence on
    with probability 1/indegree.
    """

    law: Literal["cascade"]
    path: Path
    seeds: int = Field(ge=1)

    def load(self, folder: Path) -> Loaded:
        network = datasets.social(data_file(folder, self.path)).simple().both_ways()
        problem = Influence(named_edges(network), seeds=self.seeds)
        return Loaded(
            Bernoulli(network.indegree_probabilities()),
            (),
            f"social graph {self.path.name}, SNAP",
            problem,
        )


class CoverageSetting(Setting):
    """Maximum coverage on a site (MSWeb): feature `k` of the most visited areas so that as many
    areas as possible are reached.

    An arm is a pair of areas; its mean is the share of one's visitors who also went to the other.
    Pairs below `least` are left out.
    """

    law: Literal["msweb_coverage"]
    path: Path
    k: int = Field(ge=1)
    areas: int = Field(default=20, ge=2)
    least: float = Field(default=0.02, gt=0, lt=1)

    def load(self, folder: Path) -> Loaded:
        visits = datasets.msweb(data_file(folder, self.path), self.areas, seed=None).rewards
        together = visits.T @ visits
        shares = together / np.maximum(np.diag(together), 1)[:, None]
        pairs = [
            (a, b)
            for a in range(self.areas)
            for b in range(self.areas)
            if a != b and shares[a, b] >= self.least
        ]
        problem = Coverage([(f"feature {a}", f"reach {b}") for a, b in pairs], k=self.k)
        return Loaded(
            Bernoulli([float(shares[a, b]) for a, b in pairs]),
            (),
            "Anonymous Microsoft Web Data (UCI)",
            problem,
        )


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


SuperArmLaw = (
    ProblemSetting
    | SharedArmsSetting
    | KPathsSetting
    | RoadsSetting
    | ISPSetting
    | CascadeSetting
    | CoverageSetting
    | FilmsSetting
)
