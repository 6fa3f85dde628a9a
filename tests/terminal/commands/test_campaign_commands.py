"""`dpbandits campaign …` and `dpbandits keys …` on a store in one file."""

import csv
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from benchmarks.service.postgres import free_port
from httpx import Client

from dpbandits import DPKLUCB, SimulatedNoise
from dpbandits.core.errors import StoreError
from dpbandits.service.client import RemoteStore
from dpbandits.service.opening import open_store
from dpbandits.service.server.serving import ServerSettings
from dpbandits.terminal import campaigns
from dpbandits.terminal.campaigns import given_or_asked
from tests.service.http.web import client_of, remote, served
from tests.terminal import Shell, in_one, shell

POLICY = '{"name": "DPKLUCB", "arms": ["blue", "=green"], "epsilon": "1"}'


@pytest.fixture
def run(tmp_path: Path) -> Shell:
    store = ["--store", f"sqlite:///{tmp_path}/t.db", "--witness", str(tmp_path / "t.witness")]
    return lambda *words, **how: shell(*words, *store, **how)


def test_a_campaign_from_the_command_line(run: Shell, tmp_path: Path) -> None:
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
    assert [int(row["id"]) for row in rows] == [each["round"] for each in decisions]
    assert {row["label"] for row in rows} <= {"blue", "'=green"}, "nothing that computes"
    assert "generation 2" in run("campaign", "fence", "trial")
    assert run("campaign", "tell", "trial", decisions[1]["id"], "1").strip() == "gone"
    rail = '{"guardrail": {"name": "refunds", "limit": 0.05}}'
    run("campaign", "create", "watched", "--policy", POLICY, "--options", rail)
    asked = json.loads(run("campaign", "ask", "watched"))["id"]
    assert run("campaign", "tell", "watched", asked, "[1, 0]").strip() == "recorded"
    assert "above the limit of 0.05" in run("campaign", "show", "watched")
    change = '{"rewards": {"low": -5, "high": 5}}'
    run("campaign", "create", "pain", "--policy", POLICY, "--options", change)
    asked = json.loads(run("campaign", "ask", "pain"))["id"]
    assert run("campaign", "tell", "pain", asked, "-1.5").strip() == "recorded"
    run("campaign", "close", "trial", code=2)
    run("campaign", "close", "trial", "enough", "--winner", "blue", "--no-read")
    assert json.loads(run("campaign", "ask", "trial"))["label"] == "blue"
    assert "over (enough)" in run("campaign", "list")


def test_what_stands_in_no_argument_is_read_from_standard_input(run: Shell) -> None:
    run("campaign", "create", "trial", "--policy", POLICY)
    for words in ((), ("-",)):
        asked = json.loads(run("campaign", "ask", "trial"))["id"]
        tell = ("campaign", "tell", "trial", asked, *words)
        assert "to be JSON" in run(*tell, code=2)
        assert run(*tell, stdin="0.5\n") == "recorded\n"
    batch = ("campaign", "record", "trial", "blue", "--people", "4", "--key", "week 1")
    assert "--successes to be a whole number" in run(*batch, code=2)
    assert run(*batch, stdin="1\n") == "recorded\n"


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert given_or_asked(None, "Reward") == ""


def test_a_warning_is_one_line(run: Shell) -> None:
    *warned, made = run("campaign", "create", "one", "--arms", "7", "--epsilon", "1").splitlines()
    assert [line.partition(":")[0] for line in warned] == ["Warning"]
    assert made.startswith("Created one: ")


def test_help_shows_what_stands_in_brackets() -> None:
    assert "[reward, harm]" in shell("campaign", "tell", "--help")


def test_digits_are_an_arms_name_or_the_number_of_one_without_names(run: Shell) -> None:
    """A batch of the arm 1 was recorded of the arm 2, whose number is 1."""
    made = ("--policy", "DPKLUCB", "--epsilon", "1", "--arms")
    batch = ("1", "--people", "4", "--successes", "1", "--key", "week 1")
    for name, arms in (("named", "1,2,0"), ("numbered", "3")):
        run("campaign", "create", name, *made, arms)
        assert run("campaign", "record", name, *batch).strip() == "recorded"
    for name, kept in (("named", 0), ("numbered", 1)):
        rows = json.loads(run("campaign", "view", name, "decisions"))["decisions"]
        assert {row["action"] for row in rows} == {kept}
        run("campaign", "pause", name, "1")
        run("campaign", "close", name, "over", "--winner", "1")
        assert json.loads(run("campaign", "ask", name, "--eligible", "1"))["action"] == kept


