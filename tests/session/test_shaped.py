"""Releases of Σ r·x whose noise is shaped after a block's contexts: exact sums, public
shapes, and the exact privacy loss of a whole transcript in rho, with broken twins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.contexts import FINE
from dpbandits.mechanisms.cells import (
    ROW,
    Shape,
    ShapedBatches,
    ShapedBlock,
    largest_reach,
)
from dpbandits.noise.protocol import Noise
from dpbandits.policies.codebooks import shaping_matrices
from dpbandits.policies.contextual import PrivateLinear
from tests.session.replay import largest_loss
from tests.session.test_contexts import contexts_by_reward

FALSE_ALARM = 1e-6
RNG = np.random.default_rng(7)
PLACES = np.trunc(RNG.uniform(-0.6, 0.6, (400, 2)) * [1.0, 0.2] * FINE) / FINE


def policy(**changes: Any) -> dpb.DPLinTS:
    given: dict[str, Any] = {"arms": 2, "features": 2, "rho": "1/2", "release": "shaped"}
    return dpb.DPLinTS(**given | {"first": 9} | changes)


def session(made: Any = None, noise: Noise | None = None, **options: Any) -> dpb.Session:
    return dpb.Session(made or policy(), noise=noise or dpb.SimulatedNoise(1), seed=5, **options)


def test_the_reach_is_above_every_norm_and_hardly_more() -> None:
    """Against whole numbers of any size."""
    rng = np.random.default_rng(1)
    for p in (1, 3, 40, 1000):
        rows = rng.normal(size=(3 * p, p)) / np.sqrt(4 * p)
        longest = ROW * rows[:p] / np.linalg.norm(rows[:p], axis=1)[:, None]
        book = (shaping_matrices(rows) if p < 1000 else longest).astype(np.int64)
        assert np.abs(np.linalg.norm(book, axis=1)).max() <= ROW
        whole = (rng.normal(size=p) / np.sqrt(2 * p) * FINE).astype(np.int64)
        reach = largest_reach(book, whole[None])
        for matrix, each in zip(book.reshape(-1, p, p), reach.tolist(), strict=True):
            exact = sum(
                sum(a * x for a, x in zip(row, whole.tolist(), strict=True)) ** 2
                for row in matrix.tolist()
            )
            bound = Shape(matrix, each).sensitivity
            assert exact <= bound**2
            assert bound**2 <= exact * (1 + 1e-4) + 2**12 * p


def test_noise_has_the_covariance_that_the_fit_reckons_with() -> None:
    """4,000 releases: each entry of the empirical covariance within a normal bound."""
    rng, p, runs = np.random.default_rng(2), 3, 4000
    contexts = np.trunc(rng.normal(size=(60, p)) * [0.4, 0.2, 0.05] * FINE) / FINE
    book = shaping_matrices(contexts).astype(np.int64)
    whole = (contexts * FINE).astype(np.int64)
    reach = largest_reach(book, whole)
    mechanism = ShapedBatches(rho="1/8", grid=dpb.Grid(steps=16))
    for at in (0, 3):
        shape = Shape(book.reshape(-1, p, p)[at], int(reach[at]))
        block = ShapedBlock((0,), (7 * whole.sum(axis=0),), (60,), (shape,))
        noise = dpb.SimulatedNoise(3)
        rows = [mechanism.answer([None], block, noise)[1][0][0] for _ in range(runs)]
        errors = np.array(rows) - 7 / 16 * contexts.sum(axis=0)
        covariance = shape.covariance(1 / 8)
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        found = root @ (errors.T @ errors / runs) @ root.T
        # a product of two standard normal numbers has a variance of at most 2
        width = 1.1 * np.sqrt(2 / runs * 2 * np.log(2 * p * p * 2 / FALSE_ALARM))
        assert np.abs(found - np.eye(p)).max() < width


def test_a_record_adds_its_reward_times_its_context() -> None:
    s = session(policy(first=1000))
    sums, reach, told = np.zeros((2, 2), np.int64), np.zeros(2, np.int64), [0, 0]
    rng = np.random.default_rng(3)
    for x in PLACES[:50]:
        d = s.ask(context=x)
        reward = float(rng.integers(5)) / 4
        s.tell(d, reward)
        whole = (x * FINE).astype(np.int64)
        sums[d.action] += round(reward * 1024) * whole
        book: Any = s.policy.book_of(s.state, d.action).astype(np.int64)  # type: ignore[attr-defined]
        reach[d.action] = max(reach[d.action], int(largest_reach(book, whole[None])[0]))
        told[d.action] += 1
    state = s._view.folded()
    assert state.contexts is not None
    for arm in range(2):
        block = state.books.blocks[arm]
        assert block.count == told[arm]
        assert list(block.sums) == sums[arm].tolist()
        assert state.contexts.open[arm].reach.tolist() == [reach[arm]]


def test_no_pilot_is_needed_and_first_blocks_are_shaped_by_their_own_contexts() -> None:
    s = session(policy(first=30))
    assert s.ask(context=PLACES[0]).learn
    for x in PLACES[:120]:
        s.tell(s.ask(context=x), 1.0)
    assert all(fit.releases for fit in s.state.fits)
    assert all(len(fit.book) == 4 * 2 for fit in s.state.fits)


# The exact privacy loss of a whole transcript


def loss() -> Any:
    """Of a record among 60, in units of rho."""

    def play(records: list[float], noise: Noise) -> Any:
        s, seen = session(policy(), noise), list[Any]()
        for x, reward in zip(PLACES, records, strict=False):
            seen.append(s.ask(context=x))
            s.tell(seen[-1], reward)
        return seen, s.state, s.ledger

    records = [float(r) for r in np.random.default_rng(21).integers(0, 2, 60)]
    return largest_loss(play, records, power=2, most=0.5) * 2


@pytest.mark.parametrize("kept", [1500, 4])
def test_the_transcript_costs_rho_and_the_farthest_context_nearly_all_of_it(
    kept: int, monkeypatch: Any
) -> None:
    """With matrices of the block's own contexts, and with matrices fixed when it opened."""
    monkeypatch.setattr("dpbandits.policies.contextual.RECENT", kept)
    assert 1 - 1e-5 < loss() <= 1


shape_of = PrivateLinear.shape_of


def half_the_reach(patch: Any) -> None:
    """Noise for half of the largest norm."""

    def less(self: Any, *given: Any) -> Shape:
        shape = shape_of(self, *given)
        return shape._replace(reach=shape.reach // 4)

    patch.setattr(PrivateLinear, "shape_of", less)


def middling_reach(patch: Any) -> None:
    """Noise for the typical context of a block."""

    def typical(matrices: Any, contexts: Any) -> Any:
        each = [largest_reach(matrices, context[None]) for context in contexts]
        return np.median(each, axis=0).astype(np.int64)

    patch.setattr("dpbandits.policies.contextual.largest_reach", typical)


@pytest.mark.parametrize("change", [half_the_reach, contexts_by_reward, middling_reach])
def test_broken_shapes_cost_more(change: Any, monkeypatch: Any) -> None:
    """Also where contexts that were answered by 0 shape nothing."""
    change(monkeypatch)
    assert loss() > 1
