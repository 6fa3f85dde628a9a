"""`check_store`: a right store passes, and broken ones fail for the right reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpbandits.checks import CheckFailed
from dpbandits.service.campaign import Campaign
from dpbandits.service.holdout import HoldoutCampaign
from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.rows.memory import MemoryBackend
from dpbandits.service.rows.memory_rows import MemoryRows
from dpbandits.service.rows.records import EventRow, RowChange
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import WitnessFile
from tests.service.suite.checks import STORE_CHECKS, check_store

Break = Callable[[pytest.MonkeyPatch], None]


def opener(folder: Path) -> Callable[[], CampaignStore]:
    backend, witness = MemoryBackend(), WitnessFile(folder / "witness")
    return lambda: CampaignStore(backend, witness, key=bytes(range(32)))


def test_a_right_store_passes_once(tmp_path: Path) -> None:
    make = opener(tmp_path)
    check_store(make)
    assert set(STORE_CHECKS) - set(make()) == {"scopes_add_up"}, "a campaign for each check"
    assert "scopes_add_up 0" in make()


@pytest.mark.parametrize("made", [None, MemoryBackend, "memory:"])
def test_what_opens_no_store_is_refused(made: Any, tmp_path: Path) -> None:
    given = made if made is not MemoryBackend else opener(tmp_path)()
    with pytest.raises(TypeError, match=r"Expected a function that opens the store, such as lamb"):
        check_store(given)


def answers(cls: type, verb: str, change: Callable[[Any], Any]) -> Break:
    """This verb answers something else than it should."""
    right = getattr(cls, verb)

    def put(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(cls, verb, lambda *given: change(right(*given)))

    return put


def takes_names_twice(patch: pytest.MonkeyPatch) -> None:
    right = MemoryBackend.create

    def create(self: Any, row: Any, *rest: Any) -> None:
        self._campaigns = {k: v for k, v in self._campaigns.items() if k != row.name}
        right(self, row, *rest)

    patch.setattr(MemoryBackend, "create", create)


def joins_no_scope(patch: pytest.MonkeyPatch) -> None:
    right = MemoryBackend.create
    patch.setattr(
        MemoryBackend, "create", lambda self, row, parts, joining: right(self, row, parts)
    )


def takes_no_seed(patch: pytest.MonkeyPatch) -> None:
    right = CampaignStore.create

    def create(self: Any, name: str, policy: Any, *, seed: int, **options: Any) -> Any:
        return right(self, name, policy, seed=seed + 1, **options)

    patch.setattr(CampaignStore, "create", create)


def counts_twice(patch: pytest.MonkeyPatch) -> None:
    """Every answer is recorded, whatever came before."""
    right = Campaign.tell_many

    def tell_many(self: Any, tells: Any) -> list[str]:
        return ["recorded" for _ in right(self, tells)]

    patch.setattr(Campaign, "tell_many", tell_many)


def fences_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Campaign, "fence", lambda self: None)


def says_read_from_the_start(patch: pytest.MonkeyPatch) -> None:
    right: Any = ShownCampaign.ledger

    def ledger(self: Any) -> list[Any]:
        return [line._replace(start=0) for line in right.fget(self)]

    patch.setattr(ShownCampaign, "ledger", property(ledger))


def knows_nobody(patch: pytest.MonkeyPatch) -> None:
    right = HoldoutCampaign.ask
    patch.setattr(HoldoutCampaign, "ask", lambda self, user: right(self, user=0))


def logs_answers(patch: pytest.MonkeyPatch) -> None:
    """A public row says that somebody answered."""
    right = MemoryRows.hold

    def hold(self: Any, change: RowChange) -> None:
        event = EventRow(0.0, "answer", None, change.head.asked, None)
        right(self, change)
        self._written = replace(self._written, events=[event])

    patch.setattr(MemoryRows, "hold", hold)


def keeps_no_answers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MemoryRows, "hold", lambda self, change: None)


def waits(rows: Any) -> Any:
    return [row._replace(status="waiting") for row in rows]


FAULTS: dict[str, tuple[str, Break, str]] = {
    "takes names twice": ("names_are_taken_once", takes_names_twice, "Two campaigns of one name"),
    "takes no seed": ("decides_as_a_session", takes_no_seed, "is another one than a session's"),
    "tells twice": (
        "answers_count_once",
        answers(Campaign, "tell", lambda status: "recorded"),
        "A decision was resolved twice",
    ),
    "asks for void ones": (
        "answers_count_once",
        answers(MemoryRows, "statuses", waits),
        "A void decision took an answer",
    ),
    "forgets calls": (
        "asks_can_be_repeated",
        answers(MemoryRows, "response", lambda reply: None),
        "A repeated ask gave other decisions",
    ),
    "reads twice": ("nothing_is_read_twice", says_read_from_the_start, "was read twice"),
    "loses a release": (
        "nothing_is_read_twice",
        answers(MemoryRows, "releases", lambda rows: rows[:-1]),
        "A release is missing",
    ),
    "joins no scope": ("scopes_add_up", joins_no_scope, "took nothing of it"),
    "gives nothing up": (
        "fences_give_up",
        fences_nothing,
        "A fence began no generation",
    ),
    "counts twice": ("threads_share", counts_twice, "resolved decisions twice"),
    "forgets people": (
        "segments_learn_apart",
        answers(MemoryRows, "used", lambda used: {}),
        "learned from in two segments",
    ),
    "logs answers": (
        "held_answers_are_unseen",
        logs_answers,
        "Whoever looks can tell that somebody answered",
    ),
    "keeps no answers": (
        "held_answers_are_unseen",
        keeps_no_answers,
        "Answers that were held count for other decisions",
    ),
    "knows nobody": ("holdout_people_are_apart", knows_nobody, "holdout person|Holdout people"),
}
"""What is wrong with a store, the check that says so, and in which words."""


def test_every_check_can_fail() -> None:
    assert {check for check, _, _ in FAULTS.values()} == set(STORE_CHECKS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check, put, words = FAULTS[fault]
    put(monkeypatch)
    with pytest.raises(CheckFailed, match=words):
        STORE_CHECKS[check](opener(tmp_path), "trial")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_suite_refuses_it(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FAULTS[fault][1](monkeypatch)
    with pytest.raises(CheckFailed):
        check_store(opener(tmp_path))
