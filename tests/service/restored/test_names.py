"""Names of decisions that a lost timeline gave out are given to nobody else: a copy from between
two releases is not noticed, so nothing but the names keeps its answers apart.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dpbandits.service.sealing import DecisionNames, OpenedName, fresh_nonce
from tests.service.machine import Time
from tests.service.timelines import Lite, create, inside, turns

PEOPLE = {"privacy_unit": "user", "max_contributions": 1}


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    return Lite(tmp_path)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (PEOPLE, {}),
        ({**PEOPLE, "segments": ["DE", "FR"]}, {"segment": "DE"}),
        ({"holdout": "1/2"}, {}),
    ],
    ids=["plain", "segments", "sides"],
)
def test_a_late_answer_counts_for_nobody_else(lite: Lite, options: Any, where: Any) -> None:
    """Whether its number was given to another person or not; and that person's own answer counts.
    Each is learned from once.
    """
    with lite.open() as store:
        campaign = create(store, **options)
        campaign.ask(user="early", **where)
        copy = lite.copy(lite.file.with_name("copy.db"))
        late = [campaign.ask(user=f"late{n}", **where) for n in range(3)]
    lite.put_back(copy)
    campaign = lite.open()["c"]
    assert campaign.generation == 1  # nothing was shown, so nothing is noticed
    assert campaign.tell_many([(d, 1) for d in late]) == ["unknown"] * 3
    new = [campaign.ask(user=f"late{n}", **where) for n in range(3)]
    assert [d.round for d in new] == [d.round for d in late]
    assert [d.learn for d in new] == [True] * 3
    assert not {d.id for d in new} & {d.id for d in late}
    assert campaign.tell_many([(d.id, 1) for d in late]) == ["unknown"] * 3
    assert campaign.void(late[0]) == campaign.expire(late[1]) == ["unknown"]
    assert campaign.tell_many([(d, 0) for d in new]) == ["recorded"] * 3
    assert campaign.tell_many([(d, 1) for d in late]) == ["unknown"] * 3
    assert campaign.tell_many([(d, 1) for d in new]) == ["already"] * 3
    assert campaign.summary().told == 3


def test_a_process_that_waited_gives_other_names(lite: Lite) -> None:
    """Its campaign in memory is as the copy was, so it finds nothing that moved."""
    with lite.open() as store, lite.open() as waiting:
        first = create(store)
        first.ask()
        second = waiting["c"]
        second.ask()
        first.summary()
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = second.ask(2)
    lite.put_back(copy)
    new = first.ask(2)
    assert [d.round for d in new] == [d.round for d in lost]
    assert first.tell_many([(d, 1) for d in lost]) == ["unknown"] * 2
    assert first.tell_many([(d, 1) for d in new]) == ["recorded"] * 2
    first._calls.host.database.close()


def test_after_a_fence_what_the_copy_does_not_hold_is_unknown(lite: Lite) -> None:
    """What it holds is gone, also where the number was told."""
    with lite.open() as store:
        campaign = create(store)
        told, (waits,) = turns(campaign, 2), campaign.ask(1)
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = turns(campaign, 60)
    lite.put_back(copy)
    campaign = lite.open()["c"]
    turns(campaign, 60)
    assert campaign.generation == 2
    assert campaign.tell_many([(d, 1) for d in [*told, waits]]) == ["gone"] * 3
    assert {*campaign.tell_many([(d, 1) for d in lost])} == {"unknown"}


def test_where_answers_wait_nothing_is_held_for_another(lite: Lite) -> None:
    clock = Time()
    options: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
    with lite.open(clock=clock) as store:
        campaign = create(store, **options)
        campaign.ask(3)
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = campaign.ask(3)
    lite.put_back(copy)
    campaign = lite.open(clock=clock)["c"]
    new = campaign.ask(3)
    before = inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 20)))
    assert campaign.tell_many([(d, 1) for d in lost]) == ["unknown"] * 3
    assert inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 20))) == before
    assert campaign.tell_many([(d, 1) for d in new]) == ["recorded"] * 3


def test_a_number_has_another_name_in_every_transaction() -> None:
    ids, nonces = DecisionNames.fresh(), [fresh_nonce() for _ in range(200)]
    assert len({*nonces}) == 200
    assert min(nonces) < 0 < max(nonces)
    names = [name for nonce in nonces for name in ids.names(nonce, 1, range(1, 6))]
    assert len({*names}) == 1000
    wanted = [OpenedName(nonce, 1, seq) for nonce in nonces for seq in range(1, 6)]
    assert ids.opened(names) == wanted
    assert ids.opened(["", None, 3, names[0].upper(), names[0][:-1] + "g"]) == [None] * 5
