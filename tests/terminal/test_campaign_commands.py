"""`dpbandits campaign …` and `dpbandits keys …` on a store in one file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dpbandits.terminal.cli import app

POLICY = '{"name": "DPKLUCB", "arms": ["blue", "=green"], "epsilon": "1"}'


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Runs a command on a store of this test's own, and returns what it prints."""
    store = ["--store", f"sqlite:///{tmp_path}/t.db", "--witness", str(tmp_path / "t.witness")]

    def command(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*words, *store])
        assert result.exit_code == code, result.output
        return result.output

    return command


def test_a_campaign_from_the_command_line(run: Any, tmp_path: Path) -> None:
    assert "ε = 1 per round" in run("campaign", "create", "trial", "--policy", POLICY)
    lines = run("campaign", "ask", "trial", "--count", "3").splitlines()
    decisions = [json.loads(line) for line in lines]
    assert [each["round"] for each in decisions] == [1, 2, 3]
    for said in ("recorded", "already"):
        assert run("campaign", "tell", "trial", decisions[0]["id"], "1").strip() == said
    assert "trial: DPKLUCB, 3 decisions" in run("campaign", "list")
    assert "best?" in run("campaign", "show", "trial")
    out = tmp_path / "decisions.csv"
    run("campaign", "export", "trial", str(out))
    rows = list(csv.DictReader(out.read_text("utf-8").splitlines()))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert {row["label"] for row in rows} <= {"blue", "'=green"}, "nothing that computes"
    assert "generation 2" in run("campaign", "fence", "trial")
    assert run("campaign", "tell", "trial", decisions[1]["id"], "1").strip() == "gone"


def test_keys_are_made_listed_and_revoked(run: Any) -> None:
    key = run("keys", "create", "website", "--role", "ask", "--role", "tell").strip()
    assert key.startswith("dpb_")
    listed = run("keys", "list")
    assert "website\task tell\tall campaigns" in listed
    assert key not in listed
    assert "Revoked 1 keys" in run("keys", "revoke", "website")
    assert "revoked" in run("keys", "list")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("campaign", "show", "nobody"), "no campaign 'nobody'"),
        (("campaign", "create", "x", "--policy", "{"), "Expected --policy to be JSON"),
        (("campaign", "create", "x", "--policy", '{"name": "Nobody"}'), "Expected policy.name"),
        (("campaign", "create", "x", "--policy", POLICY, "--options", "[]"), "--options"),
        (("campaign", "tell", "nobody", "00", "1"), "no campaign"),
        (("keys", "create", "x", "--role", "king"), "Expected roles among"),
    ],
)
def test_what_cannot_be_is_one_line(run: Any, words: tuple[str, ...], said: str) -> None:
    printed = " ".join(run(*words, code=2).split())
    assert said in printed
    assert "Traceback" not in printed


def test_a_store_that_is_none_is_said_so() -> None:
    for store in ("nonsense", "sqlite:////nowhere/at/all/t.db", "ftp://x"):
        result = CliRunner().invoke(app, ["campaign", "list", "--store", store])
        assert result.exit_code == 2, result.output
        assert "Error" in result.output


def test_strangers_are_not_served_without_keys(run: Any) -> None:
    assert "Expected keys" in " ".join(run("serve", "--host", "0.0.0.0", code=2).split())
    assert "Expected one worker" in " ".join(run("serve", "--workers", "2", code=2).split())
