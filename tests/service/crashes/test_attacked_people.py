"""Who has the file, and not the key, cannot tell who was shown what; and what was written over is
gone from it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

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
