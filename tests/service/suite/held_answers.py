"""A check of stores: answers that are waited for are seen by nobody, and lost by none."""

from collections.abc import Sequence
from datetime import timedelta
from time import sleep
from typing import Any

from dpbandits.checks.checks import require
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.session.session import Session
from tests.service.suite.small_campaigns import Make, small_campaign, small_policy

MANY = 40
"""Decisions; four of five are answered."""

LONGEST = 10
"""How often the time that answers have is doubled, from a second on."""


def held_answers_are_unseen(make: Make, name: str) -> None:
    """Where answers are waited for, nobody who looks can tell that one came; once their time has
    passed all of them count, whichever object they were told to.
    """
    for tries in range(LONGEST):  # a slow machine is given more time
        window = timedelta(seconds=2**tries)
        campaign = small_campaign(
            make(), name if tries == 0 else f"{name} {tries}", attribution_window=window
        )
        hosts = campaign, make()[campaign.name]
        asked = campaign.ask(MANY)
        before = seen_of(hosts)
        answers = [hosts[at % 2].tell(decision, 1) for at, decision in enumerate(asked) if at % 5]
        if "gone" not in answers:
            break
    require(set(answers) == {"recorded"}, "An answer that is waited for was not recorded.")
    require(seen_of(hosts) == before, "Whoever looks can tell that somebody answered.")
    wanted = session_with(window)
    for _ in range(100):
        if campaign.summary().step < wanted.releases:
            sleep(window.total_seconds() / 20)
            campaign.settle()
    same = all(str(host.beliefs()) == str(wanted.beliefs()) for host in hosts)
    require(same, "Answers that were held count for other decisions than a session's.")


def seen_of(hosts: Sequence[Any]) -> list[object]:
    """What everybody may see of a campaign."""
    return [
        (host.summary(), host.events(), host.ledger, host.releases(), list(host.decisions()))
        for host in hosts
    ]


def session_with(window: timedelta) -> Session:
    """A session of which the same was asked, and to which the same was told."""
    now = 0.0
    session = Session(
        small_policy(),
        noise=SimulatedNoise(1),
        seed=2,
        assignment="shuffled",
        attribution_window=window,
        clock=lambda: now,
    )
    for at, decision in enumerate(session.ask(MANY)):
        if at % 5:
            session.tell(decision, 1)
    now = window.total_seconds() + 1
    session.settle()
    return session
