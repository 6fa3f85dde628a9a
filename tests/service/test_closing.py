"""Campaigns that are closed, and the ends of periods: what is open is released once, in every part,
by whichever process comes next.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.database import Database
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.counted import Failing
from tests.service.machine import Time

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=4)
WINDOW = {"attribution_window": timedelta(seconds=10)}
USERS = {"privacy_unit": "user", "max_contributions": 3}
RAIL = {"guardrail": dpb.Guardrail("refunds", limit=0.9)}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "users": USERS,
    "window": WINDOW,
    "guardrail": RAIL,
    "segments": {"segments": ["DE", "FR"], **USERS},
    "window and holdout": {**WINDOW, "holdout": "1/4"},
}


class Trial:
    """A campaign with a clock of its own. Rewards are all 1."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.clock, self.noise, self.options = Time(), Failing(), options
        self.database, self.witness = Database("memory:"), Witness(None)
        self.store: Any = self.open()
        self.store.create("trial", POLICY, assignment="planned", **options)

    def open(self) -> Any:
        """A store as another process would have it."""
        how: dict[str, Any] = {"key": KEY, "noise": self.noise, "clock": self.clock}
        return CampaignStore(self.database, self.witness, **how)

    @property
    def campaign(self) -> Any:
        return self.store["trial"]

    def asked(self, times: int) -> list[Any]:
        found = list[Any]()
        for number in range(times):
            how: dict[str, Any] = {}
            if "segments" in self.options:
                how["segment"] = ["DE", "FR"][number % 2]
            if "privacy_unit" in self.options:
                how["user"] = f"{number} at {self.clock.now}"
            if "holdout" in self.options:  # as many on each side in every run
                names = (f"{number}.{other} at {self.clock.now}" for other in count())
                on = "policy" if number % 4 else "holdout"
                how["user"] = next(name for name in names if self.campaign.side(name) == on)
            found.append(self.campaign.ask(**how))
        return found

    def tell(self, decisions: list[Any]) -> list[str]:
        reward = (1, 0) if "guardrail" in self.options else 1
        return list(self.campaign.tell_many([(each, reward) for each in decisions]))

    def parts(self) -> list[Any]:
        return [self.campaign[name] for name in self.campaign.segments] or [self.campaign]

    def read(self) -> int:
        """Rewards that are in the ledger."""
        lines = [line for part in self.parts() for line in part.ledger]
        return sum(line.stop - line.start for line in lines if line.kind == "read")

    def people(self) -> int:
        """Rewards that are behind the estimates."""
        return sum(row.people for part in self.parts() for row in part.beliefs())

    def statement(self) -> str:
        return " ".join(self.campaign.statement().split())


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_last_answers_of_a_campaign_count_once(setting: str) -> None:
    """Every part is read to the last answer that came; repeated, refused and failing calls, and
    another process, read nothing again.
    """
    trial = Trial(SETTINGS[setting])
    windowed = "attribution_window" in trial.options
    asked = trial.asked(41)
    trial.tell(asked[:-4])
    before, trial.noise.times = trial.read(), 100
    with pytest.raises((ArithmeticError, ValueError)):
        trial.campaign.close("enough", winner="x" if windowed else None)
    trial.noise.times = 0
    with pytest.raises(ValueError, match=r"for ever; store\.close\(\)"):
        trial.campaign.close("")
    with pytest.raises(TypeError, match="why"):
        trial.campaign.close()
    assert trial.campaign.summary().closed is None
    assert trial.read() == before
    trial.campaign.close("enough", key="one")
    trial.campaign.close("enough", key="one")
    trial.campaign.close("again")
    with pytest.raises(dpb.ClosedError):
        trial.asked(1)
    if windowed:
        assert trial.campaign.summary().closes_at == 1e6 + 10
        assert trial.tell(asked[-4:-2]) == ["recorded", "recorded"]
        assert trial.read() == before
        trial.clock.now += 10
    told = 41 if windowed else 37
    assert trial.people() == trial.read() == told
    assert trial.campaign.summary().closes_at is None
    assert trial.tell(asked[-2:]) == ["gone", "gone"]
    other = trial.open()["trial"]
    other.close("once more")
    other.settle()
    other.fence()
    assert (trial.people(), trial.campaign.summary().closed) == (told, "enough")
    events = [each.what for part in trial.parts() for each in part.events()]
    assert events.count("closed") == len(trial.parts())
    assert "Closed: enough. What was open was released once" in trial.statement()


def test_a_view_that_cannot_settle_says_as_of_when() -> None:
    trial = Trial(WINDOW)
    trial.tell(trial.asked(9))
    trial.campaign.close("enough")
    trial.clock.now += 10
    trial.noise.times = 100
    assert "As of 1970-01-12 13:46 UTC" in trial.statement()
    trial.noise.times = 0
    assert "As of" not in trial.statement()
    assert trial.people() == 9


@pytest.mark.parametrize("setting", ["plain", "users", "segments", "window and holdout"])
def test_a_winner_is_shown_to_everybody(setting: str) -> None:
    trial = Trial(SETTINGS[setting])
    trial.tell(trial.asked(20))
    with pytest.raises(ValueError, match="one of the arms"):
        trial.campaign.close("enough", winner="x")
    trial.campaign.close("enough", winner="b")
    with pytest.raises(ValueError, match="closed already"):
        trial.campaign.close("enough", winner="a")
    trial.store = trial.open()
    if setting == "plain":
        with pytest.raises(ValueError, match="no user="):  # as while it was open
            trial.campaign.ask(user="ann")
    shown = trial.asked(12)
    assert {(each.label, each.learn, each.propensity) for each in shown} == {("b", False, 1.0)}
    assert set(trial.tell(shown)) == {"gone"}
    summary = trial.campaign.summary()
    assert (summary.closed, summary.winner) == ("enough", "b")
    trial.clock.now += 10
    trial.campaign.settle()
    assert trial.people() == 20


# Periods


PERIODS: dict[str, Any] = {"min_share": 0.1, "period": timedelta(seconds=100)}
WITH_PERIODS: dict[str, dict[str, Any]] = {
    "plain": PERIODS,
    "users and a window": {**PERIODS, **USERS, **WINDOW},
    "guardrail": {**PERIODS, **RAIL},
    "segments": {**PERIODS, "segments": ["DE", "FR"]},
    "holdout": {**PERIODS, "holdout": "1/4"},
}


@pytest.mark.parametrize("setting", WITH_PERIODS)
def test_every_part_ends_its_period_once(setting: str) -> None:
    """A release that fails, another process and a clock that goes back read nothing again; holdout
    people are read as without periods.
    """
    trial = Trial(WITH_PERIODS[setting])
    trial.tell(trial.asked(41))
    before, trial.noise.times = trial.read(), 100
    trial.clock.now += 111
    with pytest.raises((ArithmeticError, dpb.NotRecordedError)):
        trial.campaign.settle()
    assert trial.read() == before
    trial.noise.times = 0
    trial.open()["trial"].settle()
    whole = trial.read() if setting == "holdout" else 41
    assert trial.read() == trial.people() == whole > before
    policy = trial.parts()[0]
    trial.clock.now -= 60
    trial.tell(trial.asked(20))
    trial.clock.now += 90
    releases = len(policy.ledger)
    trial.campaign.settle()
    assert len(policy.ledger) == releases
    trial.clock.now += 100
    assert trial.people() == trial.read() > whole
    assert "within each period of 100 seconds" in trial.statement()
    assert policy.beliefs().in_periods
    assert trial.campaign.spent == 1 or setting == "users and a window"
