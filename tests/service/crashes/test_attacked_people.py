"""Who has the file, and not the key, cannot tell who was shown what."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from dpbandits.service.turns.asks import AskOp
from tests.service.timelines import Lite, create

USER = {"privacy_unit": "user", "max_contributions": 2}


def test_a_repeated_call_is_known_and_its_person_is_not(tmp_path: Path) -> None:
    """Pseudonyms are kept with counts; what tells whether a call is the same leads to none."""
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store, **USER)
        made = campaign.ask(2, user="anna", key="page view 17")
        campaign.tell_many([(d, 1) for d in made])
        campaign.erase("anna")
        assert campaign.ask(2, user="anna", key="page view 17") == made
    with sqlite3.connect(lite.file) as file:
        ((who,),) = file.execute("SELECT pseudonym FROM contribution")
        ((said,),) = file.execute("SELECT response FROM request")
    mark, _ = json.loads(said)
    guess = json.dumps(["", "page view 17", 2, None, who]).encode()
    assert hashlib.sha256(guess).hexdigest() != mark


def test_a_call_that_an_older_dpbandits_answered_is_made_again(
    tmp_path: Path, monkeypatch: Any
) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store, monkeypatch.context() as older:
        older.setattr(AskOp, "mark", AskOp.older_mark)
        made = create(store, **USER).ask(2, user="anna", key="k")
    with lite.open() as store:
        assert store["c"].ask(2, user="anna", key="k") == made
