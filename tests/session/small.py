"""The small session that most tests here begin with."""

from __future__ import annotations

from typing import Any

import dpbandits as dpb


def session(**kwargs: Any) -> dpb.Session:
    return dpb.Session(dpb.DPKLUCB(arms=3, epsilon=1, first=4), noise=dpb.SimulatedNoise(1), seed=2, **kwargs)
