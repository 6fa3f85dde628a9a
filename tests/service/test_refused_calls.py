"""A call that is refused, or fails for want of noise, has no say in how often noise is drawn: what
was due before it stands, every block is read by one draw, and other calls and segments go on.
"""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.operations import Void
from tests.service.conftest import KEY
from tests.service.counted import Counted, Failing
from tests.service.http.web import at_once
from tests.service.machine import Time
from tests.service.timelines import Lite, create, readings

WINDOWED: dict[str, Any] = {"attribution_window": timedelta(seconds=60), "default": 0}
ONE_ARM = dpb.DPKLUCB(arms=1, epsilon=1, first=4)
MOST = 40
"""Decisions that may wait."""


class Played:
    """A campaign in memory, on a clock of its own."""

    def __init__(self, options: dict[str, Any], policy: Any = None, noise: Any = None) -> None:
        self.clock, self.noise = Time(), noise or Counted()
        self.store = dpb.open_store("memory:", key=KEY, noise=self.noise, clock=self.clock)
        policy = policy or dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=2)
        how = {"max_pending": MOST, "seed": 3, **options}
        self.campaign: Any = self.store.create("trial", policy, **how)


def test_refused_and_told_together() -> None:
    """In one transaction: the refused undo nothing of the others', no block is read twice."""
    played, refused = Played({"guardrail": dpb.Guardrail("refunds", limit=0.2)}), list[str]()
    asked = played.campaign.ask(MOST - 10)
    begin, told = Barrier(len(asked) + 10), [*asked, *[None] * 10]

    def call() -> None:
        decision = told.pop()
        begin.wait()
        try:
            if decision is None:
                played.campaign.ask(MOST + 1, eligible=["b"])
            else:
                played.campaign.tell(decision, (1, 0))
        except (ValueError, RuntimeError) as error:
            refused.append(type(error).__name__)

    at_once(len(told), call)
    assert len(refused) == 10
    assert played.campaign.summary().waiting == 0
    assert readings(played.campaign) == played.noise.drawn > 0


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize("options", [{}, WINDOWED], ids=["", "window"])
def test_noise_that_fails_undoes_no_release(after: int, options: dict[str, Any]) -> None:
    """What was released before it in the same call stands; what failed is released later."""
    played = Played(options, noise=Failing(after, 4))
    campaign, noise, failed = played.campaign, played.noise, 0
    answers = [(each, 1) for each in campaign.ask(MOST)]
    for call in [lambda: campaign.tell_many(answers), *[campaign.settle] * 8]:
        try:
            call()
        except (ArithmeticError, RuntimeError):
            failed += 1
        assert readings(campaign) == noise.drawn
        played.clock.now += 61
    assert {*campaign.tell_many(answers)} == {"gone" if options else "already"}
    campaign.settle()
    assert readings(campaign) == noise.drawn > 6
    assert noise.times == 0
    assert failed == 4 or options  # with a window, views try to release what is due, too
    assert campaign.generation == 1


def in_two_segments(noise: Failing) -> tuple[Any, list[Any], list[Any]]:
    store = dpb.open_store("memory:", noise=noise)
    campaign: Any = store.create("trial", ONE_ARM, segments=["DE", "FR"], seed=1)
    return campaign, campaign.ask(8, segment="DE"), campaign.ask(8, segment="FR")


def test_noise_that_fails_in_one_segment_keeps_nothing_from_another() -> None:
    noise = Failing(0, 1)
    campaign, germans, french = in_two_segments(noise)
    tells = [(each, 1) for pair in zip(germans, french, strict=True) for each in pair]
    with pytest.raises(ArithmeticError):
        campaign.tell_many(tells[:8])
    assert [campaign[name].summary().told for name in ("DE", "FR")] == [4, 4]
    assert [campaign[name].summary().step for name in ("DE", "FR")] == [0, 1]
    noise.after, noise.times = noise.drawn, 1  # what is due in DE
    with pytest.raises(RuntimeError, match="nothing in the one where"):
        campaign.tell_many(tells[8:])
    assert [campaign[name].summary().told for name in ("DE", "FR")] == [4, 8]
    assert campaign.tell_many(tells[8:]) == ["recorded", "already"] * 4
    assert sum(len(lines) for lines in campaign.ledger.values()) == noise.drawn > 2


