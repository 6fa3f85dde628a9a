"""Sessions for people's data that promise little, or decide nothing, say so once."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import dpbandits as dpb


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (dpb.DPKLUCB(arms=2, epsilon=11), "ε = 11 promises little: someone who thought an outcome"),
        (dpb.DPKLUCB(arms=1, epsilon=1), "one arm"),
        (dpb.KLUCB(arms=2), "KLUCB is not private"),
    ],
)
def test_a_session_warns_of_itself(policy: Any, words: str) -> None:
    with pytest.warns(dpb.PrivacyWarning, match=words):
        s = dpb.Session(policy, noise=dpb.SecureNoise())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = s.to_json(key=bytes(16))
        dpb.Session.from_json(text, key=bytes(16))  # it was said
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))  # no people's data
    with dpb.open_store("memory:") as store:
        with pytest.warns(dpb.PrivacyWarning, match=words):
            campaign = store.create("trial", policy)
        campaign.ask()
