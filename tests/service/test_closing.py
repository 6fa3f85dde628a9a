"""Campaigns that are closed: what is open is released once, in every part."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import KEY
from tests.service.counted import Counted

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


class Failing(Counted):
    failing = False

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if self.failing:
            raise ArithmeticError("no noise")
        return super().ask(verb, *exact, **cost)


class Trial:
    """A campaign with a clock of its own. Rewards are all 1."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.now, self.options = 1e6, options
        self.noise, self.url = Failing(), f"sqlite:///{folder}/trial.db"
        self.kept = {"witness": folder / "elsewhere.witness", "key": KEY}
        self.store = self.open()
        self.store.create("trial", POLICY, assignment="planned", **options)

    def open(self, **options: Any) -> Any:
        clock = {"clock": lambda: self.now}
        return dpb.open_store(self.url, noise=self.noise, **clock, **self.kept, **options)

    @property
    def campaign(self) -> Any:
        return self.store["trial"]

    def asked(self, count: int) -> list[Any]:
        found = list[Any]()
        for number in range(count):
            how: dict[str, Any] = {}
            if "segments" in self.options:
                how["segment"] = ["DE", "FR"][number % 2]
            if {"privacy_unit", "holdout"} & self.options.keys():
                how["user"] = f"{number} at {self.now}"
            found.append(self.campaign.ask(**how))
        return found

    def tell(self, decisions: list[Any]) -> list[str]:
        reward = (1, 0) if "guardrail" in self.options else 1
        return list(self.campaign.tell_many([(each, reward) for each in decisions]))

    def parts(self) -> list[Any]:
        return [self.campaign[name] for name in self.campaign.segments] or [self.campaign]

    def read(self) -> int:
        """Rewards that are in the ledger."""
        return sum(line.stop - line.start for part in self.parts() for line in part.ledger)

    def people(self) -> int:
        """Rewards that are behind the estimates."""
        return sum(row.people for part in self.parts() for row in part.beliefs())


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_last_answers_of_a_campaign_count_once(setting: str, tmp_path: Path) -> None:
    """Every part is read to the last answer that came; repeated, refused and failing calls, and
    another process, read nothing again.
    """
    trial = Trial(tmp_path, SETTINGS[setting])
    with trial.store:
        windowed = "attribution_window" in trial.options
        asked = trial.asked(41)
        trial.tell(asked[:-4])
        before = trial.read()
        trial.noise.failing = True
        with pytest.raises((ArithmeticError, ValueError)):
            trial.campaign.close(**({"winner": "x"} if windowed else {}))
        trial.noise.failing = False
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
            trial.now += 10
        told = 41 if windowed else 37
        assert trial.people() == trial.read() == told
        assert trial.campaign.summary().closes_at is None
        assert trial.tell(asked[-2:]) == ["gone", "gone"]
        with trial.open() as other:
            other["trial"].close("once more")
            other["trial"].settle()
            other["trial"].fence()
        assert (trial.people(), trial.campaign.summary().closed) == (told, "enough")
        events = [each.what for part in trial.parts() for each in part.events()]
        assert events.count("closed") == len(trial.parts())
        words = " ".join(trial.campaign.statement().split())
        assert "Closed: enough. What was open was released once" in words


def test_a_closed_campaign_that_is_put_back_reads_nothing_twice(tmp_path: Path) -> None:
    """What was open when the copy was made is dropped by the fence, not read again."""
    trial = Trial(tmp_path, {})
    with trial.store:
        trial.tell(trial.asked(10))
        open_ = 10 - trial.read()
        assert open_ > 0
    copy = (tmp_path / "trial.db").read_bytes()
    with trial.open() as store:
        store["trial"].close("enough")
    for name in ("trial.db-wal", "trial.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / "trial.db").write_bytes(copy)
    with trial.open() as store:
        trial.store = store
        store["trial"].close("enough")
        assert trial.campaign.generation == 2
        lines = [line for line in store["trial"].ledger if line.kind == "read"]
        assert sum(line.stop - line.start for line in lines) == 10 - open_


def test_a_fence_drops_what_a_closing_campaign_waits_for(tmp_path: Path) -> None:
    trial = Trial(tmp_path, WINDOW)
    with trial.store:
        trial.tell(trial.asked(5))
        trial.now += 10
        trial.campaign.settle()
        read = trial.read()
        trial.tell(trial.asked(3))
        trial.campaign.close("enough")
        trial.campaign.fence()
        trial.now += 10
        trial.campaign.settle()
        lines = [line for line in trial.campaign.ledger if line.kind == "read"]
        assert sum(line.stop - line.start for line in lines) == read
        assert trial.campaign.summary().closes_at is None


def test_a_view_that_cannot_settle_says_as_of_when(tmp_path: Path) -> None:
    trial = Trial(tmp_path, WINDOW)
    with trial.store:
        trial.tell(trial.asked(9))
        trial.campaign.close("enough")
        trial.now += 10
        trial.noise.failing = True
        assert "As of 1970-01-12 13:46 UTC" in " ".join(trial.campaign.statement().split())
        trial.noise.failing = False
        assert "As of" not in trial.campaign.statement()
        assert trial.people() == 9


@pytest.mark.parametrize("setting", ["plain", "users", "segments", "window and holdout"])
def test_a_winner_is_shown_to_everybody(setting: str, tmp_path: Path) -> None:
    trial = Trial(tmp_path, SETTINGS[setting])
    with trial.store:
        trial.tell(trial.asked(20))
        with pytest.raises(ValueError, match="one of the arms"):
            trial.campaign.close(winner="x")
        trial.campaign.close(winner="b")
        with pytest.raises(ValueError, match="closed already"):
            trial.campaign.close(winner="a")
        shown = trial.asked(12)
        assert {(each.label, each.learn, each.propensity) for each in shown} == {("b", False, 1.0)}
        assert set(trial.tell(shown)) == {"gone"}
        summary = trial.campaign.summary()
        assert (summary.closed, summary.winner) == ("winner: b", "b")
        with trial.open() as other:
            whose = {"user": "z"} if setting != "plain" else {}
            where = {"segment": "FR"} if setting == "segments" else {}
            assert other["trial"].ask(**whose, **where).label == "b"
        trial.now += 10
        trial.campaign.settle()
        assert trial.people() == 20
