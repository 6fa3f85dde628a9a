"""Policies that decide by contexts: the law that they learn is the law that is."""

import numpy as np
import pytest

import dpbandits as dpb

LAW = np.array([[0.8, 0.4, -0.2], [0.8, -0.3, 0.4]])
RNG = np.random.default_rng(4)
PEOPLE = np.column_stack([np.full(900, 0.6), RNG.uniform(-0.5, 0.5, (900, 2))])
MADE = {"arms": 2, "features": 3}
PRIVATE = MADE | {"first": 20, "public_contexts": np.trunc(PEOPLE[:200] * 2**20) / 2**20}


@pytest.mark.parametrize(
    "policy",
    [
        dpb.LinTS(**MADE),
        dpb.LinUCB(**MADE),
        dpb.DPLinTS(epsilon=10**5, **PRIVATE),
        dpb.DPLinTS(rho=10**9, **PRIVATE),
        dpb.DPLinTS(rho=10**9, release="shaped", **PRIVATE),
        dpb.DPLinUCB(epsilon=10**5, **PRIVATE),
        dpb.AdaCOFUL(rho=10**9, first=20, regularisation=0.01, **MADE),
    ],
    ids=lambda policy: policy.name,
)
def test_a_linear_law_without_noise_is_learned_exactly(policy: dpb.Policy) -> None:
    """But for what the regularisation takes, whatever codebook or shape it is released in."""
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=2)
    for context in PEOPLE:
        decision = session.ask(context=context)
        session.tell(decision, float(context @ LAW[decision.action]))
    assert session.policy.law_of(session.state).theta == pytest.approx(LAW, abs=0.02)
