"""Controls: what is broken on purpose is caught, and what is right is neither refuted nor certified
to leak more than it does. `python -m benchmarks.controls` plays all of them at their full number of
runs.
"""

import json
import math
from pathlib import Path

import pytest
from benchmarks.controls import LISTS, known, odd
from benchmarks.controls.__main__ import COLUMNS, Asked, Kept, judge, rows_of, summary
from benchmarks.controls.parts import Control

from dpbandits import audit, mechanisms
from dpbandits.auditing.audit import LEVELS
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.mechanisms import Mechanism

WRONG = [control for listed in ("known", "odd") for control in LISTS[listed]() if not control.right]
RIGHT = [control for listed in ("odd", "unseen") for control in LISTS[listed]() if control.right]


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


def kept(control: Control) -> float:
    """The epsilon that it really keeps; infinite where nobody worked it out."""
    try:
        return float(control.truth)
    except ValueError:
        return math.inf if not control.right else 1.0


def is_caught(control: Control) -> bool:
    """By replays; or by runs: if few do not do, by four times as many, up to the control's own."""
    if control.level == "transcript":
        return replayed(control).outcome == "failed"
    sizes = [*(runs for runs in (1_000, 4_000, 16_000, 64_000) if runs < control.runs)]
    return any(audited(control, runs).failed for runs in (*sizes, control.runs))


def label(control: Control) -> str:
    return f"{control.name}-{control.level}"


@pytest.mark.parametrize("control", WRONG, ids=label)
def test_what_is_wrong_is_caught(control: Control) -> None:
    assert is_caught(control)


@pytest.mark.long
@pytest.mark.parametrize("control", odd.WRONG, ids=label)
def test_replays_of_what_is_wrong_certify_no_more_than_is_lost(control: Control) -> None:
    found = replayed(control)
    assert found.outcome in ("failed", "not applicable"), found
    assert found.lower_bound <= kept(control) * (1 + 1e-9), found


@pytest.mark.long
@pytest.mark.parametrize("control", RIGHT, ids=label)
def test_what_is_right_is_not_refuted(control: Control) -> None:
    """Replays that toss other coins certified 517 against the first of these."""
    found = replayed(control) if control.level == "transcript" else audited(control, 500)
    assert getattr(found, "outcome", "") != "failed", found
    assert found.lower_bound <= kept(control) * (1 + 1e-9), found


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


@pytest.mark.long
def test_verdicts_outlive_a_run_that_was_stopped(tmp_path: Path) -> None:
    number, control = next(
        (at, each)
        for at, each in enumerate(LISTS["known"]())
        if each.name == "half noise: RandomizedResponse"
    )
    judged = judge(Asked("known", number, 0, None, "abc"))
    assert (judged.verdict, judged.by) == ("failed", "randomised response")
    one = Kept(tmp_path, None)
    one.add(control, judged)
    with one.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps([control.level, *judged])[:20])  # cut off
    again = Kept(tmp_path, None)
    assert list(again.found.values()) == [judged]
    again.add(control, judged._replace(verdict="passed", commit="def"))
    rows = list(rows_of(Kept(tmp_path, None), ["known"], 1, None))
    row = dict(zip(COLUMNS, rows[number], strict=True))
    assert (row["verdict"], row["commit"], row["truth_is"]) == ("passed", "def", "wrong")
    said = summary(rows)
    assert f"{len(rows) - 1} wrong: not judged" in said
    assert f"wrong, passed: {control.name} (seed 0)" in said
