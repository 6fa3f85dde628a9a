"""A call of a campaign that is interrupted at any of its lines, and made again."""

from __future__ import annotations

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.timelines import create
from tests.session.test_interruption import Interrupted, interrupt

EVERY = 23
"""Of the lines of a call, this many are between two that are tried."""

KINDS = pytest.mark.parametrize("make", ["memory", "sqlite"], indirect=True)


@KINDS
def test_open_sums_hold_every_reward_once(make: Open) -> None:
    """Each reward has a bit of its own in the sum of the open block, which tells what is in it."""
    store = make()

    def told(name: str, at: int) -> tuple[int, object]:
        policy = dpb.DPKLUCB(arms=1, epsilon=1, first=32, grid=2**20)
        campaign = create(store, policy, name=name)
        asked = campaign.ask(12)
        answers = [(d, 2.0**-k) for k, d in enumerate(asked, 1)]
        lines = 0
        try:
            lines = interrupt(lambda: campaign.tell_many(answers), at)
        except Interrupted:
            assert {*campaign.tell_many(answers)} <= {"recorded", "already"}
        blocks = campaign._calls.host._work.session._seen.folded().books.blocks
        return lines, [(key, block.count, tuple(block.sums)) for key, block in blocks.items()]

    lines, whole = told("whole", 0)
    for at in range(1, lines, EVERY):
        assert told(f"at {at}", at)[1] == whole, at


@KINDS
def test_a_release_has_one_line_in_the_ledger(make: Open) -> None:
    store = make()

    def told(name: str, at: int) -> tuple[int, object]:
        campaign = create(store, dpb.DPKLUCB(arms=2, epsilon=1, first=4), name=name)
        answers = [(d, 1) for d in campaign.ask(8)]
        lines = 0
        try:
            lines = interrupt(lambda: campaign.tell_many(answers), at)
        except Interrupted:
            assert {*campaign.tell_many(answers)} <= {"recorded", "already"}
        again = store[name]
        assert again.summary().waiting == 0
        return lines, ([line[:4] for line in again.ledger], again.ask().action)

    lines, whole = told("whole", 0)
    read, _ = whole
    assert read
    for at in range(1, lines, EVERY):
        assert told(f"at {at}", at)[1][0] == read, at
