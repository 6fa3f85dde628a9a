"""What `recommend` returns, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.recommended import MEASURED, RECOMMENDED

MATROID = dpb.UniformMatroid(arms=5, rank=2)
PUBLIC = {"epsilon": 1, "public_contexts": np.full((9, 2), 0.5)}
PATHS = dpb.Paths([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"arms": 5, "epsilon": 1}, dpb.DPRateIMED(arms=5, epsilon=1)),
        ({"arms": 5, "epsilon": "1/3", "horizon": 100}, dpb.DPRateIMED(arms=5, epsilon="1/3")),
        ({"arms": 5, "epsilon": 1, "model": "local"}, dpb.LDPKLUCB(arms=5, epsilon=1)),
        ({"arms": 5, "epsilon": 1, "goal": "winner"}, dpb.AdaPTT(arms=5, epsilon=1)),
        (
            {"arms": 5, "epsilon": 1, "model": "local", "goal": "winner"},
            dpb.CTBTT(arms=5, epsilon=1),
        ),
        (
            {"arms": 5, "features": 2, "private": "everything", **PUBLIC},
            dpb.JointDPLinTS(arms=5, features=2, **PUBLIC),  # type: ignore[arg-type]
        ),
        ({"arms": 5, "epsilon": 1, "features": 3}, dpb.DPLinTS(arms=5, features=3, epsilon=1)),
        (
            {"arms": 5, "epsilon": 1, "feedback": "full"},
            dpb.RNMFTNL(actions=5, epsilon=1, selection="permute-and-flip"),
        ),
        (
            {"problem": MATROID, "epsilon": 2},
            dpb.DPJointMAT(problem=MATROID, epsilon=2, preset="level"),
        ),
        (
            {"problem": MATROID, "epsilon": 2, "horizon": MEASURED},
            dpb.DPJointMAT(problem=MATROID, epsilon=2),
        ),
        (
            {"problem": MATROID, "epsilon": 2, "horizon": MEASURED + 1},
            dpb.DPJointMAT(problem=MATROID, epsilon=2, preset="level"),
        ),
        (
            {"problem": PATHS, "epsilon": 2},
            dpb.DPJointCUCB(problem=PATHS, epsilon=2, preset="level"),
        ),
        (
            {"problem": PATHS, "epsilon": 2, "model": "local"},
            dpb.CUCBLDP2(problem=PATHS, epsilon=2),
        ),
    ],
)
def test_what_is_recommended(given: dict[str, Any], expected: dpb.Policy) -> None:
    found = dpb.recommend(**given)
    assert found == expected
    assert type(found).__name__ in RECOMMENDED
    assert found.guarantee is not None
    assert float(found.guarantee.epsilon) == pytest.approx(float(found.budget))


@pytest.mark.parametrize(
    "given",
    [
        {"arms": 5},
        {"arms": 5, "model": "local"},
        {"arms": 5, "feedback": "full"},
        {"problem": MATROID},
        {"problem": PATHS},
        {"problem": PATHS, "model": "local"},
    ],
)
def test_every_recommended_policy_takes_a_grid(given: dict[str, Any]) -> None:
    assert dpb.recommend(epsilon=1, grid=1, **given).grid == 1
    assert dpb.recommend(epsilon=1, **given).grid > 1
    with pytest.raises((TypeError, ValueError), match="grid"):
        dpb.recommend(epsilon=1, grid=0, **given)
