"""Every decision that waits has a time, whatever interrupted the call that made it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

import dpbandits as dpb
from tests.session.options.test_attribution import DAY, session
from tests.session.small import loaded, resealed


def test_a_decision_whose_time_was_not_written_down_still_has_one() -> None:
    """The clock failed, or the call was interrupted, right after the decision was made."""
    s, clock = session()
    s.ask(3)
    assert s._attribution is not None
    s._attribution.due.clear()
    s.settle()
    clock.now += DAY
    s.settle()
    assert s.pending == ()


def test_times_that_were_made_good_late_can_be_saved() -> None:
    """A decision that was void hid that another one had no time yet; that got one after younger
    ones, and the document could not be loaded.
    """
    s, clock = session()
    assert s._attribution is not None
    first, second, _ = s.ask(3)
    s.void(second)
    assert second.id not in s._attribution.due
    s._attribution.due.pop(first.id)  # as if its ask had been interrupted as it ended
    clock.now += timedelta(hours=1)
    s.ask(2)
    document = json.loads(s.to_json(unsealed=True))
    again = loaded(resealed(document), clock=clock)
    clock.now += timedelta(hours=23)
    again.settle()
    assert [d.id for d in again.pending] == [4, 5]
    clock.now += timedelta(hours=1)
    again.settle()
    assert again.pending == ()
    due = document["public"]["attribution"]["due"]
    for wrong in ([*due, due[0]], due[::-1], [[99, due[-1][1]]], [*due, [2, 0.0]]):
        document["public"]["attribution"]["due"] = wrong
        with pytest.raises(dpb.DamagedSessionError, match="attribution"):
            dpb.Session.from_json(resealed(document), clock=clock)
