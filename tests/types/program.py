"""A user's program over the whole public API: type checkers accept it, and it runs."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import assert_type
from uuid import UUID, uuid4

import numpy as np

import dpbandits as dpb
from dpbandits.service.models import Summary


def session(rng: random.Random) -> str:
    """One process: ask, tell, look, save, close."""
    policy = dpb.recommend(arms=["blue", "green"], epsilon=1)
    trial = dpb.Session(
        policy,
        noise=dpb.SimulatedNoise(1),
        seed=1,
        campaign="headlines",
        assignment="shuffled",
        min_share={"blue": 0.3},
        guardrail=dpb.Guardrail("refunds", limit=0.9),
        responsible="Ada, ada@shop.example",
    )
    for _ in range(200):
        decision: dpb.Decision = trial.ask()
        trial.tell(decision, (rng.random(), 0.0))
    several: list[dpb.Decision] = trial.ask(3, eligible=["blue"])
    trial.tell_many([(several[0], (1.0, 0.0)), (several[1].id, (0.0, 0.0))])
    trial.void(several[2])
    assert trial.record("green", [(1.0, 0.0)], key="week 1") == "recorded"
    beliefs: dpb.Beliefs = trial.beliefs(confidence=0.9)
    for row in beliefs:
        label: str = row.label
        people: int = row.people
        if row.mean is not None and row.low is not None and row.high is not None:
            assert label
            assert people
            assert row.low <= row.mean <= row.high
    lift: dpb.Lift = trial.lift(control="blue")
    assert lift["green"].people > 0
    shares: dpb.Shares = trial.shares(100)
    assert sum(part.people for part in shares) == 100
    spent: Fraction | None = trial.spent
    assert spent is not None
    assert spent <= 1
    promise: dpb.Guarantee | None = trial.guarantee
    assert promise is not None
    assert promise.epsilon == 1
    events: tuple[dpb.SessionEvent, ...] = trial.events
    assert not events
    assert not trial.alarms
    with suppress(AttributeError):
        print(dpb.simulated)  # type: ignore[attr-defined]  # checkers find a misspelt name
    code: str | None = None
    try:
        trial.tell(several[0], 1.0)  # it is resolved
    except dpb.Error as error:
        code = error.code
    assert code == "decision"
    saved: str = trial.to_json(key=bytes(32))
    again = dpb.Session.from_json(saved, key=bytes(32))
    again.close("enough", winner="green")
    assert again.participant_text()
    return again.statement()


def people(rng: random.Random) -> None:
    """People who come back, segments, windows."""
    now = 1e9
    lands = dpb.SegmentedSession(
        dpb.DPKLUCB(arms=2, epsilon="1/2"),
        noise=dpb.SimulatedNoise(1),
        segments=["DE", "FR"],
        privacy_unit="user",
        max_contributions=2,
        window=timedelta(days=7),
        clock=lambda: now,
        user_key=bytes(16),
        rewards=dpb.Range(0, 250),
    )
    visitor: UUID = uuid4()
    decision = lands.ask(segment="DE", user=visitor)
    lands.tell(decision, rng.uniform(0, 250))
    assert lands["DE"].resolved == 1
    assert len(lands.lift(0)) == 2


def store(folder: Path) -> None:
    """Campaigns in a database."""
    with dpb.open_store(f"sqlite:///{folder}/t.db", witness=folder / "w", key=bytes(32)) as s:
        s.scope("all", epsilon=4)
        made = s.create("trial", dpb.DPRateIMED(arms=["a", "b"], epsilon=1, grid=1), scope="all")
        decision: dpb.CampaignDecision = made.ask(key="page view 1")
        status: str = made.tell(decision, 1)
        assert status == "recorded"
        assert made.record("b", (20, 7), key="mails") == "recorded"
        waiting = made.ask(2)
        assert [each.id for each in made.pending()] == [each.id for each in waiting]
        assert made.expire(*made.pending()) == ["recorded", "recorded"]
        rows = [row.propensity for row in made.decisions()]
        assert len(rows) == 23
        assert s.scopes()[0].taken["trial"] == 1
        made.add_arm("c", key="monday")
        made.pause_arm("c", by="ada")
        made.close("over")
        assert made.summary().void == 0


async def away() -> None:
    """A server that does not answer."""
    with dpb.open_store("http://127.0.0.1:9", timeout=0.1, fallback="a") as near:
        asked = near["trial"].ask()
        assert_type(asked, dpb.CampaignDecision)
        assert near["trial"].tell(asked, 1).upper() == "UNKNOWN"
    async with dpb.open_async_store("http://127.0.0.1:9", timeout=0.1, fallback="a") as far:
        trial = await far.campaign("trial")
        decision = await trial.ask()
        assert_type(decision, dpb.CampaignDecision)
        assert decision.label == "a"
        assert not decision.learn
        several = await trial.ask(3, eligible=["a"], user="anna", key="visit 7")
        assert_type(several, list[dpb.CampaignDecision])
        assert (await trial.tell(several[0], 1)).upper() == "UNKNOWN"
        assert await trial.tell_many((each, 0) for each in several) == ["unknown"] * 3
        with suppress(dpb.StoreError):
            assert_type(await trial.summary(), Summary)
            await trial.close("over", key="closed once")
        with suppress(TypeError):
            await trial.tell(several[0])  # type: ignore[call-arg]  # a reward is missing


def research() -> None:
    """Simulate, forecast, audit."""
    policy = dpb.DPKLUCB(arms=3, epsilon=1)
    runs: dpb.Runs = dpb.simulate(
        replace(policy, alpha=1.25), dpb.Bernoulli([0.6, 0.4, 0.4]), 500, runs=4, seed=1
    )
    assert runs.regret(at=[100, 500]).shape == (4, 2)
    drift = dpb.Drift(0.1, "wave", periods=2)
    changing = drift.environment([0.5, 0.4, 0.3], rounds=300)
    late = dpb.simulate(policy, changing, 300, delay=dpb.LostAnswers(0.1, delay=5), seed=1)
    assert int(late.plays.sum()) == 300
    found: dpb.Forecast = dpb.forecast(
        dpb.Prior(base=0.3, best=0.5, arms=2), 300, [0.5, 1], min_share=0.1, drift=drift, draws=3
    )
    best = found.within(loss=1_000)
    assert best is not None
    assert best.epsilon == 0.5
    problem = dpb.UniformMatroid(arms=4, rank=2)
    joint = dpb.recommend(problem=problem, epsilon=1)
    assert dpb.upper_bound(dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.6, 0.4]), 100) > 0
    assert joint.guarantee is not None
    report: dpb.AuditReport = dpb.audit(policy, levels=["transcript"], runs=20)
    assert report.passed
    table = dpb.Table(np.eye(3))
    assert table.means.shape == (3,)


def main(folder: Path) -> None:
    rng = random.Random(1)
    assert "Results" in session(rng)
    people(rng)
    store(folder)
    asyncio.run(away())
    research()
