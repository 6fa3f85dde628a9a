"""JointDPLinTS: what it foresees is what comes, and the law that it learns is the law that is."""

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import check_policy
from dpbandits.mechanisms.cells import Counts
from dpbandits.policies.joint_contexts import REPEATS, SHRINK

RNG = np.random.default_rng(4)
LAW = np.array([[0.4, -0.2], [-0.3, 0.4], [0.1, 0.1]])
"""By arm; the mean reward at x is ½ + x·θ."""


def people(many: int) -> np.ndarray:
    return np.trunc(RNG.uniform(-0.6, 0.6, (many, 2)) * 2**20) / 2**20


POLICY = dpb.JointDPLinTS(arms=3, features=2, epsilon=1000, public_contexts=people(600))


def test_the_law_that_is_learned_is_the_law_that_is() -> None:
    """From counts alone, almost without noise: within six standard errors of ½ over .35."""
    state, visits = POLICY.init(), 0
    plays = np.zeros(3)
    for _ in range(8):
        snapshot, rows = POLICY.snapshot(state), people(6_000)
        arms, cells = snapshot.choices(rows, RNG), snapshot.cell_of(rows)
        ones = RNG.random(len(rows)) < 0.5 + np.einsum("nf,nf->n", rows, LAW[arms])
        counts = np.zeros(POLICY.shape, np.int64)
        np.add.at(counts, (arms, cells, ones.astype(int)), 1)
        state = POLICY.learned(state, Counts(counts, len(rows)))
        visits, plays = visits + len(rows), plays + np.bincount(arms, minlength=3)
        assert (state.visits, state.releases) == (visits, visits // 6_000)
    found = POLICY.snapshot(state).theta
    assert np.abs(found - LAW).max(axis=1) == pytest.approx(
        np.zeros(3), abs=6 * 0.5 / 0.35 / np.sqrt(plays.min())
    )


def test_what_is_foreseen_is_how_public_contexts_are_decided() -> None:
    """Over all arms, each cell has its public contexts, no more and no less."""
    known = POLICY.known
    shares, means = POLICY.foreseen(POLICY.init())
    assert shares.sum(axis=0) == pytest.approx(known.counts / len(known.rows))
    decided = (shares * len(known.rows) + SHRINK)[:, :, None] * means - SHRINK * known.means
    assert decided.sum(axis=0) == pytest.approx(known.counts[:, None] * known.means)
    assert (shares > 0).any(axis=1).all()
    assert POLICY.foreseen(POLICY.init())[0].tolist() == shares.tolist(), "by public coins"
    assert REPEATS * shares.sum() == pytest.approx(REPEATS)


class Own(dpb.JointDPLinTS):
    """A user-defined policy of the kind."""


def test_a_user_defined_policy_passes_its_checks() -> None:
    """No document of it could be loaded."""
    check_policy(Own(arms=2, features=2, epsilon=2, public_contexts=people(40)))
