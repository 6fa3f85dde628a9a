"""What an error of a store shows beside its words: local variables, which logs may keep."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.remote import RemoteStore
from dpbandits.service.remote.campaign import RemoteCampaign
from dpbandits.service.rows.sql_rows import SqlRows
from dpbandits.service.sealing import CampaignSeal
from dpbandits.service.turns.tells import TellOp, id_of
from dpbandits.service.turns.tickets import Ticket
from dpbandits.vault import SavedVault
from tests.service.conftest import Open
from tests.service.http.web import remote, served
from tests.service.timelines import create
from tests.session.test_interruption import PACKAGE
from tests.session.test_frames_refused import require_nothing_of_it

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
    (CampaignSeal, "private", fails),
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


WRONG: dict[str, Callable[[Any, Any, Any], None]] = {
    "swapped": lambda c, d, e: c.tell("0.7314", d),
    "swapped pairs": lambda c, d, e: c.tell_many([(0.7314, d)]),
    "a pair that is none": lambda c, d, e: c.tell_many([(d, 0.7314), 0.7314]),
    "a wrong reward": lambda c, d, e: c.tell(d, "0.7314"),
    "a wrong one among several": lambda c, d, e: c.tell_many([(d, 0.7314), (e, 7314)]),
    "a reward expires": lambda c, d, e: c.expire(0.7314),
    "a reward is void": lambda c, d, e: c.void(0.7314),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("segments", [None, ["x", "y"]])
def test_a_wrong_call_keeps_nothing_of_what_came(
    make: Open, segments: list[str] | None, wrong: str
) -> None:
    """Neither what the caller gave it, nor what became of that."""
    options = {} if segments is None else {"segments": segments, "segment": "x"}
    ask = {"segment": options.pop("segment")} if options else {}
    campaign = create(make(), **options)
    first, second = campaign.ask(2, **ask)
    with pytest.raises((TypeError, ValueError)) as error:
        WRONG[wrong](campaign, first, second)
    require_nothing_of_it(error.value)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_call_of_a_client_keeps_nothing_of_what_came(wrong: str) -> None:
    with served() as (_, client):
        campaign = remote(client)["trial"]
        first, second = campaign.ask(2)
        with pytest.raises((TypeError, ValueError)) as error:
            WRONG[wrong](campaign, first, second)
        require_nothing_of_it(error.value)


def test_a_call_that_a_broken_disk_cuts_off_keeps_nothing_of_what_came(
    make: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = create(make())
    asked = campaign.ask(2)
    monkeypatch.setattr(CampaignSeal, "private", fails)
    for call in (
        lambda: campaign.tell(asked[0], 0.7314),
        lambda: campaign.tell_many((each, 0.7314) for each in asked),
    ):
        with pytest.raises(RuntimeError, match="disk is gone") as error:
            call()
        require_nothing_of_it(error.value)


def test_an_error_of_the_database_is_not_kept_for_it_has_what_was_to_be_written(
    tmp_path: Path,
) -> None:
    """Without a key private rows are written as they are."""
    place = tmp_path / "trial.db"
    with dpb.open_store(f"sqlite:///{place}", witness=tmp_path / "elsewhere" / "w") as store:
        campaign = create(store, dpb.DPKLUCB(arms=3, epsilon=1, first=4, grid=GRID))
        first, second = campaign.ask(2)
        campaign.tell(first, 0.7314)
        with closing(sqlite3.connect(place)) as database:
            database.execute(FULL)
        calls: list[Callable[[], object]] = [
            lambda: campaign.tell(second, 0.7314),
            campaign.ask,
            campaign.add_arm,
        ]
        for call in calls:
            with pytest.raises(dpb.StoreError, match="could not be written") as error:
                call()
            assert error.value.__context__ is error.value.__cause__ is None


def test_a_campaign_that_cannot_be_written_keeps_no_seed(tmp_path: Path) -> None:
    """Where arms are assigned by chance, it foretells who gets what."""
    place = tmp_path / "trial.db"
    with dpb.open_store(f"sqlite:///{place}", witness=tmp_path / "elsewhere" / "w") as store:
        with closing(sqlite3.connect(place)) as database:
            database.execute(FULL)
        policy = dpb.DPKLUCB(arms=3, epsilon=1, first=4)
        with pytest.raises(dpb.StoreError, match="could not be written") as error:
            store.create("trial", policy, assignment="shuffled", seed=7314)
        require_nothing_of_it(error.value)
        assert error.value.__context__ is None


FULL = """CREATE TRIGGER full BEFORE INSERT ON private_state
BEGIN SELECT raise(ABORT, 'the disk is full'); END"""


@pytest.mark.parametrize("fault", [None, RuntimeError, dpb.StoreError])
def test_calls_that_are_done_together_know_nothing_of_each_other(
    make: Open, monkeypatch: pytest.MonkeyPatch, fault: type[Exception] | None
) -> None:
    """Who leads does the calls of others, too; each has an error of its own."""

    def fails(*_: Any) -> None:
        assert fault is not None
        raise fault("the disk is gone")

    campaign = create(make())
    first, second = campaign.ask(2)
    others = [Ticket(TellOp([(id_of(each), reward)])) for each, reward in told(first, second)]
    campaign._turning._queue += others
    found = list[BaseException]()
    if fault is None:
        campaign.ask()
        others.pop()
    else:
        monkeypatch.setattr(CampaignSeal, "private", fails)
        with pytest.raises(fault, match="disk is gone") as led:
            campaign.ask()
        found.append(led.value)
        assert others[0].error is not others[1].error
    for other in others:
        with pytest.raises((RuntimeError, ValueError)) as error:
            other.answer()
        found.append(error.value)
    for each in found:
        known = list(known_in_frames(each))
        assert known
        assert not [batch for variables in known if (batch := variables.get("batch"))]


def test_a_fence_that_fails_keeps_no_session(make: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = create(make())
    campaign.tell(campaign.ask(), 0.7314)
    monkeypatch.setattr(CampaignSeal, "private", fails)
    with pytest.raises(RuntimeError, match="disk is gone") as error:
        campaign.fence()
    assert not [known for known in known_in_frames(error.value) if "work" in known]


def told(first: Any, second: Any) -> list[tuple[Any, object]]:
    """A wrong one, and one that is right."""
    return [(first, "0.7314"), (second, 0.7314)]


def test_an_answer_that_nobody_can_read_keeps_no_request() -> None:
    """What was told is in the request, and the key with which it was."""

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": "gzip"}, content=b"none")

    client = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://nowhere")
    campaign = RemoteCampaign(RemoteStore("http://nowhere", client=client), "trial")
    with pytest.raises(dpb.StoreError, match="DecodingError") as error:
        campaign.tell("0" * 32, 0.7314)
    require_nothing_of_it(error.value)
    assert error.value.__context__ is None


@pytest.mark.parametrize("wrong", ["key", "password", "environment"])
def test_a_store_that_cannot_be_opened_keeps_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    url, options = f"sqlite:///{tmp_path}/trial.db", {"witness": tmp_path / "elsewhere" / "w"}
    with dpb.open_store(url, key=b"7" * 16, **options) as store:
        create(store)
    secret: dict[str, Any] = {"key": b"0.7314 0.7314 0.7314"} if wrong == "key" else {}
    if wrong == "password":
        url = "postgresql+psycopg://me:7314@localhost:1/none"
    elif wrong == "environment":
        monkeypatch.setenv("DPBANDITS_KEY", "7314 of no hexadecimal digits")
    with pytest.raises((dpb.StoreError, ValueError)) as error:
        dpb.open_store(url, **options, **secret)
    require_nothing_of_it(error.value)
