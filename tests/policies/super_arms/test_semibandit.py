"""Combinatorial semi-bandits: small cases by hand, presets' privacy, the law of reports, bonuses
that hold.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.checks.tape import Tape
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.core.privacy import Grid, spent
from dpbandits.mechanisms.base import Answer
from dpbandits.policies import CUCB, CUCBDP, CUCBLDP1, CUCBLDP2, CUCBDPMax, LazyCUCB
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import Policy
from dpbandits.policies.super_arms import upper_bounds
from dpbandits.simulation.plain import play_rounds

TOP = dpb.TopK(arms=4, k=2)
PUBLIC = PublicRng(0, 0)
NAMES = ("CUCB", "CUCBLDP1", "CUCBLDP2", "CUCBDP", "CUCBDPMax", "LazyCUCB", "DPKLCUCB")


def state(totals: tuple[float, ...], rounds: tuple[int, ...], t: int) -> Statistics:
    zeros = (0,) * len(totals)
    return Statistics(totals, rounds, rounds, rounds, zeros, t)


def cell(policy: Policy, rounds: int = 200) -> Any:
    tape = Tape(np.random.default_rng(1).random((policy.arms, rounds)).round())
    marks = np.array([rounds])
    return play_rounds(
        policy,
        tape,
        rounds,
        marks,
        noise=dpb.SimulatedNoise(2),
        seed=3,
        rng=np.random.default_rng(4),
    )


def test_cucb_by_hand() -> None:
    """Two seen arms, two unseen: unseen count as 1, seen as min(1, mean + √(3 ln t/(2n)))."""
    policy = CUCB(problem=TOP)
    s = state((0.0, 90.0, 0.0, 0.0), (0, 100, 50, 100), 100)
    wide = [math.sqrt(1.5 * math.log(101) / n) for n in (100, 50)]
    assert upper_bounds(s._replace(t=100), policy.bonus) == pytest.approx(
        [1.0, 1.0, wide[1], wide[0]]
    )
    assert policy.plan(s, PUBLIC) == Hold((0, 1), 1, (0, 1))


def test_bonuses_by_hand() -> None:
    n, t, big = 400, 1000, 10**6
    log_t, log_h, both = math.log(t), math.log(big), math.log(2) + 3 * math.log(t)
    own, arms = math.sqrt(1.5 * log_t / n), np.array([float(n)])
    wanted = {
        CUCBLDP1(problem=TOP, epsilon=4): own + (2 / 4) * math.sqrt(8 * both / n),
        CUCBLDP2(problem=TOP, epsilon=4): own + (1 / 4) * math.sqrt(8 * both / n),
        CUCBLDP1(problem=TOP, epsilon=4, preset="published", horizon=big): 4
        * math.sqrt(2 * 4 * log_h / (16 * n)),
        CUCBLDP2(problem=TOP, epsilon=4, preset="published", horizon=big): 4
        * math.sqrt(2 * log_h / (16 * n)),
        CUCBLDP2(problem=TOP, epsilon=4, preset="sharp"): math.sqrt(
            2.5 * (1 / 4 + 2 / 16) * log_t / n + 5 * (log_t / (4 * n)) ** 2
        ),
        CUCBDP(problem=TOP, epsilon=4, horizon=big): own
        + (2 * 20 / 4) * math.sqrt(both) * math.sqrt(8 * both) / n,
        CUCBDPMax(problem=TOP, epsilon=4, horizon=big): own
        + (20 / 4) * math.sqrt(both) * math.sqrt(8 * both) / n,
        CUCBDP(problem=TOP, epsilon=4, horizon=big, preset="published"): math.sqrt(
            4 * math.log(4 * big) / n
        )
        + 12 * 2 * log_h**3 / (4 * n),
        LazyCUCB(problem=TOP, epsilon=4): math.sqrt(1.5 * math.log(4 * t) / n)
        + 3 * 2 * math.log(4 * t) / (4 * n),
    }
    for policy, value in wanted.items():
        draws = arms if isinstance(policy, (CUCBLDP1, CUCBLDP2)) else np.array([3.0])
        assert policy.bonus(arms, draws, t)[0] == pytest.approx(value), policy.name  # type: ignore[attr-defined]


def test_published_tree_bonus_is_useless_for_long() -> None:
    """The privacy term alone is above 1 until n = 158 000 at T = 10⁶, K = 5, ε = 1; with the other
    one 161 000.
    """
    policy = CUCBDP(problem=dpb.TopK(arms=5, k=5), epsilon=1, horizon=10**6, preset="published")
    n = np.array([158_000.0, 162_000.0])
    assert [bool(x > 1) for x in policy.bonus(n, n, 1)] == [True, False]


def test_presets_have_the_privacy_they_have() -> None:
    """As published a node has Lap(2K ln T/ε): εL/(2 ln T) in all, above the claim at T = 2 and 4
    only.
    """
    for horizon in (2, 3, 4, 5, 6, 7, 8, 16, 10**4, 10**6):
        policy = CUCBDP(problem=TOP, epsilon=1, horizon=horizon, preset="published")
        guarantee = policy.guarantee
        assert guarantee is not None
        assert float(guarantee.cost) == pytest.approx(
            horizon.bit_length() / (2 * math.log(horizon)), rel=1e-5
        )
        assert policy.node_scale == pytest.approx(2 * 2 * math.log(horizon), rel=1e-5)
        assert guarantee.claimed == 1
        assert (guarantee.cost > 1) == (horizon in (2, 4))
    assert CUCBDP(problem=TOP, epsilon="1/3", horizon=100).guarantee.cost == Fraction(1, 3)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", [n for n in NAMES if n != "CUCB"])
def test_ledger_adds_up_to_the_claim(name: str) -> None:
    """A round reads K coordinates (one, where only the least-seen arm is told), each at its
    share.
    """
    for policy in examples(name):
        path = cell(policy)
        guarantee = policy.guarantee
        assert guarantee is not None
        assert spent(path.ledger) == guarantee.cost
        width = 1 if isinstance(policy, (CUCBLDP2, CUCBDPMax)) else 2
        assert {(e.cost, e.width) for e in path.ledger} == {(guarantee.cost / width, width)}
        if policy.about.every_round:
            assert path.releases == 200 * width


@pytest.mark.parametrize("kind", [CUCBLDP2, CUCBDPMax])
def test_only_the_least_seen_arm_is_told(kind: Any) -> None:
    more = {"horizon": 100} if kind is CUCBDPMax else {}
    policy = kind(problem=TOP, epsilon=1, **more)
    # all indices are 1
    assert policy.plan(state((0.0,) * 4, (2, 1, 0, 0), 3), PUBLIC).observe == (1,)
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    for _ in range(20):
        before, decision = session.state.rounds, session.ask()
        assert decision.observe == (min(decision.action, key=lambda arm: (before[arm], arm)),)
        reward: Any = [1.0]
        session.tell(
            decision,
            reward
            if policy.randomizer() is None
            else policy.randomizer().report(reward, dpb.SimulatedNoise(3)),
        )
        assert sum(session.state.rounds) == sum(before) + 1
        assert session.state.pulls == session.state.rounds


def test_late_tells_about_other_arms_of_the_same_super_arm() -> None:
    """Asked three times, the one super arm is told about arm 0 each time; later plans wait for arm
    1.
    """
    policy = CUCBLDP2(problem=dpb.TopK(arms=2, k=2), epsilon=1)
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    first = session.ask(3)
    assert {d.observe for d in first} == {(0,)}
    report = policy.randomizer().report([1.0], dpb.SimulatedNoise(2))
    for decision in first:
        session.tell(decision, report)
    assert (session.state.rounds, session.plan.observe) == ((1, 0), (1,))
    session.tell(session.ask(), report)
    assert session.state.rounds == (1, 1)
    session.tell(session.ask(), report)
    assert session.state.rounds == (4, 1)  # with the two that came late


def test_lazy_batches_double() -> None:
    """Batches of 1, 2, 4, … each; the whole of a super arm is released when they fill together."""
    path = cell(LazyCUCB(problem=dpb.TopK(arms=2, k=2), epsilon=1), 127)
    assert [(e.stop - e.start) for e in path.ledger if e.coordinate == 0] == [
        1,
        2,
        4,
        8,
        16,
        32,
        64,
    ]
    assert path.state.rounds == (64, 64)


def test_a_tree_answer_says_its_draws() -> None:
    """The answer of a tree after n rewards has as many draws as n has ones, and the bonus uses
    them.
    """
    policy = CUCBDPMax(problem=dpb.TopK(arms=1, k=1), epsilon=1, horizon=64, grid=1)
    mechanism = policy.mechanism()
    assert mechanism.guarantee.grid == Grid(steps=1)  # type: ignore[union-attr]
    path = cell(policy, 23)
    assert path.state.draws == ((23).bit_count(),)
    assert Answer(*(path.state.totals[0], 23, 4)).rounds == path.state.rounds[0]
