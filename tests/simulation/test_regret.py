"""Regret against independent references (T = 10⁶, means .75 .625 .5 .375 .25, ε = .5) and over
settings.
"""

from __future__ import annotations

import pytest

import dpbandits as dpb

ENVIRONMENT = dpb.Bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
# policy, reference mean; the references are rounded means of other programs: they are known to
# about 3 %
REFERENCES = [
    (dpb.AnytimeLazyUCB(arms=5, epsilon=0.5), 3270, 2000),
    (dpb.LazyDPTS(arms=5, epsilon=0.5), 1240, 400),
    (dpb.AdaPKLUCB(arms=5, epsilon=0.5), 2100, 2000),
    (dpb.DPSE(arms=5, epsilon=0.5, horizon=10**6), 3900, 2000),
    (dpb.DPKLUCB(arms=5, epsilon=0.5), 180, 2000),
]


@pytest.mark.parametrize(
    ("policy", "reference", "runs"),
    REFERENCES,
    ids=lambda x: x.name if isinstance(x, dpb.Policy) else str(x),
)
def test_reference(policy: dpb.Policy, reference: float, runs: int) -> None:
    """Mean regret within 3 % of the reference plus five standard errors."""
    s = dpb.simulate(policy, ENVIRONMENT, 10**6, runs=runs, seed=11, at=[]).summary()
    assert abs(s["mean"] - reference) < 0.03 * reference + 5 * s["error"]


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1])
def test_default_has_thin_tails(epsilon: float) -> None:
    """2,000 runs here; `make measured` plays 20,000 on every setting of the papers
    (docs/measured/regret.md).
    """
    policy = dpb.DPKLUCB(arms=5, epsilon=epsilon)
    s = dpb.simulate(policy, ENVIRONMENT, 10**6, runs=2000, seed=12, at=[]).summary()
    assert s["q999"] < 3 * s["mean"]
    assert s["mean"] < 1.4 * dpb.lower_bound(policy, ENVIRONMENT, 10**6)
