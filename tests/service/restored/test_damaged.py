"""A database whose file is damaged, as by a copy that is put back beside another one's log."""

from pathlib import Path

import pytest

import dpbandits as dpb


def test_a_damaged_file_is_told_from_one_that_is_busy(tmp_path: Path) -> None:
    file, witness = tmp_path / "trial.db", tmp_path / "witness"
    with dpb.open_store(f"sqlite:///{file}", witness=witness) as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1)).ask(500)
    whole = file.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    file.write_bytes(whole[:page] + bytes([255]) * (len(whole) - page))  # the first says what it is
    with pytest.raises(dpb.StoreError, match=r"file is damaged.*-wal and -shm"):
        list(dpb.open_store(f"sqlite:///{file}", witness=witness))
