"""Networks as their owners published them, where they are on this machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpbandits.datasets.networks import isp, roads, social


def needs(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("real", [folder], indirect=True)


@needs("tntp")
@pytest.mark.parametrize(
    ("file", "nodes", "links", "zones", "costs"),
    [
        ("SiouxFalls/SiouxFalls_net.tntp", 24, 76, 0, (2, 10)),
        ("Anaheim/Anaheim_net.tntp", 416, 914, 38, (0.054522924, 3.579924242)),
        ("Eastern-Massachusetts/EMA_net.tntp", 74, 258, 0, (0.015691, 0.877102)),
        ("Berlin-Mitte-Center/berlin-mitte-center_net.tntp", 398, 871, 36, (0, 41)),
    ],
)
def test_real_roads(
    real: Path, file: str, nodes: int, links: int, zones: int, costs: tuple[float, float]
) -> None:
    network = roads(real / file)
    assert (len(network.nodes), len(network.edges), len(network.ends_only)) == (nodes, links, zones)
    assert (network.cost.min(), network.cost.max()) == costs
    assert len(network.simple().edges) == links  # no parallel links, no loops
    means = network.rewards().means
    assert means.min() == 0
    assert means.max() <= 1


@needs("rocketfuel")
@pytest.mark.parametrize(
    ("number", "nodes", "edges", "dropped"),
    [
        (1221, 104, 151, 4),
        (1239, 315, 972, 0),
        (1755, 87, 161, 0),
        (3257, 161, 328, 0),
        (3967, 79, 147, 0),
        (6461, 138, 372, 3),
    ],
)
def test_real_isps(real: Path, number: int, nodes: int, edges: int, dropped: int) -> None:
    network = isp(real / f"{number}.latencies.intra")
    assert (len(network.nodes), len(network.edges), network.dropped) == (nodes, edges, dropped)
    # many ties: compare the weights of trees, not their edges
    assert len(np.unique(network.cost)) < edges / 5
    assert network.connected().dropped == dropped  # nothing more to drop


@needs("snap")
def test_nethept(real: Path) -> None:
    network = social(real / "NetHEPT.txt.gz")
    assert (len(network.nodes), len(network.edges), network.directed) == (15_233, 58_891, True)
    listed = np.loadtxt(real / "NetHEPT.txt.gz", skiprows=1, usecols=2)
    # six decimals are listed
    np.testing.assert_allclose(network.indegree_probabilities(), listed, rtol=0, atol=5.1e-7)
    assert (network.pairs[:, 0] == network.pairs[:, 1]).sum() == 39
    assert len(network.simple().edges) == 32_213  # 26,656 parallel rows; 22 different loops
