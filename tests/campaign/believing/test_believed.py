"""What is kept of releases: few rows, plain data that survive JSON, and nothing damaged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.beliefs import beliefs
from dpbandits.session.beliefs import Believed, MeanReader
from dpbandits.checks import examples
from dpbandits.core.errors import DamagedSessionError
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from tests.campaign.campaigns import campaign

POLICY = dpb.DPKLUCB(arms=3, epsilon=1)


def test_rows_stay_few_where_every_round_is_released() -> None:
    history = campaign(dpb.UCB1(arms=2), [0.6, 0.5], 1500, 1)
    tree = campaign(dpb.DPUCB(arms=2, epsilon=1, horizon=1500), [0.6, 0.5], 1500, 1)
    for arm in (*history.arms, *tree.arms):
        assert len(arm.kept) <= 12 + np.log(arm.answers) / np.log(1.1)
    releases = [row.release for row in tree.arms[0].kept]
    wanted = [1]
    while wanted[-1] < releases[-1]:
        wanted.append(max(wanted[-1] + 1, int(np.ceil(1.1 * wanted[-1]))))
    assert releases == wanted, "settled beforehand where noise is drawn anew"


def test_small_first_blocks_are_left_out() -> None:
    history = campaign(dpb.AdaPUCB(arms=1, epsilon="1/2"), [0.5], 600, 1)
    arm = history.arms[0]
    assert arm.kept[0].rounds >= 4 * np.sqrt(8)
    assert arm.kept[0].draws == ((1, 1),)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_survives_json(name: str) -> None:
    for policy in examples(name):
        history = campaign(policy, np.linspace(0.8, 0.3, policy.arms), 40, 2)
        again = Believed.restored(policy, json.loads(json.dumps(history.to_data())))
        assert again == history
        found = beliefs(again)
        assert len(found) == policy.arms
        assert (MeanReader.of(policy).law is None) <= all(row.mean is None for row in found)


DATA = campaign(POLICY, [0.8, 0.5, 0.3], 300, 1).to_data()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("first",), 0),
        (("first",), 4),
        (("growth",), 0.5),
        (("arms",), {}),
        (("arms", 0), []),
        (("arms", 0, 0), 3),
        (("arms", 0, 1), 0),
        (("arms", 0, 2), []),
        (("arms", 0, 2, 0, 0), 99),
        (("arms", 0, 2, 0, 1), "1"),
        (("arms", 0, 2, 0, 1), float("nan")),
        (("arms", 0, 2, 0, 2), -1),
        (("arms", 0, 2, 0, 3), [[1]]),
        (("arms", 0, 2, 0, 3), [[0, 1]]),
        (("arms", 0, 3), None),
    ],
)
def test_damaged_data_are_refused(path: tuple[Any, ...], value: Any) -> None:
    data = json.loads(json.dumps(DATA))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if path == ("arms", 0, 2) and value == []:
        return  # an arm of which no row is kept yet
    with pytest.raises(DamagedSessionError, match="beliefs"):
        Believed.restored(POLICY, data)


def test_labels_are_as_many_as_arms() -> None:
    with pytest.raises(ValueError, match="3 names"):
        Believed.of(POLICY, ["a"])


def made(policy: Policy) -> Believed:
    return Believed.of(policy)


def test_grids_widen_by_half_a_step_unless_rewards_are_on_them() -> None:
    assert made(POLICY).reader.rounding == 0.5 / 1024
    assert made(dpb.DPKLUCB(arms=2, epsilon=1, grid=1)).reader.rounding == 0.0
    assert made(dpb.ThompsonBeta(arms=2)).reader.rounding == 0.0
    assert made(dpb.LDPKLUCB(arms=2, epsilon=1, grid=10)).reader.rounding == 0.05
