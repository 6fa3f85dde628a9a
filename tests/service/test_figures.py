"""The service's benchmarks: what the specification asks for has a verdict, and what decides it is
not the machine's mood.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest
from benchmarks.service.__main__ import (
    ASK,
    MANY,
    RATE,
    TELL,
    Cost,
    Costs,
    growth,
    measured,
    rows_of,
)
from benchmarks.service.over_http import measured as measured_over_http
from benchmarks.service.over_http import server
from benchmarks.service.places import Place, add_place, place_of, repeated


def at(folder: Path, name: str) -> Place:
    return Place(f"sqlite:///{folder}/{name}.db", folder / f"{name}.witness", folder)


@pytest.mark.long
def test_every_figure_in_process_has_a_verdict(tmp_path: Path) -> None:
    rows = measured(at(tmp_path, "new"), at(tmp_path, "used"), past=2_000, pending=1_000)
    judged = {row.what: row.wanted for row in rows if row.met is not None}
    assert judged == {
        "tell_many of 1,000, at the first decisions": "50,000/s passed",
        "tell_many of 1,000, after 2,000 decisions": "50,000/s passed",
        "ask(1000): time of the processor, over that at the first decisions": "at most 1.25 ×",
        "tell_many of 1,000: time of the processor, over that at the first decisions": (
            "at most 1.25 ×"
        ),
        "ask and tell, one by one: time of the processor, over that at the first decisions": (
            "at most 1.25 ×"
        ),
        "opened with 1,000 decisions that wait, and asked once": "under 5 s passed",
    }
    assert not (tmp_path / "fsync").exists()  # the disk was the store's


def spent(busy: float, passed: float) -> Costs:
    """Nine calls of this cost, and one that something else held up a hundredfold."""
    cost = Cost(busy, passed)
    return {name: [*[cost] * 9, Cost(100 * busy, 100 * passed)] for name in MANY}


def test_one_slow_call_decides_nothing() -> None:
    calm, once = spent(1.0, 1.0), {name: [Cost(1.0, 1.0)] * 10 for name in MANY}
    assert [row.met for row in growth(once, calm)] == [True] * 3
    assert [row.met for row in growth(calm, once)] == [True] * 3


@pytest.mark.parametrize(("busy", "met"), [(1.24, True), (1.26, False)])
def test_growth_is_judged_by_the_processor(busy: float, met: bool) -> None:
    """What passes while somebody else has the machine does not count."""
    rows = growth(spent(1.0, 1.0), spent(busy, 50.0))
    assert [row.met for row in rows] == [met] * 3


@pytest.mark.parametrize(("rate", "met"), [(RATE + 1, True), (RATE - 1, False)])
def test_answers_a_second_are_judged_by_the_time_that_passes(rate: float, met: bool) -> None:
    rows = rows_of(spent(1e-9, 1_000 / rate), "here")
    assert {row.what: row.met for row in rows}[f"{TELL}, here"] is met
    assert {row.what: row.met for row in rows}[f"{ASK}, here"] is None


@pytest.mark.long
def test_over_http_tells_are_judged_and_turns_are_for_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The specification asks for tells a second, in sum over 16 campaigns."""
    monkeypatch.setattr("benchmarks.service.over_http.BATCH", 1)
    monkeypatch.setattr("benchmarks.service.over_http.CALLERS", 16)
    place = at(tmp_path, "http")
    with server(place.url, place.witness, 1) as base:
        sixteen = [row for row in measured_over_http(base) if row.what.startswith("16 campaigns")]
    told, turns = sixteen
    assert told.wanted == "5,000 told/s in sum"
    assert told.met is not None
    assert turns.what.endswith("for the record")
    assert (turns.wanted, turns.met) == ("", None)


def test_a_command_that_is_said_again_shows_no_password() -> None:
    parser = ArgumentParser()
    add_place(parser)
    given = parser.parse_args(["--url", "postgresql+psycopg://me:hush@host/trials"])
    assert repeated(given) == " --url …"
    with place_of(given) as place:
        assert place.kind == "postgresql"
        assert "witness" in place.disk().what  # the store's disk is elsewhere
    assert repeated(parser.parse_args(["--postgresql"])) == " --postgresql"
