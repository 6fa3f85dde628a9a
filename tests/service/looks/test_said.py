"""What a campaign says in words: its statement, and whether traffic is as planned."""

from __future__ import annotations

import pytest
from dpbandits.service.looks.reports import StoredDecision

import dpbandits as dpb
from tests.service.http.web import client_of, remote


def test_the_statement_says_that_a_campaign_is_over_and_why() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        trial = store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        assert "over" not in trial.statement()
        trial.close("end of recruitment")
        said = trial.statement()
        assert said.endswith("\n\nThe campaign is over: end of recruitment.\n")


def test_every_line_of_a_statement_fits_a_page() -> None:
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        sale = store.create("sale", dpb.DPKLUCB(arms=2, epsilon=1), holdout=0.2)
        assert max(map(len, sale.statement().splitlines())) <= 88


def test_traffic_says_what_was_tested() -> None:
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        sale = store.create("sale", dpb.DPKLUCB(arms=2, epsilon=1), holdout=0.5)
        for visitor in range(40):
            sale.ask(user=visitor)
        holdout, policy = sale["holdout"], sale["policy"]
        assert str(holdout.sample_ratio()).startswith("No decision was left to chance so far")
        drawn = policy.summary().asked
        assert f"of the {drawn} decisions that were left to chance" in str(policy.sample_ratio())


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPKLUCB(arms=["blue", "green"], epsilon=1),  # type: ignore[arg-type]  # names make arms
        dpb.DPJointCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=1),
    ],
)
def test_decisions_come_as_frames_near_and_far(policy: dpb.Policy) -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        near = store.create("trial", policy)
        near.tell(near.ask(), 1.0 if policy.about.feedback == "bandit" else [1.0, 1.0])
        near.ask(6)
        for found in (near, remote(client_of(store))["trial"]):
            page = found.decisions(limit=5)
            rows = [tuple(map(listed, row)) for row in page.rows]
            assert page.to_polars().columns == list(StoredDecision._fields)
            assert [tuple(map(listed, row)) for row in page.to_polars().rows()] == rows
            table = page.to_pandas()
            assert list(table.columns) == list(StoredDecision._fields)
            assert table["waiting"].tolist() == [False, True, True, True, True]
            assert repr(page) == "5 decisions (more after=5)"
            rest = found.decisions(after=5)
            assert (rest.to_polars().height, repr(rest)) == (2, "2 decisions (the last)")


def listed(value: object) -> object:
    """Super arms are lists in a frame."""
    return list(value) if isinstance(value, tuple) else value