def test_keys_are_made_listed_and_revoked(run: Shell, tmp_path: Path) -> None:
    run("campaign", "create", "trial", "--policy", POLICY)
    assert run("keys", "list").startswith("No keys yet")
    assert run("campaign", "scopes").startswith("No scopes yet")
    key = run("keys", "create", "website", "--role", "ask", "--role", "tell").strip()
    assert key.startswith("dpb_")
    listed = run("keys", "list")
    assert "website\task tell\tall campaigns" in listed
    assert key not in listed
    assert "There is no key 'websit'" in run("keys", "revoke", "websit", code=2)
    before = (tmp_path / "t.db").read_bytes()
    for _ in range(2):
        assert "website is revoked" in run("keys", "revoke", "website")
    (tmp_path / "t.db").write_bytes(before)  # a copy that is put back
    assert "website\trevoked" in run("keys", "list")
    run("keys", "create", "Zoe\u0308", "--role", "read")  # kept under one letter in place of two
    assert "is revoked" in run("keys", "revoke", "Zoe\u0308")


def test_a_key_that_cannot_be_shown_does_not_stay(run: Shell, tmp_path: Path) -> None:
    run("campaign", "create", "trial", "--policy", POLICY)
    create = (
        f"{sys.executable} -m dpbandits keys create --role ask --store sqlite:///{tmp_path}/t.db"
    )
    for name, into, said in (
        ("full", ">/dev/full", "is revoked"),
        ("closed", ">&-", "None was made"),
    ):
        made = f"{create} --witness {tmp_path}/t.witness {name} {into}"
        found = subprocess.run(made, shell=True, stderr=subprocess.PIPE, text=True, check=False)
        assert (found.returncode, said in in_one(found.stderr)) == (2, True)
    assert run("keys", "list") == "full\trevoked\tall campaigns\n"


def test_only_a_plain_file_is_replaced_by_an_export(run: Shell, tmp_path: Path) -> None:
    run("campaign", "create", "trial", "--policy", POLICY)
    pipe, kept = tmp_path / "pipe.csv", tmp_path / "kept.csv"
    os.mkfifo(pipe)
    kept.touch(0o444)
    for place in (pipe, kept):
        if not (place.is_file() and os.access(place, os.W_OK)):  # root may write every file
            assert "plain file" in run("campaign", "export", "trial", str(place), code=2)
    assert pipe.is_fifo()


MADE = ("campaign", "create", "x", "--policy", POLICY)
REFUSED: dict[str, tuple[str, ...]] = {
    "no campaign 'nobody'": ("campaign", "show", "nobody"),
    "no campaign": ("campaign", "tell", "nobody", "00", "1"),
    "an arm's name": ("campaign", "tell", "trial", "blue", "1"),
    "the id of a decision": ("campaign", "tell", "trial", "0" * 32, "1"),
    "--context": ("campaign", "ask", "trial", "--context", "0.1"),
    "ends in .csv": ("campaign", "export", "trial", "out.parquet"),
    "Expected --policy to be JSON": ("campaign", "create", "x", "--policy", "{"),
    "Expected policy.name": ("campaign", "create", "x", "--policy", '{"name": "Nobody"}'),
    "did you mean DPRateIMED": ("campaign", "create", "x", "--policy", "DPRateIMD"),
    "Expected epsilon=, for which DPRateIMED has": ("campaign", "create", "x", "--arms", "2"),
    "Expected arms once": (*MADE, "--arms", "2"),
    "no 'min_shar' (did you mean min_share?)": (*MADE, "--options", '{"min_shar": 0.1}'),
    "min_share.float: Input should be a valid": (*MADE, "--options", '{"min_share": "a"}'),
    "--options": (*MADE, "--options", "[]"),
    "store with a key": (*MADE, "--options", '{"holdout": ".5"}'),
    "Expected roles among": ("keys", "create", "x", "--role", "king"),
    "no key of this store has or had": ("keys", "create", "somebody", "--role", "ask"),
}


def test_what_cannot_be_is_one_line(run: Shell) -> None:
    run("keys", "create", "somebody", "--role", "read")
    run("campaign", "create", "trial", "--policy", POLICY)
    for said, words in REFUSED.items():
        printed = in_one(run(*words, code=2))
        assert said in printed
        assert not any(foreign in printed for foreign in ("Traceback", "pydantic", "damaged"))


def test_nothing_is_made_in_memory() -> None:
    """It would be gone with the command."""
    for words in (["campaign", "create", "x", "--arms=2", "--epsilon=1"], ["keys", "list"]):
        assert "Expected a store that stays" in shell(*words, "--store=memory:", code=2)


