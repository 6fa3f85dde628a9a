"""What an error of a store shows beside its words: local variables, which logs may keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.rows.sql_rows import SqlRows
from dpbandits.service.sealing import StoreSeal
from dpbandits.vault import SavedVault
from tests.service.timelines import create
from tests.session.interruption.interrupted import PACKAGE

GRID = 2**20
STEPS = str(round(0.7314 * GRID))


def known_in_frames(error: BaseException | None) -> Iterator[dict[str, Any]]:
    while error is not None:
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename.startswith(PACKAGE):
                yield step.tb_frame.f_locals
            step = step.tb_next
        error = error.__cause__ or error.__context__


def fails(*_: Any) -> None:
    raise RuntimeError("the disk is gone")


def fails_at_private_rows(rows: SqlRows, sql: str, values: Any) -> None:
    if "private_state" in sql:
        raise RuntimeError("the disk is gone")
    MANY(rows, sql, values)


MANY = SqlRows._many

BROKEN: list[tuple[Any, str, Any]] = [
    (SqlRows, "_many", fails_at_private_rows),
    (SavedVault, "_restored_sums", fails),
    (StoreSeal, "sealed", fails),
]


@pytest.mark.parametrize(("kind", "name", "failing"), BROKEN)
def test_a_call_that_fails_shows_no_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, name: str, failing: Any
) -> None:
    """Without a key private rows are written as they are."""
    url = f"sqlite:///{tmp_path}/trial.db"
    with dpb.open_store(url, witness=tmp_path / "elsewhere" / "w") as store:
        campaign = create(store, dpb.DPKLUCB(arms=3, epsilon=1, first=4, grid=GRID))
        first, second = campaign.ask(2)
        campaign.tell(first, 0.7314)
        campaign._turning._work = None  # so that it is read anew
        with monkeypatch.context() as patched:
            patched.setattr(kind, name, failing)
            with pytest.raises(RuntimeError) as error:
                campaign.expire(second)
        frames = list(known_in_frames(error.value))
        assert len(frames) > 5
        assert not any(STEPS in repr(known) for known in frames)
        assert campaign.tell(second, 1) == "recorded"
