"""Who has the file, and not the key, cannot tell who was shown what; and what was written over is
gone from it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import dpbandits as dpb
from dpbandits.service.server.serving import run_maintenance
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
    with closing(sqlite3.connect(lite.file)) as file:
        ((who,),) = file.execute("SELECT pseudonym FROM dpbandits_contribution")
        ((said,),) = file.execute("SELECT response FROM dpbandits_request")
    mark, _ = json.loads(said)
    guess = json.dumps(["", "page view 17", 2, None, who]).encode()
    assert hashlib.sha256(guess).hexdigest() != mark


def written(folder: Path, what: bytes) -> set[bytes]:
    """All of this kind that is found in the files of a folder."""
    files = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    return {found for each in files for found in re.findall(what, each)}


def test_no_file_keeps_the_open_sums_of_before(tmp_path: Path, monkeypatch: Any) -> None:
    """One after the other they would tell each reward, of blocks that were read long ago, too."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # calls by themselves empty nothing
    lite = Lite(tmp_path)
    with lite.open(key=None) as store:
        campaign = create(store, dpb.DPKLUCB(arms=1, epsilon=1, first=4, grid=1))
        for decision in campaign.ask(30):
            campaign.tell(decision, 1)
        sums = rb'[{]"sums":[^\]]*'
        assert len(written(tmp_path, sums)) > 1
        run_maintenance(store)
        assert len(written(tmp_path, sums)) == 1
        campaign.tell(campaign.ask(), 1)


def test_somebody_who_reads_on_keeps_nobody_waiting(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open(key=None) as store:
        campaign = create(store)
        with closing(sqlite3.connect(lite.file)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM dpbandits_decision").fetchone()
            campaign.tell(campaign.ask(), 1)
            store.database.forget()
            campaign.tell(campaign.ask(), 1)
        store.database.forget()
        assert lite.file.with_name(f"{lite.file.name}-wal").stat().st_size == 0


def test_who_is_erased_stands_beside_no_decision_in_any_file(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store, **USER)
        campaign.tell(campaign.ask(user="anna"), 1)
        campaign.ask(user="anna")
        with closing(sqlite3.connect(lite.file)) as file:
            ((who,),) = file.execute("SELECT pseudonym FROM dpbandits_contribution")
        assert len(places(tmp_path, who)) > 1
        campaign.erase("anna")
        assert len(places(tmp_path, who)) == 2  # the count of contributions, and its index


def places(folder: Path, who: str) -> list[int]:
    """Where a pseudonym stands in the files of a folder."""
    files = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    return [found.start() for each in files for found in re.finditer(who.encode(), each)]