def test_neither_strangers_without_keys_nor_another_witness_are_served(
    run: Shell, tmp_path: Path
) -> None:
    """Of whose calls every one would be refused."""
    assert "Expected keys" in in_one(run("serve", "--host", "0.0.0.0", code=2))
    assert "Expected one worker" in in_one(run("serve", "--workers", "2", code=2))
    run("campaign", "create", "trial", "--policy", POLICY)
    (tmp_path / "t.witness").rename(tmp_path / "moved")
    assert "knows no campaign of this store" in in_one(run("serve", code=2))


def test_without_a_policy_it_is_the_recommended_one(run: Shell) -> None:
    made = run("campaign", "create", "a", "--arms", "x, y", "--epsilon", ".5")
    assert "ε = 0.5 per round" in made
    assert "a: DPRateIMED, 0 decisions" in run("campaign", "list")
    assert json.loads(run("campaign", "ask", "a"))["label"] in ("x", "y")


def test_segments_are_shown_and_exported_one_by_one(run: Shell, tmp_path: Path) -> None:
    options = '{"segments": ["DE", "FR"]}'
    run("campaign", "create", "lands", "--policy", POLICY, "--options", options)
    run("campaign", "ask", "lands", "--segment", "DE")
    assert "Segment FR" in run("campaign", "show", "lands")
    out = str(tmp_path / "out.csv")
    assert "DE, FR" in in_one(run("campaign", "export", "lands", out, code=2))
    run("campaign", "export", "lands", out, "--segment", "DE")
    assert len(Path(out).read_text("utf-8").splitlines()) == 2


def test_a_server_is_asked_looked_at_and_exported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out, link, whole = tmp_path / "out.csv", tmp_path / "link.csv", campaigns.write_rows
    link.symlink_to(out)

    def cut_off(*_: object) -> None:
        raise StoreError("away")

    def overtaken(*given: Any) -> None:
        monkeypatch.setattr(campaigns, "write_rows", whole)
        command("campaign", "export", "trial", str(out))
        whole(*given)

    def command(*words: str, code: int = 0) -> str:
        return in_one(shell(*words, "--store", "http://localhost", code=code))

    with served() as (store, _):
        monkeypatch.setattr(
            "dpbandits.service.client.RemoteStore", lambda *_, **__: remote(client_of(store))
        )
        assert "Created b" in command("campaign", "create", "b", "--arms", "2", "--epsilon", "1")
        command("campaign", "ask", "trial", "--count", "3")
        assert "trial: DPKLUCB, 3 decisions" in command("campaign", "list")
        assert "arm rounds mean low high best?" in command("campaign", "show", "trial")
        command("campaign", "export", "trial", str(out))
        for place in (campaigns, "write_rows"), (os, "fsync"):  # leaves the file as it was
            with monkeypatch.context() as cut:
                cut.setattr(*place, cut_off)
                assert "away" in command("campaign", "export", "trial", str(out), code=2)
        monkeypatch.setattr(campaigns, "write_rows", overtaken)
        command("campaign", "export", "trial", str(link))
        assert sorted(tmp_path.iterdir()) == [link, out]
        assert link.is_symlink()
        for words in (("campaign", "fence", "trial"), ("keys", "list"), ("serve",)):
            assert "Expected the database itself" in command(*words, code=2)
    rows = list(csv.DictReader(out.read_text("utf-8").splitlines()))
    assert [row["id"] for row in rows] == ["1", "2", "3"]


