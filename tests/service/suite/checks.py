"""Checks that a store of campaigns must pass, whatever it is made of: memory, a file, a server.

Each takes `make`, which opens one and the same store whenever it is called, and a name that no
campaign of it has; it raises `CheckFailed` if the store is wrong. Only a store's verbs are used, so
that anybody can check a backend of their own. The noise is simulated: check no store that holds
people's data.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from threading import Thread

from dpbandits.checks.checks import require
from dpbandits.core.errors import RewardError
from dpbandits.core.inputs import shown
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.session.session import Session
from tests.service.suite.held_answers import held_answers_are_unseen
from tests.service.suite.people import (
    holdout_people_are_apart,
    segments_learn_apart,
)
from tests.service.suite.small_campaigns import (
    ROUNDS,
    Make,
    is_refused,
    reward_of,
    small_campaign,
    small_policy,
)


def names_are_taken_once(make: Make, name: str) -> None:
    """A campaign is found under its name, and no other one gets it."""
    store = make()
    require(name not in store, "A store knows a campaign that was never created.")
    require(is_refused(KeyError, lambda: store[name]), "A campaign that does not exist was opened.")
    small_campaign(store, name)
    require(name in store and name in list(store), "A store does not name its campaign.")
    require(name in make(), "A store that is opened again does not name its campaign.")
    again = is_refused(ValueError, lambda: small_campaign(make(), name))
    require(again, "Two campaigns of one name were created.")


def decides_as_a_session(make: Make, name: str) -> None:
    """Decision for decision and release for release as a `Session`, through whichever object the
    store is opened.
    """
    campaign = small_campaign(make(), name)
    session = Session(
        small_policy(), noise=SimulatedNoise(1), seed=2, assignment="shuffled", campaign=name
    )
    others = [campaign, make()[name], make()[name]]
    for number in range(ROUNDS):
        host = others[number % 3]
        found, wanted = host.ask(), session.ask()
        same = (found.action, found.round, found.learn) == (
            wanted.action,
            wanted.round,
            wanted.learn,
        )
        require(same, f"Decision {number + 1} is another one than a session's.")
        require(host.tell(found, reward_of(number)) == "recorded", "An answer was not recorded.")
        session.tell(wanted, reward_of(number))
    told = [(line.coordinate, line.start, line.stop) for line in make()[name].ledger]
    wanted_lines = {(e.coordinate, e.start, e.stop) for e in session.ledger}
    require(set(told) == wanted_lines, "The ledger is another one than a session's.")
    require(make()[name].spent == session.spent, "The ledger's total is another one.")


def answers_count_once(make: Make, name: str) -> None:
    """A decision is resolved once; the reply to a repeated answer is the same whatever it carries;
    an answer that is none refuses all that came with it.
    """
    campaign = small_campaign(make(), name)
    first, second, third = campaign.ask(3)
    bad = is_refused(RewardError, lambda: campaign.tell_many([(first, 1), (second, 7)]))
    require(bad, "A reward of 7 was recorded.")
    require(campaign.tell(first, 1) == "recorded", "An answer beside a wrong one was recorded.")
    for reward in (0, 1, 0.5):
        require(make()[name].tell(first, reward) == "already", "A decision was resolved twice.")
    require(campaign.void(second) == ["recorded"], "A decision could not be made void.")
    require(campaign.tell(second, 1) == "gone", "A void decision took an answer.")
    require(campaign.expire(third) == ["recorded"], "A decision did not expire.")
    require(campaign.tell(third, 1) == "already", "An expired decision took an answer.")
    require(campaign.tell("0" * 32, 1) == "unknown", "A made-up decision took an answer.")
    many = campaign.ask(2)
    twice = campaign.tell_many([(many[0], 1), (many[1], 1), (many[0], 0)])
    require(twice == ["recorded", "recorded", "already"], "One call resolved a decision twice.")


def asks_can_be_repeated(make: Make, name: str) -> None:
    """An ask that is made again with its key gives the same decisions, and makes no others."""
    campaign = small_campaign(make(), name)
    made = campaign.ask(5, key="visit 1")
    require(make()[name].ask(5, key="visit 1") == made, "A repeated ask gave other decisions.")
    require(campaign.ask(1, key="visit 2") != made[:1], "Another key gave the same decisions.")
    require(campaign.summary().asked == 6, "A repeated ask made decisions.")


def nothing_is_read_twice(make: Make, name: str) -> None:
    """Readings of a coordinate do not overlap, and each is of one release."""
    campaign = small_campaign(make(), name)
    for start in range(0, ROUNDS, 20):
        asked = campaign.ask(20)
        campaign.tell_many([(d, reward_of(start + at)) for at, d in enumerate(asked)])
    lines = campaign.ledger
    require(bool(lines), "Nothing was released.")
    for coordinate in {line.coordinate for line in lines}:
        spans = sorted((li.start, li.stop) for li in lines if li.coordinate == coordinate)
        apart = all(before[1] <= after[0] for before, after in pairwise(spans))
        require(apart, f"A reward of coordinate {coordinate} was read twice.")
    require(campaign.spent == Fraction(1), "A record paid another cost than the promise.")
    require(len(campaign.releases()) == campaign.summary().step, "A release is missing.")


def scopes_add_up(make: Make, name: str) -> None:
    """Campaigns of a scope take no more than its budget together."""
    store = make()
    store.scope(name, epsilon=2)
    for number in range(2):
        small_campaign(store, f"{name} {number}", scope=name)
    require(make().scope(name).left == 0, "Campaigns joined a scope and took nothing of it.")
    over = is_refused(ValueError, lambda: small_campaign(make(), f"{name} 2", scope=name))
    require(over and f"{name} 2" not in make(), "Campaigns took more than their scope has.")


def fences_give_up(make: Make, name: str) -> None:
    """A fence begins a new generation: what waits is gone, whatever it is told, and the ledger says
    what may have been read.
    """
    campaign = small_campaign(make(), name)
    asked = campaign.ask(30)
    campaign.tell_many([(d, 1) for d in asked[:20]])
    campaign.fence()
    again = make()[name]
    require(campaign.generation == again.generation == 2, "A fence began no generation.")
    replies = {again.tell(d, reward) for d in asked for reward in (0, 1)}
    require(replies == {"gone"}, f"Decisions before a fence are {sorted(replies)}, not gone.")
    lost = [line for line in again.ledger if line.kind == "lost"]
    require(len(lost) == 1 and lost[0].cost == "1", "The ledger does not say what was lost.")
    require(again.summary().waiting == 0, "Decisions outlived a fence.")
    new = again.ask(40)
    require({again.tell(d, 1) for d in new} == {"recorded"}, "After a fence nothing is recorded.")


def threads_share(make: Make, name: str) -> None:
    """Threads with stores of their own resolve each decision once."""
    small_campaign(make(), name)
    counted = list[str]()

    def work() -> None:
        campaign = make()[name]
        for _ in range(5):
            asked = campaign.ask(4)
            counted.extend(campaign.tell_many([(d, 1) for d in asked] * 2))

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    right = counted.count("recorded") == 60 and counted.count("already") == 60
    require(right, "Threads that share a campaign resolved decisions twice, or not at all.")
    summary = make()[name].summary()
    require((summary.asked, summary.waiting) == (60, 0), "A store lost count of its decisions.")


STORE_CHECKS: dict[str, Callable[[Make, str], None]] = {
    check.__name__: check
    for check in (
        names_are_taken_once,
        decides_as_a_session,
        answers_count_once,
        asks_can_be_repeated,
        nothing_is_read_twice,
        scopes_add_up,
        fences_give_up,
        threads_share,
        segments_learn_apart,
        holdout_people_are_apart,
        held_answers_are_unseen,
    )
}


def check_store(make: Make) -> None:
    """Run every check on a store of yours, an empty one.

    make: opens the store, with a key; each call gives one with the same campaigns. It is left with
        a campaign or two of each check's name, and cannot be tried again.

    Raises:
        CheckFailed: the first broken promise. An error of the store's own passes through.
        TypeError: `make` cannot be called.
    """
    if not callable(make):
        raise TypeError(
            "Expected a function that opens the store, such as lambda: "
            f"dpbandits.open_store('sqlite:///empty.db', key=key), got {shown(make)}."
        )
    for name, check in STORE_CHECKS.items():
        check(make, name)
