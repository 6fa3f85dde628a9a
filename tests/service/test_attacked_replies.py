"""What is said of a decision does not depend on what else its transaction did."""

from __future__ import annotations

from datetime import timedelta

from dpbandits.service.operations import Void, told_pairs
from dpbandits.service.transaction import QueuedCall
from tests.service.conftest import Open
from tests.service.machine import Time
from tests.service.timelines import create


def test_a_time_that_passed_is_said_to_be_gone_whoever_sees_it_first(make: Open) -> None:
    clock = Time()
    campaign = create(make(clock=clock), attribution_window=timedelta(seconds=60), default=0)
    told, silent = campaign.ask(2)
    campaign.tell(told, 1)
    clock.now += 61
    assert campaign.void(told, silent) == ["gone", "gone"]
    assert campaign.void(told, silent) == ["gone", "gone"]


def test_an_answer_done_together_with_a_void_is_as_one_done_after_it(make: Open) -> None:
    campaign = create(make())
    decision = campaign.ask()
    batch = [QueuedCall(Void(ids=[decision.id])), QueuedCall(told_pairs([(decision.id, 1)]))]
    campaign._calls.host._transact(batch)
    assert [ticket.value for ticket in batch] == [["recorded"], ["gone"]]
    assert campaign.tell(decision, 1) == "gone"
