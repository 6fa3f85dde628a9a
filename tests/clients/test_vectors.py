"""Python's client gives the answers that are kept for all clients, byte for byte."""

import json

import pytest

from dpbandits.core.errors import MessageError
from dpbandits.local.messages import LONGEST, decision_from_json, report_from_json
from tests.clients import texts, vectors

KEPT = json.loads(vectors.PATH.read_text(encoding="utf-8"))


def test_the_vectors_are_what_this_package_answers() -> None:
    """After a change that is meant to change them: `python -m tests.clients.vectors`."""
    made = vectors.made()
    for kept, now in zip(KEPT["devices"], made["devices"], strict=True):
        assert kept == now
    assert KEPT["descriptions"] == made["descriptions"]


def test_the_vectors_hold_what_they_are_for() -> None:
    steps = [step for device in KEPT["devices"] for step in device["steps"]]
    assert {step.get("error") for step in steps} == {None, *vectors.ERRORS.values()}
    assert any("report" in step and not step["bytes"] for step in steps)  # asked again
    assert {taken for _, taken in KEPT["descriptions"]} == {True, False}
    for text in (*texts.BAD_DECISIONS, *texts.LOOSE_DECISIONS):
        with pytest.raises(MessageError):
            decision_from_json(text)
    with pytest.raises(MessageError):
        decision_from_json(" " * LONGEST + texts.ASKED)
    assert not any(map(vectors.taken, texts.LOOSE_DESCRIPTIONS))


def test_a_server_takes_the_reports() -> None:
    for device in KEPT["devices"]:
        for step in device["steps"]:
            if "report" in step:
                told = report_from_json(step["report"])
                assert told.report.noise == "secure"
                assert told.campaign == texts.CAMPAIGN


def test_other_bytes_make_other_reports() -> None:
    """So that the equality above says something."""
    text = texts.description("LocalLaplace", "1/10", 1024, "nearest")
    step = {"decision": texts.decision(1, 0), "reward": 0.5}
    tapes = (vectors.Tape(seed) for seed in (1, 2, 2))
    one, other, again = (vectors.vector(text, [step], iter([tape])) for tape in tapes)
    assert one["steps"][0]["report"] != other["steps"][0]["report"]
    assert other == again
