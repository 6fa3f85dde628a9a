"""Every option that may be had beside the others, all at once: a trial that is saved and loaded
each week goes on as one that never was.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise

LABELS = ["plain", "funny", "short"]
KEY, USERS = b"k" * 16, b"u" * 16
DAY = timedelta(days=1)
RAIL = dpb.Guardrail("refunds", limit=0.3, default=0.5)


class Trial:
    """A session, on a clock of its own."""

    def __init__(self, policy: Any, **options: Any) -> None:
        self.now = datetime(2026, 3, 1)
        self.of: Any = dpb.Session(
            policy,
            noise=SimulatedNoise(1),
            seed=3,
            campaign="spring",
            rewards=dpb.Range(0.1, 250, clip=True, minimise=True),
            privacy_unit="user",
            max_contributions=2,
            window=10 * DAY,
            clock=lambda: self.now,
            user_key=USERS,
            attribution_window=2 * DAY,
            default=200,
            max_pending=900,
            assignment="shuffled",
            min_share=0.05,
            **options,
        )

    def load(self) -> None:
        kind = dpb.SegmentedSession if hasattr(self.of, "segments") else dpb.Session
        text = self.of.to_json(key=KEY)
        self.of = kind.from_json(text, key=KEY, user_key=USERS, clock=lambda: self.now)

    def week(self, number: int) -> list[Any]:
        """Its decisions. Visitors come again, some cannot see everything, some never answer, or a
        day late, or out of range, and one arm's orders are sent back.
        """
        rng, shown, late = np.random.default_rng(number), list[Any](), list[Any]()
        for _ in range(7):
            self.now += DAY
            while late:
                self.of.tell(*late.pop())
            for _ in range(60):
                asked: dict[str, Any] = {"user": int(rng.integers(400))}
                if hasattr(self.of, "segments"):
                    asked["segment"] = ("DE", "FR")[rng.integers(2)]
                if rng.random() < 0.2:
                    asked["eligible"] = LABELS[:2]
                decision = self.of.ask(**asked)
                shown.append(decision)
                back = float(rng.random() < (0.9 if decision.label == "short" else 0.1))
                told: Any = float(300 * rng.random())
                told = told if self.of.guardrail is None else (told, back)
                kind = rng.random()
                if kind < 0.5:
                    self.of.tell(decision, told)
                elif kind < 0.7:
                    late.append((decision, told))
        for told_late in late:
            self.of.tell(*told_late)
        return shown


def said(of: Any) -> list[Any]:
    """All that a session shows of itself."""
    harm = of.harm() if of.guardrail is not None else None
    parts = [of[name] for name in of.segments] if hasattr(of, "segments") else [of]
    own = [(part.events, part.ledger, part.state) for part in parts]
    ratio = of.sample_ratio()
    shown = [ratio, of.beliefs(), harm, list(of.decisions()), of.pending, of.arms, of.statement()]
    return [repr(each) for each in (*shown, *own)]


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]])
@pytest.mark.parametrize(
    ("policy", "rail"),
    [
        (dpb.DPKLUCB(arms=LABELS, epsilon=4, first=12), RAIL),
        (dpb.DPRateIMED(arms=LABELS, epsilon=4), RAIL),
        (dpb.LazyDPTS(arms=LABELS, epsilon=4), None),
    ],
    ids=lambda of: getattr(of, "name", ""),
)
def test_with_all_options_at_once_a_loaded_session_goes_on_as_it_would_have(
    policy: Any, rail: Any, segments: Any
) -> None:
    whole, broken = (Trial(policy, guardrail=rail, segments=segments) for _ in range(2))
    for number in range(4):
        if number == 2:
            for trial in (whole, broken):
                trial.of.add_arm("bold")
                trial.of.pause_arm("plain")
        broken.load()
        assert broken.week(number) == whole.week(number)
        assert broken.of.guarantee == whole.of.guarantee
        assert said(broken.of) == said(whole.of)
    first = whole.of if segments is None else whole.of["DE"]
    what = {event.what for event in first.events}
    assert {"add", "pause"} <= what
    assert ("suspend" in what) is (rail is not None)
    assert len(first.ledger) > 4, "something was released"
