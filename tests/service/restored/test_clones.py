"""Two copies of one database at work, with one witness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpbandits.core.errors import WitnessError
from dpbandits.service.database import Database
from dpbandits.service.store import CampaignStore
from dpbandits.service.transaction import Host
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.timelines import copied, create, lost_lines


def test_two_clones_never_show_two_readings(tmp_path: Path) -> None:
    """Two copies at work with one witness: whoever comes second gives up what it has."""
    backend, witness = Database("memory:"), tmp_path / "witness"
    campaign = create(CampaignStore(backend, Witness(witness), key=KEY))
    asked = campaign.ask(30)
    clone = CampaignStore(copied(backend), Witness(witness), key=KEY)["c"]
    assert {*campaign.tell_many([(d, 1) for d in asked])} == {"recorded"}
    assert {*clone.tell_many([(d, 0) for d in asked])} == {"gone"}
    assert clone.generation == 2
    assert len(lost_lines(clone)) == 1
    assert campaign.generation == 3


def test_two_clones_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have compared with the witness before one of them commits: the other's release is never
    shown.
    """
    backend, witness = Database("memory:"), tmp_path / "witness"
    campaign = create(CampaignStore(backend, Witness(witness), key=KEY))
    asked = campaign.ask(30)
    clone = CampaignStore(copied(backend), Witness(witness), key=KEY)["c"]
    commit = Database.transaction

    def overtaken(self: Any, uid: str) -> Any:
        if self is clone._calls.host.database:
            monkeypatch.undo()
            campaign.tell_many([(d, 1) for d in asked])
            # it has compared before
            monkeypatch.setattr(Host, "_is_restored", lambda *_: False)
        return commit(self, uid)

    monkeypatch.setattr(Database, "transaction", overtaken)
    with pytest.raises(WitnessError, match="two copies"):
        clone.tell_many([(d, 0) for d in asked])
    monkeypatch.undo()
    assert clone.generation == 2
    assert not any(release.coordinates for release in clone.releases())
    assert {row.mean for row in clone.beliefs()} == {None}
