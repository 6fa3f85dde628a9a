"""Known values of the real data, recomputed from the published files. Skipped where the data is not
there.
"""

from pathlib import Path

import numpy as np
import pytest

from dpbandits import datasets
from dpbandits.datasets.networks import isp, roads, social


def needs(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("real", [folder], indirect=True)


@needs("msweb")
def test_msweb(real: Path) -> None:
    everyone, areas = datasets.msweb(real, seed=None).rewards, datasets.msweb_areas(real)
    assert (everyone.shape, everyone.sum()) == ((37_711, 294), 113_845)
    top = datasets.msweb(real, 4, seed=None)
    assert top.means.round(3).tolist() == [0.332, 0.287, 0.26, 0.161]
    titles = ["Free Downloads", "Internet Explorer", "Microsoft.com Search", "isapi"]
    assert [area.title for area in areas[:4]] == titles
    assert sum(area.visitors == 0 for area in areas) == 8
    # The first person of the file visited areas 1000, 1001 and 1002.
    assert {areas[j].number for j in np.flatnonzero(everyone[0])} == {1000, 1001, 1002}


@needs("upworthy")
def test_upworthy_archive(real: Path) -> None:
    path = real / "upworthy_exploratory_clean.parquet"
    every, kept = datasets.upworthy(path, keep_imbalanced=True), datasets.upworthy(path)
    assert (len(every), len(kept)) == (4_873, 3_818)
    assert sum(len(test.headlines) for test in every.values()) == 22_666
    assert sum(sum(test.impressions) for test in every.values()) == 81_024_151
    assert sum(sum(test.clicks) for test in every.values()) == 1_231_208
    assert {name for name, test in every.items() if test.imbalanced} == set(every) - set(kept)


@needs("obd")
def test_obd_random_logs(real: Path) -> None:
    for campaign, clicks in (("all", 38), ("men", 46), ("women", 46)):
        log = datasets.obd(real / f"random_{campaign}_log.csv.gz")
        items = datasets.CAMPAIGNS[campaign]
        assert (log.arms, len(log.actions), log.rewards.sum()) == (items, 10_000, clicks)
        assert log.expected_acceptance == pytest.approx(1 / items, rel=1e-12)


SIZES: dict[str, dict[str, tuple[float, ...]]] = {
    "tntp": {
        "SiouxFalls/SiouxFalls_net.tntp": (24, 76, 0, 0, 2, 10),
        "Anaheim/Anaheim_net.tntp": (416, 914, 0, 38, 0.054522924, 3.579924242),
        "Eastern-Massachusetts/EMA_net.tntp": (74, 258, 0, 0, 0.015691, 0.877102),
        "Berlin-Mitte-Center/berlin-mitte-center_net.tntp": (398, 871, 1, 36, 0, 41),
    },
    "rocketfuel": {
        "1221.latencies.intra": (104, 151, 4),
        "1239.latencies.intra": (315, 972, 0),
        "1755.latencies.intra": (87, 161, 0),
        "3257.latencies.intra": (161, 328, 0),
        "3967.latencies.intra": (79, 147, 0),
        "6461.latencies.intra": (138, 372, 3),
    },
}
"""Nodes, edges, and nodes off the largest piece; of roads zones, the least and the largest cost."""


@pytest.mark.parametrize("real", SIZES, indirect=True)
def test_real_networks(real: Path) -> None:
    for file, (nodes, edges, off, *facts) in SIZES[real.name].items():
        network = roads(real / file) if facts else isp(real / file)
        assert (len(network.nodes), len(network.edges)) == (nodes, edges)
        assert network.connected().dropped == off
        assert len(network.simple().edges) == edges  # no parallel links, no loops
        found = len(network.ends_only), network.cost.min(), network.cost.max()
        assert not facts or found == tuple(facts)


@needs("snap")
def test_nethept(real: Path) -> None:
    network = social(real / "NetHEPT.txt.gz")
    assert (len(network.nodes), len(network.edges), network.directed) == (15_233, 58_891, True)
    listed = np.loadtxt(real / "NetHEPT.txt.gz", skiprows=1, usecols=2)
    # six decimals are listed
    np.testing.assert_allclose(network.indegree_probabilities(), listed, rtol=0, atol=5.1e-7)
    assert (network.pairs[:, 0] == network.pairs[:, 1]).sum() == 39
    assert len(network.simple().edges) == 32_213  # 26,656 parallel rows; 22 different loops
