"""kill -9 at each place where it may matter: nothing acknowledged is lost, nothing done twice."""

import secrets
from pathlib import Path

import pytest
from benchmarks.service.places import Place
from benchmarks.service.postgres import Server
from benchmarks.service.soak import WRONG, soak


@pytest.mark.long
@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_twenty_kills(
    tmp_path: Path, kind: str, by_context: bool, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/soak.db"
    if kind == "postgresql":
        server: Server = request.getfixturevalue("server")
        url = server.fresh(secrets.token_hex(8))
    found, where = soak(Place(url, tmp_path / "witness"), 20, seed=3, by_context=by_context)
    assert {name: found[name] for name in WRONG} == dict.fromkeys(WRONG, 0)
    assert found["told"] > 100
    assert len(where) >= 5
