"""Campaigns whose people are assigned elsewhere: a batch of outcomes counts once, in every kind of
store, after failures and restored copies.
"""

import pytest

import dpbandits as dpb
from dpbandits.service.operations import RecordOutcomes
from tests.service.conftest import KEY
from tests.service.timelines import Lite, create, inside

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=4, grid=1)


def test_no_outcome_is_kept_or_shown() -> None:
    """Batches of other outcomes leave the same public rows, and one hash of the call."""
    said = []
    for ones in (1, 3):
        with dpb.open_store("memory:", key=KEY, noise=dpb.SimulatedNoise(1)) as store:
            campaign = store.create("trial", POLICY, seed=1)
            campaign.record("a", (3, ones), key="w")
            part = inside(campaign, lambda part, rows: rows.decisions(part.uid, 0, 10))
            said.append([each._replace(nonce=0, asked_at=0) for each in part])
            op = RecordOutcomes(arm="a", people=3, successes=ones, key="w")
            said.append([repr(op), op.identity()])
            said.append([repr(RecordOutcomes(arm="a", outcomes=[0.7312549], key="w"))])
            assert "7312549" not in str(said)
    assert said[:3] == said[3:]


@pytest.mark.parametrize("many", [[8], [3], [3, 5]], ids=str)
def test_a_batch_of_a_lost_timeline_is_not_read_again(lite: Lite, many: list[int]) -> None:
    """If outcomes were released, then or later, they are gone; else they count."""
    with lite.open() as store:
        create(store, POLICY)
        copy = lite.copy()
        for people in many:
            assert store["c"].record("a", (people, 2), key=f"{people}") == "recorded"
        releases = bool(store["c"].ledger)
    assert releases is (sum(many) > 4)
    lite.put_back(copy)
    campaign = lite.open()["c"]
    for people in [*many, *many]:
        status = campaign.record("a", (people, 2), key=f"{people}")
        assert status == ("gone" if releases else "recorded")
    assert campaign.summary().asked == (0 if releases else 3)
    assert campaign.record("a", (3, 2), key="another") == "recorded"
