"""Names of decisions that a lost timeline gave out are given to nobody else."""

from typing import Any

import pytest

from dpbandits.service.sealing import DecisionNames, OpenedName, fresh_nonce
from tests.service.machine import WINDOWED
from tests.service.timelines import Lite, create

PEOPLE = {"privacy_unit": "user", "max_contributions": 1}


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (PEOPLE, {}),
        ({**PEOPLE, **WINDOWED}, {}),
        ({**PEOPLE, "segments": ["DE", "FR"]}, {"segment": "DE"}),
        ({"holdout": "1/2"}, {}),
    ],
    ids=["plain", "window", "segments", "sides"],
)
def test_a_late_answer_counts_for_nobody_else(lite: Lite, options: Any, where: Any) -> None:
    """Even if its number was given to somebody else, whose own answer counts."""
    with lite.open() as store:
        campaign = create(store, **options)
        campaign.ask(user="early", **where)
        copy = lite.copy()
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
    again, told = ("recorded", None) if "default" in options else ("already", 3)
    assert campaign.tell_many([(d, 1) for d in new]) == [again] * 3
    assert campaign.summary().told == told


def test_a_number_has_another_name_in_every_transaction() -> None:
    ids, nonces = DecisionNames.fresh(), [fresh_nonce() for _ in range(200)]
    assert len({*nonces}) == 200
    assert min(nonces) < 0 < max(nonces)
    names = [name for nonce in nonces for name in ids.names(nonce, 1, range(1, 6))]
    assert len({*names}) == 1000
    wanted = [OpenedName(nonce, 1, seq) for nonce in nonces for seq in range(1, 6)]
    assert ids.opened(names) == wanted
    assert ids.opened(["", None, 3, names[0].upper(), names[0][:-1] + "g"]) == [None] * 5
