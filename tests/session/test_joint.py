"""Joint releases in a session: a record lives in its own plan's block, is read once or never, and
what came late is dropped.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import EVERY, Hold
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import JointBatch
from dpbandits.noise import SimulatedNoise
from dpbandits.vault import JointVault
from tests.session.small import resealed

ONE = Fraction(1)


class Silent(SimulatedNoise):
    """Adds nothing, so that what is released shows which rewards are in it."""

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        return tuple(values)


def vault(arms: int = 4, size: int = 3) -> JointVault:
    return JointVault(JointBatch(epsilon=ONE, size=size, grid=Grid(steps=4)), arms, Silent(1))


def session(**options: Any) -> dpb.Session:
    problem = dpb.UniformMatroid(arms=4, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=1.0, **options)
    return dpb.Session(policy, noise=Silent(2), seed=3)


def play(of: dpb.Session, rounds: int) -> None:
    for _ in range(rounds):
        decision = of.ask()
        of.tell(decision, [1.0] * len(decision.observe or ()))


def test_a_release_reads_what_it_names_and_drops_the_rest() -> None:
    box = vault()
    box.add((0, 2, 3), [1.0, 0.5, 0.25])
    box.add((0, 2, 3), [1.0, 0.0, 0.25])
    release = box.release((0, 3), 2, ())
    assert [tuple(answer) for answer in release.answers] == [(2.0, 2, 2), (0.5, 2, 2)]
    assert [tuple(line)[:4] for line in box.ledger] == [(EVERY, 0, 2, ONE)]
    assert box.releases == 1
    with pytest.raises(RuntimeError, match="none came since"):
        box.release((2,), 2, ())
    assert box.private_state()["sums"] == [0, 0, 0, 0]


def test_a_block_without_release_is_dropped_at_no_price() -> None:
    box = vault()
    box.add((0, 1), [1.0, 1.0])
    assert box.release((), 1, ()).answers == ()
    assert box.ledger == ()
    box.add((1, 2), [1.0, 1.0])
    assert [tuple(answer) for answer in box.release((1,), 2, ()).answers] == [(1.0, 1, 1)]
    assert dpb.spent(box.ledger) == 1


def test_what_came_late_enters_no_block() -> None:
    box = vault()
    box.add((0, 1), [1.0, 1.0])
    box.enter((0, 1), box.on_grid((0, 1), [1.0, 1.0]), late=True)
    assert (box.records, box.public_state()["counts"]) == (2, [1])
    assert [tuple(answer) for answer in box.release((0,), 2, ()).answers] == [(1.0, 1, 1)]


@pytest.mark.parametrize(
    "where", [(0, 0), (-1, 1), (0, 4), (0, True), (0, 1.0), 0, [0, 1]], ids=repr
)
def test_foreign_coordinates_are_refused(where: Any) -> None:
    box = vault()
    with pytest.raises(RuntimeError, match="whole numbers from 0 to 3, each once"):
        box.add(where, [1.0, 1.0])
    assert box.records == 0


def test_late_tells_are_lost_to_learning_and_never_read() -> None:
    """Of decisions asked ahead, those told after their plan ended are dropped; what is released is
    the plan's own.
    """
    of = session()
    rounds = of.plan.rounds if isinstance(of.plan, Hold) else 0
    ahead = of.ask(count=3 * rounds)
    for decision in ahead[:rounds]:
        of.tell(decision, [0.0, 0.0])
    assert of.releases == 1
    after, open_ = of.state, of._vault.public_state()["counts"]
    for decision in ahead[rounds:]:
        of.tell(decision, [1.0, 1.0])
    assert (of.state, of._vault.public_state()["counts"]) == (after, open_) == (after, [0])
    assert of._vault.private_state()["sums"] == [0, 0, 0, 0]
    assert (of.releases, of.resolved, of._vault.records) == (1, 3 * rounds, 3 * rounds)
    assert {total for total, n in zip(after.totals, after.rounds, strict=True) if n} == {0.0}
    assert of.spent == 4


def test_a_saved_session_goes_on_and_counts_what_came_late() -> None:
    of, other = session(), session()
    for each in (of, other):
        ahead = each.ask(count=12)
        for decision in ahead[:9]:
            each.tell(decision, [1.0, 0.5])
    text = of.to_json()
    back = dpb.Session.from_json(text, noise=Silent(2))
    play(back, 30)
    play(other, 30)
    assert back.state == other.state
    assert [tuple(line) for line in back.ledger] == [tuple(line) for line in other.ledger]


def test_edited_counts_are_refused() -> None:
    of = session()
    play(of, 9)
    data = json.loads(of.to_json())
    data["public"]["vault"]["counts"] = [data["public"]["vault"]["counts"][0] + 50]
    with pytest.raises(ValueError, match="do not add up"):
        dpb.Session.from_json(resealed(data))


def test_a_nearly_noiseless_session_finds_the_best_basis() -> None:
    problem = dpb.UniformMatroid(arms=5, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=1000, grid=1)
    of, rng = dpb.Session(policy, noise=SimulatedNoise(5), seed=6), np.random.default_rng(7)
    means = np.array([0.1, 0.8, 0.2, 0.9, 0.3])
    for _ in range(3000):
        decision = of.ask()
        of.tell(decision, (rng.random(2) < means[list(decision.observe or ())]).astype(float))
    assert of.plan.action_at(0, 0, None) == (1, 3)  # type: ignore[arg-type]


def test_a_reading_that_is_said_to_be_dropped_is_refused() -> None:
    of = session()
    play(of, 9)
    data = json.loads(of.to_json())
    ledger = data["public"]["vault"]["ledger"]
    told = sum(line[2] - line[1] for line in ledger["lines"])
    ledger["lines"], ledger["releases"], ledger["dropped"] = [], 0, [[EVERY, told]]
    with pytest.raises(ValueError, match="how often was released"):
        dpb.Session.from_json(resealed(data))