def test_a_void_that_failed_in_one_segment_says_so_once_it_is_done() -> None:
    """Its own voids of other segments are "already" made, whenever it is called again."""
    noise = Failing(0, 2)
    campaign, germans, french = in_two_segments(noise)
    with pytest.raises(ArithmeticError):
        campaign.tell_many([(each, 1) for each in germans[:4]])
    both = Void(ids=[each.id for each in (germans[7], french[7], french[6])], key="both")
    with pytest.raises(RuntimeError, match="nothing in the one where"):
        campaign.do(both)
    assert [len(campaign.pending(segment=name)) for name in ("DE", "FR")] == [4, 6]
    for _ in range(2):
        assert campaign.do(both) == ["recorded", "already", "already"]
    assert campaign.void(*germans[7:], *french[6:]) == ["already"] * 3
    assert campaign.tell_many([(each, 1) for each in french[5:]]) == ["recorded"] + ["gone"] * 2
    assert noise.drawn == sum(len(lines) for lines in campaign.ledger.values()) == 1


def test_a_void_keeps_answers_that_are_held_where_noise_has_failed() -> None:
    options = {**WINDOWED, "max_pending": 1_000, "default": None}
    played = Played(options, dpb.DPKLUCB(arms=1, epsilon=1_000), Failing(0, 1))
    campaign = played.campaign
    campaign.tell_many([(each, 1.0) for each in campaign.ask(400)])
    played.clock.now += 30
    late = campaign.ask()
    played.clock.now += 40
    with pytest.raises(ArithmeticError):
        campaign.void(late)
    played.clock.now += 60
    campaign.settle()
    (arm,) = campaign.beliefs().rows
    assert arm.mean is not None
    assert arm.mean > 0.9  # with the default in their place, it would be below


def test_a_reply_that_was_edited_draws_nothing_anew(lite: Lite) -> None:
    """Its call is refused, and no other."""
    noise = Counted()
    campaign = lite.open(noise=noise).create("trial", dpb.DPKLUCB(arms=2, epsilon=1, first=4))
    campaign.ask(key="a")
    campaign.pause_arm(0, key="b")
    lite.run("UPDATE dpbandits_request SET response = 'nothing'")
    for call in (lambda: campaign.ask(key="a"), lambda: campaign.pause_arm(0, key="b")):
        for _ in range(3):
            with pytest.raises(dpb.EditedRowsError, match="another key"):
                call()
    campaign.resume_arm(0)
    campaign.tell_many([(each, 1) for each in campaign.ask(16)])
    assert readings(campaign) == noise.drawn > 0
    assert campaign.generation == 1


# Where answers are held until their time has passed, replies and releases tell nothing of them


def test_an_answer_that_is_held_makes_nothing_due() -> None:
    """Of two campaigns one is told between two settlings: what is public stays the same."""
    seen = list[Any]()
    for told in (True, False):
        clock = Time()
        store = dpb.open_store("memory:", clock=clock)
        campaign = create(store, dpb.DPKLUCB(arms=2, epsilon=1, first=2), **WINDOWED)
        asked = campaign.ask(8)
        clock.now += 30
        late = campaign.ask()
        clock.now += 31
        if told:
            assert campaign.tell(late, 0) == "recorded"
            assert campaign.expire(late) == ["recorded"]
            assert campaign.tell(asked[0], 0) == "gone"
        clock.now += 1.5
        campaign.settle()
        seen.append((campaign.summary(), campaign.ledger, campaign.releases(), campaign.beliefs()))
    assert seen[0] == seen[1]
    assert seen[0][0].step > 0
