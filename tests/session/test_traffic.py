"""Is traffic as planned? False alarms at all times, power, and Lindon and Malek's closed form."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from dpbandits.session.saving import as_plain
from dpbandits.session.traffic import CONCENTRATION, IMPOSSIBLE, Traffic

LAW = np.array([0.5, 0.25, 0.15, 0.1])


def test_it_is_the_published_bayes_factor_where_the_law_stays() -> None:
    """ln B(α + n)/B(α) − Σ n ln p, α = concentration · p, at any time."""
    rng, traffic, counts = np.random.default_rng(1), Traffic.of(4), np.zeros(4)
    for arm in rng.choice(4, 143, p=[0.4, 0.3, 0.2, 0.1]).tolist():
        traffic = traffic.played(LAW.tolist(), arm)
        counts[arm] += 1
        a = CONCENTRATION * LAW
        wanted = (gammaln(a + counts) - gammaln(a)).sum() - (counts * np.log(LAW)).sum()
        wanted -= gammaln(CONCENTRATION + counts.sum()) - gammaln(CONCENTRATION)
        assert traffic.score == pytest.approx(wanted, abs=1e-8)
    assert traffic.counts == tuple(counts.astype(int))
    assert traffic.expected == pytest.approx(tuple(143 * LAW))


def campaign(rng: np.random.Generator, blocks: int, size: int, law: Any, truth: Any) -> Traffic:
    """Blocks of so many decisions, each drawn from a law of its own."""
    traffic = Traffic.of(4)
    for at in range(blocks):
        planned = law(at).tolist()
        for arm in rng.choice(4, size, p=truth(law(at))).tolist():
            traffic = traffic.played(planned, arm)
    return traffic


def turning(at: int) -> Any:
    """A law that changes, with arms that cannot be played at times."""
    law = np.roll(LAW, at % 4) if at % 3 else np.array([0.0, 0.5, 0.5, 0.0])
    return np.eye(4)[at % 4] if at % 7 == 0 else law


@pytest.mark.parametrize("law", [lambda at: LAW, turning], ids=["steady", "turning"])
@pytest.mark.parametrize("k", [10.0, 1000.0])
def test_false_alarms_at_all_times(law: Any, k: float, monkeypatch: Any) -> None:
    """The smallest p-value of a whole campaign is at most .05 in at most that share of them;
    false-alarm rate of this test 10⁻⁶.
    """
    monkeypatch.setattr("dpbandits.session.traffic.CONCENTRATION", k)
    rng = np.random.default_rng(2)
    found = [campaign(rng, 40, 8, law, lambda p: p).evidence for _ in range(400)]
    assert sum(p <= 0.05 for p in found) <= binom.isf(1e-6, 400, 0.05)
    assert min(found) < 1.0


def test_power() -> None:
    """A tenth of one arm's people go to another: found within 40,000 decisions, and soon where no
    one of an arm is seen.
    """

    def shifted(p: Any) -> Any:
        return p + np.array([-0.05, 0.05, 0.0, 0.0])

    def lost(p: Any) -> Any:
        return np.array([*p[:3], 0.0]) / p[:3].sum()

    def steady(at: int) -> Any:
        return LAW

    rng = np.random.default_rng(3)
    assert campaign(rng, 40, 1000, steady, shifted).evidence < 1e-6
    assert campaign(rng, 40, 30, steady, lost).evidence < 1e-6


def test_what_cannot_happen_is_evidence_at_once() -> None:
    traffic = Traffic.of(2).played([1.0, 0.0], 0)
    assert traffic.evidence == 1.0
    traffic = traffic.played([1.0, 0.0], 1)
    assert traffic.evidence == 0.0
    assert traffic.played([0.5, 0.5], 1).evidence == 0.0
    assert Traffic.restored(json.loads(json.dumps(as_plain(traffic))), 3) == traffic


def test_an_arm_may_be_added() -> None:
    traffic = Traffic.of(1).played([1.0], 0).with_arm()
    for arm in (0, 1, 0, 1, 1, 0, 1):
        traffic = traffic.played([0.5, 0.5], arm)
    assert traffic.counts == (4, 4)
    assert traffic.score < IMPOSSIBLE
