"""What a campaign says in words: its statement, and whether traffic is as planned."""

from __future__ import annotations

import dpbandits as dpb


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
