"""Where a rule is asked: a decision that was filled in and not asked may be another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dpbandits import NaiveFTNL
from dpbandits.auditing.exact_law import (
    MONOTONE,
    Deciding,
    Enumeration,
    TotalRange,
    by_corners,
    exact_law,
    heavy,
    known_monotone,
    mass,
    of_epochs,
)
from dpbandits.auditing.played_noise import Work
from dpbandits.checks.examples import examples
from dpbandits.core.errors import Unfit
from dpbandits.core.plan import Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful, Mechanism
from dpbandits.policies.base import IndexPolicy, PrivatePolicy, Statistics
from dpbandits.policies.contract import About, Policy, Release


@dataclass(frozen=True, kw_only=True)
class Jumps(IndexPolicy, PrivatePolicy):
    """Plays arm 2 at single points of the released totals, and arm 1 elsewhere."""

    about = About(paper="", algorithm="", bound="", every_round=True)
    at: tuple[tuple[float, ...], ...] = ()

    def mechanism(self) -> Mechanism:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

    def scores(self, s: Statistics, t: int) -> list[float]:
        hit = s.rounds == (1, 1) and s.totals in self.at
        return [0.0, 1.0 if hit else -1.0]


@pytest.mark.parametrize("at", [(1.0, 2.0), (2.0, -1.0), (0.0, 0.0), (1.0, 1.0), (0.0, 2.0)])
def test_a_rule_that_jumps_at_one_point_is_seen(at: tuple[float, float]) -> None:
    """It was passed with a loss of 0 and an error of 0. By hand: the chance of a total at 2 grows
    by e where the reward turns from 0 to 1.
    """
    found = exact_law(Jumps(arms=2, epsilon=1, grid=1, at=(at,)), 3)
    assert (found.outcome, round(found.lower_bound, 6)) == ("passed", 1.0), found
    assert found.details["asked"] == "every point"


class Jumping(NaiveFTNL):
    """Follows the other action at one point of the noised sums."""

    def update(self, state: Any, plan: Plan, release: Release) -> Any:
        new = super().update(state, plan, release)
        hit = release.coordinates and [answer[0] for answer in release.answers] == [5.0, 1.0]
        return new._replace(action=1 - new.action) if hit else new


def test_a_leader_that_jumps_at_one_point_is_seen() -> None:
    def loss(policy: Policy) -> float:
        return of_epochs(policy, 3, Work())[0]

    honest = NaiveFTNL(actions=2, epsilon=1, grid=1)
    assert loss(Jumping(actions=2, epsilon=1, grid=1)) != pytest.approx(loss(honest), abs=1e-6)


def index_policies() -> Iterator[Any]:
    """Every policy whose rule is asked at corners, with all its presets."""
    for cls in MONOTONE:
        for policy in examples(cls.__name__, arms=2):
            if isinstance(policy.init(), Statistics):
                small = {"first": 1} if hasattr(policy, "first") else {}
                yield pytest.param(replace(policy, grid=1, epsilon=2, **small), id=repr(policy))


@pytest.mark.parametrize("policy", index_policies())
def test_asking_corners_is_asking_everywhere(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `known_monotone` takes for granted."""
    assert known_monotone(policy)

    def laws() -> Any:
        return Enumeration(policy, 5, Work(), 1e-4).run()

    quick = laws()
    monkeypatch.setattr("dpbandits.auditing.exact_law.known_monotone", lambda policy: False)
    assert laws() == quick


def test_asking_a_leader_at_corners_is_asking_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = NaiveFTNL(actions=2, epsilon=1, grid=1)
    loss, error, *_ = of_epochs(policy, 8, Work())
    monkeypatch.setattr("dpbandits.auditing.exact_law.known_monotone", lambda policy: False)
    assert of_epochs(policy, 8, Work())[:2] == (loss, error)


def test_a_policy_of_ours_is_known_and_a_subclass_is_not() -> None:
    assert known_monotone(NaiveFTNL(actions=2, epsilon=1))
    assert not known_monotone(Jumping(actions=2, epsilon=1))


LAW, REACH = mass((1,), 1e-6)  # type: ignore[arg-type]
BOX = (TotalRange(LAW, 2, REACH), TotalRange(LAW, 1, REACH))


def test_heavy_points_are_asked_of_every_rule() -> None:
    points = set(heavy(BOX))
    centre = len(LAW) // 2
    for x in range(-REACH, REACH + 3):
        for y in range(-REACH, REACH + 2):
            away = max(-x, x - 2, 0), max(-y, y - 1, 0)
            likely = LAW[centre + away[0]] * LAW[centre + away[1]] > 1e-4
            assert ((x, y) in points) == likely, (x, y)
    deciding = Deciding(NaiveFTNL(actions=2, epsilon=1), Work())
    for point in points:
        with pytest.raises(Unfit, match="monotone"):
            deciding.on(BOX, lambda asked, at=point: int(asked == at))  # type: ignore[misc]


def test_both_ways_agree_where_the_rule_is_monotone() -> None:
    def leader(point: tuple[int, ...]) -> int:
        return int(point[1] > point[0])

    everywhere = Deciding(Jumps(arms=2, epsilon=1), Work())
    assert np.array_equal(everywhere.on(BOX, leader), by_corners(BOX, leader))
    assert everywhere.asked == (2 * REACH + 3) * (2 * REACH + 2)


def test_asking_everywhere_keeps_the_effort() -> None:
    """Noise of a small budget reaches over millions of points."""
    effort = Work(1e6)
    found = exact_law(Jumps(arms=2, epsilon=0.01, grid=1), 3, effort)
    assert found.outcome == "not applicable"
    assert "ask its rule at every point" in found.evidence
    assert effort.left() > -1e6


class Tosses(Jumps):
    """Its decisions are a public coin's: enumerated for one seed only, they looked certain."""

    def scores(self, s: Statistics, t: int) -> list[float]:
        return [0.0, 1.0]

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:  # type: ignore[misc]
        if rng.generator.random() < 0.5:
            return replace(super().plan(state, rng), action=0)  # type: ignore[arg-type]
        return super().plan(state, rng)


class Clips(Jumps):
    """It keeps less than what was released."""

    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:  # type: ignore[misc]
        new = super().update(state, plan, release)
        return new._replace(totals=tuple(min(1.0, total) for total in new.totals))


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Tosses(arms=2, epsilon=1, grid=1), "public coins"),
        (Clips(arms=2, epsilon=1, grid=1), "released totals and no more"),
    ],
    ids=["coins", "its own update"],
)
def test_what_is_not_enumerated_gets_no_law(policy: Policy, says: str) -> None:
    found = exact_law(policy, 4)
    assert (found.outcome, says in found.evidence) == ("not applicable", True), found
