"""The exact loss of one record from all that a store shows, before and after it was put back: with
noise that is drawn anew it is epsilon at most; a store that keeps noise and uses it again for
another block shows exact differences, which is no epsilon at all. And what replies tell: nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest

import dpbandits as dpb
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay
from dpbandits.service.database import Database
from dpbandits.service.sealing import StoreSeal
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.machine import Time
from tests.service.timelines import copied

Law = dict[object, Fraction]
"""Of each outcome, minus the logarithm of how likely it is, but for a constant."""

NEAR = 2
"""Noise up to this is compared; one record moves it by one step, so one step more is played."""

BEFORE, AFTER = 4, 8  # rewards of the two timelines


@dataclass
class Listed(Relay):
    """Noise from a list, and how unlikely so much of it was: of Laplace's law |n|·ε/sensitivity."""

    values: Sequence[int]
    used: int = 0
    weight: Fraction = field(default=Fraction(0))
    kind: ClassVar[NoiseKind] = "simulated"

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        assert verb == "laplace"
        noise, self.used = self.values[self.used], self.used + 1
        self.weight += abs(noise) * cost["epsilon"] / cost["sensitivity"]
        return exact[0] + noise

    def uniform(self) -> float:
        return 0.5

    def state(self) -> dict[str, Any]:
        return dpb.SimulatedNoise(1).state()


def largest_loss(laws: Iterable[tuple[Law, Law]]) -> Fraction | float:
    """The most that an outcome of one law tells against the other; infinite where that has none
    such. Each pair: outcomes that are compared, and all that were played with a record changed.
    """
    return max(
        abs(changed[outcome] - own) if outcome in changed else math.inf
        for law, changed in laws
        for outcome, own in law.items()
    )


def shown(folder: Path, noise: Listed, rewards: Sequence[int], *, replays: bool) -> str:
    """All answers of a campaign and of its copy, which is put back after a release. replays:
    whether the noise lies in the copy, as it would that was drawn ahead.
    """
    backend, path = Database("memory:"), folder / "witness"
    policy = dpb.DPKLUCB(arms=1, epsilon=1, first=BEFORE, grid=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpbandits.service.parts.noise_to_go_on", lambda *_: noise)
        store = CampaignStore(backend, Witness(path), key=KEY)
        first = store.create("c", policy, noise=dpb.SimulatedNoise(1), seed=1)
        pairs = [*zip(first.ask(BEFORE), rewards[:BEFORE], strict=True)]
        first.tell_many(pairs[:1])
        copy = copied(backend)
        first.tell_many(pairs[1:])
        answers = [row.answers for row in first.releases() if row.answers]
        noise.used = 0 if replays else noise.used
        second = CampaignStore(copy, Witness(path), key=KEY)["c"]
        assert {*second.tell_many(pairs)} == {"gone"}
        again = second.ask(AFTER - BEFORE)
        second.tell_many([*zip(again, rewards[BEFORE:], strict=True)])
        answers += [row.answers for row in second.releases() if row.answers]
        assert second.generation == 2
    path.unlink()
    assert len(answers) == 2
    return str(answers)


def law_of(folder: Path, rewards: Sequence[int], reach: int, *, replays: bool) -> Law:
    """The law of what is shown, as far as noise reaches; each outcome comes of one noise alone."""
    found: Law = {}
    values = range(-reach, reach + 1)
    for drawn in product(values, repeat=1 if replays else 2):
        noise = Listed(drawn)
        outcome = shown(folder, noise, rewards, replays=replays)
        assert outcome not in found
        found[outcome] = noise.weight / 2 if replays else noise.weight  # one draw, used twice
    return found


@pytest.mark.parametrize(("replays", "most"), [(False, 1), (True, math.inf)])
def test_noise_that_is_used_again_is_no_noise(tmp_path: Path, replays: bool, most: float) -> None:
    """A record of either timeline, also one that both hold."""
    rewards = [1, 0, 1, 0, 0, 1, 1, 0]
    base = law_of(tmp_path, rewards, NEAR, replays=replays)
    laws = list[tuple[Law, Law]]()
    for at in (0, 2, 5):
        changed = [1 - each if at == n else each for n, each in enumerate(rewards)]
        laws.append((base, law_of(tmp_path, changed, NEAR + 1, replays=replays)))
    assert [largest_loss([each]) for each in laws] == [most] * 3


def test_no_noise_lies_in_a_copy() -> None:
    """Of secure noise a database holds the kind, and nothing that the next draw comes from."""
    store = CampaignStore(Database("memory:"), Witness(None), key=KEY)
    campaign = store.create("c", dpb.DPKLUCB(arms=1, epsilon=1, first=4))
    campaign.tell_many([(each, 1) for each in campaign.ask(20)])
    row = store.database.campaign("c")
    assert row is not None
    with store.database.reading(campaign.uid) as rows:
        head = rows.heads([row.uid])[row.uid]
        private = StoreSeal(KEY).of(row).opened_private(rows.private(row.uid), head)
    assert private["noise"] == {"kind": "secure"}


Tell = Callable[[Any, Any, float], str]
"""Tells a campaign a reward of a decision, and passes on the reply."""


def honest(campaign: Any, decision: Any, reward: float) -> str:
    return str(campaign.tell(decision, reward))


class Oracle:
    """BROKEN ON PURPOSE: its reply says whether a repeated answer is the one that was told."""

    def __init__(self) -> None:
        self.told = dict[str, float]()

    def __call__(self, campaign: Any, decision: Any, reward: float) -> str:
        reply = honest(campaign, decision, reward)
        same = self.told.setdefault(decision.id, reward) == reward
        return reply if same else "conflict"


def replies(folder: Path, tell: Tell, reward: float, options: dict[str, Any]) -> object:
    """All replies to answers that come again, with what they may have said and what not: while the
    block is open, after it was read, after the database was put back, and in a lost timeline.
    """
    clock, path, heard = Time(), folder / "witness", list[str]()
    backend, policy = Database("memory:"), dpb.DPKLUCB(arms=1, epsilon=1, first=4, grid=1)
    made = {"noise": dpb.SimulatedNoise(1), "seed": 1, **options}

    def opened(rows: Database) -> Any:
        return CampaignStore(rows, Witness(path), key=KEY, clock=clock)

    def probe(campaign: Any) -> None:
        heard.extend(tell(campaign, one, again) for again in (0, 1, 0.5, 1, 0))

    campaign = opened(backend).create("c", policy, **made)
    one, *others = campaign.ask(8)
    early = copied(backend)
    heard.append(tell(campaign, one, reward))
    probe(campaign)
    held = copied(backend)
    probe(opened(held)["c"])
    probe(opened(early)["c"])
    campaign.tell_many([(each, 1) for each in others])
    clock.now += 3600
    campaign.settle()
    probe(campaign)
    assert campaign.releases()
    for copy in (held, early):
        probe(opened(copied(copy))["c"])
    path.unlink()
    return tuple(heard)


@pytest.mark.parametrize(
    "options", [{}, {"attribution_window": timedelta(minutes=1), "default": 0}], ids=["", "window"]
)
@pytest.mark.parametrize(("make", "most"), [(lambda: honest, 0), (Oracle, math.inf)])
def test_a_repeated_answer_tells_nothing_of_the_first(
    tmp_path: Path, make: Callable[[], Tell], most: float, options: dict[str, Any]
) -> None:
    def law(reward: float) -> Law:
        return {replies(tmp_path, make(), reward, options): Fraction(0)}  # no chance in it

    assert largest_loss([(law(0), law(1)), (law(1), law(0)), (law(0), law(0.5))]) == most
