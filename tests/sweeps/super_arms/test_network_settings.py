"""Networks as problems of a sweep: small made-up files, and the real ones where they are."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import dpbandits as dpb
from dpbandits.core.errors import MissingDataError
from dpbandits.sweeps import laws
from dpbandits.sweeps.config import load_config
from papers.paper import Paper
from tests.datasets.test_visits import site
from tests.places import DATA, REPOSITORY

PAPERS = REPOSITORY / "papers"
needs = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the real data in ../shared/data beside the repository"
)


def plays(environment: dpb.Environment, problem: dpb.DecisionSet | None) -> float:
    """Regret a round of 30 rounds of the private default; 0 or more against αβ times the optimum,
    up to luck of the greedy.
    """
    assert problem is not None
    policy = dpb.DPKLCUCB(problem=problem, epsilon=8, first=5)
    runs = dpb.simulate(policy, environment, 30, seed=1)
    assert set(runs.plays.sum(axis=1)) <= set(range(30, 30 * problem.size + 1))
    return float(runs.regret()[0]) / 30


@needs
def test_real_networks_are_played() -> None:
    """A tree of an ISP's 79 nodes, a path, a cascade and the coverage of a site."""
    isp, jazz = DATA / "rocketfuel" / "3967.latencies.intra", DATA / "snap" / "jazz.edges"
    tree = laws.isp(Path(), isp)
    problem = tree.problem
    assert problem is not None
    assert problem.size == 78
    source, target = problem.to_data()["edges"][0]
    for loaded, most in (
        (tree, 78),
        (laws.isp(Path(), isp, source, target), 78),
        (laws.cascade(Path(), jazz, seeds=2), 200),
        (laws.msweb_coverage(Path(), DATA / "msweb", k=2, areas=8), 8),
    ):
        regret = plays(loaded.environment, loaded.problem)
        assert regret < most
        assert regret >= 0 or not loaded.source.startswith("RocketFuel")
    with pytest.raises(ValueError, match="both source and target"):
        laws.isp(Path(), isp, source="a")


def test_a_site_is_covered_by_pairs_of_areas(tmp_path: Path) -> None:
    """A third of the first one's visitors see either other one. No area reaches itself."""
    loaded = laws.msweb_coverage(Path(), site(tmp_path), k=1, areas=3, least=1 / 3)
    assert loaded.problem is not None
    reached = [[f"feature {a}", f"reach {b}"] for a, b in ((0, 1), (0, 2), (1, 0), (2, 0))]
    assert [list(edge) for edge in loaded.problem.to_data()["edges"]] == reached
    assert loaded.environment.means.tolist() == [1 / 3, 1 / 3, 1, 1]


@pytest.mark.parametrize("there", [False, pytest.param(True, marks=needs)])
def test_sweeps_are_played_where_their_data_is_and_else_left_out(
    there: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DPBANDITS_DATA", str(DATA if there else tmp_path))
    for key in ("cucb2020", "matroid2023"):
        files = (PAPERS / key / "own_data").glob("*.toml")
        own = {tomllib.loads(path.read_text("utf-8"))["name"] for path in files}
        assert own
        played = {config.name for config in Paper(PAPERS / key).sweeps(full=False)}
        assert own & played == (own if there else set())
    if not there:
        with pytest.raises(MissingDataError, match="films"):
            load_config(PAPERS / "matroid2023" / "own_data" / "films.toml")
