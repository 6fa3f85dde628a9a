"""A net under the core: every policy decides, releases and spends what it did when the data were
written, with every option of a session and in campaigns of a store.

The data are in `data/`, a file a family; `python -m tests.net.record` writes them (see there).
Rewards and the order in which they come are drawn by Python's own generator, so nothing but the
library can change what is compared. Whole numbers, fractions, texts and actions have to be equal,
floats too, but for those that NumPy's vectorised functions make, whose last bits depend on the
processor (`approx`).
"""

import math
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from dpbandits.policies import POLICIES
from dpbandits.session import naming
from tests.families import NEAR
from tests.net.driver import Case, play
from tests.net.record import happened, kept
from tests.net.scenarios import INSTANCES, OPTIONS, TIMINGS, cases

CASES = {case.id: case for case in cases()}
kept = cache(kept)


SESSIONS = [case for case in CASES.values() if case.family != "campaigns"]


def of(case: Case, *, saved: bool, long: bool = False) -> Any:
    marks = [pytest.mark.long] if long else []
    return pytest.param(case, saved, id=f"{case.id}{', saved' if saved else ''}", marks=marks)


EVERYWHERE = {*NEAR, "SuccessiveElimination", "TreeFTRL"}
"""Policies that `make test` plays with every option: one of each mechanism, one that names an arm,
and one of losses over a tree.
"""

OFTEN = {*TIMINGS, *OPTIONS} - {"late"}
"""Families that have most policies."""

HALVED = ["attribution", "batches", "far", "prompt", "segments"]
"""Those that take longest: `make test` plays every second one of these policies in them."""


def rests(case: Case) -> bool:
    """Whether a case is left to `make test-all`: those of `late` have its policy's own code."""
    name = case.name.split()[0]
    if case.family not in OFTEN or name not in EVERYWHERE:
        return case.family in OFTEN
    if case.family not in HALVED:
        return False
    is_second = (HALVED.index(case.family) + sorted(EVERYWHERE).index(name)) % 2 > 0
    return is_second or case.name != INSTANCES[name][0][0]


PLAYS = [of(case, saved=False, long=rests(case)) for case in SESSIONS]
PLAYS += [
    of(case, saved=True, long=rests(case) or (at % 6 > 0 and case.family != "estimators"))
    for at, case in enumerate(SESSIONS)
]
PLAYS += [of(case, saved=True) for case in CASES.values() if case.family == "campaigns"]
"""Sessions are played as they are, and saved and loaded on the way (`make test`: every
sixth, and all estimators). Campaigns, which are slower, are always in a store that is opened again.
"""


@pytest.fixture(autouse=True)
def few_futures(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many more people a name takes is not compared here, and takes long to foresee."""
    monkeypatch.setattr(naming, "FUTURES", 2)


@pytest.mark.parametrize(("case", "saved"), PLAYS)
def test_it_decides_releases_and_spends_what_it_did(
    case: Case, saved: bool, tmp_path: Path
) -> None:
    before = kept(case.family)[case.name]
    require_moves(case, before)
    now = play(case, tmp_path, saved=saved)
    # a loaded session draws on by a source that nobody listens to
    found = [line for line in differences(before, now) if not saved or "noise" not in line]
    how = "saved and loaded on the way: " if saved else ""
    assert not found, "\n".join([f"{case.id}, {how}not what it was.", *found])


def differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What differs, the first place of each kind; `before` is what was kept."""
    if "plays" not in before:
        yield from places(before, now, "the estimator")
        return
    decisions = zip_longest(plays(before), plays(now))
    for number, (old, new) in enumerate(decisions, 1):
        if old != new:
            yield f"Decision {number} was {old}, is {new} (action, observe, label, learn)."
            break
    for part in ("moments", "noise", "quarters"):
        yield from places(before[part], now[part], part)
    if "spent" in before:  # campaigns say it at their quarters
        yield from places(before["spent"], now["spent"], "spent by all")
    yield from places(before["end"], now["end"], "end")


def plays(record: dict[str, Any]) -> Iterator[Any]:
    """Decision by decision."""
    different, runs = record["plays"]
    for at, times in zip(runs[::2], runs[1::2], strict=True):
        for _ in range(times):
            yield different[at]


def places(before: Any, now: Any, where: str) -> Iterator[str]:
    """Where nested data differ, and what stands there."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from places(before.get(key), now.get(key), f"{where}, {key or 'the session'}")
    elif isinstance(before, list) and isinstance(now, list):
        for at, (old, new) in enumerate(zip_longest(before, now)):
            found = next(places(old, new, f"{where}[{at}]"), None)
            if found is not None:
                yield found
                return
    elif before != now and not ("approx" in where and close(before, now)):
        yield f"At {where}: was {before!r}, is {now!r}."


def close(before: Any, now: Any) -> bool:
    numbers = isinstance(before, float | int) and isinstance(now, float | int)
    return numbers and math.isclose(before, now, rel_tol=1e-8, abs_tol=1e-12)


LEAST = {
    "DPExponentialNAS": 3,  # a rule asks at few numbers of values, and halts
    "DPNAS": 3,
    "DPSE": 1,  # its second epoch takes as long as all other policies together
    "NAS": 2,
}
"""Moments of release that a case of these policies has at least; one of the others has seven."""


def test_every_policy_is_in_the_net() -> None:
    assert set(INSTANCES) == set(POLICIES)
    assert {family: set(kept(family)) for family in {case.family for case in CASES.values()}} == {
        family: {case.name for case in CASES.values() if case.family == family}
        for family in {case.family for case in CASES.values()}
    }


def require_moves(case: Case, record: dict[str, Any]) -> None:
    """Releases and changes of action, so many at least: or a case says nothing."""
    if case.family == "estimators":
        return
    found = happened(record)
    assert found.requests == case.rounds
    # with outcomes by `tell_many` one moment has many releases
    usual = 5 if case.family == "batches" else 7
    assert found.releases >= LEAST.get(case.name.split()[0], usual)
    assert found.moves >= 1 or case.policy.about.goal == "estimate"


def test_a_difference_is_found_and_said(tmp_path: Path) -> None:
    """The comparison itself: one number changed anywhere is found, and where it stands."""
    before = kept("late")["DPKLUCB first=3"]
    assert list(differences(before, before)) == []
    changed = {**before, "noise": [*before["noise"][:-1], before["noise"][-1] + 1]}
    (line,) = differences(before, changed)
    assert line.startswith("At noise[")
    different, runs = before["plays"]
    swapped = {**before, "plays": [different, [*runs[:-1], runs[-1] - 1, runs[-4], 1]]}
    (line,) = differences(before, swapped)
    assert line.startswith("Decision 700 was [")
    part = {**before["end"][""], "spent": "3"}
    (line,) = differences(before, {**before, "end": {"": part}})
    assert line == "At end, the session, spent: was '2', is '3'."
