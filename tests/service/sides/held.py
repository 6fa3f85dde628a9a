"""A campaign with holdout people and a ramp, at a day of December 2026."""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session.holdout import time_of
from tests.service.machine import Time

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
RAMP = [("2026-12-01", ".5"), ("2026-12-08", 1)]
PEOPLE = {"privacy_unit": "user", "max_contributions": 2}
BEFORE, HALF, ALL = map(time_of, ("2026-11-30", "2026-12-02", "2026-12-09"))
SIDES = ("policy", "holdout", "control")

MEMORY_FIRST = pytest.mark.parametrize(
    "make",
    ["memory", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("sqlite", "postgresql"))],
    indirect=True,
)
"""Databases in the long run only: what is tried is the same code, and the storage suite tries it on
all three.
"""


def at(day: float) -> Time:
    clock = Time()
    clock.now = day
    return clock


def held(store: Any, name: str = "trial", **options: Any) -> Any:
    options = {"policy": POLICY, "holdout": ".3", "ramp": RAMP, **options}
    return store.create(name, noise=dpb.SimulatedNoise(1), seed=1, **options)


def on(campaign: Any, side: str, many: int = 1) -> list[int]:
    """So many people of a side."""
    return [user for user in range(1_000) if campaign.side(user) == side][:many]
