"""Environments on networks that the reader has: roads, maps of internet providers, social graphs,
areas of a site. The laws come with a problem.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from dpbandits import datasets
from dpbandits.datasets import Network
from dpbandits.environments import Bernoulli
from dpbandits.oracles import Coverage, Influence, Paths, SpanningTrees
from dpbandits.sweeps.reading.entries import Loaded, Setting, data_file


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


NetworkLaw = RoadsSetting | ISPSetting | CascadeSetting | CoverageSetting