def test_a_taken_port_and_a_missing_key_are_said_before_anything_is_served(
    run: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        printed = run("serve", "--port", port, code=2)
        monkeypatch.setenv("DPBANDITS_KEY", "5" * 64)
        with_key = run("serve", "--port", port, code=2)
    assert "--port 8081" in in_one(printed)
    assert "Serving" not in printed
    assert "Warning: This store has no key" in printed
    assert "no key" not in with_key


def test_a_witness_beside_the_database_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Though command, server and worker open the store, one after another."""
    for name in ServerSettings.model_fields:  # which the command says, for workers
        monkeypatch.setenv(f"DPBANDITS_{name.upper()}", "")
    store = f"sqlite:///{tmp_path}/t.db"
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: ServerSettings().opened().close())
    shell("serve", "--store", store, "--port", str(free_port()))
    assert caplog.text.count("The witness is") == 1
    assert (tmp_path / "t.db.witness").exists()


def test_a_witness_may_be_on_a_database_server(monkeypatch: pytest.MonkeyPatch) -> None:
    places = list[object]()
    address = "postgresql+psycopg://me@elsewhere/witness"

    def opened(_: str, *, witness: object) -> object:
        places.append(witness)
        return open_store("memory:")

    monkeypatch.setattr("dpbandits.service.opening.open_store", opened)
    store = "postgresql+psycopg://me@here/trials"
    shell("keys", "list", "--store", store, "--witness", address)
    assert places == [address]


def test_a_password_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server says as it begins goes to a journal."""
    words = ["serve", "--store", "postgresql+psycopg://me:hush7@host/trials"]
    with monkeypatch.context() as patched:
        patched.setattr(
            "dpbandits.service.server.serving.serve", lambda _, **asked: asked["ready"]()
        )
        patched.setattr(
            "dpbandits.terminal.campaigns.opened_database", lambda *_, **__: open_store("memory:")
        )
        printed = shell(*words)
    assert "me:***@host/trials" in printed
    said = shell("keys", "list", "--store", "http://me:hush7@host", code=2)
    assert "Expected the database itself" in in_one(said)
    store = RemoteStore("http://me:hush7@host", client=Client(base_url="http://me:hush7@host"))
    assert "hush7" not in printed + said + repr(store)


def test_holdout_people_are_compared(run: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    options = '{"holdout": ".5"}'
    monkeypatch.setenv("DPBANDITS_KEY", "07" * 32)
    run("campaign", "create", "sale", "--policy", POLICY, "--options", options)
    assert "Expected user=" in in_one(run("campaign", "ask", "sale", code=2))
    found = json.loads(run("campaign", "ask", "sale", "--user", "anna"))
    assert found["campaign"] in ("sale/policy", "sale/holdout")
    shown = run("campaign", "show", "sale")
    assert "Side holdout" in shown
    assert "holdout: nothing was released yet" in shown


@pytest.mark.parametrize(
    ("words", "servers"),
    [("serve", False), ("keys create", False), ("campaign fence", False), ("campaign ask", True)],
)
def test_a_command_names_the_stores_that_it_takes(words: str, servers: bool) -> None:
    """A server's address only where a server will do, and how its key is said."""
    shown = shell(*words.split(), "--help")
    assert "sqlite:///trial.db" in shown
    assert ("http://host:port" in shown) is ("DPBANDITS_TOKEN" in shown) is servers


def test_a_campaign_by_contexts(run: Shell) -> None:
    said = {"name": "DPLinTS", "arms": ["a", "b"], "features": ["p", "q"], "epsilon": "1"}
    run("campaign", "create", "c", "--policy", json.dumps(said))
    for context in ('{"p": 0.1, "q": 0.2}', "[0.1, -0.2]"):
        found = run("campaign", "ask", "c", "--context", context)
        assert json.loads(found.splitlines()[-1])["label"] in ("a", "b")
    run("campaign", "ask", "c", "--context", "[0.1]", code=2)
    assert "decides by contexts of 2 numbers" in run("campaign", "show", "c")


def test_statements_scopes_batches_and_views(run: Shell, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/t.db", witness=tmp_path / "t.witness") as made:
        made.scope("all", epsilon=2)
        policy, how = DPKLUCB(arms=["blue", "green"], epsilon=1), {"min_share": {"blue": 0.3}}
        made.create("t", policy, scope="all", noise=SimulatedNoise(1), **how).ask(3)
    assert "PRIVACY STATEMENT" in run("campaign", "statement", "t")
    assert run("campaign", "scopes") == "all: 1 of 2 spent\n  t: 1\n"
    ids = [json.loads(line)["id"] for line in run("campaign", "pending", "t").splitlines()]
    assert len(ids) == 3
    for line in run("campaign", "expire", "t", *ids).splitlines():
        assert json.loads(line)["status"] == "recorded"
    assert run("campaign", "pending", "t") == ""
    record = ["campaign", "record", "t", "blue", "--people", "90", "--successes", "31", "--key"]
    for _ in range(2):
        assert run(*record, "week 1") == "recorded\n"
    (rewards := tmp_path / "rewards").write_text("1\n0\n" * 45)
    file = ["campaign", "record", "t", "green", "--rewards", str(rewards), "--key"]
    run(*file, "week 1 too")
    rewards.write_text("0.7312549\nx\n")
    assert "7312549" not in run(*file, "other", code=2)
    assert "--people and --successes, or" in in_one(run(*record[:4], "--key", "none", code=2))
    lift = ["campaign", "view", "t", "lift", "--param"]
    seen = json.loads(run(*lift, "control=green", "--param", "confidence=0.9"))
    assert (seen["control"], seen["rows"][0]["people"] > 0) == ("green", True)
    shares = json.loads(run("campaign", "view", "t", "shares", "--param", "people=10"))
    assert sum(row["people"] for row in shares["rows"]) == 10
    for param in ("confidence=9", "people=10", "control"):
        run(*lift, param, code=2)
    for words in ("settle t", "pause t blue", "resume t blue", "retire t blue"):
        assert json.loads(run("campaign", *words.split())) == {"status": "done"}
    run("campaign", "close", "t", "over")
