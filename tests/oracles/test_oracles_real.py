"""Known values on real data. Skipped where the data is not there."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from dpbandits.oracles import Influence, LinearMatroid, Paths, SpanningTrees
from tests.places import DATA

needs = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the real data in ../shared/data beside the repository"
)


@needs
def test_films() -> None:
    films = json.loads((DATA / "ml1m_top100.json").read_text())
    matroid = LinearMatroid([film["vector"] for film in films["movies"]])
    counts = np.array([film["count"] for film in films["movies"]])
    assert (matroid.arms, matroid.rank) == (100, 17)
    best = matroid.best(counts)
    assert [films["movies"][arm]["id"] for arm in best] == [
        film["id"] for film in films["optimal_basis"]
    ]
    assert counts[list(best)].sum() == 41_684
    assert counts[list(matroid.best(-counts))].sum() / 6040 == pytest.approx(4.075, abs=5e-4)


@needs
def test_sioux_falls() -> None:
    rows = (
        (DATA / "tntp/SiouxFalls/SiouxFalls_net.tntp")
        .read_text()
        .split("~\tinit_node")[1]
        .splitlines()[1:]
    )
    links = [line.split() for line in rows if line.strip()]
    edges, times = (
        [(int(row[0]), int(row[1])) for row in links],
        np.array([float(row[4]) for row in links]),
    )
    paths = Paths(edges, 1, 20)
    assert (paths.arms, paths.size) == (76, 23)
    # minutes, by the network's free-flow times
    assert times[list(paths.best(1 - times / times.max()))].sum() == 22
    held = set().union(*paths.cover())
    assert held | set(paths.loops) == set(range(76))
    into, beyond = (
        [arm for arm in range(76) if edges[arm][1] == 1],
        [arm for arm in range(76) if edges[arm][0] == 20],
    )
    # node 2 leads back to the source only
    assert set(paths.loops) > {*into, *beyond, edges.index((6, 2))}
    assert len(paths.loops) == 14


@needs
def test_rocketfuel() -> None:
    rows = [
        line.split() for line in (DATA / "rocketfuel/1239.latencies.intra").read_text().splitlines()
    ]
    edges, latencies = [(u, v) for u, v, _ in rows], np.array([float(x) for *_, x in rows])
    trees = SpanningTrees(edges, costs=True)
    best = trees.best(1 - latencies / latencies.max())
    assert trees.contains(best)
    table = trees.exchanges(best)
    worst = np.where(table, latencies[list(best)], -np.inf).max(axis=1)
    assert np.all(worst <= latencies)  # no exchange makes the tree shorter


@needs
def test_jazz_and_nethept() -> None:
    jazz = [
        tuple(map(int, line.split()))
        for line in (DATA / "snap/jazz.edges").read_text().splitlines()
    ]
    problem = Influence(jazz, seeds=5)
    means = np.full(problem.arms, 0.05)
    assert problem.value(problem.best(means), means) > problem.value(
        problem.action(list(dict.fromkeys(u for u, _ in jazz))[:5]), means
    )
    with gzip.open(DATA / "snap/NetHEPT.txt.gz", "rt") as file:
        rows = [line.split() for line in file][1:]
    large = Influence([(int(u), int(v)) for u, v, _ in rows], seeds=50)
    means = np.array([float(p) for *_, p in rows])
    assert 950 < large.value(large.best(means), means) < 1100
