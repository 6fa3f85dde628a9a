"""The word under which a call can be made again may be an e-mail address: nobody who has the files
can try addresses. That no row holds a word is seen in test_operations.py.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.operations import Ask
from tests.service.conftest import KEY, Open
from tests.service.timelines import Lite

WORD, WHO = "anna@example.org", "the-web-shop"
POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


@pytest.mark.parametrize("key", [KEY, None], ids=["key", "none"])
def test_who_tries_words_finds_none(tmp_path: Path, key: bytes | None) -> None:
    """Two stores keep one call under different hashes, and neither is a plain one of it."""
    found = list[set[str]]()
    for at in range(2):
        (folder := tmp_path / str(at)).mkdir()
        lite = Lite(folder)
        with lite.open(key=None if key is None else bytes([at]) * 32) as store:
            campaign = store.create("trial", POLICY, key=WORD, by=WHO, seed=1)
            campaign.do(Ask(count=2, key=f"{WORD} asks"), by=WHO)
            campaign.add_arm("c", key=f"{WORD} adds", by=WHO)
            campaign.drop_open(key=f"{WORD} drops", by=WHO)
        query = "SELECT place, response FROM dpbandits_request ORDER BY rowid"
        creation, *others = lite.run(query)
        marks = {json.loads(said)[0] for _, said in others}
        assert len(marks) == 3
        found.append({place for place, _ in (creation, *others)} | marks)
    assert not found[0] & found[1]
    said = [WORD, f"{WORD} asks", Ask(count=2, key=f"{WORD} asks").identity()]
    plain = {
        hashlib.sha256(text.encode()).hexdigest()
        for word in said
        for text in (word, f"mark{word}", f"{WHO}{word}", f"{WHO} {word}", f'["{WHO}", "{word}"]')
    }
    assert not plain & (found[0] | found[1])


def test_callers_with_one_word_are_apart(store: Any) -> None:
    campaign = store.create("trial", POLICY)
    one, other = (campaign.do(Ask(key="visit"), by=who) for who in ("a", "b"))
    assert one != other
    assert campaign.do(Ask(key="visit"), by="a") == one


@pytest.mark.parametrize("by", ["a\nb", "x" * 201, 10**30, True, [1, 2]])
def test_who_calls_is_a_name(make: Open, by: Any) -> None:
    store = make()
    with pytest.raises(ValueError, match=r"by=.*Nothing was"):
        store.create("trial", POLICY, by=by)
    assert list(store) == []
    campaign = store.create("trial", POLICY)
    for call in (campaign.add_arm, campaign.pause_arm, campaign.close):
        with pytest.raises(ValueError, match=r"by=.*Nothing was"):
            call("b", by=by)
    assert campaign.arms == (("a", "active"), ("b", "active"))
    assert not campaign.events()
