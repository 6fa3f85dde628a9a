"""Campaigns that are closed, and the ends of periods: what is open is released once, in every part,
by whichever process comes next. That all but holdouts are closed as sessions are is in
`machine.py`, and releases that fail are in `crashes/test_faults.py`.
"""

from datetime import timedelta
from itertools import count
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.counted import Failing
from tests.service.machine import PERIODS, Time
from tests.service.timelines import two_stores

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=4)
WINDOW: dict[str, Any] = {"attribution_window": timedelta(seconds=10)}


class Trial:
    """A campaign with a clock of its own, in two processes. Rewards are all 1."""

    def __init__(self, **options: Any) -> None:
        self.clock, self.noise = Time(), Failing()
        stores = two_stores(self.noise, self.clock)
        stores[0].create("trial", POLICY, assignment="planned", **options)
        self.campaign, self.other = (store["trial"] for store in stores)
        self.parts = [self.campaign[name] for name in self.campaign.segments] or [self.campaign]

    def asked(self, times: int) -> list[Any]:
        """Every fourth person is on the side of the holdout, if there is one."""
        found = list[Any]()
        for number in range(times):
            how: dict[str, Any] = {}
            if self.campaign.segments:
                names = (f"{number}.{other} at {self.clock.now}" for other in count())
                on = "policy" if number % 4 else "holdout"
                how["user"] = next(name for name in names if self.campaign.side(name) == on)
            found.append(self.campaign.ask(**how))
        return found

    def tell(self, decisions: list[Any]) -> set[str]:
        return set(self.campaign.tell_many([(each, 1) for each in decisions]))

    def read(self) -> list[int]:
        """Rewards of each part that are in the ledger, and behind the estimates as well."""
        found = [sum(line.stop - line.start for line in part.ledger) for part in self.parts]
        assert found == [sum(row.people for row in part.beliefs()) for part in self.parts]
        return found

    def statement(self) -> str:
        return " ".join(self.campaign.statement().split())


def test_both_sides_of_a_holdout_are_read_to_the_last_answer_once() -> None:
    """Repeated, refused and failing calls, another process and a clock read nothing again."""
    trial = Trial(**PERIODS, **WINDOW, holdout="1/4")
    policy, holdout = trial.parts
    trial.tell(trial.asked(41))
    assert trial.read() == [0, 0]
    trial.noise.times = 100
    trial.clock.now += 111
    with pytest.raises((ArithmeticError, dpb.NotRecordedError)):
        trial.campaign.settle()
    trial.noise.times = 0
    trial.other.settle()
    assert trial.read() == [30, 0]
    assert "within each period of 100 seconds" in trial.statement()
    assert policy.beliefs().in_periods
    assert not holdout.beliefs().in_periods
    trial.clock.now -= 60
    asked = trial.asked(20)
    trial.tell(asked[:-4])
    trial.clock.now += 60
    trial.campaign.settle()
    assert trial.read() == [30, 0]
    with pytest.raises(ValueError, match="one of the arms"):
        trial.campaign.close("enough", winner="x")
    assert trial.campaign.summary().closed is None
    for _ in range(2):
        trial.campaign.close("enough", winner="b", key="one")
    with pytest.raises(ValueError, match="closed already"):
        trial.campaign.close("enough", winner="a")
    assert trial.campaign.summary().closes_at == trial.clock.now + 10
    assert trial.tell(asked[-4:-2]) == {"recorded"}
    assert trial.read() == [30, 0]
    trial.clock.now += 10
    assert trial.read() == [45, 16]
    assert trial.tell(asked[-2:]) == {"gone"}
    trial.other.close("once more", winner="b")
    trial.other.settle()
    trial.other.fence()
    shown = trial.asked(12)
    assert {(each.label, each.learn, each.propensity) for each in shown} == {("b", False, 1.0)}
    assert trial.tell(shown) == {"gone"}
    assert trial.read() == [45, 16]
    summary = trial.campaign.summary()
    assert (summary.closed, summary.winner, summary.closes_at) == ("enough", "b", None)
    events = [[each.what for each in part.events()] for part in trial.parts]
    assert [each.count("closed") for each in events] == [1, 1]
    assert "Closed: enough. What was open was released once" in trial.statement()
    assert trial.campaign.spent == 1


def test_a_view_that_cannot_settle_says_as_of_when() -> None:
    trial = Trial(**WINDOW)
    trial.tell(trial.asked(9))
    trial.campaign.close("enough")
    trial.clock.now += 10
    trial.noise.times = 100
    assert "As of 1970-01-12 13:46 UTC" in trial.statement()
    trial.noise.times = 0
    assert "As of" not in trial.statement()
    assert trial.read() == [9]
