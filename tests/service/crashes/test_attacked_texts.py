"""Text that not every database keeps, or that would steer a terminal, is refused in the same words
by all of them.
"""

from __future__ import annotations

import pytest

import dpbandits as dpb
from dpbandits.service.server.access import Access
from tests.service.conftest import Open
from tests.service.timelines import create

WRONG = pytest.mark.parametrize("text", ["a\0b", "a\ud800", "\x1b[2J", "a\nb"])


@WRONG
def test_text_that_cannot_be_printed_changes_nothing(make: Open, text: str) -> None:
    store = make()
    campaign = create(store)
    before = campaign.summary()
    with pytest.raises(ValueError, match=r"can be printed\. None was made"):
        campaign.ask(key=text)
    with pytest.raises(ValueError, match=r"can be printed\. Nothing was changed"):
        campaign.close(text)
    assert campaign.summary() == before


@WRONG
def test_what_cannot_be_a_name_is_unknown(make: Open, text: str) -> None:
    store = make()
    assert text not in store
    with pytest.raises(KeyError, match="There is no campaign"):
        store[text]
    with pytest.raises(ValueError, match="There is no scope"):
        store.create("c", dpb.DPKLUCB(arms=2, epsilon=1), scope=text)
    assert list(store) == []


@WRONG
def test_keys_have_names_that_can_be_listed(make: Open, text: str) -> None:
    store = make()
    access = Access(store.database, open=False)
    with pytest.raises(ValueError, match="which can be printed"):
        access.create(text, ["read"])
    with pytest.raises(ValueError, match="Expected a campaign's name"):
        access.create("me", ["read"], text)
    assert access.keys() == []
