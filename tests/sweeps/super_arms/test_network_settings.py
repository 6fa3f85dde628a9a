"""Networks as problems of a sweep: small made-up files, and the real ones where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpbandits as dpb
from dpbandits.core.errors import MissingDataError
from dpbandits.sweeps.config import load_config
from dpbandits.sweeps.laws import CascadeSetting, CoverageSetting, ISPSetting
from papers.paper import Paper
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
def test_isp_tree_and_path() -> None:
    path = DATA / "rocketfuel" / "3967.latencies.intra"
    tree = ISPSetting(name="t", law="isp", path=path).load(Path())
    assert tree.problem is not None
    assert tree.problem.size == 78  # 79 nodes
    assert plays(tree.environment, tree.problem) >= 0
    ends = tree.problem.to_data()["edges"][0]
    route = ISPSetting(name="p", law="isp", path=path, source=ends[0], target=ends[1]).load(Path())
    assert plays(route.environment, route.problem) >= 0
    with pytest.raises(ValueError, match="both source and target"):
        ISPSetting(name="p", law="isp", path=path, source="a").load(Path())


@needs
def test_influence_on_jazz() -> None:
    loaded = CascadeSetting(
        name="j", law="cascade", path=DATA / "snap" / "jazz.edges", seeds=2
    ).load(Path())
    assert loaded.problem is not None
    best = loaded.problem.best(loaded.environment.means)
    assert loaded.problem.value(best, loaded.environment.means) > 2
    assert plays(loaded.environment, loaded.problem) < 200


@needs
def test_coverage_of_a_site() -> None:
    loaded = CoverageSetting(
        name="c", law="msweb_coverage", path=DATA / "msweb", k=2, areas=8
    ).load(Path())
    assert loaded.problem is not None
    assert 0 < loaded.problem.optimum(loaded.environment.means) <= 8
    assert plays(loaded.environment, loaded.problem) < 8


def test_sweeps_without_their_data_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DPBANDITS_DATA", str(tmp_path))
    for key in ("cucb2020", "matroid2023"):
        own = {load_name(path) for path in (PAPERS / key / "own_data").glob("*.toml")}
        assert own
        assert not own & {config.name for config in Paper(PAPERS / key).sweeps(full=False)}
    with pytest.raises(MissingDataError, match="films"):
        load_config(PAPERS / "matroid2023" / "own_data" / "films.toml")


@needs
def test_sweeps_with_their_data_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPBANDITS_DATA", str(DATA))
    for key in ("cucb2020", "matroid2023"):
        own = {load_name(path) for path in (PAPERS / key / "own_data").glob("*.toml")}
        assert own <= {config.name for config in Paper(PAPERS / key).sweeps(full=False)}


def load_name(path: Path) -> str:
    line = next(
        line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("name")
    )
    return line.split('"')[1]
