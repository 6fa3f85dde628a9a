"""Which PostgreSQL the tests start, and what they say where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.service import postgres
from benchmarks.service.postgres import missing, newest


@pytest.fixture(autouse=True)
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of Debian's packages, and a path on which nothing lies."""
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path / "postgresql")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path / "postgresql"


def install(folder: Path, version: int, *programs: str) -> Path:
    """Programs that say a version and do nothing."""
    folder.mkdir(parents=True)
    for name in programs or postgres.NEEDED:
        (folder / name).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}.2'\n")
        (folder / name).chmod(0o755)
    return folder.resolve()


def test_the_newest_is_taken(debian: Path) -> None:
    for version in (9, 15, 17):
        install(debian / str(version) / "bin", version)
    assert newest() == (17, debian.resolve() / "17" / "bin")


def test_clients_alone_are_no_server(debian: Path) -> None:
    install(debian / "17" / "bin", 17, "psql", "pg_ctl")
    install(debian / "16" / "bin", 16)
    assert newest() == (16, debian.resolve() / "16" / "bin")


def test_what_is_on_the_path_is_found_where_it_lies(tmp_path: Path) -> None:
    """The path often has links only, and not to all programs."""
    there = install(tmp_path / "elsewhere", 18)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "postgres").symlink_to(there / "postgres")
    assert newest() == (18, there)


def test_none_and_one_that_is_too_old_are_told_apart(debian: Path) -> None:
    assert "package postgresql" in str(missing())
    install(debian / "14" / "bin", 14)
    assert missing() == "needs PostgreSQL 15 or newer, and here is 14"
