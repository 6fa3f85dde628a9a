"""Full information: what is promised, and whole records at the boundary and in environments."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

import dpbandits as dpb
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Grid, spent
from dpbandits.mechanisms import NoisyMax
from dpbandits.simulation.plain import OpenVault
from dpbandits.vault import Vault

ALARM = 1e-6


def test_guarantees_say_what_holds() -> None:
    published = dpb.RNMFTNL(actions=4, epsilon="1/10", preset="published").guarantee
    assert published is not None
    assert (published.epsilon, published.claimed, published.zero_out) == (
        Fraction(1, 5),
        Fraction(1, 10),
        Fraction(1, 10),
    )
    assert "0.1 under zero-out" in str(published)
    for policy in (
        dpb.RNMFTNL(actions=4, epsilon="1/10"),
        dpb.NaiveFTNL(actions=4, epsilon="1/10"),
    ):
        assert policy.guarantee is not None
        assert policy.guarantee.epsilon == Fraction(1, 10)
    assert dpb.DecreasingHedge(actions=3).guarantee is None


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


def test_rows_of_a_table_stay_together() -> None:
    """In each row one action is rewarded, so the sums of any block add up to its rounds."""
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
