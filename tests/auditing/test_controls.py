"""Controls: what is broken on purpose is caught, and what is right is not refuted. `python -m
benchmarks.controls` plays all of them at their full number of runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.controls import LISTS, known
from benchmarks.controls.__main__ import Asked, Kept, judge, page
from benchmarks.controls.parts import Control

from dpbandits import audit, mechanisms
from dpbandits.auditing.audit import LEVELS
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.mechanisms import Mechanism

WRONG = [control for listed in ("known", "odd") for control in LISTS[listed]() if not control.right]
SHORT = (
    "first pull not noised",
    "half noise: RandomizedResponse",
    "half noise: LazyForgetful, black box",
    "joint blocks read again",
    "sparse vector variant 5",
    "stopping decided on raw sums",
    "running sums",
)


def audited(control: Control, runs: int) -> AuditReport:
    levels = (control.level,) if control.level else LEVELS
    return audit(
        control.make(), control.claim, levels=levels, runs=runs, workers=1, arms=control.arms
    )


def replayed(control: Control) -> LevelResult:
    """Few replays of short runs."""
    made = control.make()
    policy = feed(made) if isinstance(made, Mechanism) else made
    return transcript_level(policy, control.claim, rounds=64, replays=12)


def is_caught(control: Control) -> bool:
    """By replays; or by runs: if few do not do, by four times as many, up to the control's own."""
    if control.level == "transcript":
        return replayed(control).outcome == "failed"
    sizes = [*(runs for runs in (1_000, 4_000, 16_000, 64_000) if runs < control.runs)]
    return any(audited(control, runs).failed for runs in (*sizes, control.runs))


@pytest.mark.parametrize("name", SHORT)
def test_a_few_are_caught(name: str) -> None:
    (control,) = (each for each in WRONG if each.name == name)
    assert is_caught(control)


@pytest.mark.long
@pytest.mark.parametrize(
    "control",
    [control for control in WRONG if control.name not in SHORT],
    ids=lambda control: f"{control.name}-{control.level}",
)
def test_what_is_wrong_is_caught(control: Control) -> None:
    assert is_caught(control)


@pytest.mark.long
@pytest.mark.parametrize(
    "control",
    [control for listed in ("odd", "unseen") for control in LISTS[listed]() if control.right],
    ids=lambda control: f"{control.name}-{control.level}",
)
def test_what_is_right_is_not_refuted(control: Control) -> None:
    if control.level == "transcript":
        assert replayed(control).outcome != "failed"
    else:
        assert not audited(control, 500).failed


def test_every_mechanism_has_a_control_with_half_of_its_noise() -> None:
    concrete = {
        name
        for name in mechanisms.__all__
        if isinstance(cls := getattr(mechanisms, name), type)
        and issubclass(cls, Mechanism)
        and not getattr(cls, "__abstractmethods__", None)
    }
    tried = [mechanism for _, mechanism in known.mechanisms_tried()]
    assert concrete - {"Exact"} == {type(mechanism).__name__ for mechanism in tried}
    assert all(known.half(mechanism).guarantee == mechanism.guarantee for mechanism in tried)


def test_controls_have_names_of_their_own() -> None:
    for listed, made in LISTS.items():
        named = [(control.name, control.level) for control in made()]
        assert len(set(named)) == len(named), listed


def test_verdicts_outlive_a_run_that_was_stopped(tmp_path: Path) -> None:
    number, control = next(
        (at, each)
        for at, each in enumerate(LISTS["known"]())
        if each.name == "half noise: RandomizedResponse"
    )
    judged = judge(Asked("known", number, 0, None, "abc"))
    assert (judged.verdict, judged.by) == ("failed", "randomised response")
    kept = Kept(tmp_path, None)
    kept.add(control, judged)
    with kept.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps([control.level, *judged])[:20])  # cut off
    again = Kept(tmp_path, None)
    assert list(again.found.values()) == [judged]
    text = page(again, ["known"], 1, None, "the command")
    assert "1 of 48 controls were judged" in text
    assert "| wrong | 1 | 1 | |" in text
    newer = judged._replace(verdict="passed", by="", commit="def")
    again.add(control, newer)
    assert list(Kept(tmp_path, None).found.values()) == [newer]
    assert f"Missed: {control.name}." in page(again, ["known"], 1, None, "the command")
