"""Lines of one-reward releases grow in place, whoever looks in between, and whatever is written
twice.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from dpbandits.core.errors import LedgerError
from dpbandits.core.ledger import Ledger
from dpbandits.core.privacy import Entry

COST = Fraction(1, 2)


def line(coordinate: int, start: int, stop: int, releases: int = 1) -> Entry:
    return Entry(coordinate, start, stop, COST, releases)


def test_one_reward_releases_share_a_line_until_something_else_comes() -> None:
    ledger = Ledger(COST)
    for clock in (1, 2, 3):
        ledger.write(ledger.page([(0, 1, clock), (1, 1, clock)], []))
    assert ledger.entries() == (line(0, 0, 3, 3), line(1, 0, 3, 3))
    ledger.write(ledger.page([(0, 4, 7)], [(1, 2, 5)]))
    ledger.write(ledger.page([(0, 1, 8), (1, 1, 6)], []))
    ledger.write(ledger.page([(0, 1, 9), (1, 1, 7)], []))
    first = (line(0, 0, 3, 3), line(1, 0, 3, 3), line(0, 3, 7))
    assert ledger.entries() == (*first, line(0, 7, 9, 2), line(1, 5, 7, 2))
    assert ledger.readings() == {0: (6, 9), 1: (5, 5)}
    assert (ledger.releases, ledger.rounds) == (11, 16)


def test_a_page_is_shown_before_it_is_written_and_can_be_written_twice() -> None:
    ledger = Ledger(COST)
    ledger.write(ledger.page([(0, 1, 1)], []))
    page = ledger.page([(0, 1, 2), (1, 1, 1)], [])
    before, after = (line(0, 0, 1),), (line(0, 0, 2, 2), line(1, 0, 1))
    assert ledger.entries() == before
    assert ledger.entries(page) == after
    for _ in range(2):
        ledger.write(page)
        assert ledger.entries() == ledger.entries(page) == after


def test_a_restored_ledger_goes_on_with_its_lines() -> None:
    ledger, again = Ledger(COST), Ledger(COST)
    for clock in (1, 2):
        ledger.write(ledger.page([(0, 1, clock)], []))
    again.write(again.page([(0, 1, 1)], []))  # what stood there before is gone
    again.restore(json.loads(json.dumps(ledger.to_data())), {0, 1})
    for each in (ledger, again):
        each.write(each.page([(0, 1, 3), (1, 2, 2)], []))
    assert again.entries() == ledger.entries() == (line(0, 0, 3, 3), line(1, 0, 2))
    assert again.to_data() == ledger.to_data()


def test_counts_that_differ_are_refused() -> None:
    ledger = Ledger(COST)
    with pytest.raises(LedgerError, match="2 rewards entered coordinate 0, 1 would have left it"):
        ledger.page([(0, 1, 2)], [])
    assert ledger.entries() == ()
