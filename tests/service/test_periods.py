"""Campaigns with periods: open blocks are released once at the end of each, whoever calls next."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.http.web import client_of, remote
from tests.service.test_closing import RAIL, USERS, WINDOW, Trial

PERIODS: dict[str, Any] = {"min_share": 0.1, "period": timedelta(seconds=100)}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": PERIODS,
    "users and a window": {**PERIODS, **USERS, **WINDOW},
    "guardrail": {**PERIODS, **RAIL},
    "segments": {**PERIODS, "segments": ["DE", "FR"]},
    "holdout": {**PERIODS, "holdout": "1/4"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_part_ends_its_period_once(setting: str, tmp_path: Path) -> None:
    """A release that fails, another process and a clock that goes back read nothing again; holdout
    people are read as without periods.
    """
    trial = Trial(tmp_path, SETTINGS[setting])
    with trial.store:
        trial.tell(trial.asked(41))
        before, trial.noise.failing = trial.read(), True
        trial.now += 111
        with pytest.raises((ArithmeticError, dpb.NotRecordedError)):
            trial.campaign.settle()
        assert trial.read() == before
        trial.noise.failing = False
        with trial.open() as other:
            other["trial"].settle()
        whole = trial.read() if setting == "holdout" else 41
        assert trial.read() == trial.people() == whole > before
        policy = trial.parts()[0]
        trial.now -= 60
        trial.tell(trial.asked(20))
        trial.now += 90
        releases = len(policy.ledger)
        trial.campaign.settle()
        assert len(policy.ledger) == releases
        trial.now += 100
        assert trial.people() == trial.read() > whole
        assert "within each period of 100 seconds" in " ".join(trial.campaign.statement().split())
        assert policy.beliefs().in_periods
        assert trial.campaign.spent == 1 or setting == "users and a window"


def test_periods_are_said_over_http() -> None:
    clock = [0.0]
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1), clock=lambda: clock[0]) as store:
        far = remote(client_of(store))
        policy = dpb.recommend(arms=["blue", "green"], epsilon=1)
        trial = far.create("trial", policy, min_share=0.1, period=timedelta(days=1))
        trial.tell_many([(each, 1.0) for each in trial.ask(30)])
        clock[0] += 86_400
        found = trial.beliefs()
        assert found.in_periods
        assert sum(row.people for row in found) == 30
        with pytest.raises(ValueError, match="not possible"):
            far.create("other", policy, period=timedelta(days=1))
