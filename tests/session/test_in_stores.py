"""What a campaign of a store has in common with a session, and what a store keeps apart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=40)
SEED = 987654321987


@pytest.mark.parametrize(
    "chance", [{"assignment": "shuffled"}, {"assignment": "shuffled", "min_share": 0.1}]
)
def test_no_public_table_of_a_store_says_a_seed_that_foretells(tmp_path: Path, chance: Any) -> None:
    """After a fence, too, when a session whose mechanism forgets its sums begins anew."""
    file = tmp_path / "trial.db"

    def opened() -> Any:
        return dpb.open_store(f"sqlite:///{file}", witness=tmp_path / "w", noise=SimulatedNoise(1))

    plain = dpb.Session(POLICY, noise=SimulatedNoise(1), seed=SEED, **chance)
    with opened() as store:
        trial = store.create("trial", POLICY, seed=SEED, **chance)
        shown = [d.label for d in trial.ask(30)]
        trial.fence()
    with opened() as store:
        shown += [d.label for d in store["trial"].ask(30)]
        assert store["trial"].summary().asked == 60
    assert shown[:30] == [d.label for d in plain.ask(30)]
    with closing(sqlite3.connect(file)) as database:
        listed = database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        rows = {
            name: str(database.execute(f'SELECT * FROM "{name}"').fetchall()) for (name,) in listed
        }
    saying = {name for name, said in rows.items() if str(SEED) in said or f"{SEED:x}" in said}
    assert saying <= {"dpbandits_private_state", "dpbandits_held"}


def test_what_a_store_cannot_open_again_is_refused() -> None:
    """A server opens a campaign by itself, with no code of the caller's."""
    problem = dpb.UserDecisionSet(arms=4, size=2, oracle=lambda w: w.argsort()[-2:])
    own = dpb.DPJointCUCB(problem=problem, epsilon=4)
    wrong: list[tuple[Any, str]] = [
        ("DPKLUCB", "Expected a policy such as .* got str"),
        (dpb.DPKLUCB, "got the class DPKLUCB itself"),
        (own, "a store can name .*got a UserDecisionSet of your own"),
    ]
    with dpb.open_store("memory:", noise=SimulatedNoise(1)) as store:
        for policy, words in wrong:
            with pytest.raises(TypeError, match=words):
                store.create("trial", policy)
        with pytest.raises(TypeError, match="attribution_windows"):
            store.create("trial", POLICY, attribution_windows=3)
        assert list(store) == []
