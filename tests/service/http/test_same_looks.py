"""A client shows what the store's own campaign shows: the same values of the same types, which
print the same.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.models import SentRatio
from dpbandits.service.store import CampaignStore
from dpbandits.session.segments import SegmentedTable
from dpbandits.session.traffic import Answers, SampleRatio
from tests.service.http.web import client_of, remote

RAIL = dpb.Guardrail("refunds", limit=0.2)
SEGMENTS = ["DE", "FR"]


def played(store: CampaignStore, **options: Any) -> tuple[Any, Any, httpx.Client]:
    """A campaign in which the arm "bad" harms, near and far, and what calls its server."""
    client = client_of(store)
    policy = dpb.DPKLUCB(arms=["bad", "good", "other"], epsilon=4)
    how = {"seed": 1, "assignment": "shuffled", "min_share": 0.1, **options}
    far = remote(client).create("trial", policy, noise=dpb.SimulatedNoise(1), **how)
    for segment in options.get("segments", [None]):
        for _ in range(20):
            asked = far.ask(50, segment=segment)
            pairs = [(d, [float(d.label != "other"), float(d.label == "bad")]) for d in asked]
            assert set(far.tell_many(pairs)) == {"recorded"}
    return store["trial"], far, client


def require_same(near: Any, far: Any) -> None:
    assert type(far) is type(near)
    assert far == near
    assert repr(far) == repr(near)
    assert str(far) == str(near)


def require_same_looks(near: Any, far: Any) -> None:
    """All that a campaign without segments, or one segment, says of what was found."""
    require_same(near.beliefs(), far.beliefs())
    require_same(near.beliefs(0.5), far.beliefs(0.5))
    require_same(near.lift("other", 0.5), far.lift("other", 0.5))
    require_same(near.harm(), far.harm())
    require_same(near.ledger, far.ledger)
    require_same(near.alarms, far.alarms)
    require_same(near.sample_ratio(), far.sample_ratio())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rewards": dpb.Range(-1, 3, clip=True)},
        {"attribution_window": timedelta(days=1)},
    ],
)
def test_a_campaign_shows_the_same_near_and_far(options: dict[str, Any]) -> None:
    with dpb.open_store("memory:") as store:
        near, far, _ = played(store, guardrail=RAIL, **options)
        require_same_looks(near, far)
        waits = "attribution_window" in options
        assert (len(near.ledger) == 0) is waits
        assert (len(near.alarms) == 0) is waits
        assert (near.beliefs().caution is None) is ("rewards" not in options)


def test_segments_are_shown_as_one_table_and_each_alone() -> None:
    with dpb.open_store("memory:") as store:
        near, far, _ = played(store, guardrail=RAIL, segments=SEGMENTS)
        require_same_looks(near, far)
        assert isinstance(far.beliefs(), SegmentedTable)
        assert far.beliefs().segments == tuple(SEGMENTS) == tuple(far.ledger)
        assert far.beliefs().to_polars().equals(near.beliefs().to_polars())
        for segment in SEGMENTS:
            require_same_looks(near[segment], far[segment])
            require_same(near[segment].beliefs(), far.beliefs()[segment])


def test_sides_are_shown_in_the_same_way() -> None:
    with dpb.open_store("memory:", key=bytes(32)) as store:
        sale = store.create("sale", dpb.DPKLUCB(arms=2, epsilon=4), holdout=0.3)
        for visitor in range(300):
            sale.tell(sale.ask(user=visitor), float(visitor % 3 == 0))
        far = remote(client_of(store))["sale"]
        for look in ("beliefs", "sample_ratio"):
            require_same(getattr(sale, look)(), getattr(far, look)())
        require_same(sale.ledger, far.ledger)
        require_same(sale.alarms, far.alarms)
        assert any(far.ledger.values())


def test_what_is_said_of_answers_comes_through() -> None:
    session = dpb.Session(
        dpb.DPKLUCB(arms=["a", "b"], epsilon=1), noise=dpb.SimulatedNoise(1), assignment="shuffled"
    )
    for _ in range(40):
        decision = session.ask()
        if decision.label == "a":
            session.tell(decision, 1.0)
        else:
            session.expire(decision)
    found = session.sample_ratio()
    assert isinstance(found, SampleRatio)
    assert isinstance(found.answers, Answers)
    require_same(found, SentRatio.of(found).made())
