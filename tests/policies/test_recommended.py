"""What `recommend` returns, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.recommended import MEASURED, RECOMMENDED

MATROID = dpb.UniformMatroid(arms=5, rank=2)
PUBLIC = {"epsilon": 1, "public_contexts": np.full((9, 2), 0.5)}
PATHS = dpb.Paths([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t")


FIVE = {"arms": 5, "epsilon": 1}
OF_SETS, OF_PATHS = ({"problem": problem, "epsilon": 2} for problem in (MATROID, PATHS))
LOCAL, WINNER, FULL = {"model": "local"}, {"goal": "winner"}, {"feedback": "full"}
LEVEL = dpb.DPJointMAT(problem=MATROID, epsilon=2, preset="level")
CASES: list[tuple[dict[str, Any], dpb.Policy]] = [
    (FIVE, dpb.DPRateIMED(arms=5, epsilon=1)),
    (FIVE | {"epsilon": "1/3", "horizon": 100}, dpb.DPRateIMED(arms=5, epsilon="1/3")),
    (FIVE | LOCAL, dpb.LDPKLUCB(arms=5, epsilon=1)),
    (FIVE | WINNER, dpb.AdaPTT(arms=5, epsilon=1)),
    (FIVE | LOCAL | WINNER, dpb.CTBTT(arms=5, epsilon=1)),
    (
        {"arms": 5, "features": 2, "private": "everything", **PUBLIC},
        dpb.JointDPLinTS(arms=5, features=2, **PUBLIC),  # type: ignore[arg-type]
    ),
    (FIVE | {"features": 3}, dpb.DPLinTS(arms=5, features=3, epsilon=1)),
    (FIVE | FULL, dpb.RNMFTNL(actions=5, epsilon=1, selection="permute-and-flip")),
    (OF_SETS, LEVEL),
    (OF_SETS | {"horizon": MEASURED}, dpb.DPJointMAT(problem=MATROID, epsilon=2)),
    (OF_SETS | {"horizon": MEASURED + 1}, LEVEL),
    (OF_PATHS, dpb.DPJointCUCB(problem=PATHS, epsilon=2, preset="level")),
    (OF_PATHS | LOCAL, dpb.CUCBLDP2(problem=PATHS, epsilon=2)),
]


@pytest.mark.parametrize(("given", "expected"), CASES)
def test_what_is_recommended(given: dict[str, Any], expected: dpb.Policy) -> None:
    found = dpb.recommend(**given)
    assert found == expected
    assert type(found).__name__ in RECOMMENDED
    assert found.guarantee is not None
    assert float(found.guarantee.epsilon) == pytest.approx(float(found.budget))


@pytest.mark.parametrize(
    "given", [FIVE, FIVE | LOCAL, FIVE | FULL, OF_SETS, OF_PATHS, OF_PATHS | LOCAL]
)
def test_every_recommended_policy_takes_a_grid(given: dict[str, Any]) -> None:
    assert dpb.recommend(grid=1, **given).grid == 1
    assert dpb.recommend(**given).grid > 1
    with pytest.raises((TypeError, ValueError), match="grid"):
        dpb.recommend(grid=0, **given)
