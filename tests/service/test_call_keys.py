"""The word under which a call can be made again may be an e-mail address: it stands nowhere in
clear, and nobody who has the files can try addresses.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.operations import Ask
from tests.service.conftest import KEY, Open

WORD, WHO = "anna@example.org", "the-web-shop"
OPTIONS = {"": {}, "segments": {"segments": ["DE", "FR"]}}
EACH_KEY = pytest.mark.parametrize("key", [KEY, None], ids=["key", "none"])
POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


def opened(folder: Path, key: bytes | None) -> Any:
    return dpb.open_store(f"sqlite:///{folder}/trial.db", witness=folder / "witness", key=key)


def called(store: Any, options: str) -> list[Any]:
    """Calls of every kind that take a key, and their replies."""
    campaign = store.create("trial", POLICY, key=WORD, by=WHO, seed=1, **OPTIONS[options])
    segment = {"segment": "DE"} if options else {}
    asked = campaign.do(Ask(count=2, key=f"{WORD} asks", **segment), by=WHO)
    return [
        asked,
        campaign.add_arm("c", key=f"{WORD} adds", by=WHO),
        campaign.drop_open(key=f"{WORD} drops", by=WHO),
    ]


def is_in_a_file(word: str, folder: Path) -> bool:
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(word.encode() in text for text in files)


@pytest.mark.parametrize("options", OPTIONS)
@EACH_KEY
def test_no_file_holds_the_word_of_a_call(tmp_path: Path, key: bytes | None, options: str) -> None:
    with opened(tmp_path, key) as store:
        first = called(store, options)
    with opened(tmp_path, key) as store:  # another process: all of it was done
        assert called(store, options) == first
        campaign = store["trial"]
        assert len(campaign["DE"].arms if options else campaign.arms) == 3
        assert not is_in_a_file(WORD, tmp_path)


@EACH_KEY
def test_who_tries_words_finds_none(tmp_path: Path, key: bytes | None) -> None:
    """Two stores keep one call under different hashes, and neither is a plain one of it."""
    found = list[set[str]]()
    for at in range(2):
        (folder := tmp_path / str(at)).mkdir()
        with opened(folder, None if key is None else bytes([at]) * 32) as store:
            called(store, "")
        with closing(sqlite3.connect(folder / "trial.db")) as database:
            query = "SELECT place, response FROM dpbandits_request ORDER BY rowid"
            creation, *others = database.execute(query).fetchall()
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


def test_erasing_a_person_leaves_no_word_of_theirs(tmp_path: Path) -> None:
    people: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}
    with opened(tmp_path, KEY) as store:
        campaign = store.create("trial", POLICY, **people)
        asked = campaign.ask(user=WORD, key=WORD)
        assert campaign.erase(WORD, key=f"erase {WORD}") == 1
        assert "erased a person" in {each.what for each in campaign.events()}
        assert not is_in_a_file(WORD, tmp_path)
        assert campaign.ask(user=WORD, key=WORD) == asked, "the reply is the same still"


def test_callers_with_one_word_are_apart() -> None:
    with dpb.open_store("memory:") as store:
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
