"""The seed of a random assignment foretells who gets what, so nothing public says it; and clocks
are refused where they are none, or have nothing to time.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.session.saving.seal import sealed
from tests.session.small import loaded

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=40)
SEED = 987654321987
DAY = timedelta(days=1)
CHANCE = [{"assignment": "shuffled"}, {"min_share": 0.1}]


def session(policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(policy, noise=SimulatedNoise(1), seed=SEED, **options)


@pytest.mark.parametrize("chance", CHANCE)
@pytest.mark.parametrize("policy", [POLICY, dpb.LazyDPTS(arms=3, epsilon=4)])
def test_the_public_part_of_a_saved_session_does_not_say_the_seed(policy: Any, chance: Any) -> None:
    """It stood there."""
    s = session(policy, **chance)
    for _ in range(200):
        s.tell(s.ask(), 1.0)
    data = json.loads(s.to_json())
    for told in (str(SEED), f"{SEED:x}"):
        assert told not in json.dumps(data["public"])
    assert data["private"]["seed"] == SEED
    again = loaded(s.to_json())
    assert again.seed == SEED
    assert [again.ask() for _ in range(60)] == [s.ask() for _ in range(60)]
    planned = json.loads(session(policy).to_json())
    assert planned["public"]["seed"] == SEED  # it foretells nothing
    assert "seed" not in planned["private"]


def test_documents_that_say_it_in_public_are_still_read() -> None:
    s = session(assignment="shuffled")
    data = json.loads(s.to_json())
    del data["seal"]
    data["public"]["seed"] = data["private"].pop("seed")
    old = loaded(sealed(data, None))
    assert old.ask(20) == s.ask(20)
    assert json.loads(old.to_json())["public"]["seed"] is None
    data["public"]["seed"] = None
    with pytest.raises(dpb.DamagedSessionError, match="seed"):
        dpb.Session.from_json(sealed(data, None))


@pytest.mark.parametrize("chance", CHANCE)
def test_no_public_table_of_a_store_says_the_seed(tmp_path: Path, chance: Any) -> None:
    """After a fence, too, when a session whose mechanism forgets its sums begins anew."""
    file = tmp_path / "trial.db"

    def opened(**how: Any) -> Any:
        where = f"sqlite:///{file}"
        return dpb.open_store(where, witness=tmp_path / "w", noise=SimulatedNoise(1), **how)

    plain = session(**{"assignment": "shuffled", **chance})
    with opened() as store:
        trial = store.create("trial", POLICY, seed=SEED, **chance)
        shown = [d.label for d in trial.ask(30)]
        trial.fence()
    with opened() as store:
        shown += [d.label for d in store["trial"].ask(30)]
    with closing(sqlite3.connect(file)) as database:
        listed = database.execute("SELECT name FROM sqlite_master WHERE type='table'")
        said = {
            name: str(database.execute(f'SELECT * FROM "{name}"').fetchall())
            for (name,) in listed.fetchall()
        }
    assert str(SEED) in said.pop("private_state")
    said.pop("held")
    for table, rows in said.items():
        assert str(SEED) not in rows, table
        assert f"{SEED:x}" not in rows, table
    assert shown[:30] == [d.label for d in plain.ask(30)]
    with dpb.open_store(f"sqlite:///{file}", witness=tmp_path / "w", looking=True) as onlookers:
        looked = onlookers["trial"]
        assert looked.summary().asked == 60
        assert "Decisions made: 60" in looked.statement()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"clock": lambda: 0.0}, ValueError, "nothing to time"),
        (
            {"clock": lambda: 0.0, "privacy_unit": "user", "max_contributions": 1},
            ValueError,
            "nothing to time",
        ),
        ({"clock": 5, "attribution_window": DAY}, TypeError, "clock=5 to be a function"),
        ({"clock": lambda: 0.0, "segments": ["DE", "FR"]}, ValueError, "nothing to time"),
    ],
)
def test_clocks_that_are_none(options: Any, error: Any, said: str) -> None:
    """They failed at the first ask, or were ignored."""
    with pytest.raises(error, match=said):
        session(**options)
    timed = session(attribution_window=DAY, clock=lambda: 0.0)
    with pytest.raises(TypeError, match="to be a function"):
        loaded(timed.to_json(unsealed=True), clock=5)
    again = loaded(session().to_json(), clock=lambda: 0.0)  # one for all of them
    assert again.attribution_window is None
