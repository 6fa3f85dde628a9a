"""What a reader of the database sees, who has no key: never a reward, and where answers are waited
for not even who answered. Two runs of one campaign are compared, row by row and length by length.
"""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.checks.examples import PLACES, examples
from dpbandits.service.operations import Expire, made, told_pairs
from tests.service.counted import Counted
from tests.service.timelines import Kept

RANDOM = re.compile(r"[0-9a-f]{16,64}")
"""What is drawn by chance or hashed, whatever is told: names, nonces, chains."""

WINDOWED = {"attribution_window": timedelta(hours=1), "default": 0}
RAIL = {"guardrail": dpb.Guardrail("refunds", limit=0.2)}
PEOPLE = {"privacy_unit": "user", "max_contributions": 3}

Telling = Callable[[Any, list[Any]], None]
"""Tells a campaign about decisions."""


def masked(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return "sealed", len(value)
    if name == "nonce":
        return "nonce"
    return RANDOM.sub("#", value) if isinstance(value, str) else value


def seen_in(file: Path) -> dict[str, Any]:
    """All that a database holds: tables, rows and how they lie; of what is sealed, its length."""
    found: dict[str, Any] = {"size": file.stat().st_size}
    with closing(sqlite3.connect(file)) as database:
        for pragma in ("page_count", "freelist_count", "schema_version", "user_version"):
            found[pragma] = database.execute(f"PRAGMA {pragma}").fetchall()
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            rows = database.execute(f'SELECT rowid, * FROM "{table}" ORDER BY 1')
            names = [each[0] for each in rows.description]
            found[table] = [
                [(name, masked(name, value)) for name, value in zip(names, row, strict=True)]
                for row in rows.fetchall()
            ]
    return {**found, "header": file.read_bytes()[:100]}


class Seen(Kept):
    """A campaign of one seed, of which files are looked at."""

    def __init__(self, folder: Path, policy: Any, **options: Any) -> None:
        super().__init__(folder, policy, options, Counted())
        self.campaign = self.opened().create("trial", policy, seed=7, **options)

    def asked(self, count: int, **how: Any) -> list[Any]:
        return self.ask(self.campaign, count, **how)

    def seen(self) -> dict[str, Any]:
        """What is in its file once nobody is at it; then it is opened again."""
        self.store.close()
        found = seen_in(self.file)
        self.campaign = self.opened()["trial"]
        return found


def lengths(seen: dict[str, Any]) -> list[Any]:
    return [
        (table, row[1:3] if table == "dpbandits_held" else row[1], dict(row)["body"])
        for table in ("dpbandits_private_state", "dpbandits_held")
        for row in seen[table]
    ]


def nobody(campaign: Any, asked: list[Any]) -> None:
    """Nobody answers."""


def all_with(reward: Any) -> Telling:
    def tell(campaign: Any, asked: list[Any]) -> None:
        campaign.tell_many([(each, reward) for each in asked])

    return tell


def some_twice(low: Any, high: Any) -> Telling:
    def tell(campaign: Any, asked: list[Any]) -> None:
        for at, each in enumerate(asked):
            if at % 3:
                campaign.tell(each, high if at % 2 else low)
        for op in (told_pairs([(asked[1], low)]), made(Expire, ids=[asked[2].id])):
            campaign.do(op.model_copy(update={"key": f"{op.name} {asked[1].id}"}))
        campaign.tell_many([(each, high) for each in asked[::2]])
        campaign.expire(asked[1])

    return tell


PLAIN = dpb.DPKLUCB(arms=3, epsilon=1, first=50)
MINUTE = timedelta(minutes=1)
JOINT = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
WINDOWS: dict[str, tuple[Any, dict[str, Any], Any, Any]] = {
    "rewards": (PLAIN, {}, 0, 1),
    "harm": (PLAIN, RAIL, (0, 0), (1, 0.7)),
    "fine grid and range": (
        dpb.DPKLUCB(arms=3, epsilon=1, first=50, grid=2**20),
        {"rewards": dpb.Range(-100, 1000, clip=True)},
        -7,
        999,
    ),
    "people": (PLAIN, PEOPLE, 0, 1),
    "people in windows": (PLAIN, PEOPLE | {"window": MINUTE}, 0, 1),
    "periods": (PLAIN, {"min_share": 0.2, "period": MINUTE}, 0, 1),
    "segments": (PLAIN, {"segments": ["DE"]}, 0, 1),
    "contexts": (dpb.DPLinTS(arms=3, features=2, epsilon=1, public_contexts=PLACES), {}, 0, 1),
    "full information": (dpb.RNMFTNL(actions=3, epsilon=1), {}, [0, 0, 0], [1, 0.5, 1]),
    "super arms": (JOINT, {}, [0, 0], [1, 0.5]),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_nobody_sees_who_answered(tmp_path: Path, case: str) -> None:
    """Files are alike until the time has passed; then no sealed row grows with outcomes."""
    policy, options, low, high = WINDOWS[case]
    ways = {"nobody": nobody, "low": all_with(low), "high": all_with(high)}
    ways["twice"] = some_twice(low, high)
    how = {"segment": "DE"} if "segments" in options else {}
    found = {}
    for name, tell in ways.items():
        kept = Seen(tmp_path / name, policy, **WINDOWED, **options)
        with kept.store:
            asked, seen = kept.asked(11, **how), []
            tell(kept.campaign, asked)
            kept.now += 60
            more = kept.asked(2, **how)
            seen.append(kept.seen())
            kept.now += 60
            assert "Decisions made" in kept.campaign.statement(), "looked at before they answer"
            tell(kept.campaign, [*asked[:4], *more])
            kept.campaign.void(asked[5])
            seen.append(kept.seen())
            kept.now += 3_601
            kept.campaign.settle()
            seen.append(lengths(seen_in(kept.file)))
        kept.store.close()
        found[name] = seen
    for name in ways:
        assert found[name] == found["nobody"], name
    assert len(found["nobody"][0]["dpbandits_held"]) == 13
    assert len({body for *_, body in lengths(found["nobody"][0])[1:]} - {None}) == 1


def rewards_of(policy: Any, decision: Any, one: Any) -> Any:
    if policy.about.feedback == "bandit":
        return one
    return [one] * len(decision.observe or range(policy.arms))


REMEMBERING = (
    "AnytimeLazyUCB",  # a number of each kind that mechanisms remember
    "CUCBDP",
    "DPKLUCB",
    "DPNAS",
    "DPUCB",
    "DPJointMAT",
    "HybridUCB",
    "LazyDPTS",
    "RNMFTNL",
    "RootFTRL",
    "SparseVectorSE",
    "TreeFTRL",
    "UCB1",
)


@pytest.mark.parametrize("name", REMEMBERING)
def test_no_length_tells_a_reward(tmp_path: Path, name: str) -> None:
    """Lengths are those of public numbers, in open blocks and once they are read."""
    found, policy = [], examples(name)[0]
    for at, rewards in enumerate(((0, 0, 0), (1, 1, 1), (0, 1, 0.37), (0.001, 0, 0))):
        kept, own = Seen(tmp_path / str(at), policy), []
        with kept.store, closing(sqlite3.connect(kept.file)) as reader:
            for number in range(20):
                asked = kept.campaign.ask(2)
                one = rewards[number % 3]
                told = [(each, rewards_of(policy, each, one)) for each in asked]
                for each in told:
                    kept.campaign.tell(*each)
                    body = reader.execute("SELECT length(body) FROM dpbandits_private_state")
                    own.append((kept.campaign.summary().step, body.fetchall()))
                if own[-1][0]:  # what is asked from now on depends on what was released
                    break
        found.append(own)
    assert found[0] == found[1] == found[2] == found[3]


def test_an_answer_is_written_where_the_row_lay(tmp_path: Path) -> None:
    """Nothing changes but the sealed rows of who answered: no place, no counter."""
    kept = Seen(tmp_path / "trial", PLAIN, **WINDOWED)
    bodies, files = [], []
    with kept.store:
        asked = kept.asked(60)
        for some in ([], asked[7:40:3]):
            kept.campaign.tell_many([(each, 1) for each in some])
            for each in some[:2]:
                kept.campaign.tell(each, 0)
            kept.seen()
            files.append(bytearray(kept.file.read_bytes()))
            with closing(sqlite3.connect(kept.file)) as database:
                bodies.append(dict(database.execute("SELECT seq, body FROM dpbandits_held")))
    kept.store.close()
    changed = [seq for seq, body in bodies[0].items() if bodies[1][seq] != body]
    assert changed == [each.round for each in asked[7:40:3]]
    for seq in changed:
        at = files[0].find(bodies[0][seq])
        assert at == files[1].find(bodies[1][seq]) > 0
        for file in files:
            file[at : at + len(bodies[0][seq])] = bytes(len(bodies[0][seq]))
    assert files[0] == files[1]
