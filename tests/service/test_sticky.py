"""People who keep their arms, in a store: sealed, of one length, deleted with the person."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.http.web import client_of, remote
from tests.service.timelines import Lite, create

ROWS = "FROM dpbandits_contribution ORDER BY rowid"
STICKY = {"privacy_unit": "user", "max_contributions": 2, "sticky": True}


@pytest.mark.parametrize("more", [{}, {"segments": ["DE", "FR"]}, {"holdout": ".3"}], ids=str)
def test_every_process_and_client_shows_a_person_the_same_arm(make: Open, more: Any) -> None:
    store = make()
    hosts: list[Any] = [create(store, **STICKY, **more), make()["c"]]
    hosts.append(remote(client_of(store))["c"])
    where = [{"segment": "DE"}, {"segment": "FR"}] if "segments" in more else [{}]
    shown = dict[int, set[Any]]()
    for visit in range(3):
        for user in range(20):
            host, place = hosts[(visit + user) % 3], where[(visit + user) % len(where)]
            made = host.ask(user=user, key=f"{user} {visit}", **place)
            assert made == host.ask(user=user, key=f"{user} {visit}", **place)
            assert made.learn is (visit < 2)
            shown.setdefault(user, set()).add(made.label or made.action)
            if user % 2:
                host.tell(made, 1)
    assert {len(arms) for arms in shown.values()} == {1}
    assert len(set.union(*shown.values())) > 1
    said = hosts[0].statement().replace("\n", " ")
    assert "encrypted, which arm each user keeps, as long as the campaign or until" in said


def test_a_person_who_is_erased_or_whose_arm_is_gone_gets_another(make: Open) -> None:
    store = make()
    campaign = create(store, **STICKY)
    (first,) = campaign.ask(1, user="ann", eligible=[1])
    campaign.ask(user="bob", eligible=[2])
    campaign.void(first)  # their place is free again, and the arm stays theirs
    assert campaign.ask(user="ann", eligible=[0, 1]).action == 1
    campaign.erase("ann")
    for user, arm in (("ann", 0), ("bob", 2)):
        made = campaign.ask(user=user, eligible=[0, 2])
        assert (made.action, made.learn) == (arm, user == "bob")
    campaign.retire_arm(2)
    assert {campaign.ask(user="bob").action for _ in range(3)} < {0, 1}


def test_the_file_does_not_tell_who_keeps_which_arm(tmp_path: Any) -> None:
    lite = Lite(tmp_path)

    def bodies() -> list[bytes]:
        with closing(sqlite3.connect(lite.file)) as file:
            return [kept for (kept,) in file.execute(f"SELECT kept {ROWS}")]

    with lite.open() as store:
        campaign = create(store, **STICKY)
        for user in range(6):
            campaign.tell(campaign.ask(user=user, eligible=[user // 2]), user % 2)
        campaign.erase(0)
        found = bodies()
        assert len(set(found)) == 6
        assert len({len(body) for body in found}) == 1
    with closing(sqlite3.connect(lite.file)) as file, file:
        a, b = [who for (who,) in file.execute(f"SELECT pseudonym {ROWS}")][1:3]
        for who, body in ((a, found[2]), (b, found[1])):
            file.execute("UPDATE dpbandits_contribution SET kept=? WHERE pseudonym=?", (body, who))
    refused = 0
    with lite.open() as store:
        for user in range(6):
            try:
                store["c"].ask(user=user)
            except dpb.StoreError:
                refused += 1
    assert refused == 2


@pytest.mark.parametrize("more", [{}, {"segments": ["DE", "FR"]}], ids=str)
def test_the_statement_counts_users_and_those_of_the_window(make: Open, more: Any) -> None:
    now = [1e9]
    store = make(clock=lambda: now[0])
    campaign = create(store, **STICKY, window=timedelta(days=7), **more)
    where = {"segment": "FR"} if more else {}
    for user in range(5):
        campaign.ask(user=user, **where)
    now[0] += 7 * 86_400
    for user in range(3, 5):
        campaign.ask(user=user, **where)
    said = " ".join(campaign.statement().split())
    over = ", over all parts of the campaign" if more else ""
    assert f"Users asked for, whether learned from or not{over}: 5." in said
    assert f"Users learned from in the window that is open{over}: 2." in said
