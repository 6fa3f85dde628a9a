"""Arms drawn by chance: propensities, how decisions are kept, and a seed that stays secret."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPKLUCB, DPSE, DPTSMAT, LazyDPTS
from tests.session.small import begun, document, loaded, play_by_chance, reward_of

POLICY = DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=40)


MEANS = (0.8, 0.5, 0.2)


def test_decisions_have_the_probability_they_had() -> None:
    """Weighted by it, each arm's decisions are as many as there are rounds, on the average."""
    s, rng = begun(POLICY, min_share=0.2), np.random.default_rng(4)
    play_by_chance(s, 2_000, MEANS, rng)
    rows = list(s.decisions())
    assert len(rows) == len(s.decisions()) == 2_000
    assert {round(row.propensity or 0, 9) for row in rows} == {0.2, 0.6}
    for arm in range(3):
        weighted = [1 / (row.propensity or 1) if row.action == arm else 0.0 for row in rows]
        deviation = np.std(weighted) / 2_000**0.5
        assert abs(np.mean(weighted) - 1) < 4.9 * deviation
    frame = s.decisions().to_polars()
    assert frame.columns == ["id", "action", "label", "propensity", "learn", "waiting"]
    assert frame["label"].to_list() == [row.label for row in rows]


@pytest.mark.parametrize(
    ("policy", "later"), [(dpb.LazyDPTS(arms=3, epsilon=4), {None}), (POLICY, {0.05, 0.9})]
)
def test_a_propensity_is_never_given_a_draw_that_nobody_knows(policy: Any, later: Any) -> None:
    """The law of first blocks that are shuffled depends on no draw from a posterior."""
    s = begun(policy, min_share=0.05, assignment="shuffled")
    first = {row.propensity is None for row in decided(s, 3)}
    assert first == {False}
    play_by_chance(s, 400, MEANS, np.random.default_rng(6))
    rows = decided(s, 100)
    found = {row.propensity and round(row.propensity, 9) for row in rows}
    assert found <= later
    assert (None in found) is (None in later)
    assert not s.sample_ratio().alarm(1e-6)
    even = decided(begun(policy, min_share=1 / 3), 30)  # what the policy plays is no matter
    assert {round(row.propensity or 0, 9) for row in even} == {round(1 / 3, 9)}
    planned = begun(policy)
    assert {row.propensity for row in decided(planned, 3)} == {1.0}
    play_by_chance(planned, 400, MEANS, np.random.default_rng(6))
    assert {row.propensity for row in decided(planned, 30)} == {None if None in later else 1.0}


def test_shuffled_first_blocks_are_as_long_as_planned() -> None:
    rows = decided(begun(POLICY, assignment="shuffled"), 130)
    assert Counter(row.action for row in rows[:120]) == dict.fromkeys(range(3), 40)
    assert {row.propensity for row in rows[120:]} == {1.0}


def decided(s: dpb.Session, count: int) -> list[Any]:
    for _ in range(count):
        s.ask()
    return list(s.decisions())[-count:]


SEED = 987654321987
CHANCE: list[dict[str, Any]] = [{"assignment": "shuffled"}, {"min_share": 0.1}]


@pytest.mark.parametrize("chance", CHANCE)
@pytest.mark.parametrize("policy", [POLICY, LazyDPTS(arms=3, epsilon=4)], ids=lambda p: p.name)
def test_nothing_public_says_a_seed_that_foretells_who_gets_what(policy: Any, chance: Any) -> None:
    s = begun(policy, seed=SEED, **chance)
    play_by_chance(s, 200, MEANS, np.random.default_rng(1))
    data = document(s)
    for told in (str(SEED), f"{SEED:x}"):
        assert told not in json.dumps(data["public"])
        assert told not in repr(s.ask())
    assert data["private"]["seed"] == SEED
    again = loaded(s)
    assert again.seed == SEED
    assert [again.ask() for _ in range(60)] == [s.ask() for _ in range(60)]
    planned = document(begun(policy, seed=SEED))
    assert planned["public"]["seed"] == SEED  # it foretells nothing
    assert planned["private"]["seed"] is None


# How decisions came about is kept for as long as a session is: in few bytes each, and nothing
# where the last one says the same


DRAWN = 1_500
"""Decisions, enough for what columns keep in reserve to be small beside them."""

RANK_50 = DPTSMAT(problem=dpb.UniformMatroid(arms=60, rank=50), epsilon=1)


@pytest.mark.parametrize(
    ("policy", "options", "most"),
    [
        (RANK_50, {}, 45),
        (LazyDPTS(arms=5, epsilon=1), {}, 5),
        (dpb.DPKLUCB(arms=5, epsilon=1), {"min_share": 0.05}, 5),
        (DPSE(arms=2, epsilon=1, beta=0.1), {}, 1),
    ],
    ids=["super arms of rank 50", "drawn", "least share", "cycles"],
)
def test_a_decision_is_kept_in_few_bytes(policy: Any, options: Any, most: float) -> None:
    s, made = begun(policy, **options), list[Any]()
    for _ in range(DRAWN):
        decision = s.ask()
        s.tell(decision, reward_of(s, decision))
        made.append((decision.id, decision.action))
    text = s.to_json()
    said = json.loads(text)["public"]["chosen"]
    assert len(json.dumps(said, separators=(",", ":"))) < most * DRAWN
    rows = list(s.decisions())
    assert [(row.id, row.action) for row in rows] == made
    assert list(loaded(text).decisions()) == rows


def test_no_public_table_of_a_store_says_a_seed_that_foretells(tmp_path: Path) -> None:
    """After a fence, too, when a session whose mechanism forgets its sums begins anew."""
    file = tmp_path / "trial.db"

    def opened() -> Any:
        return dpb.open_store(f"sqlite:///{file}", witness=tmp_path / "w", noise=SimulatedNoise(1))

    with opened() as store:
        trial = store.create("trial", POLICY, seed=SEED, assignment="shuffled", min_share=0.1)
        trial.ask(30)
        trial.fence()
    with opened() as store:
        store["trial"].ask(30)
    with closing(sqlite3.connect(file)) as database:
        listed = database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        rows = {
            name: str(database.execute(f'SELECT * FROM "{name}"').fetchall()) for (name,) in listed
        }
    saying = {name for name, said in rows.items() if str(SEED) in said or f"{SEED:x}" in said}
    assert saying <= {"dpbandits_private_state", "dpbandits_held"}
