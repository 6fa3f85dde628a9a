"""Sweeps over super arms: environments that bring a problem, policies that take it, and what does
not fit.
"""

from pathlib import Path

import pytest

from dpbandits import TopK
from dpbandits.core.errors import ConfigError
from dpbandits.environments import Bernoulli
from dpbandits.sweeps import load_config

HEAD = 'name = "small"\ntitle = "super arms"\nrounds = 50\nruns = 2\nepsilons = [4]\n'
TOP = (
    '{ name = "top", law = "super_arms", means = [0.9, 0.5, 0.1], problem = { kind = "TopK", '
    "arms = 3, k = 2 } }"
)
SHARED = '{ name = "shared", law = "shared_arms", k = 3, choices = 2, best = 0.9, gap = 0.5 }'
DISJOINT = '{ name = "paths", law = "k_paths", k = 2, paths = 2, gap = 0.4 }'


def sweep(
    folder: Path, environments: str, policies: str = '[[policies]]\nclass = "CUCBLDP2"\n'
) -> Path:
    path = folder / "sweep.toml"
    path.write_text(f"{HEAD}environments = [{environments}]\n{policies}", encoding="utf-8")
    return path


def test_problems_reach_the_policies(tmp_path: Path) -> None:
    """Theorem 9: no arm of the best super arm is public. The public arms are one coin a round."""
    apart = '{ name = "9", law = "public_arms", k = 3, arms = 7, gap = 0.6 }'
    alike = DISJOINT.replace('"paths"', '"alike"').replace("}", ", identical = true }")
    other = apart.replace('"9"', '"free"').replace("}", ", identical = false }")
    made = sweep(tmp_path, ", ".join([TOP, SHARED, DISJOINT, alike, apart, other]))
    found = {cell.setting: cell for cell in load_config(made).cells()}
    assert found["top"].policy.problem == TopK(arms=3, k=2)  # type: ignore[attr-defined]
    pairs, nine = [(0, 1), (2, 3)], [(0, 1, 2), (0, 1, 3), (4, 5, 6)]
    low = [0.3, 0.3, 0.5, 0.5]
    for name, sets, means, coins in (
        ("shared", [(0, 1, 2), (0, 1, 3)], [0.5, 0.5, 0.4, 0.9], None),
        ("paths", pairs, low, None),
        ("alike", pairs, low, [0, 0, 1, 1]),
        ("9", nine, [0.3, 0.3, *low, 0.5], [0, 0, 2, 3, 4, 5, 6]),
        ("free", nine, [0.3, 0.3, *low, 0.5], None),
    ):
        environment = found[name].environment
        assert found[name].policy.problem.super_arms == sets  # type: ignore[attr-defined]
        assert environment.means == pytest.approx(means)
        assert isinstance(environment, Bernoulli) == (coins is None)
        assert coins is None or environment.coins.tolist() == coins
    with pytest.raises(ConfigError, match="at least 2k = 6 arms"):
        load_config(sweep(tmp_path, apart.replace("arms = 7", "arms = 5")))


@pytest.mark.parametrize(
    ("environments", "policy"),
    [
        (TOP, "DPKLUCB"),
        ('{ name = "a", law = "bernoulli", means = [0.5, 0.4] }', "CUCBLDP2"),
        (TOP.replace("arms = 3", "arms = 4"), "CUCBLDP2"),
        (TOP.replace('"TopK"', '"TopQ"'), "CUCBLDP2"),
        (
            '{ name = "r", law = "roads", path = "absent_net.tntp", source = "1", target = "2" }',
            "CUCBLDP2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, environments: str, policy: str) -> None:
    with pytest.raises(ConfigError, match=r"sweep\.toml"):
        load_config(sweep(tmp_path, environments, f'[[policies]]\nclass = "{policy}"\n'))


def test_roads_are_paths_with_costs(tmp_path: Path) -> None:
    rows = "1 4 1.0 ;\n4 3 1.0 ;\n1 3 4.0 ;\n1 2 0.5 ;\n2 3 0.5 ;\n"
    notes = "<NUMBER OF NODES> 4\n<FIRST THRU NODE> 4\n<NUMBER OF LINKS> 5\n<END OF METADATA>\n"
    net = f"{notes}~ init_node term_node free_flow_time ;\n{rows}"
    (tmp_path / "small_net.tntp").write_text(net)  # no trip passes through zone 2
    made = (
        '{ name = "r", law = "roads", path = "small_net.tntp", source = "1", target = "3", most '
        "= 0.8 }"
    )
    cell = load_config(sweep(tmp_path, made)).cells()[0]
    assert cell.environment.means == pytest.approx([0.8, 0.8, 0.2])
    assert cell.policy.problem.optimum(cell.environment.means) == pytest.approx(-0.4)  # type: ignore[attr-defined]
