"""Joint releases in a session: a record lives in its own plan's block, and what came late is
dropped. That no record is read twice: tests/vault/test_one_release.py.
"""

from __future__ import annotations

from dataclasses import replace
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
from dpbandits.vault import LATE

ONE = Fraction(1)


class Silent(SimulatedNoise):
    """Adds nothing, so that what is released shows which rewards are in it."""

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        return tuple(values)


def vault(arms: int = 4, size: int = 3) -> JointVault:
    return JointVault(JointBatch(epsilon=ONE, size=size, grid=Grid(steps=4)), arms, Silent(1))


def session(first: float = 1.0) -> dpb.Session:
    problem = dpb.UniformMatroid(arms=4, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=first)
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


def test_a_block_that_was_read_from_is_not_written_to() -> None:
    """An interruption between the sum and the moment it counts leaves the block as it was."""
    box = vault()
    box.enter((0, 1), [3, 4], 1, (1, (1,)))
    before = box._open[1]
    total = dict(before[0])
    box.enter((0, 1), [3, 4], 1, (1, (1,)))
    assert before[0] == total == {1: 4}
    assert box._open[1][0] == {1: 8}


def test_what_is_read_is_told_apart_where_arms_are_the_same() -> None:
    """Two plans of one super arm that read other arms of it."""
    box, arms = vault(), (0, 1, 2)
    for block, read in ((1, (0,)), (2, (1, 2)), (1, (0,)), (3, None)):
        box.enter(arms, [3, 4, 5], 1, (block, read))
    assert box._open[1][0] == {0: 6}
    assert box._open[2][0] == {1: 4, 2: 5}
    assert box._open[3][0] == {0: 3, 1: 4, 2: 5}


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
    box.enter((0, 1), box.on_grid((0, 1), [1.0, 1.0]), block=LATE)
    assert (box.records, box.public_state()["counts"]) == (2, [1])
    assert [tuple(answer) for answer in box.release((0,), 2, ()).answers] == [(1.0, 1, 1)]


def test_each_plan_has_a_block_of_its_own() -> None:
    """Of which only the arms that will be read are kept, and which is closed alone."""
    box = vault()
    for block, reward in ((5, 1.0), (9, 0.5), (5, 0.25)):
        box.enter((0, 1, 3), box.on_grid((0, 1, 3), [reward] * 3), 1, (block, (1, 3)))
    state = box.public_state()
    assert (state["blocks"], state["counts"]) == ([EVERY, 5, 9], [0, 2, 1])
    assert box.private_state()["sums"] == [0] * 4 + [0, 5, 0, 5] + [0, 2, 0, 2]
    release = box.release((1, 3), 3, (), (), 9)
    assert [tuple(answer) for answer in release.answers] == [(0.5, 1, 2), (0.5, 1, 2)]
    with pytest.raises(RuntimeError, match="none came since"):
        box.release((1,), 3, (), (), 9)
    release = box.release((1, 3), 3, (), (), 5)
    assert [tuple(answer) for answer in release.answers] == [(1.25, 2, 2), (1.25, 2, 2)]
    assert [tuple(line)[:4] for line in box.ledger] == [(EVERY, 0, 1, ONE), (EVERY, 1, 3, ONE)]
    assert (box.public_state()["blocks"], dpb.spent(box.ledger)) == ([EVERY], 1)


def test_all_blocks_are_dropped_at_once() -> None:
    box = vault()
    for block in (5, 9):
        box.enter((0, 1), box.on_grid((0, 1), [1.0, 1.0]), 1, (block, (0, 1)))
    box.drop(None, 2, ())
    assert (box.public_state()["blocks"], box.ledger) == ([EVERY], ())
    assert box.private_state()["sums"] == [0] * 4


@pytest.mark.parametrize(
    "where", [(0, 0), (-1, 1), (0, 4), (0, True), (0, 1.0), 0, [0, 1]], ids=repr
)
def test_foreign_coordinates_are_refused(where: Any) -> None:
    box = vault()
    with pytest.raises(RuntimeError, match="whole numbers from 0 to 3, each once"):
        box.add(where, [1.0, 1.0])
    assert box.records == 0


def test_what_is_asked_ahead_is_planned_and_read_in_blocks_of_its_own() -> None:
    """The elements are covered while the first block is awaited, and each block is read once."""
    of = session()
    rounds = of.plan.rounds if isinstance(of.plan, Hold) else 0
    ahead = of.ask(count=4 * rounds)
    assert [{d.action for d in ahead[at : at + rounds]} for at in range(0, 4 * rounds, rounds)] == [
        {(0, 1)},
        {(2, 3)},
        {(0, 1)},
        {(2, 3)},
    ]
    for decision in reversed(ahead):
        of.tell(decision, [float(decision.id <= 2 * rounds)] * 2)
    assert (of.releases, of.spent) == (4, 4)
    assert of.state.rounds == (2 * rounds,) * 4
    assert of.state.totals == (float(rounds),) * 4
    assert of._vault.public_state()["counts"] == [0]


def test_what_comes_late_for_a_closed_block_is_dropped_unread() -> None:
    """A block that was left is closed by what was asked of it; a void decision takes no place."""
    of = session()
    first = of.ask(count=3)
    of.void(first[0])
    assert of.ask().action == first[0].action
    of._wheel.turn = replace(of._wheel.turn, plans={})  # as if its block were closed
    state, counts = of.state, of._vault.public_state()["counts"]
    of.tell(first[1], [1.0, 1.0])
    assert (of.state, of._vault.public_state()["counts"]) == (state, counts) == (state, [0])
    assert (of._vault.records, of.spent, of.lost) == (1, 0, 0)


def test_a_block_closes_short_where_answers_come_out_of_order() -> None:
    """Half of a block is enough once an answer to a younger plan came; in order, none closes so."""
    of = session(first=8.0)
    rounds = of.plan.rounds if isinstance(of.plan, Hold) else 0
    ahead = of.ask(count=2 * rounds)
    for decision in ahead[: rounds // 2]:
        of.tell(decision, [1.0, 1.0])
    assert of.releases == 0
    of.tell(ahead[rounds], [1.0, 1.0])
    assert (of.releases, of.state.rounds) == (1, (rounds // 2, rounds // 2, 0, 0))
    for decision in ahead[rounds // 2 : rounds]:  # too late
        of.tell(decision, [1.0, 1.0])
    assert (of.releases, of._vault.public_state()["counts"]) == (1, [0, 1])
    for decision in ahead[rounds + 1 :]:
        of.tell(decision, [1.0, 1.0])
    assert (of.releases, of.state.rounds[2:]) == (2, (rounds, rounds))


def test_a_nearly_noiseless_session_finds_the_best_basis() -> None:
    problem = dpb.UniformMatroid(arms=5, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=1000, grid=1)
    of, rng = dpb.Session(policy, noise=SimulatedNoise(5), seed=6), np.random.default_rng(7)
    means = np.array([0.1, 0.8, 0.2, 0.9, 0.3])
    for _ in range(3000):
        decision = of.ask()
        of.tell(decision, (rng.random(2) < means[list(decision.observe or ())]).astype(float))
    assert of.plan.action_at(0, 0, None) == (1, 3)  # type: ignore[arg-type]
