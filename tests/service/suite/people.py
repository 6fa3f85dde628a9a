"""Checks of stores: who is learned from, and apart from whom."""

from fractions import Fraction

from dpbandits.checks.checks import require
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.session.session import Session
from tests.service.suite.small_campaigns import (
    ROUNDS,
    Make,
    reward_of,
    small_campaign,
    small_policy,
)


def segments_learn_apart(make: Make, name: str) -> None:
    """Each segment decides as a campaign of its own; a person counts over all of them."""
    campaign = small_campaign(make(), name, segments=["DE", "FR"])
    hosts = campaign, make()[name]
    for place, segment in enumerate(("DE", "FR")):
        alone = Session(
            small_policy(), noise=SimulatedNoise(1 + place), seed=2 + place, assignment="shuffled"
        )
        for number in range(ROUNDS):
            found, wanted = hosts[number % 2].ask(segment=segment), alone.ask()
            require(found.action == wanted.action, "A segment decides as no session of its own.")
            campaign.tell(found.id, reward_of(number))
            alone.tell(wanted, reward_of(number))
    require(campaign.spent == Fraction(1), "A record paid for another segment.")
    require(name in make() and list(make()).count(name) == 1, "A segment is listed as a campaign.")
    person = {"privacy_unit": "user", "max_contributions": 1}
    people = small_campaign(make(), f"{name} people", segments=["DE", "FR"], **person)
    learned = [people.ask(segment=each, user="ann").learn for each in ("DE", "FR")]
    require(learned == [True, False], "A person was learned from in two segments.")


def holdout_people_are_apart(make: Make, name: str) -> None:
    """The policy decides as if it had never seen holdout people, who get the control arm."""
    campaign = small_campaign(make(), name, holdout="1/3", control=2)
    alone = Session(small_policy(), noise=SimulatedNoise(1), seed=2, assignment="shuffled")
    hosts = campaign, make()[name]
    for number in range(ROUNDS):
        found = hosts[number % 2].ask(user=number)
        if campaign.side(number) == "holdout":
            require(found.action == 2, "A holdout person got another arm than the control.")
        else:
            wanted = alone.ask()
            require(found.action == wanted.action, "Holdout people changed the policy.")
            alone.tell(wanted, reward_of(number))
        campaign.tell(found.id, reward_of(number))
    told = {(line.coordinate, line.start, line.stop) for line in make()[name]["policy"].ledger}
    wanted_lines = {(e.coordinate, e.start, e.stop) for e in alone.ledger}
    require(told == wanted_lines, "Rewards of holdout people were read for the policy.")
