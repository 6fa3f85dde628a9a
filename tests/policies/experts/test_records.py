"""Whole records: at the boundary, in epochs and in environments."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import dpbandits as dpb
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Grid, spent
from dpbandits.mechanisms import NoisyMax
from dpbandits.simulation import play_rounds
from dpbandits.simulation.plain import OpenVault
from dpbandits.vault import Vault
from tests.session.small import content

ALARM = 1e-6


WRONG = [[1.0, 0.5], [[1.0, 0.5, 0.5]], [1.0, math.nan, 0.0], [1.0, -0.25, 0.0], ["a", 0, 1], None]


@pytest.mark.parametrize("rewards", WRONG)
def test_bad_vectors_change_nothing(rewards: Any) -> None:
    session = dpb.Session(dpb.RNMFTNL(actions=3, epsilon=1), noise=dpb.SimulatedNoise(1))
    session.tell(session.ask(), [1.0, 0.0, 0.5])
    decision, before = session.ask(), None
    before = content(session)
    with pytest.raises(dpb.RewardError, match="Expected") as error:
        session.tell(decision, rewards)
    assert "0.25" not in str(error.value)
    with pytest.raises(dpb.RewardError):
        session.tell_many([(decision, rewards)])
    assert content(session) == before
    session.tell(decision, [0, 1, 1])


def test_a_record_is_read_whole_and_once() -> None:
    vault = OpenVault(
        Vault("full", NoisyMax(epsilon=Fraction(1), grid=Grid(steps=1)), 3, dpb.SimulatedNoise(1))
    )
    for wrong in ((0,), (EVERY,), (EVERY, EVERY)):
        with pytest.raises(RuntimeError, match=r"Expected blocks|no new reward"):
            vault.release(wrong, 1, ())
    vault.add(0, [1, 0, 1])
    vault.release((), 1, (), drop=(EVERY,))
    with pytest.raises(RuntimeError, match="no new reward"):
        vault.release((EVERY,), 1, ())
    vault.add(0, [1, 0, 1])
    vault.release((EVERY,), 2, ())
    # the dropped record was never read
    assert [(e.start, e.stop) for e in vault.ledger] == [(1, 2)]
    assert spent(vault.ledger) == 1
    assert vault.releases == 1


def test_prefix_never_reads_the_rest() -> None:
    """Each epoch of 2^r rounds is read from its start, more than half of it, and no line overlaps
    the next epoch.
    """
    policy, marks = dpb.PrefixExponential(actions=2, epsilon=1), np.array([1023])
    path = play_rounds(
        policy,
        dpb.Bernoulli([0.6, 0.4]),
        1023,
        marks,
        noise=dpb.SimulatedNoise(1),
        seed=2,
        rng=np.random.default_rng(3),
    )
    lines = [(e.start, e.stop) for e in path.ledger if e.stop - e.start > 1]
    starts = [2**r - 1 for r in range(10)]
    for start, stop in lines:
        epoch = starts.index(start)
        assert 2**epoch / 2 < stop - start <= 2**epoch
    assert len(lines) >= 8


def test_rows_of_a_table_stay_together() -> None:
    """In each row exactly one action is rewarded, so the sums of any block add up to its rounds;
    both ways have the same mean.
    """
    table = dpb.Table(np.eye(4)[[0, 1, 1, 2, 3, 3, 3]], resample=True)
    rng, arms = np.random.default_rng(1), np.arange(4)
    for rounds in (1, 5, 7, 10_000):
        assert table.block_many(arms, rounds, Grid(steps=8), rng).sum() == 8 * rounds
    assert table.draw_many(arms, rng).sum() == 1
    assert table.block_many(arms[:2], 50, Grid(steps=1), rng).sum() <= 50
    ordered = dpb.Table([[1, 0], [0.5, 1], [0, 1]])
    assert ordered.fresh().block_many(np.arange(2), 3, Grid(steps=2), rng).tolist() == [3, 4]
    whole = dpb.Table([[0.5, 0.5]], resample=True)
    coins = whole.block_many(np.arange(2), 1000, Grid(steps=4, rounding="bernoulli"), rng)
    assert set(coins % 4) == {0}
    assert all(binomtest(int(c) // 4, 1000, 0.5).pvalue > ALARM for c in coins)
